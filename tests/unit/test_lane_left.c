/* SPDX-License-Identifier: MIT */
/*
 * Shared lanes that are left in the middle of an event, by handlers that jump away, on whichever stack, and by
 * threads that end: the next one gets the lane, and who comes back all the same does no harm.
 */
#include "share_fixture.h"
#include "librecorder/lane_private.h"
#include "librecorder/process.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's; glibc has no name for it. */
#define AUTODISARM (INT_MAX + 1u)

static struct worker *jumper;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(jumper->back, 1);
}

static void reserve_and_jump(struct worker *worker)
{
	struct rec_slot slot;

	jumper = worker;
	if (sigsetjmp(worker->back, 1))
		return;
	cr_assert_not_null(numbered_reserve(worker->number, &slot));
	raise(SIGUSR2);
}

/* Run a job on a stack of its own, deeper by some frames. */
static __attribute__((noinline)) void deeper(struct worker *worker, void (*job)(struct worker *worker))
{
	volatile char room[4096];

	room[0] = 0;
	job(worker);
	(void)room[0];
}

/* And at the same depth, as in a loop. */
static void jump_often(struct worker *worker)
{
	volatile uint64_t n = 0;
	struct rec_slot slot;

	jumper = worker;
	sigsetjmp(worker->back, 1);
	while (n < 20) {
		n++;
		cr_assert_not_null(numbered_reserve(worker->number + n, &slot));
		raise(SIGUSR2);
	}
}

Test(left, a_handler_that_jumps_away_again_and_again)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	on_signal(SIGUSR2, jump, 0);
	n = workers_until_one_shares();
	worker_do(n - 1, jump_often, 1000);
	worker_do(n - 1, worker_write, 100);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.torn, 20);
	cr_assert_eq(sums.no_lane, 0);
}

static void jump_deeper(struct worker *worker)
{
	deeper(worker, reserve_and_jump);
}

static void check_abandoned(int flags)
{
	struct sums sums;
	unsigned int n, i;

	share_begin(4);
	on_signal(SIGUSR2, jump, flags);
	n = workers_until_one_shares();
	for (i = 0; i < 10; i++) {
		worker_do(n - 1, jump_deeper, 1000 + i);
		worker_do(n - 1, worker_write, 100 + i);
	}
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 10);
	cr_assert_eq(sums.torn, 10);
	cr_assert_eq(sums.no_lane, 0);
}

/* The only shared lane is left in the middle of an event, ten times. */
Test(left, a_handler_that_jumps_away_leaves_the_lane_to_the_next)
{
	check_abandoned(0);
}

static void set_stack(struct worker *worker)
{
	static _Alignas(16) char memory[1 << 16];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	(void)worker;
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
}

static void write_and_jump(int signal)
{
	struct rec_slot slot;

	(void)signal;
	cr_assert_not_null(numbered_reserve(5000, &slot));
	siglongjmp(jumper->back, 1);
}

static void be_jumped_from_stack(struct worker *worker)
{
	jumper = worker;
	if (sigsetjmp(worker->back, 1) == 0)
		raise(SIGUSR2);
}

/* The event that is left lies on the alternate stack. */
Test(left, a_handler_on_another_stack_that_jumps_away)
{
	struct sums sums;
	unsigned int n, i;

	share_begin(4);
	on_signal(SIGUSR2, write_and_jump, SA_ONSTACK);
	n = workers_until_one_shares();
	worker_do(n - 1, set_stack, 0);
	for (i = 0; i < 5; i++) {
		worker_do(n - 1, be_jumped_from_stack, 0);
		worker_do(n - 1, worker_write, 100 + i);
	}
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 5);
	cr_assert_eq(sums.torn, 5);
	cr_assert_eq(sums.no_lane, 0);
}

