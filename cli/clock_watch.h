/* SPDX-License-Identifier: MIT */
/*
 * The clocks of a recording, compared (clock_offset.h) at its start and at its end. To make an instance, to give it a
 * clock, to remove it: each takes the kernel some tens of milliseconds. So a thread of its own does it, which the
 * recording does not wait for, nor shows.
 */
#ifndef CLI_CLOCK_WATCH_H
#define CLI_CLOCK_WATCH_H

#include <pthread.h>

#include "cli/clock_text.h"
#include "cli/kernel.h"

struct clock_watch {
	const char *command;
	struct kernel *kernel; /* NULL: there is nothing to compare */
	pthread_t thread;
	bool runs;
	struct clock_offset *offsets; /* all that has been found so far */
	unsigned int nr;
};

/* Nothing is done if the recording's clock is none that programs have. `kernel` stays until clock_watch_close(). */
void clock_watch_open(const char *command, struct kernel *kernel, struct clock_watch *ret_watch);

/* Measure. What goes wrong is said in one line, and is no reason to end a recording. */
void clock_watch_begin(struct clock_watch *watch);

/* Wait for it. What was found, by now, as clock_offsets_text() has it; NULL: nothing. The caller frees it. */
char *clock_watch_end(struct clock_watch *watch);

void clock_watch_close(struct clock_watch *watch);

#endif
