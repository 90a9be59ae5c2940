/* SPDX-License-Identifier: MIT */
/*
 * What -u, -f, --rate and --tid select: patterns of events and, for each, which records of them. Where several patterns
 * name an event, the last one counts.
 */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <librecorder/event_text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/opts.h"
#include "cli/recording/spool.h"

struct selection {
	const char *patterns;
	const char *filter; /* as the user gave it; NULL: none */
	uint64_t rate;	    /* events a second; 0: all */
	char *wish;	    /* all of it as rec_view_switch() takes it */
};

struct selections {
	struct selection *list;
	unsigned int nr;
	bool is_default; /* no pattern was given: everything */
};

#define SELECTION_RATE_MAX 1000000000u

/* The options of all this; they share one list, as an -f belongs to the -u in front of it. */
#define OPT_USER_EVENT(list)                                                                                           \
	OPT_LIST('u', "user-event", "PATTERN", "record events that match PATTERN, as io:* (all); may be repeated", list)
#define OPT_FILTER(list)                                                                                               \
	OPT_LIST('f', "filter", "FILTER",                                                                              \
		 "record only these of the events just selected: 'size > 4096 && path ~ \"*.db\"'", list)
#define OPT_RATE(list)                                                                                                 \
	OPT_LIST(0, "rate", "N", "record at most N a second of each event of the -u before it, or of all", list)

/*
 * Make selections of the list, and of a list of thread ids separated by commas (NULL: all threads). False: one line was
 * printed. The strings given must stay.
 */
bool selections_make(const char *command, const struct opt_list *given, const char *threads,
		     struct selections *ret_selections);

/* The same of one pattern; `filter` NULL and `rate` 0: none. */
bool selections_make_one(const char *command, const char *patterns, const char *filter, uint64_t rate,
			 struct selections *ret_selections);
void selections_free(struct selections *selections);

/* One wish, or its patterns alone, a line; to be freed. NULL: no memory. */
char *selections_wishes(const struct selections *selections);
char *selections_patterns(const struct selections *selections);

/* The selection that counts for an event; NULL: none. */
const struct selection *selections_find(const struct selections *selections, const struct rec_words *system,
					const struct rec_words *name);

/* Whether each filter fits its events in a log. False: one line was printed. */
bool selections_fit(const char *command, const struct selections *selections, const void *log, size_t size);

/* The same for the events that stand in the command's binary, so far as it is one. */
bool selections_fit_binary(const char *command, const struct selections *selections, const char *binary);

/* Say of a recording which patterns no event is like, and which filters did not fit. */
void selections_report(const char *command, const struct selections *selections, const struct spool *spool);

/* Lines of the summary: how many events rates kept away. */
void selections_say_rates(const struct spool *spool);

#endif
