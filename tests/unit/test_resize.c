/* SPDX-License-Identifier: MIT */
/* Resizes: a thread continues in another lane, and what the old one holds can still be read. */
#include "beside.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "share_fixture.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 16u

static uint64_t next;

static void write_some(unsigned int events)
{
	while (events--)
		numbered_write(next++);
}

static unsigned int own_lane(void)
{
	unsigned int lane = 99;

	cr_assert_eq(rec_thread_lane(&lane), 0);
	return lane;
}

static uint32_t pages(unsigned int lane)
{
	return rec_lane_at(lane)->nr_subbufs - 1;
}

static int resize(unsigned int lane, uint32_t to)
{
	return rec_lane_resize(lane, to * 4080ul);
}

/* The events of one lane, whose numbers must be `first` and following, in this order. */
static void expect_lane(unsigned int lane, uint64_t first, unsigned int events)
{
	struct rec_view *view = NULL;
	struct rec_view_event event;
	uint64_t number;

	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	for (; events--; first++) {
		cr_assert_eq(rec_view_consume(view, lane, &event), 1, "event %d of lane %u", (int)first, lane);
		memcpy(&number, (const unsigned char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(number));
		cr_assert_eq(number, first);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(rec_view_consume(view, lane, &event), 0);
	rec_view_close(view);
}

Test(resize, the_own_lane_at_once)
{
	unsigned int old, is;

	numbered_begin(PAGES, 0);
	write_some(20);
	old = own_lane();
	cr_assert_eq(resize(old, 5), 0);
	is = own_lane();
	cr_assert_neq(is, old);
	cr_assert_eq(pages(is), 5);
	cr_assert_eq(pages(old), PAGES);
	cr_assert_eq(rec_lane_at(old)->owner, 0);
	write_some(30);
	expect_lane(old, 0, 20);
	expect_lane(is, 20, 30);
	/* The size that it has. */
	cr_assert_eq(resize(is, 5), 0);
	cr_assert_eq(own_lane(), is);
}

/* A lane in which everything was read becomes the next one, whatever its shape; its numbers continue. */
Test(resize, a_lane_that_was_read_is_made_anew)
{
	unsigned int first, second;
	struct sums sums;

	numbered_begin(PAGES, 2);
	write_some(20);
	first = own_lane();
	cr_assert_eq(resize(first, 5), 0);
	second = own_lane();
	write_some(20);
	sums = numbered_read();
	cr_assert_eq(sums.events, 40);
	cr_assert_eq(resize(second, 3), 0);
	cr_assert_eq(own_lane(), first);
	cr_assert_eq(pages(first), 3);
	write_some(300);
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, 300);
	cr_assert_eq(resize(first, PAGES), 0);
	cr_assert_eq(own_lane(), second);
	write_some(300);
	sums = numbered_read();
	cr_assert_eq(sums.events, 300);
	cr_assert_eq(sums.lost, 0);
}

/* A lane is not taken away from unread events, nor from a reader; and without another lane nothing changes. */
Test(resize, at_the_cap)
{
	struct rec_view *view = NULL;
	unsigned int first, second;
	struct rec_page page;
	struct sums sums;

	numbered_begin(PAGES, 2);
	write_some(20);
	first = own_lane();
	cr_assert_eq(resize(first, 5), 0);
	second = own_lane();
	write_some(20);
	cr_assert_eq(resize(second, 3), -EDQUOT);
	cr_assert_eq(own_lane(), second);
	cr_assert_eq(pages(second), 5);
	write_some(1);
	/* A lane of the wanted size exists. */
	cr_assert_eq(resize(second, PAGES), 0);
	cr_assert_eq(own_lane(), first);
	write_some(1);
	expect_lane(second, 20, 21);
	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	cr_assert_eq(rec_view_read(view, second, 0, &page), 0);
	cr_assert_eq(resize(first, 3), -EDQUOT);
	rec_view_close(view);
	cr_assert_eq(resize(first, 3), 0);
	cr_assert_eq(own_lane(), second);
	sums = numbered_read();
	cr_assert_eq(sums.events, 21);
	cr_assert_eq(sums.lost, 0);
}

/* The only lane that may exist. */
Test(resize, with_one_lane)
{
	numbered_begin(PAGES, 1);
	write_some(1);
	cr_assert_eq(resize(0, 3), -EDQUOT);
	write_some(1);
	expect_lane(0, 0, 2);
}

/* A free lane is resized in place, if it was read and no reader has it open. */
Test(resize, a_free_lane)
{
	struct rec_view *view = NULL;
	struct rec_page page;

	numbered_begin(PAGES, 0);
	worker_start(0);
	worker_stop(0);
	cr_assert_eq(resize(0, 3), -EBUSY);
	cr_assert_eq(pages(0), PAGES);
	expect_lane(0, 0, 1);
	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 0);
	cr_assert_eq(resize(0, 3), -EBUSY);
	rec_view_close(view);
	cr_assert_eq(resize(0, 3), 0);
	cr_assert_eq(pages(0), 3);
	cr_assert_eq(rec_lane_at(0)->owner, 0);
	next = 1;
	write_some(5);
	cr_assert_eq(own_lane(), 0);
	expect_lane(0, 1, 5);
}

