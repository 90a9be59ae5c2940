/* SPDX-License-Identifier: MIT */
/* Each kind of field, for C and C++, compiled with all warnings enabled. Included by several files of one program. */
#ifndef EVENT_KINDS_H
#define EVENT_KINDS_H

#include <librecorder/event.h>
#include <stdbool.h>

enum kinds_state { KINDS_IDLE, KINDS_BUSY, KINDS_ODD = -1 };
#define KINDS_LENGTH 3

/* Words that programs often define as macros. */
#define SIZE   1
#define NUMBER 2
#define STRING 3
#define str    4
#define COUNT  5

REC_EVENT(kinds, none);
REC_EVENT(kinds, one, u64(n));
REC_EVENT(kinds, numbers, u8(a), u16(b), u32(c), u64(d), s8(e), s16(f), s32(g), s64(h), hex8(i), hex16(j), hex32(k),
	  hex64(l));
REC_EVENT(kinds, floats, f32(a), f64(b));
REC_EVENT(kinds, others, ptr(p), flag(f), real(r, 3), named(s, KINDS_IDLE, KINDS_BUSY, KINDS_ODD),
	  named(u8, t, KINDS_IDLE, KINDS_BUSY), string(a), stringn(b), bytes(c), array(u32, d, KINDS_LENGTH),
	  array(hex8, e, 2));
REC_EVENT_FMT(kinds, formatted, ("%s is %llu", name, REC->n), string(name), u64(n));
REC_EVENT_FMT(kinds, constant, ("nothing to say"));
REC_SPAN(kinds, span, u64(n), string(name), end(named(s, KINDS_IDLE, KINDS_BUSY), real(r, 1)));
REC_SPAN(kinds, scope, array(u32, d, KINDS_LENGTH));
REC_SPAN_KEYED(kinds, keyed, key(u64(id), named(u8, s, KINDS_IDLE, KINDS_BUSY), ptr(p)), flow(f), end(bytes(b)));
REC_TIMED(kinds, timed, string(name));
REC_COUNTER(kinds, counter, s32(n), string(unit));
REC_STATE(kinds, state, key(s8(id)), named(value, KINDS_IDLE, KINDS_ODD), flow(f));

static inline unsigned int kinds_write_meanings(const char *who)
{
	static const uint32_t words[KINDS_LENGTH] = { 1, 2, 3 };
	const uint64_t start = REC_TIMED_START(kinds, timed);

	REC_BEGIN(kinds, span, 1, who);
	for (int i = 0; i < 2; i++) {
		REC_SCOPE(kinds, scope, words);
		REC_SCOPE(kinds, scope, words);
		if (i)
			break;
	}
	REC_BEGIN(kinds, keyed, 1, KINDS_BUSY, words, 2);
	REC_END(kinds, keyed, 1, KINDS_BUSY, words, words, sizeof(words));
	REC_END(kinds, span, KINDS_BUSY, 1.5);
	REC_TIMED_END(kinds, timed, start, who);
	REC(kinds, counter, -1, who);
	REC(kinds, state, -1, KINDS_ODD, 3);
	REC_TASK(1);
	REC_TASK(2, who);
	return 17;
}

/* Write one record of each event, or more. Returns the number of records. */
static inline unsigned int kinds_write(const char *who)
{
	static const uint32_t words[KINDS_LENGTH] = { 1, 2, 3 };
	static const uint8_t bytes[2] = { 0xde, 0xad };
	const enum kinds_state state = KINDS_BUSY;

	REC(kinds, none);
	REC(kinds, one, 1);
	REC(kinds, numbers, 1, 2, 3, 4, -1, -2, -3, -4, 5, 6, 7, 8);
	REC(kinds, floats, 0.5f, -0.5);
	REC(kinds, others, words, true, -0.5, state, KINDS_IDLE, who, "abcdef", 3, bytes, sizeof(bytes), words, bytes);
	REC(kinds, formatted, who, 17);
	REC(kinds, constant);
	if (REC_ON(kinds, one))
		rec_printf("%s %d", who, 1);
	return 8 + kinds_write_meanings(who);
}

#endif
