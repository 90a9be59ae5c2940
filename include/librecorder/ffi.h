/* SPDX-License-Identifier: MIT */
/*
 * For other languages than C and C++: librecorder.so holds each inline function of the headers under its own name
 * (rec_reserve, rec_commit, rec_handle_get, rec_event_on, ...). The functions here replace the macros: events are
 * declared at run time, and written value by value (struct rec_fields) or as bytes (rec_event_write).
 */
#ifndef LIBRECORDER_FFI_H
#define LIBRECORDER_FFI_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/event_macros.h>
#include <librecorder/detail/span_macros.h>
#pragma pop_macro("REC__DETAIL")

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * As REC_EVENT(): declare the event `system`:NAME. `declaration` is what follows the system in REC_EVENT(): "submit,
 * u64(id), string(path)". Its constants are passed in the order of their appearance, even if the text has them as
 * numbers: the LENGTH of an array, the DECIMALS of a real, the number of a named field's values, and these values.
 * Texts and constants are copied. *ret_event belongs to the library and exists as long as the process; the same
 * declaration gives an event with the same id. Returns 0; -EINVAL: the declaration is invalid, or has other constants;
 * -ENOMEM; -ENOSPC: the event cannot be registered (no buffer, too many events, or the log is full); -EBUSY: as
 * rec_enable(). Any thread; not signal-safe. It allocates memory, so an allocator must not call it.
 */
int rec_event_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		      struct rec_event **ret_event);

/*
 * Events with a meaning (span.h) are declared the same way, with a word before the name:
 *
 *	REC_COUNTER(mem, heap, s64(bytes))	"counter:heap, s64(bytes)"
 *	REC_STATE(conn, state, ...)		"state:state, key(u64(id)), s32(value)"
 *	REC_TIMED(io, flush, u64(bytes))	"timed:flush, u64(bytes)". The first value of a record is the duration:
 *						the difference of two rec_clock_mono()
 *
 * In place of REC_TASK(), call these functions, of <librecorder/event.h>; `name` is copied, at most 255 bytes, and NULL
 * means "". Any thread; signal-safe, except for the first call in a process and, if that could not declare the
 * event for lack of memory, the next one:
 *
 *	if (rec_task_on())
 *		rec_task_write(uint64_t id, const char *name);
 */

/*
 * As REC_SPAN() and REC_SPAN_KEYED(): declare the two events of a span. `declaration` is "request, u64(id),
 * end(s32(result))", with constants for all its fields. A record of *ret_begin has the values of the fields outside of
 * end(...), one of *ret_end the key and what is in end(...). Records of these two events take the place of REC_BEGIN()
 * and REC_END(); a binding can build REC_SCOPE() from them. Returns the same values as rec_event_declare(); if only the
 * end cannot be declared, the begin stays declared. Any thread; not signal-safe.
 */
int rec_span_declare(const char *system, const char *declaration, const int64_t *constants, unsigned int nr_constants,
		     struct rec_event **ret_begin, struct rec_event **ret_end);

/*
 * As REC(): record the event if it is on. `fields` are the `size` bytes after the common fields: the fixed fields
 * without padding, then the bytes of dynamic fields. A string, stringn or bytes field is a u32 among the fixed fields:
 * its low 16 bits are the offset of the field's bytes, counted from the beginning of the common fields, which take 8
 * bytes; its high 16 bits are their number, including the terminating NUL of a string. Returns 1: recorded, or
 * suppressed by a filter. 0: the event is off. -EINVAL: the fixed fields take more than `size`. -EBUSY: lost and
 * counted; or, not counted, this process is a copy made by a raw clone in a signal handler during the call, and the
 * event has a filter. Without a filter such a copy commits its parent's event in the parent's buffer: it must record an
 * event of its own before it returns from the handler (librecorder(3)).
 * Any thread; signal-safe.
 */
int rec_event_write(struct rec_event *event, const void *fields, size_t size);

/*
 * A record that is put together value by value, so that a binding need not know the layout:
 *
 *	unsigned char room[512];
 *	struct rec_fields fields;
 *
 *	rec_fields_begin(&fields, event, room, sizeof(room));
 *	rec_fields_put_unsigned(&fields, 17);
 *	rec_fields_put_text(&fields, path, strlen(path));
 *	rec_fields_write(&fields);
 *
 * Values are put in the order of the declaration. Each is checked against its field. The first mistake is kept: all
 * later calls return it, and nothing is recorded, so that checking the result of rec_fields_write() is sufficient. If
 * the event is off when the record begins, all calls return 0 and ignore their values. Nothing is allocated. All these
 * functions are signal-safe; different threads use different structs.
 *
 * Only the library uses the members. The size of the struct never changes.
 */
struct rec_fields {
	struct rec_event *event;
	unsigned char *room;
	uint32_t size;	 /* of the room */
	uint32_t used;	 /* bytes of the room that are filled */
	uint32_t nr_put; /* number of values that were put */
	int32_t error;
	uint64_t reserved[3];
};

REC_ABI_ASSERT(sizeof(struct rec_fields) == (__SIZEOF_POINTER__ == 8 ? 56 : 48), "librecorder/ffi.h: rec_fields");

/*
 * Begin a record of `event`, which rec_event_declare() returned, in the `size` bytes at `room`. They must exist until
 * rec_fields_write(), and be sufficient for what rec_event_write() takes: the fixed fields, and the bytes of the
 * dynamic fields with the NULs of strings. Returns 1: the event is on. 0: it is off. -ENOSPC: the fixed fields need
 * more room. Any thread; signal-safe.
 */
int rec_fields_begin(struct rec_fields *fields, struct rec_event *event, void *room, size_t size);

/*
 * Put the next value. Any thread; signal-safe. All return 0 or the first mistake:
 * -EINVAL	the next field is of another kind, or all fields have been put
 * -ERANGE	the number is out of the range of the field's type
 * -ENOSPC	the room is too small
 */
int rec_fields_put_unsigned(struct rec_fields *fields,
			    uint64_t value); /* u8..u64, hex8..hex64, ptr, flag, flow, named if unsigned */
int rec_fields_put_signed(struct rec_fields *fields, int64_t value);	/* s8..s64, named unless its type is unsigned */
int rec_fields_put_real(struct rec_fields *fields, double value); /* real: out-of-range values saturate; f32, f64 */

/*
 * string and stringn: `size` characters, to which a NUL is added. If `text` is NULL, "(null)" is recorded. Any thread;
 * signal-safe.
 */
int rec_fields_put_text(struct rec_fields *fields, const char *text, size_t size);

/* bytes. If `bytes` is NULL, the field is empty. Any thread; signal-safe. */
int rec_fields_put_bytes(struct rec_fields *fields, const void *bytes, size_t size);

/*
 * array: all its elements. -EINVAL also if they have another size or number than declared. Any thread; signal-safe.
 */
int rec_fields_put_array(struct rec_fields *fields, const void *elements, size_t element_size, size_t count);

/*
 * Record the values. Returns what rec_event_write() returns, or the first mistake. Also -EINVAL: a field has no value.
 * Called again, it records the same values again. Any thread; signal-safe.
 */
int rec_fields_write(struct rec_fields *fields);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
