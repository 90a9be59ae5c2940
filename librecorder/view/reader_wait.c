/* SPDX-License-Identifier: MIT */
/*
 * Sleeping until data arrive.
 *
 * Guarantees. No wake-up is missed. A waiter sets `waiters`, passes a full fence, checks the lane, and sleeps only if
 * `wake` has not changed since before. A writer whose commit position enters a sub-buffer stores it, passes a full
 * fence, and reads `waiters` (edge K1). So at least one of the two sees the other. Some things wake no waiter and are
 * polled: single events, because the writer's common path does not know readers; the end of the program; new lanes;
 * lanes beyond the number that one system call can wait for.
 *
 * A waiter that is killed leaves `waiters` set. The writer clears it at the first sub-buffer at which the percentage
 * is reached, with one system call; until then it costs a load and a comparison for each sub-buffer.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/types.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000u

/* The time between two checks for a single event, and for the end of the program. */
#define EVENT_SLICE_NS (5u * NS_PER_MS)
#define LIFE_SLICE_NS  (100u * NS_PER_MS)

uint64_t rec_wait_life_slice = LIFE_SLICE_NS;

/* The most futexes that one futex_waitv() takes (since Linux 5.16). */
#define WAITV_MAX 128u
#ifndef FUTEX_32
#define FUTEX_32 2u
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

struct futex_word {
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

/* A time for futex_waitv(): 64 bits also on machines where the members of struct timespec have 32. */
struct wait_time {
	int64_t seconds;
	int64_t nanoseconds;
};

_Static_assert(sizeof(struct wait_time) == 16, "the kernel's struct __kernel_timespec");

struct wait {
	struct rec_view *view;
	uint32_t lane; /* or REC_ALL_LANES */
	uint32_t percent;
	uint64_t until;	   /* CLOCK_MONOTONIC in ns */
	uint64_t alive_at; /* when the program was last known to live */
	bool ended;	   /* the program ends: one event is enough */
	bool gone;	   /* nothing writes any more */
	uint32_t nr_words;
	struct futex_word words[WAITV_MAX];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void rec_view_wake(struct rec_view *view)
{
	const int saved = errno;

