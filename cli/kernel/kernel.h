/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of a recording: a tracefs instance of our own, made, set and removed through libtracefs.
 *
 * Nothing else in tracefs is written: neither the top-level instance nor another process's, and in our own only what
 * was requested, and the options that it takes over from the top level. kernel_close() removes the instance; if the
 * recorder was killed, the next one removes it (kernel_instance.h).
 */
#ifndef CLI_KERNEL_H
#define CLI_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/base/message.h"
#include "cli/kernel/kernel_request.h"

struct kernel;

/*
 * Find tracefs, mounting it if necessary, make the instance and set everything requested except triggers, with tracing
 * off. `request` must outlive it. `suffix` is the end of the instance's name, "" or "-" and letters: a recording may
 * have several. 0; or -errno, and one line was printed: -EACCES, no rights (nothing was done: programs can be recorded
 * without the kernel); anything else is an error of the request or of the machine. kernel_close() removes the
 * instance; it takes NULL and returns NULL.
 */
int kernel_open(const struct message_sink *sink, const struct kernel_request *request, const char *suffix,
		struct kernel **ret_kernel);
struct kernel *kernel_close(struct kernel *kernel);

/* Set tracing_on, then the triggers. 0; or -errno, and one line was printed. */
int kernel_start(struct kernel *kernel);

/* Clear tracing_on. 0 or -errno, nothing printed. */
int kernel_stop(struct kernel *kernel);

/*
 * Call it after kernel_stop(), at the end: clears the triggers, one of which (traceon) may have set tracing_on again,
 * and stops again. Errors as above.
 */
int kernel_settle(struct kernel *kernel);

/*
 * Record these threads, too. For -F, because COMMAND's pid is not known earlier: call it between COMMAND's fork and
 * exec. Their children are recorded, too, if the request asks for it. Pass all threads in one call, because each call
 * takes the kernel some tens of milliseconds. 0 or -errno (-ESRCH: a thread has ended), nothing printed.
 */
int kernel_add_tids(struct kernel *kernel, const pid_t *tids, unsigned int nr);

/* ------------------------------------------------------------------------------------------------- what it is */

/* The directory of its instance, below which are per_cpu/cpuN/trace_pipe_raw and the rest. */
const char *kernel_dir(const struct kernel *kernel);

/* The name of its clock, as in trace_clock: "x86-tsc", "mono". */
const char *kernel_clock(const struct kernel *kernel);

/* Bytes of a sub-buffer with its header, as trace_pipe_raw returns it. */
unsigned int kernel_page_size(const struct kernel *kernel);

/* Numbers of the CPUs that are recorded, ascending: those of the mask (-M), otherwise all in tracefs. */
const unsigned int *kernel_cpus(const struct kernel *kernel, unsigned int *ret_nr);

/* KB of each CPU's ring. */
uint64_t kernel_buffer_kb(const struct kernel *kernel);

/* -------------------------------------------------------------------------------------------------- its texts */

/*
 * Read a whole text file of the instance, such as "per_cpu/cpu0/stats", or of tracefs' top level, such as
 * "saved_cmdlines". It ends with a NUL that *ret_size does not count; the caller frees it. 0; -ENOENT, -EACCES, -ENOMEM
 * ...
 */
int kernel_text(const struct kernel *kernel, const char *file, char **ret_text, size_t *ret_size);
int kernel_top_text(const char *file, char **ret_text, size_t *ret_size);

/*
 * Call `each` with the format of every event of the recorded systems, first of "ftrace", then system by system. `each`
 * returns 0; any other value ends the loop and is returned. 0, -ENOMEM or -EIO.
 */
typedef int kernel_format_fn(void *data, const char *system, const char *event, const char *text, size_t size);
int kernel_formats(const struct kernel *kernel, kernel_format_fn *each, void *data);

/* The depth of calls that was requested, if the instance cannot limit it; 0: it can, or no limit was requested. */
uint64_t kernel_graph_depth(const struct kernel *kernel);

#endif
