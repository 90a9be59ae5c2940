/* SPDX-License-Identifier: MIT */
/*
 * Shared lanes that are left in the middle of an event: by handlers that jump away, on any stack, and by threads that
 * end. Such a lane is held until its thread ends; then the next thread gets it. A handler that returns costs no event,
 * whichever stack it ran on.
 */
#include "share_fixture.h"
#include "librecorder/process/lane_private.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A flag of the kernel, for which glibc has no name. */
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

/*
 * Worker n - 1 leaves an event in the only shared lane. Later events of sharing threads, of that thread and of others,
 * are lost and counted. When that thread has ended, the others write there again.
 */
static void check_held(unsigned int n, void (*leave)(struct worker *worker))
{
	struct rec_lane *lane = rec_pool.shared[0]->lane;
	struct sums sums;

	worker_start(n);
	cr_assert(worker_is_sharing(n));
	worker_do(n - 1, leave, 1000);
	cr_assert_eq(lane->owner, workers[n - 1].tid);
	worker_do(n - 1, worker_write, 100);
	worker_do(n, worker_write, 101);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 2);
	worker_stop(n - 1);
	cr_assert_eq(lane->owner, 0);
	worker_do(n, worker_write, 102);
	sums = numbered_read();
	cr_assert(seen[102] && !seen[100] && !seen[101] && !seen[1000]);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 2);
}

Test(left, a_lane_that_a_handler_left_is_held_until_its_thread_ends)
{
	share_begin(4);
	on_signal(SIGUSR2, jump, 0);
	check_held(workers_until_one_shares(), reserve_and_jump);
}

/* If there is another shared lane, only the event that was left is lost. */
Test(left, a_thread_goes_on_in_another_shared_lane)
{
	struct sums sums;
	unsigned int n, i;

	share_begin(8);
	on_signal(SIGUSR2, jump, 0);
	n = workers_until_one_shares();
	cr_assert_eq(rec_pool.nr_shared, 2);
	worker_do(n - 1, reserve_and_jump, 1000);
	for (i = 0; i < 10; i++)
		worker_do(n - 1, worker_write, 100 + i);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 10);
	cr_assert_eq(sums.torn + sums.no_lane, 0);
	worker_stop(n - 1);
	sums = numbered_read();
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
	cr_assert_eq(rec_pool.shared[0]->lane->owner + rec_pool.shared[1]->lane->owner, 0);
}

