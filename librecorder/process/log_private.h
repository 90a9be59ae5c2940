/* SPDX-License-Identifier: MIT */
/* Writing to this process's own log. */
#ifndef LOG_PRIVATE_H
#define LOG_PRIVATE_H

#include <librecorder/detail/abi.h>

/*
 * Append a complete record. The caller holds the process lock. 0; -ENXIO: no buffer; -ENOSPC: the log is full, or the
 * half of it that names of threads may fill; or the error of allocating its memory. These errors are counted.
 * Signal-safe.
 */
int rec_log_append_locked(const struct rec_log_record *record);

/* Count an event, a name, a call site or a condition for which there is no room in the buffer. Signal-safe. */
void rec_log_count_lost(void);

/* Begin with the empty log of a new buffer, which has `size` bytes. The caller holds the process lock. */
void rec_log_begin(unsigned char *log, uint64_t size);

#endif
