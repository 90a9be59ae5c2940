/* SPDX-License-Identifier: MIT */
/* --follow of 'recorder report': the events of a file that is still being written, until its writer has finished. */
#ifndef CLI_REPORT_FOLLOW_H
#define CLI_REPORT_FOLLOW_H

#include <signal.h>
#include <stdbool.h>

#include "cli/report/file_watch.h"
#include "format/dat/dat_growth.h"

struct report;

struct report_follow {
	bool wanted;
	struct file_watch watch;
	struct dat_growth growth;
	sigset_t signals; /* signals that end it */
	bool ended;	  /* a signal has ended it, or the output has no reader any more */
};

/*
 * Opens the file once everything before the events has arrived. 0; or the exit status, and one line was printed. If
 * follow->ended is set, the command exits with status 0.
 */
int report_follow_open(struct report *r);
void report_follow_close(struct report_follow *follow);

#endif