static unsigned int lane_of_worker;

static void find_lane(struct worker *worker)
{
	(void)worker;
	lane_of_worker = own_lane();
}

static unsigned int worker_lane(unsigned int i)
{
	worker_do(i, find_lane, 0);
	return lane_of_worker;
}

/* With its next event; what it left goes back to the pool at the thread's end. */
Test(resize, another_threads_lane)
{
	unsigned int old, is;

	numbered_begin(PAGES, 0);
	worker_start(0);
	old = worker_lane(0);
	cr_assert_eq(resize(old, 3), 0);
	cr_assert_eq(worker_lane(0), old);
	worker_do(0, worker_write, 1);
	is = worker_lane(0);
	cr_assert_neq(is, old);
	cr_assert_eq(pages(is), 3);
	cr_assert_neq(rec_lane_at(old)->owner, 0);
	/* And back: it still has that one. */
	cr_assert_eq(resize(is, PAGES), 0);
	worker_do(0, worker_write, 2);
	cr_assert_eq(worker_lane(0), old);
	expect_lane(is, 1, 1);
	worker_stop(0);
	numbered_expect_no_owner();
	cr_assert_eq(numbered_read().events, 2);
}

/* If a thread ends before it used the new lane, no other thread is affected. */
Test(resize, another_threads_lane_that_ends)
{
	numbered_begin(PAGES, 0);
	worker_start(0);
	cr_assert_eq(resize(0, 3), 0);
	worker_stop(0);
	write_some(1);
	cr_assert_eq(own_lane(), 0);
	cr_assert_eq(pages(0), PAGES);
}

/* A thread whose lane others resize again and again keeps only a few. */
Test(resize, many_sizes_of_another_threads_lane)
{
	unsigned int i, lane, owned = 0;
	struct sums sums;

	numbered_begin(PAGES, 0);
	worker_start(0);
	for (i = 1; i < 100; i++) {
		resize(worker_lane(0), 2 + i % (PAGES - 2));
		worker_do(0, worker_write, i);
	}
	for (lane = 0; lane < rec_lanes(); lane++)
		owned += rec_lane_at(lane)->owner != 0;
	cr_assert_gt(owned, 1);
	cr_assert_leq(owned, 4);
	worker_stop(0);
	numbered_expect_no_owner();
	sums = numbered_read();
	cr_assert_eq(sums.events, 100);
	cr_assert_eq(sums.lost, 0);
}

/* Asked for in the middle of an event: the resize waits for its end, and nested events are written meanwhile. */
Test(resize, in_the_middle_of_an_event)
{
	unsigned int old;
	struct rec_slot slot;

	numbered_begin(PAGES, 0);
	/* In a frame that stays: an event of a function that has returned counts as left. */
	cr_assert_not_null(numbered_reserve(0, &slot));
	old = own_lane();
	cr_assert_eq(resize(old, 3), 0);
	next = 1;
	write_some(1);
	cr_assert_eq(own_lane(), old);
	rec_commit(&slot);
	write_some(1);
	cr_assert_eq(pages(own_lane()), 3);
	expect_lane(old, 0, 2);
	expect_lane(own_lane(), 2, 1);
}

