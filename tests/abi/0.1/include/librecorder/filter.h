/* SPDX-License-Identifier: MIT */
/*
 * Filters: which records of an event are wanted, in the kernel's filter grammar.
 *
 *	size > 4096 && path ~ "*.db"
 *	!(op == OP_GET || op == OP_PUT) && common_pid != 17
 *
 * A comparison is FIELD OPERATOR VALUE; && binds tighter than ||, ! negates a comparison or what is in parentheses.
 *
 *	numbers		== != < <= > >= and & (one of the bits is set), with a number as C writes it: 10, -3, 0x1f, 017.
 *			It must be one that the field can hold. Those are u8 ... s64, hex8 ... hex64, ptr, flag,
 *			common_type, common_flags, common_preempt_count, common_pid (the thread), CPU (its number).
 *	named		the same, and the names of the values as declared: op == OP_GET
 *	real		== != < <= > >= with a decimal number of no more decimals than the field keeps: load >= 0.75
 *	string, stringn	== and != with a text in quotes, " or ', and ~ with a pattern: * any characters, ? any one,
 *			[a-z] one of these, [!a-z] none of these, \ takes the next one as it is, a ! in front negates.
 *			A string ends at its first NUL; a text has no quote of its own kind in it.
 *
 * bytes and array fields are refused.
 *
 * In a wish, which is what rec_enable(), rec_view_switch() and RECORDER_ENABLE take, a filter stands behind the
 * patterns:
 *
 *	PATTERN[,PATTERN]...[ rate N][ if FILTER]
 *
 * With a rate no more than N records of each of the events pass in each second of CLOCK_MONOTONIC; rec_view_rate()
 * tells how many others there were. An event that the filter does not fit, because it has no such field or its field
 * cannot be compared so, stays off: ask rec_filter_compile() before.
 *
 * Pure functions, any thread; rec_filter_match() is signal-safe.
 */
#ifndef LIBRECORDER_FILTER_H
#define LIBRECORDER_FILTER_H

#include <librecorder/abi.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REC_FILTER_TEXT_MAX 255u /* characters of a text or pattern, as in the kernel */

/* What is wrong with a filter. */
struct rec_filter_error {
	uint32_t column;  /* where, counted from 1 */
	char reason[236]; /* why, as part of a line: "no field 'sise'; its fields are id, fd, path" */
};

#pragma GCC visibility push(default)

/*
 * Whether this is a filter, of whatever event: 0, or -EINVAL and *ret_error says what is wrong. Fields and names of
 * values may be any.
 */
int rec_filter_check(const char *text, struct rec_filter_error *ret_error);

/*
 * Compile a filter for an event; `event` NULL: that of rec_printf, which has only the common fields and CPU. Returns
 * the size of the condition, which is at most REC_CONDITION_MAX; -EINVAL: the text is no filter or does not fit the
 * event, *ret_error says why; -ENOSPC: `size` is too small; -EBADMSG: the description is malformed.
 */
int rec_filter_compile(const struct rec_log_event *event, const char *text, struct rec_condition *ret_condition,
		       size_t size, struct rec_filter_error *ret_error);

/*
 * Whether a record, from its common fields on, passes the filter; its rate is not looked at. Neither needs to be
 * trusted: nothing is read outside of the two, and a condition that makes no sense lets everything pass.
 */
bool rec_filter_match(const struct rec_condition *condition, size_t size, const void *record, size_t record_size,
		      uint32_t cpu);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
