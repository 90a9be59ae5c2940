/* SPDX-License-Identifier: MIT */
/*
 * The check of a format of REC_EVENT_FMT. The tools evaluate the format, long after the program was compiled, so a
 * mistake in it would show only in their output. Here the compiler sees it: as the call of a function like printf(),
 * whose arguments have the fields' names. No code calls the function that makes this call, so the compiler drops it.
 *
 * A program that defines REC_NO_FORMAT_CHECK before it includes event.h has neither the check nor the macros
 * __print_symbolic() and so on.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_EVENT_FORMAT_H
#define LIBRECORDER_EVENT_FORMAT_H

#include <librecorder/detail/event_kinds.h>
#include <librecorder/detail/event_rows.h>
#include <stddef.h>

#ifdef REC_NO_FORMAT_CHECK
#define REC__FORMAT(...)
#else

/* SHOWN: a parameter with the field's name, which has the type of what the name stands for in a format. */
#define REC__UNUSED __attribute__((unused))
#define REC__SHOWN_rec_number(name, type)	    REC__CAT(REC__SHOWS_, type) name REC__UNUSED,
#define REC__SHOWN_rec_pointer(name)		    unsigned long long name REC__UNUSED,
#define REC__SHOWN_rec_float(name, type)	    long long name REC__UNUSED,
#define REC__SHOWN_rec_real(name, decimals)	    long long name REC__UNUSED,
#define REC__SHOWN_rec_named(name, type, ...)	    const char *name REC__UNUSED,
#define REC__SHOWN_rec_array(name, type, length)    const type *name REC__UNUSED,
#define REC__SHOWN_rec_string(name)		    const char *name REC__UNUSED,
#define REC__SHOWN_rec_stringn(name)		    const char *name REC__UNUSED,
#define REC__SHOWN_rec_bytes(name)		    const char *name REC__UNUSED,
#define REC__SHOWN_rec_text(name)		    const char *name REC__UNUSED,
#define REC__SHOWN_rec_key(...)			    REC__ROWS(REC__SHOWN, ~, __VA_ARGS__)
#define REC__SHOWN_rec_end(...)
#define REC__SHOWN_rec_wrong(what, why)

/*
 * The tools show all 64-bit numbers by %llu, but uint64_t is `unsigned long` for some compilers. So a field has the
 * type `unsigned long long` here.
 */
#define REC__SHOWS_uint8_t	 unsigned char
#define REC__SHOWS_uint16_t	 unsigned short
#define REC__SHOWS_uint32_t	 unsigned int
#define REC__SHOWS_uint64_t	 unsigned long long
#define REC__SHOWS_int8_t	 signed char
#define REC__SHOWS_int16_t	 short
#define REC__SHOWS_int32_t	 int
#define REC__SHOWS_int64_t	 long long
#define REC__SHOWS_rec_flag_type int

/* STORED: the member name in REC->name. */
#define REC__STORED_rec_number(name, type)	   REC__CAT(REC__SHOWS_, type) name;
#define REC__STORED_rec_pointer(name)		   unsigned long long name;
#define REC__STORED_rec_float(name, type)	   REC__CAT(REC__STORES_, type) name;
#define REC__STORES_float			   unsigned int
#define REC__STORES_double			   unsigned long long
#define REC__STORED_rec_real(name, decimals)	   long long name;
#define REC__STORED_rec_named(name, type, ...)	   REC__CAT(REC__SHOWS_, type) name;
#define REC__STORED_rec_array(name, type, length)  REC__CAT(REC__SHOWS_, type) name[length];
#define REC__STORED_rec_string(name)		   unsigned int name;
#define REC__STORED_rec_stringn(name)		   unsigned int name;
#define REC__STORED_rec_bytes(name)		   unsigned int name;
#define REC__STORED_rec_text(name)		   unsigned int name;
#define REC__STORED_rec_key(...)		   REC__ROWS(REC__STORED, ~, __VA_ARGS__)
#define REC__STORED_rec_end(...)
#define REC__STORED_rec_wrong(what, why)

/*
 * The functions of libtraceevent. Only their first argument, a field, can be checked: the text in braces is not an
 * expression.
 */
#define __print_symbolic(...)	       REC__FORMAT_TEXT(__VA_ARGS__, ~)
#define __print_flags(...)	       REC__FORMAT_TEXT(__VA_ARGS__, ~)
#define __print_hex(...)	       REC__FORMAT_TEXT(__VA_ARGS__, ~)
#define __print_hex_str(...)	       REC__FORMAT_TEXT(__VA_ARGS__, ~)
#define __print_array(...)	       REC__FORMAT_TEXT(__VA_ARGS__, ~)
#define __get_str(name)		       REC__FORMAT_TEXT(name, ~)
#define __get_dynamic_array(name)      (name)
#define __get_dynamic_array_len(name)  rec_format_length(name)
#define REC__FORMAT_TEXT(first, ...)   rec_format_text(sizeof(first))

