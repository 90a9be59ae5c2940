/* SPDX-License-Identifier: MIT */
/*
 * For other languages than C and C++: librecorder.so holds each inline function of the headers under its own name
 * (rec_reserve, rec_commit, rec_handle_get, rec_event_on, ...), and the functions here stand for the macros: events are
 * declared at run time and written as bytes.
 */
#ifndef LIBRECORDER_FFI_H
#define LIBRECORDER_FFI_H

#include <librecorder/event_macros.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * REC_EVENT(): declare the event `system`:NAME. `declaration` is what follows the system there: "submit, u64(id),
 * string(path)". Constants that the text only names are given in the order in which they stand there: the LENGTH of an
 * array, the DECIMALS of a real, the number of a named field's values and the values. The event lives as long as the
 * process; the same declaration gives one with the same id.
 * 0; -EINVAL: no such declaration, or other constants; -ENOMEM; -ENOSPC: it cannot be registered (no buffer, too many
 * events, the log is full). Any thread; not signal-safe.
 */
int rec_event_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		      struct rec_event **ret_event);

/*
 * REC(): record the event if it is on. `fields` are the `size` bytes behind the common fields: the fixed fields one
 * after the other without padding, then what is dynamic. A string, stringn or bytes field is a u32 among the fixed
 * ones: the place of its bytes in the event, counted from the common fields, which take 8 bytes; and their number
 * << 16, an ending NUL of a string included. 1: recorded, unless a filter kept it out. 0: the event is off.
 * -EINVAL: less than the fixed fields take. -EBUSY: lost, and counted. Any thread; signal-safe.
 */
int rec_event_write(struct rec_event *event, const void *fields, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
