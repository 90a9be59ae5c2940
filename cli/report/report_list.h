/* SPDX-License-Identifier: MIT */
/*
 * The lists of parts of a file that 'recorder report' prints instead of events, as trace-cmd report does for the same
 * flags.
 */
#ifndef CLI_REPORT_LIST_H
#define CLI_REPORT_LIST_H

#include <stdbool.h>

struct report;

/* The command line. If several lists are requested, only the first of them is printed, in this order. */
struct report_lists {
	bool page_size;
	bool endian;
	bool formats;
	const char *formats_of; /* a regular expression; NULL: not requested */
	bool check;
	bool functions;
	bool printk;
	bool events;
	bool cpus;
	bool first;
	bool last;
	bool version;
	bool uname;
	bool stat;
};

bool report_lists_any(const struct report_lists *lists);

/* Print the list. 0; or the exit status, and one line was printed, unless the status itself is the result. */
int report_list(struct report *r);

/*
 * The same for several files. Lists that trace-cmd prints for each file are printed for each; other lists only for the
 * first file.
 */
int report_list_several(struct report *all, unsigned int nr);

#endif