Test(resize, waits_while_the_lane_is_disabled)
{
	numbered_begin(PAGES, 0);
	write_some(1);
	cr_assert_eq(rec_lane_disable(0), 0);
	cr_assert_eq(resize(0, 3), 0);
	write_some(1);
	cr_assert_eq(rec_lane_enable(0), 0);
	next = 1;
	write_some(1);
	cr_assert_neq(own_lane(), 0);
	cr_assert_eq(pages(own_lane()), 3);
	expect_lane(0, 0, 1);
	expect_lane(own_lane(), 1, 1);
}

/* Between two events a shared lane is not held. */
Test(resize, a_shared_lane)
{
	unsigned int n, lane;
	struct sums sums;

	share_begin(4);
	handlers_write(0);
	n = workers_until_one_shares();
	for (lane = 0; lane < rec_lanes() && !rec_process.own[lane].shared; lane++)
		;
	cr_assert_lt(lane, rec_lanes());
	cr_assert_eq(resize(lane, 3), -EBUSY);
	sums = numbered_read();
	cr_assert_eq(sums.events, n);
	cr_assert_eq(resize(lane, 3), 0);
	cr_assert_eq(pages(lane), 3);
	worker_do(n - 1, worker_write, 100);
	worker_do(n - 1, worker_be_interrupted, 101);
	cr_assert(worker_is_sharing(n - 1));
	/* Of the two, the nested one found the lane held. */
	sums = numbered_read();
	cr_assert_eq(sums.events, 2);
	cr_assert_eq(sums.no_lane, 1);
	/* The process's other way to ask. */
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert_eq(rec_lane_at(lane)->subbuf_size, 8192);
	worker_do(n - 1, worker_write, 200);
	cr_assert_eq(numbered_read().events, 1);
	cr_assert_eq(rec_lane_at(lane)->broken, 0);
}

/* A writer never faults; and a lane that is made smaller for its next owner needs less memory. */
Test(resize, memory)
{
	const struct rec_handle *handle;
	unsigned char in_core;
	unsigned int large;
	uint32_t id;

	numbered_begin(PAGES, 2);
	write_some(1);
	cr_assert_eq(resize(own_lane(), 3), 0);
	cr_assert_eq(resize(own_lane(), PAGES), 0);
	handle = rec_thread_handle;
	for (id = 0; id < handle->nr_subbufs; id++) {
		cr_assert_eq(mincore(handle->data - REC_SUBBUF_HEADER_SIZE + (size_t)id * 4096, 4096, &in_core), 0);
		cr_assert(in_core & 1, "sub-buffer %u", id);
	}
	large = own_lane();
	numbered_read();
	cr_assert_eq(resize(large, 3), 0);
	cr_assert_eq(resize(own_lane(), 5), 0);
	cr_assert_eq(own_lane(), large);
	for (id = 0; id <= PAGES; id++) {
		cr_assert_eq(mincore(handle->data - REC_SUBBUF_HEADER_SIZE + (size_t)id * 4096, 4096, &in_core), 0);
		cr_assert_eq(in_core & 1, id <= 5, "sub-buffer %u", id);
	}
}

/* ----------------------------------------------------------------------------------------------------- iterators */

/* A reader of a lane that is remade sees what is new, with the numbers that follow. */
Test(resize, an_iterator_on_a_lane_that_is_made_anew)
{
	struct rec_view *view = NULL;
	struct rec_view_event event;
	struct rec_iter *iter;
	unsigned int i;

	numbered_begin(PAGES, 2);
	write_some(20);
	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	for (i = 0; i < 15; i++)
		cr_assert_eq(rec_iter_next(iter, &event), 1);
	expect_lane(0, 0, 20);
	cr_assert_eq(resize(0, 3), 0);
	cr_assert_eq(resize(own_lane(), 5), 0);
	cr_assert_eq(own_lane(), 0);
	write_some(5);
	/* What it had copied, and what is there now. */
	for (i = 15; i < 25; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1, "%u", i);
		cr_assert_eq(event.number, i);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(rec_iter_next(iter, &event), 0);
	rec_iter_close(iter);
	rec_view_close(view);
}

