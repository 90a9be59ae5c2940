/* SPDX-License-Identifier: MIT */
/*
 * Which process a thread belongs to. trace.dat has no place for it; recordings of recorder state it for programs, in
 * their notes.
 */
#ifndef FORMAT_DAT_PROCESS_H
#define FORMAT_DAT_PROCESS_H

#include "format/dat/dat_read.h"
#include "format/io/number_map.h"

struct dat_processes {
	struct number_map by_thread; /* by thread: the process plus one */
};

/*
 * If the list has several processes for a thread, the last is valid, because they are in the order in which they began.
 * 0; -ENOMEM. dat_processes_close() also accepts a struct of zeros that was never opened.
 */
int dat_processes_open(const struct dat_file *file, struct dat_processes *ret_processes);
void dat_processes_close(struct dat_processes *processes);

/* The process of a thread; -1: the file does not state it. */
int32_t dat_process(const struct dat_processes *processes, int32_t tid);

#endif
