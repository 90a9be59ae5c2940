/* SPDX-License-Identifier: MIT */
#include "cli/record/round_sleep.h"
#include "cli/base/least.h"

/*
 * How long the drain of programs sleeps, in us: the time in which the fullest lane fills to SLEEP_PERCENT, at the rate
 * of the last round. While lanes fill slowly, the sleep grows in small steps, and reaches SLEEP_MAX_US after about a
 * second. The steps are small because a thread that was kept off its CPU for tens of ms fills 1 MiB within 2 ms when it
 * runs again: when the sleep grew by an eighth each round and reached the maximum in 36 ms, 3 to 30 % of the events
 * were lost on a busy machine (2026-11). The maximum is 4 ms because a thread that begins to write eight million events
 * a second fills the default lane in 6 ms. Each wake-up costs the traced programs some tens of microseconds.
 */
#define SLEEP_MAX_US  4000u
#define SLEEP_PERCENT 30u
#define SLEEP_GROWTH  256u /* the sleep grows by 1 / SLEEP_GROWTH each round */

/*
 * The longest sleep, even if the user permits a longer one: anchors of the clocks, the permission for threads to take
 * further lanes, and the check whether programs are alive are due each second.
 */
#define SLEEP_LONGEST_US 1000000u

/* If a lane was this full, the next round begins at once. */
#define URGENT_PERCENT 60

/*
 * The sleep of a recording of the kernel alone. The kernel's rings have threads of their own; the end of the command
 * ends the sleep.
 */
#define SLEEP_KERNEL_US 100000u

uint64_t round_sleep(const struct last_round *last)
{
	const uint64_t most = last->longest != UINT64_MAX ? least(last->longest, SLEEP_LONGEST_US) : SLEEP_MAX_US;
	uint64_t sleep = last->slept + last->slept / SLEEP_GROWTH + 1;

	if (!last->lanes)
		return least(SLEEP_KERNEL_US, last->left);
	if (last->percent >= URGENT_PERCENT)
		return 0;
	if (last->percent > 0)
		sleep = least(sleep, last->passed * SLEEP_PERCENT / (unsigned int)last->percent);
	sleep = least(least(sleep, most), last->left);
	return sleep > ROUND_SLEEP_MIN_US ? sleep : ROUND_SLEEP_MIN_US;
}
