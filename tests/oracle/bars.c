/* SPDX-License-Identifier: MIT */
/*
 * Spans in spans and a counter, of tenths of seconds, for a picture: three outer ones, each with an inner one; and one
 * whose begin is not seen, one that is cut, and one that is open at the end.
 */
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <time.h>

REC_SPAN(bars, outer, u32(n));
REC_SPAN(bars, inner, u32(n));
REC_SPAN(bars, early, u32(n));
REC_SPAN(bars, around, u32(n));
REC_SPAN(bars, cut, u32(n));
REC_SPAN(bars, open, u32(n));
REC_EVENT(bars, start, u32(n));
REC_COUNTER(bars, level, s64(value));

static void wait_a_little(void)
{
	const struct timespec time = { 0, 30000000 };

	nanosleep(&time, NULL);
}

static void write_broken(void)
{
	REC_BEGIN(bars, around, 0);
	REC_BEGIN(bars, cut, 0);
	wait_a_little();
	REC_END(bars, around);
	wait_a_little();
	REC_BEGIN(bars, open, 0);
	wait_a_little();
}

/* With an argument: more nested spans than a reader keeps open. */
int main(int argc, char **argv)
{
	(void)argv;
	REC(bars, start, 0);
	wait_a_little();
	REC_END(bars, early);
	wait_a_little();
	for (unsigned int i = 0; argc > 1 && i < 1030; i++)
		REC_BEGIN(bars, outer, i);
	for (unsigned int i = 0; i < 3; i++) {
		REC_BEGIN(bars, outer, i);
		REC(bars, level, 10 * i);
		wait_a_little();
		REC_BEGIN(bars, inner, i);
		wait_a_little();
		REC_END(bars, inner);
		wait_a_little();
		REC_END(bars, outer);
		wait_a_little();
	}
	REC(bars, level, 5);
	write_broken();
	REC(bars, level, 5);
	return 0;
}
