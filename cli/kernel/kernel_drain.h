/* SPDX-License-Identifier: MIT */
/*
 * The drain of the kernel's rings: a thread for each CPU takes sub-buffers out of per_cpu/cpuN/trace_pipe_raw of a
 * recording's instance and appends them, unchanged, to its own side file of the spool, so that threads share nothing.
 *
 * Guarantees. Without a limit (-m), page k of a side file is at k times the page size; with a limit, see
 * kernel_limit.h. Each page is in the file before the next one is requested, except for the pages of the splice in
 * progress. A thread that has taken a sub-buffer waits only for its write; if that takes long, rings that may grow are
 * enlarged. An error on one CPU ends only that CPU's drain.
 *
 * All calls come from one thread, the recorder's.
 */
#ifndef CLI_KERNEL_DRAIN_H
#define CLI_KERNEL_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/base/message.h"
#include "cli/kernel/kernel.h"
#include "cli/recording/spool.h"

/* All except the first are in the order of KERNEL_DRAIN_WORDS. */
enum kernel_drain_way {
	KERNEL_DRAIN_BEST,   /* splice, or a fallback */
	KERNEL_DRAIN_MMAP,   /* the ring is mapped: the cost is per event, not per page, and the ring cannot grow */
	KERNEL_DRAIN_SPLICE, /* nothing is copied to user space */
	KERNEL_DRAIN_READ,
};

#define KERNEL_DRAIN_WORDS "mmap|splice|read"

struct kernel_drain_request {
	const struct message_sink *sink; /* for messages: "record" */
	/* name of the buffer in the trace.dat; NULL: the top one, as for the first drain of a spool */
	const char *buffer;
	enum kernel_drain_way way;
	unsigned int priority; /* of SCHED_FIFO; 0: a low one, if it is permitted */
	uint64_t wait_us;      /* the longest time between two checks of a ring; 0: chosen by the drain */
	/* number of drains in the recording, which share memory and descriptors; 0: only this one */
	unsigned int buffers;
	uint64_t limit_kb; /* each side file keeps the last pages of this size in KB; 0: all */
	bool grow;	   /* a ring that its thread finds nearly full is enlarged */
	bool keep_own;	   /* the file keeps the events of the recorder's own threads */
	bool quiet;
};

struct kernel_drain;

/*
 * Make the kernel's entry in the spool, its side files and the texts that are known before the start. Kernel and spool
 * must outlive the drain. False: one line was printed; what was made is removed with the spool.
 */
bool kernel_drain_open(struct kernel *kernel, struct spool *spool, const struct kernel_drain_request *request,
		       struct kernel_drain **ret_drain);

/* Start the threads. False: one line was printed. */
bool kernel_drain_start(struct kernel_drain *drain);

/* Call it at least once a second. 0; or the error that ended the drain of a CPU (-ENOSPC), once for each. */
int kernel_drain_run(struct kernel_drain *drain);

/*
 * Call it once tracing is off: takes the rest, ends the threads, puts the texts that are known now into the spool. 0,
 * or the error of the spool or a side file.
 */
int kernel_drain_finish(struct kernel_drain *drain);

/*
 * The error of the first ring whose drain has failed, if the calls above returned it: 0, or -errno and in `text` the
 * operation that failed: "write 'FILE'".
 */
int kernel_drain_failed(const struct kernel_drain *drain, char *text, size_t size);

/* Bytes in the side files. */
uint64_t kernel_drain_bytes(const struct kernel_drain *drain);

/*
 * Lost events of all CPUs: those counted by the kernel, those in rings that have failed, and those not yet in their
 * side files. Do not call it often: it reads files of statistics.
 */
uint64_t kernel_drain_lost(const struct kernel_drain *drain);

/* How the rings are drained, for the summary: "splice, real-time priority 1"; returns `text`. */
const char *kernel_drain_about(const struct kernel_drain *drain, char *text, size_t size);

/*
 * Takes NULL, too; returns NULL. Threads that are still running are ended, and leave the remaining data in the rings.
 */
struct kernel_drain *kernel_drain_close(struct kernel_drain *drain);

#endif