/* ------------------------------------------------------------------------------------------------ signal handlers */

static void selector(uint32_t to)
{
	struct rec_handle *handle = rec_thread_handle;

	/* As another thread does. */
	rec_store_relaxed(&handle->wanted_size, to * 4080ul);
	rec_fence_full();
	rec_store_relaxed(&handle->room, 0);
}

static void wish_and_write(int signal)
{
	(void)signal;
	selector(3);
	write_some(2);
}

/* In a handler that interrupts an event: not before that event is finished. Between two events: at once. */
Test(resize, a_wish_that_a_handler_finds)
{
	struct rec_slot slot;

	numbered_begin(PAGES, 0);
	on_signal(SIGUSR1, wish_and_write, 0);
	cr_assert_not_null(numbered_reserve(next++, &slot));
	raise(SIGUSR1);
	cr_assert_eq(own_lane(), 0);
	rec_commit(&slot);
	raise(SIGUSR1);
	cr_assert_eq(pages(own_lane()), 3);
	cr_assert_neq(rec_lane_at(0)->owner, 0);
	expect_lane(0, 0, 3);
	expect_lane(own_lane(), 3, 2);
	/* The thread itself knows that nothing writes to the old lane any more, and takes it. */
	cr_assert_eq(resize(own_lane(), 4), 0);
	cr_assert_eq(own_lane(), 0);
	cr_assert_eq(pages(0), 4);
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
	stepped.old = own_lane();
	selector(pages(stepped.old) == PAGES ? 3 : PAGES);
	write_some(1);
	stepped.moved = own_lane() != stepped.old;
	worker_start(0);
	cr_assert_neq(worker_lane(0), stepped.old);
	worker_do(0, worker_write, next++);
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
		/* Number 0 is the one that every worker begins with. */
		next = next ? next : 1;
		write_some(1);
		number = next++;
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
	cr_assert_eq(all.events, next - 1 + steps.looks);
	cr_assert_gt(moves, 0);
}

#endif

/* ------------------------------------------------------------------------------------------------ at full speed */

static struct {
	uint64_t numbers;
	unsigned int lane;
	uint32_t end;
} storm;

static void write_in_storm(int signal)
{
	(void)signal;
	numbered_write(__atomic_fetch_add(&storm.numbers, 1, __ATOMIC_RELAXED));
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
		write_in_storm(0);
		rec_store_relaxed(&storm.lane, own_lane());
	}
	timer_delete(timer);
	return arg;
}

/*
 * Handlers that write, selectors of another thread, and readers that take and look: every event comes, or is counted.
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
	for (i = 0; (moves < 100 || i < 300) && storm.numbers < NUMBERED_MAX - 100000; i++) {
		const unsigned int lane = rec_load_relaxed(&storm.lane);

		rec_lane_resize(lane, (2 + i % 7) * 4080ul);
		if (i % 50 == 7)
			rec_subbuf_resize((size_t)4096 << i / 50 % 3);
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

/* ---------------------------------------------------------------------------------------------------------- fork */

static int child_fails(void)
{
	uint64_t i;

	for (i = 1000; i < 1010; i++)
		numbered_write(i);
	if (numbered_read().events != 10 || resize(own_lane(), 4) < 0 || pages(own_lane()) != 4)
		return 1;
	numbered_write(2000);
	return numbered_read().events != 1;
}

/*
 * A child begins with a lane of its own, as large as the process's lanes are; sizes set for its parent's threads do not
 * apply to it.
 */
Test(resize, fork)
{
	int status = -1;
	pid_t pid;

	numbered_begin(PAGES, 0);
	write_some(10);
	cr_assert_eq(resize(own_lane(), 3), 0);
	write_some(10);
	selector(5);
	pid = fork();
	if (pid == 0)
		_exit(child_fails());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	write_some(10);
	cr_assert_eq(pages(own_lane()), 5);
	cr_assert_eq(numbered_read().events, 30);
}
