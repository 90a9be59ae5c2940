/* SPDX-License-Identifier: MIT */
/* When a sleeping reader is woken, and how; both sides of a ring use it. */
#include "librecorder/ring/ring_private.h"

#include <errno.h>
#include <librecorder/detail/atomic.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rec_ring_is_hit(const struct rec_lane *lane, const struct rec_lane_reader *words, uint32_t percent)
{
	const uint64_t touched = rec_load_relaxed(&lane->pages_touched);
	const uint64_t gone = rec_load_relaxed(&lane->pages_lost) + rec_load_relaxed(&words->pages_read);
	const uint64_t dirty = touched > gone ? touched - gone : 0;

	return (dirty + 1) * 100 >= (uint64_t)percent * (rec_load_relaxed(&lane->nr_subbufs) - 1);
}

void rec_ring_wake(struct rec_lane_reader *words)
{
	const int saved = errno;

	/* Before the word changes: a reader that sets it again after that waits for the next wake-up. */
	rec_store_relaxed(&words->waiters, 0);
	__atomic_fetch_add(&words->wake, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &words->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}
