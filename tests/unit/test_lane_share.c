/* SPDX-License-Identifier: MIT */
/*
 * More threads than lanes: they share. Every event is read, or counted as lost; each carries its own thread's id, whoever
 * wrote to the lane before.
 */
#include "librecorder/lane_private.h"
#include "librecorder/process.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(share, step, u64(number));

#define THREADS_MAX 64

/* What was read: how often each number came, and of which thread it said to be. */
#define NUMBERS_MAX 200000u
static unsigned char *seen;
static uint32_t *tids;

struct sums {
	uint64_t events, lost, torn, no_lane;
};

/* A process that may have `lanes` of them. */
static void begin(unsigned int lanes)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = 32 * 4080;
	options.memory_max = 1;
	cr_assert_eq(rec_configure(&options), 0);
	options.memory_max = lanes * rec_process.geometry.lane_stride;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_process.geometry.max_lanes, lanes);
	cr_assert_eq(rec_enable("share:step"), 1);
	seen = calloc(NUMBERS_MAX, 1);
	tids = calloc(NUMBERS_MAX, sizeof(*tids));
}

static void take_page(const struct rec_page *page, struct sums *sums)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_event_common common;
	uint64_t number;

	sums->lost += page->lost;
	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) > 0) {
		if (record.offset < page->from)
			continue;
		memcpy(&common, record.payload, sizeof(common));
		memcpy(&number, (const char *)record.payload + sizeof(common), sizeof(number));
		cr_assert_lt(number, NUMBERS_MAX);
		cr_assert_eq(seen[number]++, 0, "event %d came twice", (int)number);
		tids[number] = (uint32_t)common.pid;
		sums->events++;
	}
}

static struct sums read_all(void)
{
	struct rec_view_losses losses;
	struct rec_view *view = NULL;
	struct rec_lane_stats stats;
	struct sums sums = { 0 };
	struct rec_page page;
	unsigned int lane;
	int r;

	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	for (lane = 0; lane < rec_view_lanes(view); lane++) {
		while ((r = rec_view_read(view, lane, 0, &page)) > 0)
			take_page(&page, &sums);
		cr_assert_eq(r, 0, "lane %u: %d", lane, r);
		if (rec_view_stats(view, lane, &stats) == 0) {
			sums.torn += stats.torn;
			sums.lost += stats.lost_unread;
			cr_assert_eq(stats.broken, 0);
		}
	}
	rec_view_losses(view, &losses);
	sums.no_lane = losses.no_lane;
	rec_view_close(view);
	return sums;
}

static uint32_t tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* A thread that does what it is told, when it is told. */
struct worker {
	pthread_t thread;
	sem_t go, done;
	void (*job)(struct worker *worker);
	uint64_t number;
	uint32_t tid;
	sigjmp_buf back;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = tid();
	for (;;) {
		sem_wait(&worker->go);
		if (!worker->job)
			return NULL;
		worker->job(worker);
		sem_post(&worker->done);
	}
}

static struct worker workers[THREADS_MAX];

static void tell(unsigned int i, void (*job)(struct worker *worker), uint64_t number)
{
	workers[i].job = job;
	workers[i].number = number;
	sem_post(&workers[i].go);
	sem_wait(&workers[i].done);
}

static void write_one(struct worker *worker)
{
	REC(share, step, worker->number);
}

/* Thread i writes event i. */
static void start(unsigned int i)
{
	sem_init(&workers[i].go, 0, 0);
	sem_init(&workers[i].done, 0, 0);
	cr_assert_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	tell(i, write_one, i);
}

static void stop(unsigned int i)
{
	workers[i].job = NULL;
	sem_post(&workers[i].go);
	pthread_join(workers[i].thread, NULL);
}

static void shares(struct worker *worker)
{
	worker->number = rec_share_is_handle(rec_thread_handle);
}

static bool is_sharing(unsigned int i)
{
	tell(i, shares, 0);
	return workers[i].number;
}

/* As many threads as it takes; the last one shares. Returns how many. */
static unsigned int start_until_one_shares(void)
{
	unsigned int i = 0;

	do {
		cr_assert_lt(i, THREADS_MAX);
		start(i);
	} while (!is_sharing(i++));
	return i;
}

Test(share, nothing_is_lost_by_turns)
{
	struct sums sums;
	unsigned int i, round;

	begin(8);
	for (i = 0; i < THREADS_MAX; i++)
		start(i);
	for (round = 1; round < 50; round++)
		for (i = 0; i < THREADS_MAX; i++)
			tell(i, write_one, round * THREADS_MAX + i);
	cr_assert_eq(rec_process.nr_shared, 2);
	cr_assert(!is_sharing(0));
	cr_assert(is_sharing(THREADS_MAX - 1));
	sums = read_all();
	cr_assert_eq(sums.events, 50 * THREADS_MAX);
	cr_assert_eq(sums.lost + sums.torn + sums.no_lane, 0);
	for (i = 0; i < 50 * THREADS_MAX; i++)
		cr_assert_eq(tids[i], workers[i % THREADS_MAX].tid, "event %u", i);
}

