/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/stat of a process or thread. */
#ifndef CLI_PROC_STAT_H
#define CLI_PROC_STAT_H

#include "librecorder/core/proc_stat.h"

/*
 * Read the file `path`, relative to the directory `dir`. 0; -EPROTO: it is not such a file; or the errno of open or
 * read.
 */
int proc_stat_read(int dir, const char *path, struct rec_proc_stat *ret_stat);

/* Reads the same file of a process or thread. As above; -ENOENT: no process or thread has this number. */
int proc_stat_of(uint32_t pid, struct rec_proc_stat *ret_stat);

/* Whether a process or thread is stopped by a signal, or by a debugger. False also if it does not exist. */
bool proc_stat_halted(uint32_t pid);

#endif