/* An event that is interrupted by a handler on another stack is not taken for one that was left. */
Test(left, a_handler_on_another_stack_comes_back)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	handlers_write(SA_ONSTACK);
	n = workers_until_one_shares();
	worker_do(n - 1, set_stack, 0);
	worker_do(n - 1, worker_be_interrupted, 100);
	sums = numbered_read();
	cr_assert(seen[100]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

/* Nor is one that is interrupted where it is, by a thread that has another stack. */
Test(left, a_handler_on_the_same_stack_comes_back)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	handlers_write(0);
	n = workers_until_one_shares();
	worker_do(n - 1, set_stack, 0);
	worker_do(n - 1, worker_be_interrupted, 100);
	sums = numbered_read();
	cr_assert(seen[100]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

/* An alternate stack of which the kernel says nothing to those who run on it. */
static void set_disarming_stack(void *memory, size_t size)
{
	const stack_t stack = { .ss_sp = memory, .ss_size = size, .ss_flags = (int)AUTODISARM };

	cr_assert_eq(sigaltstack(&stack, NULL), 0);
}

#define STACK_SIZE (256u << 10)

static void *be_interrupted_from_above(void *arg)
{
	struct worker worker = { .number = 100 };

	set_disarming_stack(arg, STACK_SIZE);
	worker_be_interrupted(&worker);
	return NULL;
}

/* The thread's alternate stack lies right above its own. */
Test(left, a_handler_on_a_disarmed_stack_comes_back)
{
	unsigned char *stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	struct sums sums;

	share_begin(4);
	handlers_write(SA_ONSTACK);
	workers_until_one_shares();
	pthread_attr_init(&attr);
	cr_assert_eq(pthread_attr_setstack(&attr, stacks, STACK_SIZE), 0);
	cr_assert_eq(pthread_create(&thread, &attr, be_interrupted_from_above, stacks + STACK_SIZE), 0);
	pthread_join(thread, NULL);
	sums = numbered_read();
	cr_assert(seen[100] && !seen[101]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

static struct rec_slot held;

static void hold(struct worker *worker)
{
	cr_assert_not_null(numbered_reserve(worker->number, &held));
}

static void let_go(struct worker *worker)
{
	cr_assert_eq(held.lane->owner, worker->tid);
	rec_commit(&held);
}

/* Its handler takes it for one that left; then another thread has the lane, when it comes back. */
static void be_robbed(struct worker *worker)
{
	_Alignas(16) unsigned char memory[1 << 16];
	struct rec_slot slot;
	unsigned char *at = numbered_reserve(worker->number, &slot);

	cr_assert_not_null(at);
	set_disarming_stack(memory, sizeof(memory));
	handlers_number = worker->number + 1;
	raise(SIGUSR1);
	worker_do((unsigned int)(worker - workers) + 1, hold, worker->number + 2);
	if (worker->number % 2)
		rec_discard(&slot, at);
	else
		rec_commit(&slot);
	worker_do((unsigned int)(worker - workers) + 1, let_go, 0);
}

/* The alternate stack is a part of the thread's own. */
static void check_robbed(uint64_t number)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	handlers_write(SA_ONSTACK);
	n = workers_until_one_shares();
	worker_start(n);
	worker_do(n - 1, be_robbed, number);
	cr_assert_eq(rec_process.shared[0]->lane->owner, 0);
	sums = numbered_read();
	cr_assert(!seen[number] && seen[number + 1] && seen[number + 2]);
	cr_assert_eq(sums.events, n + 3);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.lost + sums.no_lane, 0);
}

Test(left, an_event_whose_lane_is_gone_is_not_committed)
{
	check_robbed(100);
}

Test(left, an_event_whose_lane_is_gone_is_not_taken_back)
{
	check_robbed(101);
}

static void *share_and_end(void *arg)
{
	struct rec_slot slot;

	cr_assert_not_null(numbered_reserve(200, &slot));
	cr_assert(rec_share_is_handle(rec_thread_handle));
	if (arg)
		syscall(SYS_exit, 0);
	return NULL;
}

static void check_end(bool raw)
{
	struct sums sums;
	pthread_t thread;
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	cr_assert_eq(pthread_create(&thread, NULL, share_and_end, raw ? &raw : NULL), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(rec_process.shared[0]->lane->owner != 0, raw);
	worker_do(n - 1, worker_write, 100);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
}

Test(left, a_thread_that_ends_in_an_event)
{
	check_end(false);
}

Test(left, a_thread_that_ends_by_a_raw_exit_in_an_event)
{
	check_end(true);
}