	__atomic_fetch_add(&view->wake, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &view->wake, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

/*
 * According to the counts there is an event. In a damaged file such counts may be wrong for ever. So if a wait has
 * already reported an event at the reader's present position, read the event as a reader does, to check the counts. The
 * first report at a position is not checked: the check takes a sub-buffer out of the ring, and percentages refer to the
 * ring.
 */
static int look_for_event(struct rec_view *view, struct view_lane *lane)
{
	struct rec_ring_event event;
	unsigned int tries = 0;
	int r;

	if (!lane->promised || lane->promised_at != lane->ring.read) {
		lane->promised = true;
		lane->promised_at = lane->ring.read;
		return 1;
	}
	do {
		r = rec_ring_peek(&lane->ring, &event);
	} while (rec_view_again(view, lane, r, &tries));
	r = rec_view_result(view, lane, r);
	/* A writer is just moving the head; the next check finds the event. */
	return r == -EAGAIN ? 0 : r;
}

/* Look at one lane. Returns 1: there is enough to read; 0: there is not; or -errno. */
static int look_at(const struct wait *wait, uint32_t index)
{
	struct rec_ring_counts counts;
	struct view_lane *lane = NULL;
	uint32_t commit_page;
	int r = rec_view_lane(wait->view, index, &lane);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	rec_ring_read_done(&lane->ring);
	r = rec_ring_count(&lane->ring, false, &counts);
	if (rec_view_is_cut(wait->view))
		return -EFAULT;
	if (r < 0)
		return r;
	if (!counts.entries)
		return 0;
	if (!wait->percent || wait->ended)
		return look_for_event(wait->view, lane);
	commit_page = REC_POS_ID(rec_load_acquire(&lane->ring.lane->commit));
	return commit_page != lane->ring.page && rec_ring_is_hit(lane->ring.lane, lane->ring.words, wait->percent);
}

/* Lanes that are damaged or have another reader contribute nothing to the merge of all. 1, 0, -EFAULT. */
static int look(const struct wait *wait)
{
	const uint32_t nr = rec_view_lanes(wait->view);
	uint32_t i;
	int r = 0;

	if (wait->lane != REC_ALL_LANES)
		return look_at(wait, wait->lane);
	for (i = 0; i < nr && r <= 0; i++)
		r = look_at(wait, i);
	return rec_view_is_cut(wait->view) ? -EFAULT : r > 0;
}

static void add_word(struct wait *wait, uint32_t *word, uint32_t flags)
{
	wait->words[wait->nr_words++] = (struct futex_word){ .value = __atomic_load_n(word, __ATOMIC_SEQ_CST),
							     .address = (uintptr_t)word,
							     .flags = FUTEX_32 | flags };
}

/* Call `act` for the reader words of each lane that is waited for and that we own. */
static void for_lanes(struct wait *wait, void (*act)(struct wait *wait, struct rec_lane_reader *words))
{
	const struct rec_view *view = wait->view;
	uint32_t i = wait->lane == REC_ALL_LANES ? 0 : wait->lane;
	const uint32_t end = wait->lane == REC_ALL_LANES ? rec_view_lanes(view) : i + 1;

	for (; i < end; i++)
		if (view->opened[i].shared.at && !view->opened[i].damaged)
			act(wait, view->opened[i].ring.words);
}

/* The futex word is read first: a wake-up after this read keeps us from sleeping. */
static void begin_lane(struct wait *wait, struct rec_lane_reader *words)
{
	if (wait->nr_words < WAITV_MAX)
		add_word(wait, &words->wake, 0);
	rec_store_relaxed(&words->waiters, wait->percent + 1);
}

static void end_lane(struct wait *wait, struct rec_lane_reader *words)
{
	(void)wait;
	rec_store_relaxed(&words->waiters, 0);
}

static void begin(struct wait *wait)
{
	wait->nr_words = 0;
	add_word(wait, &wait->view->wake, FUTEX_PRIVATE_FLAG);
	for_lanes(wait, begin_lane);
	/* Edge K1: everything read from here on is at least as new as the store of `waiters`. */
	rec_fence_full();
}

/* Without futex_waitv() only rec_view_wake() wakes; everything else is polled like single events. */
static int sleep_plainly(struct wait *wait, uint64_t slice)
{
	/* Seconds and nanoseconds as this call takes them; where long has 32 bits, struct timespec may be larger. */
	const __kernel_long_t time[2] = { 0, (__kernel_long_t)(slice < EVENT_SLICE_NS ? slice : EVENT_SLICE_NS) };

	return (int)syscall(SYS_futex, &wait->view->wake, FUTEX_WAIT_PRIVATE, (uint32_t)wait->words[0].value, time,
			    NULL, 0);
}

/* Sleep for the interval or until woken. 0 or -EINTR. */
static int sleep_slice(struct wait *wait, uint64_t now)
{
	const bool by_event = !wait->percent || wait->ended || wait->nr_words == WAITV_MAX;
	const uint64_t slice = by_event ? EVENT_SLICE_NS : rec_wait_life_slice;
	const uint64_t until = wait->until - now < slice ? wait->until : now + slice;
	const struct wait_time time = { (int64_t)(until / NS_PER_S), (int64_t)(until % NS_PER_S) };
	long r = syscall(SYS_futex_waitv, wait->words, wait->nr_words, 0, &time, CLOCK_MONOTONIC);

	if (r < 0 && errno != EINTR && errno != ETIMEDOUT && errno != EAGAIN)
		r = sleep_plainly(wait, until - now);
	return r < 0 && errno == EINTR ? -EINTR : 0;
}

/* This is checked before the lanes are read: if the program is gone, all that it has written is visible then. */
static void look_at_program(struct wait *wait, uint64_t now)
{
	const bool live = rec_load_acquire(&rec_view_header(wait->view)->state) == REC_BUFFER_LIVE;

	if (wait->gone || (live && now - wait->alive_at < LIFE_SLICE_NS))
		return;
	wait->gone = rec_view_writers_are_gone(wait->view);
	wait->ended = wait->gone || !live;
	wait->alive_at = now;
}

/* Look for data, or for the program's end. Any result except 0 ends the wait. */
static int look_once(struct wait *wait, uint64_t now)
{
	int r = look(wait);

	if (r)
		return r;
	look_at_program(wait, now);
	if (wait->ended)
		r = look(wait);
	return r ? r : wait->gone ? -EPIPE : 0;
}

static int wait_for(struct wait *wait)
{
	struct rec_view *view = wait->view;
	int r = 0;

	while (!r) {
		const uint32_t wake = __atomic_load_n(&view->wake, __ATOMIC_SEQ_CST);
		const uint64_t now = now_ns();

		if (wake != view->woken) {
			view->woken = wake;
			return -ECANCELED;
		}
		r = look_once(wait, now);
		if (r || now >= wait->until)
			return r;
		/* Check once more after the announcement: events before it, and the end, have woken no waiter. */
		begin(wait);
		r = look_once(wait, now);
		if (r == 0 && wait->words[0].value == wake)
			r = sleep_slice(wait, now);
	}
	return r;
}

int rec_view_wait(struct rec_view *view, unsigned int lane, unsigned int percent, int timeout)
{
	struct wait wait = { .view = view, .lane = lane, .percent = percent };
	int r;

	if (percent > 100 || (lane != REC_ALL_LANES && lane >= rec_view_lanes(view)))
		return rec_view_is_cut(view) ? -EFAULT : -EINVAL;
	wait.until = timeout < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout * NS_PER_MS;
	if (timeout == 0)
		wait.until = 0;
	r = wait_for(&wait);
	if (wait.nr_words)
		for_lanes(&wait, end_lane);
	return r;
}
