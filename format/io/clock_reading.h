/* SPDX-License-Identifier: MIT */
/*
 * Reads CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME at the same moment, and converts times of one clock to
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
	uint64_t error;	    /* of `mono`, compared with the other two; 0: not known */
	uint64_t day_error; /* the kernel's bound of the distance from `realtime` to UTC; 0: not known */
};

#define CLOCK_READINGS 2u /* the first and the last one of a recording */

/* Read the clocks now. */
struct clock_reading clock_reading_take(void);

/*
 * CLOCK_REALTIME at a moment of CLOCK_MONOTONIC, and the opposite, by `nr` readings, of which there is at least one:
 * between two readings by the line through both; before the first and after the last one by the offset of that reading.
 * If CLOCK_REALTIME was set back between two readings, the second one applies to moments after the first one, and to
 * times of day before that of the first one.
 */
uint64_t clock_reading_realtime(const struct clock_reading *readings, unsigned int nr, uint64_t mono);
uint64_t clock_reading_mono(const struct clock_reading *readings, unsigned int nr, uint64_t realtime);

#endif
