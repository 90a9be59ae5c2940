/* SPDX-License-Identifier: MIT */
/*
 * A clock that the test sets: rec_clock_mono() returns `now`. For inclusion in one source file, linked with
 * --wrap=rec_clock_mono.
 */
#ifndef HAND_CLOCK_H
#define HAND_CLOCK_H

#include <librecorder/detail/ring.h> /* included first, because it has local variables named `now` */

static uint64_t now = UINT64_C(1000000000);

uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	return now;
}

#define MSEC UINT64_C(1000000)

#endif
