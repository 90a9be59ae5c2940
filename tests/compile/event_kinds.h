/* SPDX-License-Identifier: MIT */
/* Each kind of field, for C and C++, compiled with all warnings enabled. Included by several files of one program. */
#ifndef EVENT_KINDS_H
#define EVENT_KINDS_H

#include <librecorder/event.h>
#include <stdbool.h>

enum kinds_state { KINDS_IDLE, KINDS_BUSY, KINDS_ODD = -1 };
#define KINDS_LENGTH 3

/* Words that programs like to define. */
#define SIZE   1
#define NUMBER 2
#define STRING 3
#define str    4
#define COUNT  5

REC_EVENT(kinds, none);
REC_EVENT(kinds, one, u64(n));
REC_EVENT(kinds, numbers, u8(a), u16(b), u32(c), u64(d), s8(e), s16(f), s32(g), s64(h), hex8(i), hex16(j), hex32(k), hex64(l));
REC_EVENT(kinds, others, ptr(p), flag(f), real(r, 3), named(s, KINDS_IDLE, KINDS_BUSY, KINDS_ODD),
	  named(u8, t, KINDS_IDLE, KINDS_BUSY), string(a), stringn(b), bytes(c), array(u32, d, KINDS_LENGTH), array(hex8, e, 2));
REC_EVENT_FMT(kinds, formatted, ("%s is %llu", name, REC->n), string(name), u64(n));
REC_EVENT_FMT(kinds, constant, ("nothing to say"));

/* One record of each event. Returns their number. */
static inline unsigned int kinds_write(const char *who)
{
	static const uint32_t words[KINDS_LENGTH] = { 1, 2, 3 };
	static const uint8_t bytes[2] = { 0xde, 0xad };
	const enum kinds_state state = KINDS_BUSY;

	REC(kinds, none);
	REC(kinds, one, 1);
	REC(kinds, numbers, 1, 2, 3, 4, -1, -2, -3, -4, 5, 6, 7, 8);
	REC(kinds, others, words, true, -0.5, state, KINDS_IDLE, who, "abcdef", 3, bytes, sizeof(bytes), words, bytes);
	REC(kinds, formatted, who, 17);
	REC(kinds, constant);
	if (REC_ON(kinds, one))
		rec_printf("%s %d", who, 1);
	return 7;
}

#endif
