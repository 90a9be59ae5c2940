/* SPDX-License-Identifier: MIT */
/*
 * What CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME show at the same moment, and times of one converted to
 * another. The time of day may be set, and the machine may sleep, so one reading is exact only near its moment. No
 * state; any thread may call these.
 */
#ifndef FORMAT_IO_CLOCK_READING_H
#define FORMAT_IO_CLOCK_READING_H

#include <stdint.h>

/* What the clocks showed at one moment, ns. */
struct clock_reading {
	uint64_t mono; /* CLOCK_MONOTONIC */
	uint64_t realtime;
	uint64_t boottime;
};

#define CLOCK_READINGS 2u /* the first and the last one of a recording */

/* Read the clocks now. */
struct clock_reading clock_reading_take(void);

/*
 * CLOCK_REALTIME at a moment of CLOCK_MONOTONIC, and the opposite, by `nr` readings, of which there is at least one: on
 * the line through two, and at the distance of the nearest one beyond them. If CLOCK_REALTIME was set back between two,
 * moments after the first one go by the second, and so do times of day before that of the first.
 */
uint64_t clock_reading_realtime(const struct clock_reading *readings, unsigned int nr, uint64_t mono);
uint64_t clock_reading_mono(const struct clock_reading *readings, unsigned int nr, uint64_t realtime);

#endif
