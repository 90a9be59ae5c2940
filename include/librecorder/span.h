/* SPDX-License-Identifier: MIT */
/*
 * Events with a meaning: spans, counters, states, flows, logical tasks. <librecorder/event.h> includes this header;
 * programs include event.h.
 *
 *	REC_SPAN(io, request, u64(id), string(path), end(s32(result)));
 *	REC_COUNTER(mem, heap, s64(bytes));
 *
 *	int serve(struct request *req)
 *	{
 *		REC_BEGIN(io, request, req->id, req->path);
 *		const int result = answer(req);
 *		REC_END(io, request, result);
 *		REC(mem, heap, heap_size());
 *		return result;
 *	}
 *
 * In a file all of them are ordinary events, which every viewer prints. Names and formats of the events carry their
 * meaning, by the rule in docs/MEANING.md. The program keeps no state between the two events of a span. If the end is
 * missing, because of longjmp(), a killed thread, or lost events, it is shown as missing.
 *
 * Selectors take the name of a span for both of its events: `-u io:request` records its begins and its ends.
 */
#ifndef LIBRECORDER_SPAN_H
#define LIBRECORDER_SPAN_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/span_macros.h>
#pragma pop_macro("REC__DETAIL")

/*
 * REC_SPAN(system, name, field..., end(field...))
 *
 * Declare a span: something that begins and ends on one thread. The declaration may appear where REC_EVENT may, and has
 * the same kinds of fields. The fields in end(...) are recorded when the span ends; leave end(...) out if there are
 * none. The fields are those of two events, called NAME_begin and NAME_end.
 */
#define REC_SPAN(system, ...)                                                                                          \
	REC__SPAN(REC__RULE_SPAN, #system, REC__NAME(_##__VA_ARGS__), #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC_SPAN_KEYED(system, name, key(field...), field..., end(field...))
 *
 * Declare a span that may begin and end anywhere: on different threads, or in different processes. Its key decides
 * which end belongs to which begin: 1 to 4 fields that are whole numbers, ptr or named. Both REC_BEGIN and REC_END take
 * the key first.
 */
#define REC_SPAN_KEYED(system, ...)                                                                                    \
	REC__SPAN(REC__RULE_KEYED, #system, REC__NAME(_##__VA_ARGS__), #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC_BEGIN(system, name, argument...), REC_END(system, name, argument...)
 *
 * Begin the span and end it: record NAME_begin or NAME_end, if it is on. The arguments are as those of REC. Spans of
 * one thread nest: an end ends the innermost open span of its name, and also the spans that began inside it and have no
 * end of their own. Signal-safe, any thread; errno is preserved.
 */
#define REC_BEGIN(system, ...) REC__WRITE_PART(_begin, system##__##__VA_ARGS__, 0)
#define REC_END(system, ...)   REC__WRITE_PART(_end, system##__##__VA_ARGS__, 0)

/*
 * REC_SCOPE(system, name, argument...)
 *
 * As REC_BEGIN, for a span without key and end(...); the span ends by itself where the block ends: at its last line, by
 * return, break or goto, and in C++ by an exception; not by longjmp() or the end of the thread. The end is recorded
 * only if the begin was. REC_SCOPE is a declaration: use it in a block, not alone after an if. No goto and no case may
 * jump over it into its block: then C reads a variable that was never set, and may record an end that has no begin (C++
 * and clang refuse such a jump). Signal-safe, any thread.
 */
#define REC_SCOPE(system, ...) REC__SCOPE(system##__##__VA_ARGS__, 0)

/*
 * REC_TIMED(system, name, field...)
 *
 * Declare an event that is recorded once, when what it describes ends, with its duration: half the size of a span, but
 * nothing is recorded if the end is not reached. The first field is `dur`, nanoseconds of CLOCK_MONOTONIC; up to 31
 * others follow.
 *
 *	const uint64_t start = REC_TIMED_START(io, flush);
 *	const size_t bytes = flush();
 *	REC_TIMED_END(io, flush, start, bytes);
 */
#define REC_TIMED(system, ...)                                                                                         \
	REC__ROLE(REC__RULE_EVENT, REC__EACH_TIMED,                                                                    \
		  #system "\0"                                                                                         \
			  "timed:" #__VA_ARGS__,                                                                       \
		  system##__##__VA_ARGS__, rec_last)

/* REC_TIMED_START(system, name): a uint64_t: the time now if the event is on, otherwise 0. Signal-safe, any thread. */
#define REC_TIMED_START(system, name) (REC_UNLIKELY(REC_ON(system, name)) ? rec_clock_mono() : 0)

/*
 * REC_TIMED_END(system, name, start, argument...)
 *
 * Record the event with the time that has passed since `start`, if the event is on and was on at the start. Otherwise
 * the arguments are not evaluated. Start and end may be on different threads. Signal-safe, any thread.
 */
#define REC_TIMED_END(system, ...) REC__TIMED_END(system##__##__VA_ARGS__, 0)

/*
 * REC_COUNTER(system, name, field, field...)
 *
 * Declare a counter. The first field is its value, a whole number: u8 ... s64. REC(system, name, value, ...) records
 * that the counter has this value now.
 */
#define REC_COUNTER(system, ...)                                                                                       \
	REC__ROLE(REC__RULE_COUNTER, REC__EACH, #system "\0" "counter:" #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC_STATE(system, name, key(field...), field, field...)
 *
 * Declare the states of a kind of object, such as connections. The key identifies the object; without key(...) there is
 * only one. The field after the key is the state, a whole number, flag or named. REC(system, name, key, state, ...)
 * records that the object is in this state now.
 *
 *	REC_STATE(conn, state, key(u64(id)), named(value, OPEN, CLOSED));
 *	REC(conn, state, id, OPEN);
 */
#define REC_STATE(system, ...)                                                                                         \
	REC__ROLE(REC__RULE_STATE, REC__EACH, #system "\0" "state:" #__VA_ARGS__, system##__##__VA_ARGS__, rec_last)

/*
 * REC_TASK(id), REC_TASK(id, name)
 *
 * This thread works for the logical task `id` from now on: a coroutine, a fiber, a request. If `id` is 0, it works for
 * no task. `id` is a uint64_t, unique among those of all processes that are recorded together; `name` a string, or
 * NULL. The event is recorder:task. It needs no declaration, and is known to tools after a process has used it once.
 * Any thread; errno is preserved; signal-safe, except for the first use in a process.
 */
#define REC_TASK(...)                                                                                                  \
	do {                                                                                                           \
		if (REC_UNLIKELY(rec_task_on()))                                                                       \
			REC__TASK(__VA_ARGS__);                                                                        \
	} while (0)

#endif
