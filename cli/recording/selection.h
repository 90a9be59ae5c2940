/* SPDX-License-Identifier: MIT */
/*
 * The selection: patterns of events and, for each, which of their records are wanted. If several patterns match an
 * event, the last one applies. Some events are left out of all of them.
 */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <librecorder/event_text.h>
#include <librecorder/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/message.h"
#include "cli/recording/spool.h"

struct selection {
	const char *given;    /* the patterns as given by the user */
	char *patterns;	      /* with the patterns that are left out added: "io:*,!io:poll" */
	const char *filter; /* as given by the user; NULL: none */
	uint64_t rate;	    /* events a second; 0: all */
	char *selector;	    /* the selector, for rec_view_switch() */
};

struct selections {
	struct selection *list;
	unsigned int nr;
	bool is_default; /* no pattern was given: everything */
	const char **left_out; /* patterns */
	unsigned int nr_left_out;
};

#define SELECTIONS_INIT { .list = NULL }

#define SELECTION_RATE_MAX 1000000000u

/*
 * Add patterns, with at most `rate` events a second (0: all). False: one line was printed; call selections_free() in
 * any case.
 */
bool selections_add(const struct message_sink *sink, struct selections *selections, const char *patterns,
		    uint64_t rate);

/* Leave these events out of all selections; the list may not contain a !. False: one line was printed. */
bool selections_leave_out(const struct message_sink *sink, struct selections *selections, const char *patterns);

/* Set the filter of the patterns that were added last. False: one line was printed. */
bool selections_set_filter(const struct message_sink *sink, struct selections *selections, const char *filter);

/*
 * Complete the selections: no more are added afterwards. `of_threads` is a filter that applies to all of them; NULL:
 * none. False: one line was printed. The strings must outlive the selections.
 */
bool selections_finish(const struct message_sink *sink, struct selections *selections, const char *of_threads);
void selections_free(struct selections *selections);

/* The selectors, or only their patterns, one on each line; the caller frees the text. NULL: no memory. */
char *selections_text(const struct selections *selections);
char *selections_patterns(const struct selections *selections);

/* The selection that applies to an event; NULL: none. */
const struct selection *selections_find(const struct selections *selections, const struct rec_words *system,
					const struct rec_words *name);

/* rec_printf's event, which has no declaration. */
extern const struct rec_event_info selection_printed;

/* Whether the selection's filter fits an event; `event` NULL: rec_printf's. If not, *ret_error has the reason. */
bool selection_fits(const struct selection *selection, const struct rec_log_event *event,
		    struct rec_filter_error *ret_error);

/* Whether each filter fits its events in a log. False: one line was printed. */
bool selections_fit(const struct message_sink *sink, const struct selections *selections, const void *log, size_t size);

/* The same for the events in the command's binary, if it is an ELF file with events. */
bool selections_fit_binary(const struct message_sink *sink, const struct selections *selections, const char *binary);

/* Whether a recording has an event that matches one of the patterns; the default patterns match any. */
bool selections_any_met(const struct selections *selections, const struct spool *spool);

/* Whether the patterns match events of the recording, and all of these are left out. */
bool selections_only_left_out(const struct selections *selections, const struct spool *spool);

/* Report which patterns matched no event of a recording, and which filters did not fit. */
void selections_report(const struct message_sink *sink, const struct selections *selections, const struct spool *spool);

/* Lines of the summary: the number of events that rates suppressed. */
void selections_say_rates(const struct message_sink *sink, const struct spool *spool);

#endif
