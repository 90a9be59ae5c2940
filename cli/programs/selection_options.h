/* SPDX-License-Identifier: MIT */
/* The options that select events of programs: -u, -x, -f, --rate, and --tid. */
#ifndef CLI_SELECTION_OPTIONS_H
#define CLI_SELECTION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/opts.h"
#include "cli/recording/selection.h"

/* These options; they share one list, because an -f belongs to the -u before it. */
#define OPT_USER_EVENT(list)                                                                                           \
	OPT_LIST('u', "user-event", "PATTERN",                                                                         \
		 "record events that match PATTERN, such as io:* (all); none: no events of programs", list)
#define OPT_LEAVE_OUT(list)                                                                                            \
	OPT_LIST('x', "exclude-user", "PATTERN", "leave out the user events that match PATTERN; may be repeated", list)
#define OPT_FILTER(list)                                                                                               \
	OPT_LIST('f', "filter", "FILTER",                                                                              \
		 "limit the -u or -e before it to events that match: 'size > 4096 && path ~ \"*.db\"'", list)
#define OPT_RATE(list)                                                                                                 \
	OPT_LIST(0, "rate", "N", "limit each event of the -u before it, or each event, to N a second", list)

/*
 * Make selections from the list, and from a list of thread ids separated by commas (NULL: all threads). False: one
 * line was printed. The strings must outlive them.
 */
bool selections_make(const char *command, const struct opt_list *given, const char *threads,
		     struct selections *ret_selections);

/* The same for one pattern; `filter` NULL and `rate` 0: none. */
bool selections_make_one(const char *command, const char *patterns, const char *filter, uint64_t rate,
			 struct selections *ret_selections);

#endif
