/* SPDX-License-Identifier: MIT */
#include "format/io/clock_reading.h"

#include <sys/timex.h>
#include <time.h>

#define READING_TRIES 8u

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The kernel has a bound only while a program such as chronyd or ntpd disciplines its clock. */
static uint64_t read_day_error(void)
{
	struct timex state = { .modes = 0 };
	const int status = adjtimex(&state);

	if (status < 0 || status == TIME_ERROR || state.maxerror <= 0)
		return 0;
	return (uint64_t)state.maxerror * 1000;
}

/* Takes the narrowest of several readings, because the thread may lose its CPU between two clocks. */
struct clock_reading clock_reading_take(void)
{
	struct clock_reading best = { 0 };
	uint64_t width = UINT64_MAX;

	for (unsigned int i = 0; i < READING_TRIES; i++) {
		const uint64_t before = read_ns(CLOCK_MONOTONIC);
		const uint64_t realtime = read_ns(CLOCK_REALTIME), boottime = read_ns(CLOCK_BOOTTIME);
		const uint64_t after = read_ns(CLOCK_MONOTONIC);

		if (after - before < width) {
			width = after - before;
			best = (struct clock_reading){ .mono = before + width / 2,
						       .realtime = realtime,
						       .boottime = boottime,
						       .error = width / 2 + 1 };
		}
	}
	best.day_error = read_day_error();
	return best;
}

/*
 * The value of the clock `to` at the moment when the clock `from` shows `time`. Each array has the values of its clock
 * in all readings; a damaged file may have any values.
 */
static uint64_t convert(const uint64_t *from, const uint64_t *to, unsigned int nr, uint64_t time)
{
	/*
	 * The clock `from` was set back between the readings, so it showed some times twice. Times before that of the
	 * first reading are taken for times after the clock was set back.
	 */
	if (nr > 1 && from[1] < from[0])
		return time < from[0] ? to[1] + (time - from[1]) : to[0] + (time - from[0]);
	if (time <= from[0] || nr == 1)
		return to[0] + (time - from[0]);
	if (time >= from[1] || to[1] < to[0])
		return to[1] + (time - from[1]);
	return to[0] + (uint64_t)((unsigned __int128)(time - from[0]) * (to[1] - to[0]) / (from[1] - from[0]));
}

uint64_t clock_reading_realtime(const struct clock_reading *readings, unsigned int nr, uint64_t mono)
{
	const uint64_t from[] = { readings[0].mono, readings[nr - 1].mono };
	const uint64_t to[] = { readings[0].realtime, readings[nr - 1].realtime };

	return convert(from, to, nr, mono);
}

uint64_t clock_reading_mono(const struct clock_reading *readings, unsigned int nr, uint64_t realtime)
{
	const uint64_t from[] = { readings[0].realtime, readings[nr - 1].realtime };
	const uint64_t to[] = { readings[0].mono, readings[nr - 1].mono };

	return convert(from, to, nr, realtime);
}
