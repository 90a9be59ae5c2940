/* SPDX-License-Identifier: MIT */
/*
 * Events. This is the only header that an application needs; link with `pkg-config --libs librecorder`.
 *
 *	#include <librecorder/event.h>
 *
 *	REC_EVENT(io, submit, u64(id), s32(fd), string(path));
 *
 *	void submit(struct request *req)
 *	{
 *		REC(io, submit, req->id, req->fd, req->path);
 *	}
 *
 * `recorder record ./program` then records it, and `recorder report`, trace-cmd and KernelShark show
 *
 *	submit: id=17 fd=4 path=/etc/hosts
 *
 * There is nothing to initialise. An event that is off costs two loads, a test and a branch. An event that is on is
 * written in place, without a lock, a system call or an allocation. Any thread and any signal handler may write events.
 * <librecorder/span.h>, which is part of this header, has spans, counters, states and logical tasks;
 * <librecorder/context.h>, also part of it, has values to which all events of a thread belong.
 * Everything works the same in C11, and in C++11 and later.
 */
#ifndef LIBRECORDER_EVENT_H
#define LIBRECORDER_EVENT_H

#include <librecorder/buffer.h>
#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/event_macros.h>
#pragma pop_macro("REC__DETAIL")
#include <librecorder/context.h>
#include <librecorder/lane.h>
#include <librecorder/span.h>
#include <librecorder/version.h>

/*
 * REC_EVENT(system, name, field...)
 *
 * Declare an event, at file scope, in a header or in a source file. The same declaration may appear in any number of
 * files, programs and shared libraries; it declares one event. `system` and `name` are identifiers; tools select events
 * by "system:name" and show the name. There may be 0 to 32 fields:
 *
 *	u8(n) u16(n) u32(n) u64(n)	unsigned numbers: uint8_t ... uint64_t
 *	s8(n) s16(n) s32(n) s64(n)	signed numbers: int8_t ... int64_t
 *	hex8(n) ... hex64(n)		unsigned numbers, shown in hexadecimal
 *	ptr(n)				an address (any object pointer), shown in hexadecimal
 *	flag(n)				bool, shown as 0 or 1
 *	f32(n) f64(n)			float and double, stored as they are
 *	real(n, DECIMALS)		double, stored and shown with 0 to 18 decimals
 *	named(n, VALUE...)		int, shown as the name of its value: named(op, OP_GET, OP_PUT). Other values are
 *					shown in hexadecimal. Up to 60 values: enumerators, or macros that are integer
 *					constants
 *	named(TYPE, n, VALUE...)	the same, stored as TYPE: u8 ... s64
 *	string(n)			const char *; NULL is recorded as "(null)"
 *	stringn(n)			two arguments, const char * and size_t: this many characters
 *	bytes(n)			two arguments, const void * and size_t: shown as hexadecimal digits
 *	flow(n)				uint64_t: events and spans with the same number are linked, in the order of
 *					time, across threads and processes; 0 links nothing. At most one in an event,
 *					and not in key(...) (span.h)
 *	array(TYPE, n, LENGTH)		const TYPE *, from which LENGTH elements are copied; TYPE is u8 ... s64, hex8
 *					... hex64. At most 500 signed or hexadecimal elements of an event are shown
 *
 * A field has the size of its type; there is no padding. string, stringn and bytes take four bytes and their content,
 * strings with a terminating NUL. An event that is longer than a sub-buffer can hold (by default 4048 bytes), or longer
 * than 65535 bytes, is refused and counted as lost.
 *
 * f32 and f64 are shown with six decimals. A number that is too small for them is shown as <0.000001, one of 2^64 or
 * more as >18446744073709551615.000000, and NaN as "nan 0.000000". Fields in JSON, CSV and SQL, filters and exports
 * have the number itself.
 *
 * A real is stored as a 64-bit whole number: the value times 10 to the power of DECIMALS, rounded. Out-of-range values
 * saturate; NaN becomes the smallest number, -9223372036854775808.
 */
#define REC_EVENT(system, ...)                                                                                         \
	REC__ROLE(REC__RULE_EVENT, REC__EACH, #system "\0" #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC_EVENT_FMT(system, name, (format, argument...), field...)
 *
 * The same as REC_EVENT, but the event is shown by a format instead of field by field:
 *
 *	REC_EVENT_FMT(net, accept, ("%s:%u (%s)", host, port, REC->v6 ? "IPv6" : "IPv4"),
 *		      string(host), u16(port), flag(v6));
 *
 * The tools evaluate the format, not the program: format and arguments are what the kernel calls a print format. The
 * name of a string, named or bytes field stands for its text (use %s). The name of any other field, and REC->name,
 * stand for the stored number; for a real this is the fixed-point number, and the name of an f32 or f64 stands for its
 * whole part (use %lld). Arguments are integer expressions of these. In arguments, write numbers without a sign, and
 * put each operation in parentheses, because libtraceevent does not know operator precedence. The functions of
 * libtraceevent can be used as well: __print_symbolic(), __print_flags(), __print_hex(), REC->array[1]. The tools do
 * not know the program's enumerators and macros. Conversions and lengths are those of printf (%hhd for s8, %llu for
 * u64), without %c, without %f and the other floating-point conversions, and without the flags '+' and ' '. The
 * compiler checks the format as that of printf: a name that is not a field, a conversion that does not fit, %f, and a
 * plain %c are errors. For this check the fields become variables, so their names cannot be keywords of the language.
 * If formats that the tools accept do not pass, such as %lu for u64, define REC_NO_FORMAT_CHECK before the include.
 */
#define REC_EVENT_FMT(system, ...)                                                                                     \
	REC__FORMAT(system##__##__VA_ARGS__, rec_last)                                                                 \
	REC__EVENT(REC__EACH_FMT, #system "\0" #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC(system, name, argument...)
 *
 * Record the event, if it is on. The arguments are the values of the fields in their order, converted and checked as
 * those of a function. They are not evaluated when the event is off. Signal-safe, any thread; errno is preserved.
 */
#define REC(system, ...)                                                                                               \
	do {                                                                                                           \
		if (REC_UNLIKELY(REC__FIRST(rec_on_##system##__##__VA_ARGS__, ~)()))                                   \
			REC__CALL(rec_write_##system##__##__VA_ARGS__, 0);                                             \
	} while (0)

/* REC_ON(system, name): true if the event is on; use it to prepare values for it. Signal-safe, any thread. */
#define REC_ON(system, name) (rec_on_##system##__##name())

/*
 * rec_printf(format, argument...)
 *
 * Record a text without a declaration. The format, a string literal, is stored once. Each event holds the arguments in
 * binary; readers format the text. The event is called "ftrace:bprint", like that of the kernel's trace_printk, and is
 * switched by this name. Up to 32 conversions and 1000 bytes of arguments; longer strings are cut. A format of more
 * than about 2000 bytes, of more than 32 conversions, or with %n is recorded as "(rec_printf: a format that cannot be
 * recorded)". Any thread. Signal-safe if the arguments are integers, pointers or strings. Other conversions (%e %f %g
 * %a %lc %ls %m, '*' as a width or as the precision of an integer, a width of %c or %p, flags other than '0') call
 * snprintf() immediately, and are not signal-safe; in place of such a number without room, "(too long)" is recorded.
 */
#define rec_printf(...)                                                                                                \
	do {                                                                                                           \
		static struct rec_printf_site rec_site;                                                                \
		if (REC_UNLIKELY(rec_printf_on()))                                                                     \
			rec_printf_write(&rec_site, __func__, __LINE__, "" __VA_ARGS__);                               \
	} while (0)

#endif
