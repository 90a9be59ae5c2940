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
 * There is nothing to initialise. An event that is off costs two loads, a test and a branch; one that is on is written
 * in place, without a lock, a system call or an allocation, and may be written from any thread and any signal handler.
 * Everything works the same in C11 and C++17.
 */
#ifndef LIBRECORDER_EVENT_H
#define LIBRECORDER_EVENT_H

#include <librecorder/buffer.h>
#include <librecorder/event_macros.h>
#include <librecorder/lane.h>

/*
 * REC_EVENT(system, name, field...)
 *
 * Declare an event, at file scope, in a header or in a source file. The same declaration may stand in any number of
 * files, programs and shared libraries: they are one event. `system` and `name` are identifiers; tools select events by
 * "system:name" and show the name. Up to 32 fields, none included:
 *
 *	u8(n) u16(n) u32(n) u64(n)	unsigned numbers: uint8_t ... uint64_t
 *	s8(n) s16(n) s32(n) s64(n)	signed numbers: int8_t ... int64_t
 *	hex8(n) ... hex64(n)		unsigned numbers, shown in hexadecimal
 *	ptr(n)				an address (any object pointer), shown in hexadecimal
 *	flag(n)				bool, shown as 0 or 1
 *	real(n, DECIMALS)		double, kept and shown with 0 to 18 decimals
 *	named(n, VALUE...)		int, shown by the names of the values as written here: named(op, OP_GET, OP_PUT);
 *					other values are shown in hexadecimal. Up to 60 enumerators or macros that are
 *					integer constants.
 *	named(TYPE, n, VALUE...)	the same, stored as TYPE: u8 ... s64
 *	string(n)			const char *; NULL is recorded as "(null)"
 *	stringn(n)			two arguments, const char * and size_t: so many characters
 *	bytes(n)			two arguments, const void * and size_t: shown as hexadecimal digits
 *	array(TYPE, n, LENGTH)		const TYPE *, from which LENGTH elements are copied; TYPE is u8 ... s64, hex8 ...
 *					hex64; with more than 32 elements they are shown unsigned and decimal
 *
 * Fields take the room of their type, without padding; string, stringn and bytes take four bytes and their content,
 * strings with an ending NUL. An event longer than a sub-buffer takes (4048 bytes unless set otherwise), or than
 * 65535 bytes, is refused and counted as lost.
 *
 * A real is kept as a whole number, the value times 10 to the power of DECIMALS, rounded; what is too large becomes the
 * largest such number (of its sign), and NaN the smallest, -9223372036854775808.
 */
#define REC_EVENT(system, ...) REC__EVENT(REC__EACH, #system "\0" #__VA_ARGS__, system##__##__VA_ARGS__)

/*
 * REC_EVENT_FMT(system, name, (format, argument...), field...)
 *
 * As REC_EVENT, shown as the format says instead of field by field:
 *
 *	REC_EVENT_FMT(net, accept, ("%s:%u (%s)", host, port, REC->v6 ? "IPv6" : "IPv4"), string(host), u16(port), flag(v6));
 *
 * The tools evaluate this, not the program: format and arguments are what the kernel calls a print format. The name of a
 * string, named or bytes field stands for its text (use %s), that of another field, and REC->name, for the number that is
 * stored; a real's is its fixed-point one. Arguments are integer expressions of these, with each operation in parentheses
 * (libtraceevent does not know which binds tighter) and numbers unsigned, and what libtraceevent has besides:
 * __print_symbolic(), __print_flags(), __print_hex(), REC->array[1]. Enumerators and macros are not known to the tools.
 * Conversions are those of printf, with its lengths (%hhd for s8, %llu for u64), but %c, %f and its kin, and the flags
 * '+' and ' '.
 */
#define REC_EVENT_FMT(system, ...) REC__EVENT(REC__EACH_FMT, #system "\0" #__VA_ARGS__, system##__##__VA_ARGS__)

/*
 * REC(system, name, argument...)
 *
 * Record the event, if it is on. Arguments are those of the fields in their order, converted and checked as a
 * function's; they are not evaluated when the event is off. Signal-safe, any thread; errno is kept.
 */
#define REC(system, ...)                                                                                               \
	do {                                                                                                           \
		if (REC_UNLIKELY(REC__FIRST(rec_on_##system##__##__VA_ARGS__, ~)()))                                   \
			REC__CALL(rec_write_##system##__##__VA_ARGS__, 0);                                             \
	} while (0)

/* REC_ON(system, name): whether the event is on, for what is worth preparing only then. Signal-safe, any thread. */
#define REC_ON(system, name) (rec_on_##system##__##name())

/*
 * rec_printf(format, argument...)
 *
 * For the quick look: a printf without the printing. The format, a string literal, is kept once; an event holds the
 * arguments in binary and becomes text when it is read. It is the event "ftrace:bprint", as the kernel's
 * trace_printk is, and is switched as such. Up to 32 conversions and 1000 bytes of arguments; longer strings are
 * cut. Any thread. Signal-safe as long as the arguments are integers, pointers or strings: other conversions (%e %f
 * %g %a %lc %ls %m, '*' as a width, the flags '+' and ' ') go through snprintf() at once.
 */
#define rec_printf(...)                                                                                                \
	do {                                                                                                           \
		static struct rec_printf_site rec_site;                                                                \
		if (REC_UNLIKELY(rec_printf_on()))                                                                     \
			rec_printf_write(&rec_site, __func__, __LINE__, "" __VA_ARGS__);                               \
	} while (0)

#endif
