/* SPDX-License-Identifier: MIT */
/*
 * Resizes (test_resize.c) and signal handlers: requested by a handler, in the middle of an event and between two
 * events; after every instruction of a writer; and at full speed beside readers.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "resize_fixture.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define PAGES 16u

static void request_and_write(int signal)
{
	(void)signal;
	lane_ask(3);
	numbered_write_some(2);
}

/*
 * If a handler that interrupts an event requests a resize, the thread moves when that event is finished; between two
 * events it moves at once.
 */
Test(resize, a_request_that_a_handler_finds)
{
	struct rec_slot slot;

	numbered_begin(PAGES, 0);
	on_signal(SIGUSR1, request_and_write, 0);
	cr_assert_not_null(numbered_reserve(numbered_next++, &slot));
	raise(SIGUSR1);
	cr_assert_eq(numbered_lane(), 0);
	rec_commit(&slot);
	raise(SIGUSR1);
	cr_assert_eq(lane_pages(numbered_lane()), 3);
	cr_assert_neq(rec_lane_at(0)->owner, 0);
	expect_lane(0, 0, 3);
	expect_lane(numbered_lane(), 3, 2);
	/* The thread itself knows that nothing writes to the old lane any more, and takes it. */
	cr_assert_eq(lane_resize(numbered_lane(), 4), 0);
	cr_assert_eq(numbered_lane(), 0);
	cr_assert_eq(lane_pages(0), 4);
	cr_assert_eq(rec_lane_at(1)->owner, 0);
}

#if defined(__x86_64__)

static struct {
	volatile unsigned int step, target;
	unsigned int old;
	bool moved;
} stepped;

/* After one instruction of a writer its lane is to be resized, a handler writes, and another thread takes a lane. */
static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (++stepped.step != stepped.target)
		return;
	trap_flag_clear_in(context);
	stepped.old = numbered_lane();
	lane_ask(lane_pages(stepped.old) == PAGES ? 3 : PAGES);
	numbered_write_some(1);
	stepped.moved = numbered_lane() != stepped.old;
	worker_start(0);
	cr_assert_neq(worker_lane(0), stepped.old);
	worker_do(0, worker_write, numbered_next++);
	worker_stop(0);
}

/*
 * A writer that is interrupted at any instruction continues with the lane that it looked up, so no other thread may
 * have that: each event is read, once, whole.
 */
Test(resize, a_writer_interrupted_at_any_instruction, .timeout = 300)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct steps steps = steps_begin(7, 30);
	struct sums sums = { 0 }, all = { 0 };
	unsigned int moves = 0;
	uint64_t number;

	numbered_begin(PAGES, 0);
	sigaction(SIGTRAP, &action, NULL);
	do {
		/* Every worker begins with number 0. */
		numbered_next = numbered_next ? numbered_next : 1;
		numbered_write_some(1);
		number = numbered_next++;
		stepped.step = 0;
		stepped.target = steps.at;
		trap_flag_set();
		numbered_write(number);
		trap_flag_clear();
		moves += stepped.moved;
		stepped.moved = false;
		seen[0] = 0;
		sums = numbered_read();
		all.events += sums.events;
		cr_assert_eq(sums.lost + sums.torn + sums.no_lane, 0);
		rec_thread_give_back_left();
	} while (steps_next(&steps, stepped.step >= stepped.target));
	cr_assert_eq(all.events, numbered_next - 1 + steps.looks);
	cr_assert_gt(moves, 0);
}

#endif

/* ------------------------------------------------------------------------------------------------ at full speed */

/* The writer waits for the main thread, if that gets no CPU, so that the numbers last for all rounds. */
#define NUMBERS_A_ROUND 6000u

static struct {
	uint64_t numbers;
	uint64_t rounds; /* of the main thread, which have begun */
	uint64_t turns;	 /* of the writer's loop */
	unsigned int lane;
	uint32_t end;
} storm;

static void write_in_storm(int signal)
{
	const uint64_t number = __atomic_fetch_add(&storm.numbers, 1, __ATOMIC_RELAXED);

	(void)signal;
	/* The thread that ends the storm may start late. */
	if (number < NUMBERED_MAX)
		numbered_write(number);
}

static void *write_with_handlers(void *arg)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	sigset_t set;
	timer_t timer;

	/* The process has no other thread that receives this signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	cr_assert_eq(timer_settime(timer, 0, &often, NULL), 0);
	while (!rec_load_acquire(&storm.end)) {
		if (rec_load_relaxed(&storm.numbers) > rec_load_relaxed(&storm.rounds) * NUMBERS_A_ROUND)
			sched_yield();
		else
			write_in_storm(0);
		rec_store_relaxed(&storm.lane, numbered_lane());
		rec_store_release(&storm.turns, storm.turns + 1);
	}
	timer_delete(timer);
	return arg;
}

/* Wait until the writer has begun a turn and ended it: it has found the request that was made before. */
static void wait_for_turn(void)
{
	const uint64_t turns = rec_load_acquire(&storm.turns);

	while (rec_load_acquire(&storm.turns) - turns < 2)
		sched_yield();
}

/*
 * Handlers that write, another thread that requests resizes, and readers that consume or only look: every event is read
 * or counted.
 */
Test(resize, beside_handlers_and_readers, .timeout = 300)
{
	unsigned int i, moves = 0, last = 0;
	struct sums sums, all = { 0 };
	pthread_t thread;
	sigset_t set;

	numbered_begin(PAGES, 0);
	on_signal(SIGUSR1, write_in_storm, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	cr_assert_eq(pthread_create(&thread, NULL, write_with_handlers, NULL), 0);
	for (i = 0; (moves < 100 || i < 300) && rec_load_relaxed(&storm.numbers) < NUMBERED_MAX - 100000; i++) {
		const unsigned int lane = rec_load_relaxed(&storm.lane);

		rec_store_relaxed(&storm.rounds, i + 1);
		rec_lane_resize(lane, (2 + i % 7) * 4080ul);
		if (i % 50 == 7)
			rec_subbuf_resize((size_t)4096 << i / 50 % 3);
		wait_for_turn();
		sums = numbered_read();
		all.events += sums.events;
		moves += lane != last;
		last = lane;
	}
	rec_store_release(&storm.end, 1);
	pthread_join(thread, NULL);
	sums = numbered_read();
	all.events += sums.events;
	cr_assert_eq(sums.torn + sums.no_lane, 0);
	cr_assert_leq(all.events, storm.numbers);
	cr_assert_gt(moves, 10);
	numbered_expect_no_owner();
}
