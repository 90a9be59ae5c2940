/* SPDX-License-Identifier: MIT */
/*
 * Compares the clocks of a recording (clock_offset.h) at its start and at its end. Making an instance, setting its
 * clock, and removing it each take the kernel some tens of milliseconds. So a separate thread does this, in one
 * instance for both measurements, and the recording does not wait.
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
	unsigned int asked; /* requested measurements that are not finished yet */
	atomic_bool over;
	sem_t ask, measured;
	struct clock_offset *offsets; /* the results so far */
	unsigned int nr;
};

/* Does nothing if programs cannot use the recording's clock. `kernel` must outlive clock_watch_close(). */
void clock_watch_open(const struct message_sink *sink, const struct kernel *kernel, struct clock_watch *ret_watch);

/* Start its thread. */
void clock_watch_start(struct clock_watch *watch);

/* Measure. An error is reported on one line, and does not end a recording. */
void clock_watch_begin(struct clock_watch *watch);

/*
 * Wait for the measurement. Returns the results so far in the form of clock_offsets_text(); NULL: there are none. The
 * caller frees the text.
 */
char *clock_watch_end(struct clock_watch *watch);

void clock_watch_close(struct clock_watch *watch);

#endif