/* The thread gets a lane of its own after it has left an event in a shared one. At its end it gives both back. */
Test(left, a_thread_that_has_a_lane_of_its_own_later_gives_both_back)
{
	struct rec_lane *lane;
	struct sums sums;
	unsigned int n;

	share_begin(4);
	on_signal(SIGUSR2, jump, 0);
	n = workers_until_one_shares();
	lane = rec_pool.shared[0]->lane;
	worker_do(n - 1, reserve_and_jump, 1000);
	worker_stop(0);
	worker_do(n - 1, worker_write, 100);
	cr_assert(!worker_is_sharing(n - 1));
	cr_assert_eq(lane->owner, workers[n - 1].tid);
	for (unsigned int i = 1; i < n; i++)
		worker_stop(i);
	numbered_expect_no_owner();
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
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

/* The event that is left is on the alternate stack. */
Test(left, a_handler_on_another_stack_that_jumps_away)
{
	unsigned int n;

	share_begin(4);
	on_signal(SIGUSR2, write_and_jump, SA_ONSTACK);
	n = workers_until_one_shares();
	worker_do(n - 1, set_stack, 0);
	check_held(n, be_jumped_from_stack);
}

/* An event that is interrupted by a handler on another stack is not mistaken for one that was left. */
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

/* An event that a handler on the same stack interrupts was not left, either, in a thread that has another stack. */
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

/* An alternate stack that the kernel does not report to code that runs on it. */
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

static void be_interrupted_within(struct worker *worker)
{
	_Alignas(16) unsigned char memory[1 << 16];

	set_disarming_stack(memory, sizeof(memory));
	worker_be_interrupted(worker);
}

/* The alternate stack is a part of the thread's own. */
Test(left, a_handler_on_a_disarmed_stack_within_its_own_comes_back)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	handlers_write(SA_ONSTACK);
	n = workers_until_one_shares();
	worker_do(n - 1, be_interrupted_within, 100);
	sums = numbered_read();
	cr_assert(seen[100] && !seen[101]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

/*
 * The same with a lane of its own, where frames decide: the handler mistakes the event for one that was left. Then its
 * thread returns to it, which does no harm.
 */
static void *seem_to_leave(void *arg)
{
	_Alignas(16) unsigned char memory[1 << 16];
	const uint64_t number = (uintptr_t)arg;
	struct rec_slot slot;
	unsigned char *at;

	numbered_write(number - 1);
	at = numbered_reserve(number, &slot);
	cr_assert_not_null(at);
	set_disarming_stack(memory, sizeof(memory));
	handlers_number = number + 1;
	raise(SIGUSR1);
	if (number % 2)
		rec_discard(&slot, at);
	else
		rec_commit(&slot);
	numbered_write(number + 2);
	return NULL;
}

static void check_seems_left(uint64_t number)
{
	struct sums sums;
	pthread_t thread;

	numbered_begin(64, 8);
	handlers_write(SA_ONSTACK);
	cr_assert_eq(pthread_create(&thread, NULL, seem_to_leave, (void *)(uintptr_t)number), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(rec_lane_at(0)->open, 0);
	sums = numbered_read();
	cr_assert(seen[number - 1] && !seen[number] && seen[number + 1] && seen[number + 2]);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.lost + sums.no_lane, 0);
}

Test(left, an_event_that_seemed_left_is_not_committed)
{
	check_seems_left(100);
}

Test(left, an_event_that_seemed_left_is_not_discarded)
{
	check_seems_left(101);
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
	cr_assert_eq(rec_pool.shared[0]->lane->owner != 0, raw);
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

static void write_a_thousand(struct worker *worker)
{
	uint64_t i;

	for (i = 0; i < 1000; i++)
		numbered_write(worker->number + i);
}

/*
 * All workers run on one CPU, so they begin their search at the same lane. Returns their number; the last one shares.
 */
static unsigned int share_on_one_cpu(unsigned int lanes)
{
	cpu_set_t cpus;
	size_t cpu = 0;

	share_begin(lanes);
	cr_assert_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	return workers_until_one_shares();
}

static void leave_by_raw_exit(void)
{
	pthread_t thread;
	bool raw = true;

	cr_assert_eq(pthread_create(&thread, NULL, share_and_end, &raw), 0);
	pthread_join(thread, NULL);
}

/*
 * While another shared lane is free, no thread needs the one of a thread that is gone; but its events, which readers
 * may not get before it is repaired, do not wait for long.
 */
Test(left, a_lane_that_a_raw_exit_left_is_repaired_though_another_one_is_free)
{
	const unsigned int n = share_on_one_cpu(8);
	struct rec_lane *lanes[2];
	struct sums sums;

	cr_assert_eq(rec_pool.nr_shared, 2);
	leave_by_raw_exit();
	lanes[0] = rec_pool.shared[0]->lane;
	lanes[1] = rec_pool.shared[1]->lane;
	cr_assert(lanes[0]->owner || lanes[1]->owner);
	worker_do(n - 1, write_a_thousand, 1000);
	cr_assert_eq(lanes[0]->owner + lanes[1]->owner, 0);
	sums = numbered_read();
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
	cr_assert_eq(sums.events + sums.lost, n + 1000);
}

/*
 * A living thread holds another lane, before the free one in the search order. So each search finds two held lanes, and
 * the check must reach both.
 */
Test(left, it_is_repaired_though_a_thread_that_lives_holds_another_one)
{
	const unsigned int n = share_on_one_cpu(16);
	unsigned int held = 0, i;

	on_signal(SIGUSR2, jump, 0);
	cr_assert_gt(rec_pool.nr_shared, 2);
	leave_by_raw_exit();
	worker_start(n);
	worker_do(n, reserve_and_jump, 3000);
	worker_do(n - 1, write_a_thousand, 1000);
	for (i = 0; i < rec_pool.nr_shared; i++) {
		const uint32_t owner = rec_pool.shared[i]->lane->owner;

		cr_assert(!owner || owner == workers[n].tid);
		held += owner != 0;
	}
	cr_assert_eq(held, 1);
}

/* This thread has the id of the thread that held the shared lane, and a lane of its own. */
static void *come_again(void *arg)
{
	struct rec_lane *lane = rec_pool.shared[0]->lane;

	(void)arg;
	lane->owner = (uint32_t)syscall(SYS_gettid);
	numbered_write(201);
	cr_assert(!rec_share_is_handle(rec_thread_handle));
	cr_assert_eq(lane->owner, 0);
	return NULL;
}

/*
 * Thread ids are reused: the shared lane that a dead thread held is not held by the new one, which does not know of it.
 */
Test(left, a_thread_with_the_id_of_one_that_held_a_lane)
{
	struct sums sums;
	pthread_t thread;
	unsigned int n;
	bool raw = true;

	share_begin(4);
	n = workers_until_one_shares();
	cr_assert_eq(pthread_create(&thread, NULL, share_and_end, &raw), 0);
	pthread_join(thread, NULL);
	cr_assert_neq(rec_pool.shared[0]->lane->owner, 0);
	worker_stop(0);
	cr_assert_eq(pthread_create(&thread, NULL, come_again, NULL), 0);
	pthread_join(thread, NULL);
	worker_do(n - 1, worker_write, 100);
	sums = numbered_read();
	cr_assert(seen[100] && !seen[200] && seen[201]);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
}
