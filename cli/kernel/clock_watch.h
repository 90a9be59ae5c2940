/* SPDX-License-Identifier: MIT */
/*
 * The clocks of a recording, compared (clock_offset.h) at its start and at its end. To make an instance, to give it a
 * clock, to remove it: each takes the kernel some tens of milliseconds. So a thread of its own does it, in one
 * instance for both, and the recording does not wait for it.
 */
#ifndef CLI_CLOCK_WATCH_H
#define CLI_CLOCK_WATCH_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "cli/base/message.h"
#include "format/dat/dat_notes.h"
#include "cli/kernel/kernel.h"

struct clock_watch {
	const struct message_sink *sink;
	const char *clock; /* the kernel's; NULL: there is nothing to compare */
	pthread_t thread;
	bool runs;
	pid_t tid;
	unsigned int asked; /* measurements that nobody has waited for yet */
	atomic_bool over;
	sem_t ask, told;
	struct clock_offset *offsets; /* all that has been found so far */
	unsigned int nr;
};

/* Nothing is done if the recording's clock is none that programs have. `kernel` stays until clock_watch_close(). */
void clock_watch_open(const struct message_sink *sink, const struct kernel *kernel, struct clock_watch *ret_watch);

/* Start its thread. Returns the thread's id; 0: there is none. */
pid_t clock_watch_start(struct clock_watch *watch);

/* Measure. What goes wrong is said in one line, and is no reason to end a recording. */
void clock_watch_begin(struct clock_watch *watch);

/* Wait for it. What was found, by now, as clock_offsets_text() has it; NULL: nothing. The caller frees it. */
char *clock_watch_end(struct clock_watch *watch);

void clock_watch_close(struct clock_watch *watch);

#endif
