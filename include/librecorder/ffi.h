/* SPDX-License-Identifier: MIT */
/*
 * For other languages than C and C++: librecorder.so holds each inline function of the headers under its own name
 * (rec_reserve, rec_commit, rec_handle_get, rec_event_on, ...), and the functions here stand for the macros: events are
 * declared at run time and written as bytes.
 */
#ifndef LIBRECORDER_FFI_H
#define LIBRECORDER_FFI_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/event_macros.h>
#pragma pop_macro("REC__DETAIL")

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * REC_EVENT(): declare the event `system`:NAME. `declaration` is what follows the system there: "submit, u64(id),
 * string(path)". Constants that the text only names are passed in the order of their appearance: the LENGTH of an array,
 * the DECIMALS of a real, the number of a named field's values, and these values. The event exists as long as the process;
 * the same declaration gives an event with the same id.
 * Returns 0; -EINVAL: the declaration is invalid, or has other constants; -ENOMEM; -ENOSPC: the event cannot be registered
 * (no buffer, too many events, or the log is full). Any thread; not signal-safe.
 */
int rec_event_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		      struct rec_event **ret_event);

/*
 * REC(): record the event if it is on. `fields` are the `size` bytes after the common fields: the fixed fields without
 * padding, then the bytes of dynamic fields. A string, stringn or bytes field is a u32 among the fixed fields: its low 16
 * bits are the offset of the field's bytes, counted from the beginning of the common fields, which take 8 bytes; its high
 * 16 bits are their number, including the terminating NUL of a string. Returns 1: recorded, or suppressed by a filter. 0:
 * the event is off. -EINVAL: the fixed fields take more than `size`. -EBUSY: lost and counted. Any thread; signal-safe.
 */
int rec_event_write(struct rec_event *event, const void *fields, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
