/* SPDX-License-Identifier: MIT */
/* The texts of merged files: symbols, printk formats, names of threads. */
#ifndef CLI_MERGE_TEXTS_H
#define CLI_MERGE_TEXTS_H

#include "cli/files/merge_files.h"

/* Call it once the clocks are known: finds the addresses that mean the same in all files. 0; -ENOMEM. */
int merge_check_texts(struct merge *merge);

/* Write the texts. 0; -ENOMEM; or the -errno of the output. */
int merge_put_texts(const struct merge *merge);

#endif
