/* SPDX-License-Identifier: MIT */
/*
 * The drain of the kernel's rings: a thread for each CPU takes sub-buffers out of per_cpu/cpuN/trace_pipe_raw of a
 * recording's instance, as they are, into a side file of the spool of its own, so that threads share nothing.
 *
 * What it guarantees. Page k of a side file stands at k times the page size, and is in the file before the next one
 * is asked for, but for those that one splice has under way. Nothing but the write itself is waited for with a
 * sub-buffer in hand; while that takes long, rings that may grow do. What fails on one CPU ends that CPU's drain
 * alone.
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

/* In the order of KERNEL_DRAIN_WORDS, behind the first. */
enum kernel_drain_way {
	KERNEL_DRAIN_BEST,   /* splice, or what works in its place */
	KERNEL_DRAIN_MMAP,   /* the ring is mapped: costs by the event, not by the page, and the ring cannot grow */
	KERNEL_DRAIN_SPLICE, /* nothing is copied to user space */
	KERNEL_DRAIN_READ,
};

#define KERNEL_DRAIN_WORDS "mmap|splice|read"

struct kernel_drain_request {
	const struct message_sink *sink; /* for messages: "record" */
	enum kernel_drain_way way;
	unsigned int priority; /* of SCHED_FIFO; 0: a low one, if it is permitted */
	bool grow;	       /* a ring that is nearly full when its thread comes to it is made larger */
	bool quiet;
};

struct kernel_drain;

/*
 * Make the kernel's entry in the spool, its side files and the texts that are known before the start. Kernel and
 * spool outlive the drain. False: one line was printed; what was made goes with the spool.
 */
bool kernel_drain_open(struct kernel *kernel, struct spool *spool, const struct kernel_drain_request *request,
		       struct kernel_drain **ret_drain);

/*
 * Start the threads. If that is asked for (--hide), what they do is not recorded, nor what this thread does, nor
 * `other`, if that is a thread's id. False: one line was printed.
 */
bool kernel_drain_start(struct kernel_drain *drain, pid_t other);

/* To be called once a second and more. 0; or what ended the drain of a CPU (-ENOSPC), once for each. */
int kernel_drain_run(struct kernel_drain *drain);

/*
 * Once tracing is off: take the rest, end the threads, put the texts that are known now into the spool. 0, or what
 * spool or side files met.
 */
int kernel_drain_finish(struct kernel_drain *drain);

/*
 * What the first ring met whose drain has failed, so far as that was returned by the calls above: 0, or -errno and in
 * `text` what could not be done: "write 'FILE'".
 */
int kernel_drain_failed(const struct kernel_drain *drain, char *text, size_t size);

/* Bytes in the side files. */
uint64_t kernel_drain_bytes(const struct kernel_drain *drain);

/*
 * Events that are lost, of all CPUs: as the kernel counts them, and what is in rings that have failed or was on the way
 * to their side files. Reads statistics, so not too often.
 */
uint64_t kernel_drain_lost(const struct kernel_drain *drain);

/* How it is drained, for the summary: "splice, real-time priority 1"; returns `text`. */
const char *kernel_drain_about(const struct kernel_drain *drain, char *text, size_t size);

/* Takes NULL too; returns NULL. Threads that still run are ended, and leave in the rings what is there. */
struct kernel_drain *kernel_drain_close(struct kernel_drain *drain);

#endif
