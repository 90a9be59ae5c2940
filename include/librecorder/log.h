/* SPDX-License-Identifier: MIT */
/*
 * Reading a buffer's log: a pure function over memory, which need not be trusted. Safe from any thread and from signal
 * handlers.
 */
#ifndef LIBRECORDER_LOG_H
#define LIBRECORDER_LOG_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The record at *offset of a log of `size` bytes (aligned to 8); advances *offset. NULL: the end, or no further valid
 * record. Everything after the record header lies within the record, and texts are checked to end with NUL. Records of
 * kinds that this version does not know are returned like others.
 */
const struct rec_log_record *rec_log_next(const void *log, size_t size, size_t *offset);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
