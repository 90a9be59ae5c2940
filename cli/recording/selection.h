/* SPDX-License-Identifier: MIT */
/*
 * What is selected: patterns of events and, for each, which records of them. Where several patterns
 * name an event, the last one counts.
 */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <librecorder/event_text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/message.h"
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

/* Add patterns, with `rate` events a second at most (0: all). False: one line was printed; selections_free() in any case. */
bool selections_add(const struct message_sink *sink, struct selections *selections, const char *patterns,
		    uint64_t rate);

/* The filter of the patterns that were added last. False: one line was printed. */
bool selections_set_filter(const struct message_sink *sink, struct selections *selections, const char *filter);

/*
 * Nothing more is added. `of_threads` is a filter that holds for all of them; NULL: none. False: one line was printed. The
 * strings given must stay.
 */
bool selections_finish(const struct message_sink *sink, struct selections *selections, const char *of_threads);
void selections_free(struct selections *selections);

/* One wish, or its patterns alone, a line; to be freed. NULL: no memory. */
char *selections_wishes(const struct selections *selections);
char *selections_patterns(const struct selections *selections);

/* The selection that counts for an event; NULL: none. */
const struct selection *selections_find(const struct selections *selections, const struct rec_words *system,
					const struct rec_words *name);

/* Whether each filter fits its events in a log. False: one line was printed. */
bool selections_fit(const struct message_sink *sink, const struct selections *selections, const void *log, size_t size);

/* The same for the events that stand in the command's binary, so far as it is one. */
bool selections_fit_binary(const struct message_sink *sink, const struct selections *selections, const char *binary);

/* Say of a recording which patterns no event is like, and which filters did not fit. */
void selections_report(const struct message_sink *sink, const struct selections *selections, const struct spool *spool);

/* Lines of the summary: how many events rates kept away. */
void selections_say_rates(const struct message_sink *sink, const struct spool *spool);

#endif