#define STORM_EVENTS 2000u

static pthread_barrier_t barrier;

static void *write_many(void *arg)
{
	const uint64_t base = (uint64_t)(uintptr_t)arg * STORM_EVENTS;
	uint64_t i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < STORM_EVENTS; i++)
		REC(share, step, base + i);
	return NULL;
}

/* All at once: what does not come is counted. */
Test(share, a_storm_is_accounted_for)
{
	pthread_t threads[THREADS_MAX];
	struct sums sums;
	uintptr_t i;

	begin(8);
	pthread_barrier_init(&barrier, NULL, THREADS_MAX);
	for (i = 0; i < THREADS_MAX; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_many, (void *)i), 0);
	for (i = 0; i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	sums = read_all();
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.events + sums.lost + sums.no_lane, THREADS_MAX * STORM_EVENTS);
	for (i = 0; i < rec_lanes(); i++)
		cr_assert_eq(rec_lane_at((uint32_t)i)->owner, 0, "lane %d", (int)i);
}

/* The last thread to come gets the lane of one that ends. */
Test(share, an_own_lane_as_soon_as_there_is_one)
{
	unsigned int n;

	begin(8);
	n = start_until_one_shares();
	stop(0);
	tell(n - 1, write_one, 100);
	cr_assert(!is_sharing(n - 1));
	cr_assert_eq(read_all().events, n + 1);
	cr_assert_eq(tids[100], workers[n - 1].tid);
}

/* The program's one lane is not shared, nor is there one to share: what has none is counted. */
Test(share, one_lane_is_nobody_elses)
{
	struct sums sums;

	begin(1);
	start(0);
	start(1);
	cr_assert(is_sharing(1));
	tell(1, write_one, 101);
	sums = read_all();
	cr_assert_eq(sums.events, 1);
	cr_assert_eq(sums.no_lane, 2);
	stop(0);
	tell(1, write_one, 102);
	cr_assert_eq(read_all().events, 1);
}

/* ------------------------------------------------------------------------------------- in the middle of an event */

/* An event of share:step that is reserved, and finished by the caller, or not. */
static unsigned char *reserve(uint64_t number, struct rec_slot *slot)
{
	struct rec_handle *handle = rec_handle_get();
	unsigned char *at = rec_reserve(handle, REC_EVENT_COMMON_SIZE + sizeof(number), slot);

	if (at)
		rec_put(rec_put_common(at, handle, rec_event_id(&rec_event_share__step)), &number, sizeof(number));
	return at;
}

static uint64_t handlers_number;

static void write_in_handler(int signal)
{
	(void)signal;
	REC(share, step, handlers_number);
}

static void on_signal(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

static void be_interrupted(struct worker *worker)
{
	struct rec_slot slot;

	cr_assert_not_null(reserve(worker->number, &slot));
	handlers_number = worker->number + 1;
	raise(SIGUSR1);
	rec_commit(&slot);
}

Test(share, a_handler_takes_another_lane)
{
	struct sums sums;
	unsigned int n;

	begin(8);
	on_signal(SIGUSR1, write_in_handler, 0);
	n = start_until_one_shares();
	tell(n - 1, be_interrupted, 100);
	sums = read_all();
	cr_assert_eq(sums.events, n + 2);
	cr_assert(seen[100] && seen[101]);
	cr_assert_eq(tids[101], workers[n - 1].tid);
	cr_assert_eq(sums.no_lane, 0);
}

/* One shared lane, and it is held: the event is lost, and told. */
Test(share, what_finds_all_lanes_held_is_counted)
{
	struct sums sums;
	unsigned int n;

	begin(4);
	on_signal(SIGUSR1, write_in_handler, 0);
	n = start_until_one_shares();
	cr_assert_eq(rec_process.nr_shared, 1);
	tell(n - 1, be_interrupted, 100);
	sums = read_all();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.no_lane, 1);
	cr_assert(seen[100] && !seen[101]);
}

static void take_back(struct worker *worker)
{
	struct rec_slot slot;
	unsigned char *at = reserve(worker->number, &slot);

	cr_assert_not_null(at);
	rec_discard(&slot, at);
}

static void write_too_long(struct worker *worker)
{
	(void)worker;
	rec_event_too_long(rec_handle_get());
}

Test(share, what_is_taken_back_or_too_long_leaves_the_lane)
{
	struct rec_lane *lane;
	struct sums sums;
	uint64_t tail;
	unsigned int n;

	begin(4);
	n = start_until_one_shares();
	lane = rec_process.shared[0]->lane;
	tail = lane->tail;
	tell(n - 1, take_back, 100);
	cr_assert_eq(lane->tail, tail);
	cr_assert_eq(lane->owner, 0);
	tell(n - 1, write_one, 101);
	rec_lane_disable(rec_lane_index(rec_process.shared[0]));
	tell(n - 1, write_one, 102);
	rec_lane_enable(rec_lane_index(rec_process.shared[0]));
	cr_assert_eq(lane->disabled, 1);
	cr_assert_eq(lane->owner, 0);
	tell(n - 1, write_too_long, 0);
	cr_assert_eq(lane->too_long, 1);
	cr_assert_eq(lane->owner, 0);
	tell(n - 1, write_one, 103);
	sums = read_all();
	cr_assert_eq(sums.events, n + 2);
	cr_assert_eq(sums.torn + sums.no_lane, 0);
	cr_assert_eq(sums.lost, 1);
}