static inline REC__UNUSED const char *rec_format_text(size_t size)
{
	return size ? "" : "-";
}

static inline REC__UNUSED int rec_format_length(const void *field)
{
	return field != NULL;
}

static inline REC__UNUSED __attribute__((format(printf, 1, 2))) void rec_format_check(const char *format, ...)
{
	if (!format)
		return;
}

/*
 * %c and %f are errors, because libtraceevent does not know them. In C11 the check covers the first 128 bytes of the
 * format. The compiler's own check reports all other conversions of floating-point numbers, such as %.2f.
 */
#define REC__NO_C                                                                                                      \
	"REC_EVENT_FMT: the tools do not know %c and %f; use %d, %s with a named field, %lld for a whole part, "       \
	"or REC_EVENT, which shows f32, f64 and real with decimals"
#if defined(__cplusplus) && __cplusplus >= 201402L
constexpr bool rec_format_has_c(const char *format)
{
	for (; *format; format++) {
		if (*format != '%')
			continue;
		if (format[1] == 'c' || format[1] == 'f')
			return true;
		if (format[1])
			format++;
	}
	return false;
}
#define REC__CHECK_NO_C(format) static_assert(!rec_format_has_c(format), REC__NO_C);
#elif defined(__cplusplus)
#define REC__CHECK_NO_C(format)
#else
#define REC__CHECK_NO_C(format) _Static_assert(!(REC__IN_128(REC__C_AT, format)), REC__NO_C);
#define REC__C_AT(f, at)                                                                                               \
	((at) + 2 < sizeof(f) &&                                                                                       \
	 (!__builtin_strncmp((f) + ((at) < sizeof(f) ? (at) : 0), "%c", 2) ||                                          \
	  !__builtin_strncmp((f) + ((at) < sizeof(f) ? (at) : 0), "%f", 2)) &&                                         \
	 !((at) && !__builtin_strncmp((f) + ((at) && (at) < sizeof(f) ? (at)-1 : 0), "%", 1)))
#define REC__IN_128(test, f) REC__IN_64(test, f, 0) || REC__IN_64(test, f, 64)
#define REC__IN_64(test, f, at)                                                                                        \
	REC__IN_16(test, f, at) || REC__IN_16(test, f, (at) + 16) || REC__IN_16(test, f, (at) + 32) ||                 \
		REC__IN_16(test, f, (at) + 48)
#define REC__IN_16(test, f, at)                                                                                        \
	REC__IN_4(test, f, at) || REC__IN_4(test, f, (at) + 4) || REC__IN_4(test, f, (at) + 8) ||                      \
		REC__IN_4(test, f, (at) + 12)
#define REC__IN_4(test, f, at) test(f, at) || test(f, (at) + 1) || test(f, (at) + 2) || test(f, (at) + 3)
#endif

/* A field may have the same name as something else in the program, so -Wshadow is off here. */
#define REC__FORMAT_BEGIN                                                                                              \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wformat\"")                                    \
		_Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define REC__FORMAT_END _Pragma("GCC diagnostic pop")

/* REC__FORMAT passes the fields on as REC__EVENT does. */
#define REC__FORMAT(...) REC__FORMAT_(REC__FIRST(__VA_ARGS__, ~), REC__SECOND(__VA_ARGS__), _##__VA_ARGS__)
#define REC__FORMAT_(base, format, ...)                                                                                \
	REC__CAT(REC__FORMAT_, REC__IS_LIST(REC__IN_PARENTHESES format))(base, format, _##__VA_ARGS__)
#define REC__IN_PARENTHESES(...) ~, ~
#define REC__FORMAT_0(base, format, ...)                                                                               \
	REC_ABI_ASSERT(0, "REC_EVENT_FMT: format and arguments are in parentheses: (\"%u\", number)");
#define REC__FORMAT_1(base, format, ...)                                                                               \
	struct rec_stored_##base {                                                                                     \
		REC__EACH_FMT(REC__STORED, _##__VA_ARGS__) char rec_end;                                               \
	};                                                                                                             \
	REC__FORMAT_BEGIN                                                                                              \
	static inline REC__UNUSED void rec_format_##base(REC__EACH_FMT(REC__SHOWN, _##__VA_ARGS__)                     \
								 const struct rec_stored_##base *REC REC__UNUSED)      \
	{                                                                                                              \
		rec_format_check format;                                                                               \
	}                                                                                                              \
	REC__FORMAT_END                                                                                                \
	REC__CHECK_NO_C(REC__FORMAT_LITERAL format)

#define REC__FORMAT_LITERAL(...) REC__FIRST(__VA_ARGS__, ~)

#endif
#endif
