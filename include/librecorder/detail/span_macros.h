/* SPDX-License-Identifier: MIT */
/*
 * What the macros of span.h expand to; applications do not use it directly.
 *
 * A span is two events, S__N_begin and S__N_end. Both descriptions have the declaration's text, after a word that names
 * the event's role (abi.h, struct rec_log_event). A reader that does not know the word refuses the description.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_SPAN_MACROS_H
#define LIBRECORDER_SPAN_MACROS_H

#include <librecorder/detail/event_macros.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The event recorder:task. Before the first use of REC_TASK in a process, this pointer leads to an event that is always
 * on.
 */
extern struct rec_event *rec_task_event;

/*
 * REC_TASK() calls this function. The first call in a process declares the event, and is not signal-safe; all others
 * are. Any thread. A long name is cut to 255 bytes; NULL stands for "".
 */
void rec_task_write(uint64_t id, const char *name);

/* 1: the event recorder:task is on, or not declared yet; 0: it is off. Any thread; signal-safe. */
REC_INLINE int rec_task_on(void)
{
	return REC__IS_THERE(&rec_task_event) && rec_event_on(rec_load_acquire(&rec_task_event));
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

/* --------------------------------------------------------------------------------------------------- declarations */

/* An event with a role: `rule` is the static assertion for its fields. */
#define REC__ROLE(rule, each, string, ...) REC__ROLE_(rule, each, string, REC__FIRST(__VA_ARGS__, ~), _##__VA_ARGS__)
#define REC__ROLE_(rule, each, string, base, ...)                                                                      \
	rule(_##__VA_ARGS__) REC__EVENT_(each, each, string, base, _##__VA_ARGS__)

/* The argument has an underscore in front, which prevents that it is expanded. */
#define REC__NAME(...)	     REC__NAME_(__VA_ARGS__, ~)
#define REC__NAME_(name, ...) #name

#define REC__SPAN(rule, system, name, text, ...)                                                                       \
	REC__SPAN_(rule, system, name, text, REC__FIRST(__VA_ARGS__, ~), _##__VA_ARGS__)
#define REC__SPAN_(rule, system, name, text, base, ...)                                                                \
	rule(_##__VA_ARGS__)                                                                                           \
	REC__EVENT_(REC__EACH, REC__EACH, system "\0" "begin:" name "_begin," text, REC__CAT(base, _begin),           \
		     _##__VA_ARGS__);                                                                                  \
	REC__EVENT_(REC__EACH, REC__EACH_OF_END, system "\0" "end:" name "_end," text, REC__CAT(base, _end),          \
		     _##__VA_ARGS__);                                                                                  \
	REC__CALL(REC__CAT(REC__LEAVE_, REC__IS_LIST(~REC__EACH(REC__ENDS, _##__VA_ARGS__))), base)		       \
	struct rec_semicolon_follows

#define REC__WITHIN_OF(...)	(0 REC__EACH(REC__WITHIN, _##__VA_ARGS__))

#define REC__RULE_EVENT(...)                                                                                           \
	REC_ABI_ASSERT(REC__WITHIN_OF(_##__VA_ARGS__) == 0, "key() and end() belong in a span or a state");
#define REC__RULE_SPAN(...)                                                                                            \
	REC_ABI_ASSERT(REC__WITHIN_OF(_##__VA_ARGS__) % 100 == 0, "REC_SPAN has no key(): use REC_SPAN_KEYED");        \
	REC_ABI_ASSERT(REC__WITHIN_OF(_##__VA_ARGS__) / 100 <= 1, "a span has one end()");
#define REC__RULE_KEYED(...)                                                                                           \
	REC_ABI_ASSERT(REC__LEAD(_##__VA_ARGS__) == 3 && REC__WITHIN_OF(_##__VA_ARGS__) % 100 == 1,                    \
		       "REC_SPAN_KEYED: the first field is key(...), and there is no other one");                      \
	REC_ABI_ASSERT(REC__WITHIN_OF(_##__VA_ARGS__) / 100 <= 1, "a span has one end()");
#define REC__RULE_COUNTER(...)                                                                                         \
	REC__RULE_EVENT(_##__VA_ARGS__)                                                                                \
	REC_ABI_ASSERT(REC__LEAD(_##__VA_ARGS__) == 1, "REC_COUNTER: the first field is the value, a whole number");
#define REC__RULE_STATE(...)                                                                                           \
	REC_ABI_ASSERT(REC__LEAD(_##__VA_ARGS__) >= 1 && REC__WITHIN_OF(_##__VA_ARGS__) <= 1,                          \
		       "REC_STATE: key(...), which may be missing, then the value: a whole number or named");

/*
 * The variable of REC_SCOPE: 1 if the begin was written. If it is 1 when it goes out of scope, the end of the span is
 * written. REC_SCOPE cannot be used for a span whose end has fields.
 */
#ifdef __cplusplus
#define REC__LEAVE_0(base)                                                                                             \
	enum { rec_scoped_##base = 1 };                                                                                \
	struct rec_leave_##base {                                                                                      \
		int written;                                                                                           \
		~rec_leave_##base()                                                                                    \
		{                                                                                                      \
			if (REC_UNLIKELY(written) && rec_on_##base##_end())                                            \
				rec_write_##base##_end(0);                                                             \
		}                                                                                                      \
	};
#define REC__SCOPE_VARIABLE(number, base) const struct rec_leave_##base REC__CAT(rec_scope_, number)
#define REC__SCOPE_VALUE(value)		  { value }
#else
#define REC__LEAVE_0(base)                                                                                             \
	enum { rec_scoped_##base = 1 };                                                                                \
	static inline __attribute__((unused)) void rec_leave_##base(const int *written)                                \
	{                                                                                                              \
		if (REC_UNLIKELY(*written) && rec_on_##base##_end())                                                   \
			rec_write_##base##_end(0);                                                                     \
	}
#define REC__SCOPE_VARIABLE(number, base)                                                                              \
	int REC__CAT(rec_scope_, number) __attribute__((cleanup(rec_leave_##base), unused))
#define REC__SCOPE_VALUE(value) value
#endif
#define REC__LEAVE_1(base) enum { rec_scoped_##base = 0 };

/* -------------------------------------------------------------------------------------------------------- writing */

#define REC__WRITE_PART(part, base, ...)                                                                               \
	do {                                                                                                           \
		if (REC_UNLIKELY(rec_on_##base##part()))                                                               \
			rec_write_##base##part(__VA_ARGS__);                                                           \
	} while (0)

#define REC__SCOPE(base, ...)                                                                                          \
	REC_ABI_ASSERT(rec_scoped_##base, "REC_SCOPE needs a span without a key and without end(...)");                \
	REC__SCOPE_VARIABLE(__COUNTER__, base) =                                                                       \
		REC__SCOPE_VALUE(REC_UNLIKELY(rec_on_##base##_begin()) ? rec_write_##base##_begin(__VA_ARGS__) : 0)

#define REC__TIMED_END(base, start, ...)                                                                               \
	do {                                                                                                           \
		if (REC_UNLIKELY(rec_on_##base())) {                                                                   \
			const uint64_t rec_start_##base = (start);                                                     \
			if (rec_start_##base)                                                                          \
				rec_write_##base(rec_clock_mono() - rec_start_##base, __VA_ARGS__);                    \
		}                                                                                                      \
	} while (0)

/* The function gets all arguments of REC_TASK if there are several, so that the compiler refuses a third one. */
#define REC__TASK(...)	REC__CAT(REC__TASK_, REC__IS_LIST(__VA_ARGS__))(__VA_ARGS__)
#define REC__TASK_0(id) rec_task_write(id, "")
#define REC__TASK_1	rec_task_write

#endif
