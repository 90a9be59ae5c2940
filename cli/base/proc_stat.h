/* SPDX-License-Identifier: MIT */
/* The contents of /proc/PID/stat for a process or thread. */
#ifndef CLI_PROC_STAT_H
#define CLI_PROC_STAT_H

#include <stdint.h>

struct proc_stat {
	char state; /* a letter, see proc(5) */
	uint64_t start_time; /* in clock ticks since the machine's start */
};

/*
 * Read the file `path`, relative to the directory `dir`. 0; -EPROTO: it is not such a file; or the errno of open or
 * read.
 */
int proc_stat_read(int dir, const char *path, struct proc_stat *ret_stat);

#endif
