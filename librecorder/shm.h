/* SPDX-License-Identifier: MIT */
/* What shm.c offers to the making and the reading of buffers alike. */
#ifndef SHM_H
#define SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * When a process started, in clock ticks since boot: field 22 of /proc/PID/stat. 0 or -errno; -ESRCH: it is over, though its
 * parent has not asked for it yet.
 */
int rec_process_start_time(pid_t pid, uint64_t *ret_start_time);

/* As rec_buffer_dir(), but returns the directory's descriptor. */
int rec_buffer_dir_open(bool create, char *path, size_t size);

/* Whether this very process still runs. */
bool rec_process_is_alive(uint32_t pid, uint64_t start_time);

#endif