/* ----------------------------------------------------------------------------------------- those who do not come back */

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
	cr_assert_not_null(reserve(worker->number, &slot));
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
		cr_assert_not_null(reserve(worker->number + n, &slot));
		raise(SIGUSR2);
	}
}

Test(share, a_handler_that_jumps_away_again_and_again)
{
	struct sums sums;
	unsigned int n;

	begin(4);
	on_signal(SIGUSR2, jump, 0);
	n = start_until_one_shares();
	tell(n - 1, jump_often, 1000);
	tell(n - 1, write_one, 100);
	sums = read_all();
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

	begin(4);
	on_signal(SIGUSR2, jump, flags);
	n = start_until_one_shares();
	for (i = 0; i < 10; i++) {
		tell(n - 1, jump_deeper, 1000 + i);
		tell(n - 1, write_one, 100 + i);
	}
	sums = read_all();
	cr_assert_eq(sums.events, n + 10);
	cr_assert_eq(sums.torn, 10);
	cr_assert_eq(sums.no_lane, 0);
}

/* The only shared lane is left in the middle of an event, ten times. */
Test(share, a_handler_that_jumps_away_leaves_the_lane_to_the_next)
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
	cr_assert_not_null(reserve(5000, &slot));
	siglongjmp(jumper->back, 1);
}

static void be_jumped_from_stack(struct worker *worker)
{
	jumper = worker;
	if (sigsetjmp(worker->back, 1) == 0)
		raise(SIGUSR2);
}

/* The event that is left lies on the alternate stack. */
Test(share, a_handler_on_another_stack_that_jumps_away)
{
	struct sums sums;
	unsigned int n, i;

	begin(4);
	on_signal(SIGUSR2, write_and_jump, SA_ONSTACK);
	n = start_until_one_shares();
	tell(n - 1, set_stack, 0);
	for (i = 0; i < 5; i++) {
		tell(n - 1, be_jumped_from_stack, 0);
		tell(n - 1, write_one, 100 + i);
	}
	sums = read_all();
	cr_assert_eq(sums.events, n + 5);
	cr_assert_eq(sums.torn, 5);
	cr_assert_eq(sums.no_lane, 0);
}

/* An event that is interrupted by a handler on another stack is not taken for one that was left. */
Test(share, a_handler_on_another_stack_comes_back)
{
	struct sums sums;
	unsigned int n;

	begin(4);
	on_signal(SIGUSR1, write_in_handler, SA_ONSTACK);
	n = start_until_one_shares();
	tell(n - 1, set_stack, 0);
	tell(n - 1, be_interrupted, 100);
	sums = read_all();
	cr_assert(seen[100]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

/* Nor is one that is interrupted where it is, by a thread that has another stack. */
Test(share, a_handler_on_the_same_stack_comes_back)
{
	struct sums sums;
	unsigned int n;

	begin(4);
	on_signal(SIGUSR1, write_in_handler, 0);
	n = start_until_one_shares();
	tell(n - 1, set_stack, 0);
	tell(n - 1, be_interrupted, 100);
	sums = read_all();
	cr_assert(seen[100]);
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.no_lane, 1);
}

static void *share_and_end(void *arg)
{
	struct rec_slot slot;

	cr_assert_not_null(reserve(200, &slot));
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

	begin(4);
	n = start_until_one_shares();
	cr_assert_eq(pthread_create(&thread, NULL, share_and_end, raw ? &raw : NULL), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(rec_process.shared[0]->lane->owner != 0, raw);
	tell(n - 1, write_one, 100);
	sums = read_all();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
}

Test(share, a_thread_that_ends_in_an_event)
{
	check_end(false);
}

Test(share, a_thread_that_ends_by_a_raw_exit_in_an_event)
{
	check_end(true);
}

/* ----------------------------------------------------------------------------------------------------------- forks */

static int status;

static void fork_and_write(struct worker *worker)
{
	const pid_t pid = worker->number ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid == 0) {
		REC(share, step, 7);
		_exit(rec_share_is_handle(rec_thread_handle) || rec_thread_handle != &rec_process.handles[0] ||
		      rec_process.nr_shared || rec_process.shared[0]);
	}
	waitpid(pid, &status, 0);
}

static void check_fork(uint64_t raw)
{
	unsigned int n;

	begin(4);
	n = start_until_one_shares();
	tell(n - 1, fork_and_write, raw);
	cr_assert_eq(status, 0);
	cr_assert_eq(read_all().events, n);
	cr_assert_eq(seen[7], 0);
}

/* The child of a thread that shares has a buffer, and a lane, of its own. */
Test(share, a_fork_shares_nothing)
{
	check_fork(0);
}

Test(share, a_raw_clone_shares_nothing)
{
	check_fork(1);
}
