/* SPDX-License-Identifier: MIT */
/*
 * The kernel half of a recording: its options, its instances and its drains. The other half is the programs. If the
 * kernel is not recorded, these functions do nothing, so that their callers need not ask.
 */
#ifndef CLI_RECORD_KERNEL_H
#define CLI_RECORD_KERNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/kernel/clock_watch.h"
#include "cli/kernel/kernel.h"
#include "cli/kernel/kernel_drain.h"
#include "cli/kernel/kernel_pids.h"
#include "cli/record/kernel_options.h"
#include "cli/record/record_buffers.h"
#include "cli/recording/spool.h"

struct record_kernel {
	struct record_buffers buffers; /* -B; without it, the top one alone */
	struct opt_call begin_buffer;
	unsigned int drain_way; /* place among KERNEL_DRAIN_WORDS; UINT32_MAX: not given */
	uint64_t priority;
	bool keep_own; /* --no-filter */
	uint64_t wait_us; /* -s; 0: chosen by the drain */
	uint64_t limit_kb; /* -m; 0: none */
	struct kernel_pids pids;
	struct spool *spool; /* the spool into which it drains */
	struct clock_watch clocks;
	int stop_err; /* the error of switching tracing off; 0: none */
	bool leaves; /* a thread removes the instances */
	pthread_t leaver;
};

#define RECORD_KERNEL_INIT { .drain_way = UINT32_MAX }

/* The options of the kernel half. An option that sets one buffer applies to the last -B before it. */
#define OPT_KERNEL(half)                                                                                               \
	OPT_CALL('B', "buffer", "NAME", "record what the options after it select in a buffer of its own",              \
		 &(half).begin_buffer),                                                                                \
	OPT_STRING('p', "tracer", "TRACER", "trace functions with this tracer of the kernel",                          \
		 &(half).buffers.now.request.tracer),                                                                  \
	OPT_LIST('l', "function", "FUNCTION", "with -p: only this function; * and ?; may be repeated",                 \
		 &(half).buffers.now.functions),                                                                       \
	OPT_LIST('n', "no-function", "FUNCTION", "with -p: not this function", &(half).buffers.now.functions),         \
	OPT_LIST('g', "graph", "FUNCTION", "with -p function_graph: this function and what it calls",                  \
		 &(half).buffers.now.functions),                                                                       \
	OPT_STRING(0, "module", "MODULE", "with -p: only functions of this module",                                    \
		 &(half).buffers.now.request.module),                                                                  \
	OPT_NUMBER(0, "max-graph-depth", "N", 1, 1u << 20, "with -p function_graph: at most N calls deep",             \
		 &(half).buffers.now.request.graph_depth),                                                             \
	OPT_FLAG('T', "stacktrace", "record the kernel's stack with each of its events",                               \
		 &(half).buffers.now.request.stacktrace),                                                              \
	OPT_FLAG('i', "ignore-missing", "skip an -e that this kernel has no event for",                                \
		 &(half).buffers.now.request.ignore_missing),                                                          \
	OPT_FLAG('F', "only-command", "record only the kernel's events that COMMAND causes",                           \
		 &(half).buffers.now.request.only_command),                                                            \
	OPT_FLAG('c', "event-fork", "with -F or -P: also those of threads and children started later",                 \
		 &(half).buffers.now.request.follow),                                                                  \
	OPT_STRING('M', "cpumask", "MASK",                                                                             \
		 "record the kernel's events of these CPUs only, a mask in hexadecimal",                               \
		 &(half).buffers.now.request.cpumask),                                                                 \
	OPT_NUMBER('m', "max-size", "KB", 1, UINT64_C(1) << 40,                                                        \
		 "keep only the last KB of each CPU's events of the kernel", &(half).limit_kb),                        \
	OPT_LIST('O', "option", "OPTION", "set an option of the kernel's tracing, or clear it: noOPTION",              \
		 &(half).buffers.now.options),                                                                         \
	OPT_CHOICE(0, "drain", KERNEL_DRAIN_WORDS, "how the kernel's rings are read (splice)",                         \
		 &(half).drain_way),                                                                                   \
	OPT_NUMBER('r', "priority", "N", 1, 99,                                                                        \
		 "real-time priority of the threads that read events (1, if permitted)", &(half).priority),            \
	OPT_FLAG(0, "no-filter", "keep the events of the recorder's own threads", &(half).keep_own)

/* Check whether its options contradict each other. NULL: they do not; otherwise the message. */
const char *record_kernel_wrong(struct record_kernel *half, bool command, bool processes);

/*
 * Find the processes whose events are recorded: those selected by the word in `which`, or only the threads with these
 * ids, if there are any. With `programs`, processes that use librecorder. False: one line was printed.
 */
bool record_kernel_find(const struct message_sink *sink, struct record_kernel *half, const struct programs *which,
			const char *threads, bool programs);

/*
 * Remove what killed recorders have left; then make the instance and set it. 0; or -errno, and one line was printed:
 * -EACCES, no rights. Call record_kernel_close() in any case.
 */
int record_kernel_open(const struct message_sink *sink, struct record_kernel *half);
void record_kernel_close(struct record_kernel *half);

/*
 * Begin to remove the instances in tracefs, in parallel with other work: this takes the kernel a tenth of a second.
 * From then on only record_kernel_close() may be called, which waits for it.
 */
void record_kernel_leave(struct record_kernel *half);

/* Drain into this spool, which must outlive it. False: one line was printed. */
bool record_kernel_drain(const struct message_sink *sink, struct record_kernel *half, struct spool *spool);

/* Start recording; called just before exec. `child` is 0 if there is no child. False: one line was printed. */
bool record_kernel_start(const struct message_sink *sink, struct record_kernel *half, pid_t child);

/* As kernel_drain_run() and, with tracing off, kernel_drain_finish(), for all buffers. */
int record_kernel_run(struct record_kernel *half);
int record_kernel_finish(struct record_kernel *half);

/*
 * Whether the kernel is recorded. The functions after it return results of its drains, as in kernel_drain.h;
 * record_kernel_failed() also the error of switching tracing off.
 */
bool record_kernel_is_on(const struct record_kernel *half);
uint64_t record_kernel_bytes(const struct record_kernel *half);
uint64_t record_kernel_lost(const struct record_kernel *half);
int record_kernel_failed(const struct record_kernel *half, char *text, size_t size);
void record_kernel_about(const struct record_kernel *half, char *text, size_t size);

#endif
