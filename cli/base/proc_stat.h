/* SPDX-License-Identifier: MIT */
/* The contents of /proc/PID/stat for a process or thread. */
#ifndef CLI_PROC_STAT_H
#define CLI_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
	char state; /* a letter, see proc(5) */
	uint64_t nr_threads;
	uint64_t start_time; /* in clock ticks since the machine's start */
};

/*
 * It has ended, though its parent may not have asked for it yet. The first thread of a process may end before the
 * others: then it is a zombie, but the process is alive.
 */
static inline bool proc_stat_is_dead(const struct proc_stat *stat)
{
	return (stat->state == 'Z' && stat->nr_threads <= 1) || stat->state == 'X';
}

/*
 * Read the file `path`, relative to the directory `dir`. 0; -EPROTO: it is not such a file; or the errno of open or
 * read.
 */
int proc_stat_read(int dir, const char *path, struct proc_stat *ret_stat);

/* The same of a process or thread, by its number; -ENOENT: there is none. */
int proc_stat_of(uint32_t pid, struct proc_stat *ret_stat);

#endif
