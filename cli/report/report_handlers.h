/* SPDX-License-Identifier: MIT */
/*
 * Selects the functions that make the text of events (plugins with their options, formats, fields), and the symbols
 * that they print.
 */
#ifndef CLI_REPORT_HANDLERS_H
#define CLI_REPORT_HANDLERS_H

#include "cli/common/about_tasks.h"
#include "cli/common/opts.h"
#include "format/text/event_parse.h"

/* The command line. */
struct report_handlers {
	struct opt_list raw;	 /* regular expressions of events that are printed field by field */
	struct opt_list formats; /* regular expressions of events whose plugins are ignored */
	struct opt_list options; /* options of plugins: "ftrace:offset", "name=value" */
	const char *kallsyms;	 /* a file of symbols; NULL: none */
};

/* Pass plugins their options. Call this before they are loaded. 0; or the exit status, and one line was printed. */
int report_handlers_options(const struct report_handlers *handlers);

/* Apply the other options to the events of a file. Returns as above. */
int report_handlers_apply(const struct report_handlers *handlers, struct event_table *table);

/*
 * Print the filters, and then the one that selects the tasks, as libtraceevent understands them for each event (-T).
 * Returns as above.
 */
int report_handlers_test(const struct opt_list *filters, const struct about_tasks *tasks, struct event_table *table);

void report_handlers_free(struct report_handlers *handlers);

#endif
