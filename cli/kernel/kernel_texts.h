/* SPDX-License-Identifier: MIT */
/*
 * Copies the kernel's texts that the file needs from tracefs to the spool: at the start the texts without which a
 * recovery is impossible; at the end the texts that have changed since, and those that would have delayed the start.
 */
#ifndef CLI_KERNEL_TEXTS_H
#define CLI_KERNEL_TEXTS_H

#include "cli/kernel/kernel.h"
#include "cli/recording/spool.h"

/*
 * 0; -ENOMEM; the error of the spool; or the errno of reading the descriptions of pages and events in tracefs. If
 * another text cannot be read, it is left out.
 */
int kernel_texts_begin(const struct kernel *kernel, struct spool *spool, unsigned int process);
int kernel_texts_end(const struct kernel *kernel, struct spool *spool, unsigned int process);

/*
 * Note why switches will be missing: the threads to which the recording is restricted, and the filter of sched_switch.
 * Call it before the recording starts and after all threads were added: the kernel forgets those that end. Errors as
 * above.
 */
int kernel_texts_some(const struct kernel *kernel, struct spool *spool, unsigned int process);

/* Replace the names of tasks, and printk_formats, which grows with modules, by the present ones. 0 or -errno. */
int kernel_texts_names(struct spool *spool, unsigned int process);

/*
 * Note the recorder's present threads: their events are left out of the file (format/weave/hidden_threads.h). In a pid
 * namespace nothing is noted, because there the kernel's numbers of the threads are not known. Errors as above.
 */
int kernel_texts_own_threads(struct spool *spool, unsigned int process);

/*
 * If the kernel is still the one that was recorded, add its symbols, which are never stored in a spool. 0 or -ENOMEM.
 */
int kernel_texts_recover(struct spool *spool, unsigned int process);

#endif
