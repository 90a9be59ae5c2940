/* SPDX-License-Identifier: MIT */
/*
 * Filters: which records of an event are wanted, in the kernel's filter grammar.
 *
 *	size > 4096 && path ~ "*.db"
 *	!(op == OP_GET || op == OP_PUT) && common_pid != 17
 *
 * A comparison is FIELD OPERATOR VALUE. && binds tighter than ||; ! negates a comparison or a group in parentheses.
 *
 *	numbers		== != < <= > >= and & (true if one of the bits is set), with a number as in C (10, -3, 0x1f,
 *			017) within the range of the field. Numbers are u8 ... s64, hex8 ... hex64, ptr, flow, flag
 *			(true and false are 1 and 0), an element of an array (list[2]), common_type, common_flags,
 *			common_preempt_count, common_pid (the thread, also pid) and CPU (its number, also cpu and
 *			common_cpu).
 *	named		the same, and the names of the values as declared: op == OP_GET
 *	real		== != < <= > >= with a number that has at most as many decimals as the field: load >= 0.75
 *	f32, f64	the same six with any number: load > 1.5, ratio <= 2e-3. f32 compares with the nearest float.
 *			For NaN, only != is true
 *	string, stringn	== and != with a text in quotes, " or ', and ~ with a pattern: * matches any characters, ? any
 *			single one, [a-z] one of these, [!a-z] one that is not among these; \ makes the next character
 *			literal, and a ! at the beginning negates the pattern. A string ends at its first NUL. A text
 *			cannot contain its own kind of quote. =~ and !~ take a regular expression, as trace-cmd does, if
 *			it can be written as a pattern: literal characters, . .* [...] ^ $ and \ before a character
 *			that is neither a letter nor a digit nor one of |(){}<>+*?. Unlike trace-cmd, all of these
 *			distinguish upper and lower case
 *
 * If the event has a field of its own that is called pid or cpu, the name means that field. bytes fields are refused.
 * If a record is read from a file (rec_filter_compile_fields()), there are also
 *
 *	ts		the time, in seconds: ts >= 12.5 && ts < 13 (also TIMESTAMP)
 *	comm		the thread's name, a string (also COMM)
 *
 * rec_enable(), rec_view_switch() and RECORDER_ENABLE take a selector, in which a filter follows the patterns:
 *
 *	PATTERN[,PATTERN]...[ rate N][ if FILTER]
 *
 * With a rate, at most N records of each of the events pass in each second of CLOCK_MONOTONIC; rec_view_rate() counts
 * the suppressed ones. If the filter does not fit an event, because the event has no such field or its field cannot be
 * compared in this way, the event stays off. rec_filter_compile() checks this in advance.
 *
 * `ret_error` must not be NULL; it is stored only with -EINVAL.
 *
 * Pure functions, which keep no pointer to what they are given; any thread. rec_filter_match() and
 * rec_filter_match_reading() are signal-safe, the others are not.
 */
#ifndef LIBRECORDER_FILTER_H
#define LIBRECORDER_FILTER_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rec_event_info;

#define REC_FILTER_TEXT_MAX 255u /* characters of a text or pattern, as in the kernel */

/* What is wrong with a filter. */
struct rec_filter_error {
	uint32_t column;  /* position in the text, counted from 1 */
	char reason[236]; /* why, as part of a line: "no field 'sise'; its fields are id, fd, path" */
};

#pragma GCC visibility push(default)

/*
 * Check the syntax of a filter without an event: any field and any name of a value is accepted. Returns 0, or -EINVAL
 * with the reason in *ret_error. A filter that passes may still be too long: a comparison takes 16 bytes and its text,
 * and all of them together at most 4064 bytes.
 */
int rec_filter_check(const char *text, struct rec_filter_error *ret_error);

/*
 * Compile a filter for an event. `event` NULL means the event of rec_printf, which has only the common fields and CPU.
 * The condition is stored in the `size` bytes at `ret_condition`, aligned to 8. Returns its size, which is at most
 * REC_CONDITION_MAX; -EINVAL: the text is not a filter or does not fit the event, with the reason in *ret_error;
 * -ENOSPC: `size` is too small; -EBADMSG: the description is malformed.
 */
int rec_filter_compile(const struct rec_log_event *event, const char *text, struct rec_condition *ret_condition,
		       size_t size, struct rec_filter_error *ret_error);

/*
 * True if a record, which begins with its common fields, passes the filter. A rate is ignored. Neither the condition
 * nor the record needs to be trusted: nothing outside of them is read, and an invalid condition lets every record pass.
 */
bool rec_filter_match(const struct rec_condition *condition, size_t size, const void *record, size_t record_size,
		      uint32_t cpu);

/* If the record does not have a field, its comparison is false, also with !=. */
#define REC_FILTER_ABSENT_IS_FALSE 1u
/* ts is a whole number in units of the file's clock, not in seconds. */
#define REC_FILTER_COUNTS 2u

/*
 * Compile a filter for records that are read from a file. `info` describes their fields. Only these members of a field
 * are used: kind, name, offset, element, length, is_signed, decimals and the names of values. A string field whose
 * `element` is 1 is a text in the record itself, `length` bytes long. The condition is for rec_filter_match_reading()
 * alone. Returns the same values as rec_filter_compile().
 */
int rec_filter_compile_fields(const struct rec_event_info *info, unsigned int flags, const char *text,
			      struct rec_condition *ret_condition, size_t size, struct rec_filter_error *ret_error);

/*
 * Find out whether comparison `number` of such a condition, counted from 0, is with a field that records do not have.
 * Returns the column of the field's name in the text; 0: records have the field; -EINVAL: the condition has no such
 * comparison.
 */
int rec_filter_absent(const struct rec_condition *condition, unsigned int number);

/* A record in a file. */
struct rec_filter_record {
	const void *record; /* common fields first */
	size_t size;
	uint32_t cpu;
	uint64_t time;	  /* nanoseconds, or counts */
	const char *comm; /* NULL: "" */
};

/* As rec_filter_match(), for a condition of rec_filter_compile_fields(). */
bool rec_filter_match_reading(const struct rec_condition *condition, size_t size,
			      const struct rec_filter_record *record);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
