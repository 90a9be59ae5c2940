/* SPDX-License-Identifier: MIT */
/*
 * bracket EVENTS
 *
 * Reads CLOCK_MONOTONIC before and after each event. An event carries the time read before it and that read after the
 * previous one, so event i lies between its own `before` and the `after` of event i + 1. The pauses make the recording
 * last some tenths of a second, over which a wrong rate of the clock would show.
 */
#include <librecorder/event.h>

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

REC_EVENT(test, bracket, u64(number), u64(before), u64(after));

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	const unsigned long events = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	const struct timespec pause = { 0, 1000000 };
	uint64_t before, after = 0;

	for (unsigned long i = 0; i < events; i++) {
		before = now();
		REC(test, bracket, i, before, after);
		after = now();
		if (i % 64 == 0)
			nanosleep(&pause, NULL);
	}
	return !events;
}
