/* SPDX-License-Identifier: MIT */
/* The clocks that stamp lanes, and the anchors that relate them to CLOCK_MONOTONIC. */
#ifndef LIBRECORDER_CLOCK_H
#define LIBRECORDER_CLOCK_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The best clock of this machine: REC_CLOCK_TSC if the kernel itself keeps time by the CPU's time stamp counter, which
 * it does only as long as the counters of all CPUs agree and keep their speed; otherwise REC_CLOCK_MONO. Never fails.
 * Reads one sysfs file. Any thread; not signal-safe.
 */
uint32_t rec_clock_best(void);

/*
 * Read the clock and CLOCK_MONOTONIC together, several times, and keep the narrowest pair. Any process may take an
 * anchor for any buffer, because the clocks belong to the machine. Returns 0, or -EINVAL: this machine has no such
 * clock. Any thread; signal-safe.
 */
int rec_clock_anchor(uint32_t clock, struct rec_anchor *ret_anchor);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
