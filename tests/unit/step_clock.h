/* SPDX-License-Identifier: MIT */
/*
 * A clock that advances whenever it is read: rec_clock_mono() adds `tick` to `now`. With the true clock, an event could
 * take more room than a test expects: after a pause of 2^27 ns it has a time extend. For inclusion in one source file,
 * linked with --wrap=rec_clock_mono.
 */
#ifndef STEP_CLOCK_H
#define STEP_CLOCK_H

#include <librecorder/detail/ring.h> /* included first, because it has local variables named `now` */

static uint64_t now = UINT64_C(1000000000), tick = 1000;

uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	return __atomic_add_fetch(&now, tick, __ATOMIC_RELAXED);
}

#endif
