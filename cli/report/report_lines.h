/* SPDX-License-Identifier: MIT */
/* The lines of 'recorder report': the selected events of a file in order, each as text on stdout. */
#ifndef CLI_REPORT_LINES_H
#define CLI_REPORT_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/report/report_select.h"
#include "cli/report/report_wakeup.h"
#include "format/dat/dat_merge.h"
#include "format/io/number_map.h"
#include "format/text/event_print.h"

struct report_lines {
	struct event_printer *printer;
	struct dat_merge *merge;
	struct report_select *select;
	bool escapes;	 /* control characters are shown, not sent to the terminal */
	bool at_once;	 /* each line is printed before the next event is read */
	struct report_wakeup *wakeup; /* NULL: without latencies of wake-ups */
	bool ts_check;	 /* report times that go back */
	struct number_map last; /* for ts_check: the time of the last event, by buffer and CPU */
	const struct dat_buffer *buffers;
	int write_error; /* errno of the first write that failed */
	uint64_t events; /* number of printed events */
};

/* Print all events of the merge, until stdout fails. 0; -ENOMEM. */
int report_lines_print(struct report_lines *lines);

/*
 * Stores the error of a failed write: stdout remembers only that a write failed, not the errno. True: no write failed.
 * Call it directly after the write, before anything else can change errno.
 */
bool report_lines_written(struct report_lines *lines);

/* Print on standard error how many of the events libtraceevent has printed (format/print). */
void report_lines_stats(const struct report_lines *lines);

#endif
