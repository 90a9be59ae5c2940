/* SPDX-License-Identifier: MIT */
/* What /proc/PID/stat tells of a process or thread. */
#ifndef CLI_PROC_STAT_H
#define CLI_PROC_STAT_H

#include <stdint.h>

struct proc_stat {
	char state; /* a letter, see proc(5) */
	uint64_t start_time; /* in clock ticks since the machine's start */
};

/* Of the file `path`, from the directory `dir` on. 0; -EPROTO: it is none; or open's and read's errno. */
int proc_stat_read(int dir, const char *path, struct proc_stat *ret_stat);

#endif
