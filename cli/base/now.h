/* SPDX-License-Identifier: MIT */
/* The current time, for waiting and pacing. The clock that stamps events is in <librecorder/clock.h>. */
#ifndef CLI_NOW_H
#define CLI_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t now_us(void)
{
	return now_ns() / 1000u;
}

static inline uint64_t now_ms(void)
{
	return now_ns() / 1000000u;
}

#endif
