/* SPDX-License-Identifier: MIT */
/*
 * What the file needs of the kernel besides its pages, from tracefs into the spool: with the start what a recovery
 * cannot do without, at the end what has changed since, and what only costs time before.
 */
#ifndef CLI_KERNEL_TEXTS_H
#define CLI_KERNEL_TEXTS_H

#include "cli/kernel/kernel.h"
#include "cli/recording/spool.h"

/*
 * 0; -ENOMEM; what the spool met; or why tracefs does not tell how its pages and events look. Other texts may be
 * absent.
 */
int kernel_texts_begin(const struct kernel *kernel, struct spool *spool, unsigned int process);
int kernel_texts_end(const struct kernel *kernel, struct spool *spool, unsigned int process);

/*
 * What the spool's file never has, of a kernel that still runs: its symbols. Another kernel's are not put in. 0 or
 * -ENOMEM.
 */
int kernel_texts_recover(struct spool *spool, unsigned int process);

#endif
