/* SPDX-License-Identifier: MIT */
/*
 * Threads whose handlers jump out of events, leases and the slow path: only events that were left are missing, and
 * other threads are not affected.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "numbered.h"
#include "thread_lives.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

/* ---------------------------------------------------------------------------------------------------------- a storm */

#define STORM_THREADS 200u
#define STORM_EVENTS  1500u

static __thread sigjmp_buf back;
static __thread volatile bool may_jump;
static uint32_t struck, jumped;
static unsigned char *certain;

static __attribute__((noinline)) void write_deeper(uint64_t number)
{
	volatile char room[4096];

	room[0] = 0;
	numbered_write(number);
	(void)room[0];
}

/*
 * If the handler jumps away and leaves an event, its own event may be inside that event, and is torn then. An event
 * inside an event that the next handler leaves is torn, too. So an event's outcome is certain only if no event is open.
 */
static void write_or_jump(int signal)
{
	const uint32_t n = __atomic_add_fetch(&struck, 1, __ATOMIC_RELAXED);
	const uint64_t number = STORM_THREADS * STORM_EVENTS + n;
	const bool jumps = may_jump && n % 2;

	(void)signal;
	if (number < NUMBERED_MAX) {
		numbered_write(number);
		certain[number] = !jumps && !rec_thread_handle->lane->open;
	}
	if (jumps) {
		__atomic_add_fetch(&jumped, 1, __ATOMIC_RELAXED);
		siglongjmp(back, 1);
	}
}

static void jump_always(int signal)
{
	(void)signal;
	__atomic_add_fetch(&struck, 1, __ATOMIC_RELAXED);
	siglongjmp(back, 1);
}

/*
 * After each jump an event is written from this frame, by which the lane knows what was left. All other events are
 * written from frames below it.
 */
static void *write_in_a_storm(void *arg)
{
	volatile uint64_t number = (uintptr_t)arg * STORM_EVENTS;
	const uint64_t end = number + STORM_EVENTS;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigsetjmp(back, 1);
	if (number < end) {
		numbered_write(number);
		certain[number++] = 1;
	}
	may_jump = true;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (number < end) {
		write_deeper(number++);
		/* An event that was begun may have been left; an event to which its handler returned is there. */
		certain[number - 1] = 1;
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	may_jump = false;
	return NULL;
}

/* --------------------------------------------------------------------------------------- one that always jumps away */

#define JUMPS 2000u
#define RUN   300u /* events from one that is left to the next: some pages */

static struct {
	bool deeper; /* the events that are left are written from a frame far below that of the others */
	uint64_t next;
	bool ended;
} leaver;

static void *jump_in_a_loop(void *arg)
{
	static struct rec_slot slot;
	uint64_t number;

	(void)arg;
	sigsetjmp(back, 1);
	while (leaver.next < JUMPS * RUN) {
		number = leaver.next++;
		if (number % RUN == RUN - 1) {
			if (leaver.deeper ? reserve_deeper(number, &slot) : numbered_reserve(number, &slot))
				raise(SIGALRM);
		} else {
			numbered_write(number);
			certain[number] = 1;
		}
	}
	__atomic_store_n(&leaver.ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static struct sums read_beside_a_leaver(bool deeper)
{
	struct sums sums = { 0 }, more;
	pthread_t thread;
	bool ended;

	numbered_begin(64, 40);
	certain = calloc(NUMBERED_MAX, 1);
	leaver.deeper = deeper;
	on_signal(SIGALRM, jump_always, 0);
	cr_assert_eq(pthread_create(&thread, NULL, jump_in_a_loop, NULL), 0);
	do {
		ended = __atomic_load_n(&leaver.ended, __ATOMIC_ACQUIRE);
		more = numbered_read();
		sums.events += more.events;
		sums.reported += more.reported;
	} while (!ended);
	/* Other threads still find lanes. */
	run(write_number, (void *)(JUMPS * RUN));
	more = numbered_read();
	cr_assert_eq(more.events, 1);
	cr_assert(seen[JUMPS * RUN]);
	sums.reported += more.reported;
	pthread_join(thread, NULL);
	more = numbered_read();
	sums.events += more.events;
	sums.lost = sums.reported + more.lost;
	sums.torn = more.torn;
	sums.no_lane = more.no_lane;
	numbered_expect_no_owner();
	/* Each event is read, or counted by its outcome. */
	cr_assert_eq(sums.events + sums.lost + sums.torn + sums.no_lane, JUMPS * RUN);
	return sums;
}

/* Only events that were left are missing, and only one lane was used up. */
Test(life, a_thread_whose_handlers_always_jump_away, .timeout = 600)
{
	const struct sums sums = read_beside_a_leaver(true);
	uint32_t n;

	cr_assert_eq(struck, JUMPS);
	cr_assert_eq(sums.torn, JUMPS);
	cr_assert_eq(sums.no_lane, 0);
	cr_assert_leq(rec_lanes(), 2);
	for (n = 0; !sums.lost && n < JUMPS * RUN; n++)
		cr_assert(seen[n] || !certain[n], "event %u", n);
}

/*
 * If no frame shows what was left, the thread leaves some lanes for good and then loses its events; others are not
 * affected.
 */
Test(life, a_thread_that_leaves_lane_after_lane, .timeout = 600)
{
	const struct sums sums = read_beside_a_leaver(false);

	cr_assert_gt(sums.torn, 0);
	cr_assert_leq(rec_lanes(), 20);
}

/*
 * A timer interrupts at random: at first events, in leases, in the slow path, in events; every second handler jumps
 * away.
 */
Test(life, a_storm_of_handlers_that_jump_away, .timeout = 600)
{
	const struct itimerval fast = { { 0, 97 }, { 0, 97 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sums sums = { 0 }, more;
	sigset_t set;
	uintptr_t i;
	uint32_t n;

	numbered_begin(64, 24);
	certain = calloc(NUMBERED_MAX, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	on_signal(SIGALRM, write_or_jump, 0);
	setitimer(ITIMER_REAL, &fast, NULL);
	for (i = 0; i < STORM_THREADS; i++) {
		run(write_in_a_storm, (void *)i);
		more = numbered_read();
		sums.events += more.events;
		sums.lost += more.lost;
		sums.torn = more.torn;
		sums.no_lane = more.no_lane;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	fprintf(stderr, "# %u handlers, %u jumped away, %u torn\n", struck, jumped, (unsigned int)sums.torn);
	cr_assert_eq(sums.lost, 0);
	cr_assert_eq(sums.no_lane, 0);
	/* A jump can tear the event that the handler left, and the handler's own event. */
	cr_assert_leq(sums.torn, 2 * jumped);
	for (n = 0; n < NUMBERED_MAX; n++)
		cr_assert(seen[n] || !certain[n], "event %u", n);
	numbered_expect_no_owner();
}
