/* SPDX-License-Identifier: MIT */
/* Which process a thread belongs to. trace.dat does not say it; recordings of recorder say it for programs, in their notes. */
#ifndef FORMAT_MODEL_PROCESS_H
#define FORMAT_MODEL_PROCESS_H

#include "format/dat/dat_read.h"
#include "format/io/number_map.h"

struct model_processes {
	struct number_map by_thread; /* process plus one */
};

/* 0; -ENOMEM. model_processes_close() also takes what was never opened, all zeros. */
int model_processes_open(const struct dat_file *file, struct model_processes *ret_processes);
void model_processes_close(struct model_processes *processes);

/* The process of a thread; -1: the file does not say it. */
int32_t model_process(const struct model_processes *processes, int32_t tid);

#endif
