/* SPDX-License-Identifier: MIT */
/*
 * The last pages of the kernel's rings, in memory, for commands that show the kernel's events repeatedly while it is
 * traced. Nothing waits for a reader: between two calls the rings overwrite their oldest events, which counts as a
 * loss.
 */
#ifndef CLI_KERNEL_LAST_H
#define CLI_KERNEL_LAST_H

#include "cli/base/message.h"
#include "cli/kernel/kernel.h"
#include "cli/recording/spool.h"

struct kernel_last;

/*
 * Begin to take pages from this kernel, which must outlive the result. `texts` is the path of a file for the kernel's
 * texts, which is removed at once. `bytes` bytes of pages are kept for each CPU. 0; or -errno, and one line was
 * printed. kernel_last_close() takes NULL, returns NULL.
 */
int kernel_last_open(const struct message_sink *sink, const struct kernel *kernel, const char *texts, size_t bytes,
		     struct kernel_last **ret_last);
struct kernel_last *kernel_last_close(struct kernel_last *last);

/*
 * Take what the rings hold, and add all pages that are kept to the spool, with the kernel's entry and texts and the
 * threads' present names. Events of this process's threads, as they were at the start, are left out by the weave. 0 or
 * -errno.
 */
int kernel_last_add(struct kernel_last *last, struct spool *spool);

#endif
