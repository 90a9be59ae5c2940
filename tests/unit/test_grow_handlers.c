/* SPDX-License-Identifier: MIT */
/*
 * Threads that grow and give lanes up (test_grow.c) while signal handlers write: a writer is interrupted after every
 * instruction, and at full speed beside a reader. And threads that share lanes, in handlers that fork.
 */
#include "librecorder/os/signal_block.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "repeat.h"
#include "share_fixture.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL 4u

/* The writer traps after each instruction, except while signals are blocked: then a trap would kill the process. */
static volatile bool has_traps;

void __real_rec_signal_block_begin(struct rec_signal_block *ret_block);
void __real_rec_signal_block_end(const struct rec_signal_block *block);
void __wrap_rec_signal_block_begin(struct rec_signal_block *ret_block);
void __wrap_rec_signal_block_end(const struct rec_signal_block *block);

void __wrap_rec_signal_block_begin(struct rec_signal_block *ret_block)
{
#if defined(__x86_64__)
	if (has_traps)
		trap_flag_clear();
#endif
	__real_rec_signal_block_begin(ret_block);
}

void __wrap_rec_signal_block_end(const struct rec_signal_block *block)
{
	__real_rec_signal_block_end(block);
#if defined(__x86_64__)
	if (has_traps)
		trap_flag_set();
#endif
}

#if defined(__x86_64__)

static struct {
	volatile unsigned int step, target;
	unsigned int lane;
	bool is_given_up;
	unsigned int given_up; /* number of times */
	uint64_t events, lost;
	bool again; /* the lane is remade, too */
	bool busy;  /* but a reader is just examining it */
	bool gated; /* the gate is closed before the writer comes */
} stepped;

static void read_all(void)
{
	const struct sums sums = numbered_read();

	cr_assert_eq(sums.torn + sums.no_lane, 0);
	stepped.events += sums.events;
	stepped.lost += sums.lost;
}

/*
 * After one instruction of a writer its thread grows, shrinks, and perhaps grows again, because of what a handler
 * writes.
 */
static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (++stepped.step != stepped.target)
		return;
	trap_flag_clear_in(context);
	has_traps = false;
	stepped.lane = numbered_lane();
	rec_process_header()->grow_until = UINT64_MAX;
	numbered_write_some(3 * NUMBERED_IN(SMALL));
	read_all();
	rec_process_header()->grow_until = 0;
	numbered_write_some(3 * NUMBERED_IN(SMALL));
	read_all();
	stepped.is_given_up = !rec_lane_is_made(stepped.lane);
	stepped.given_up += stepped.is_given_up;
	if (stepped.again) {
		rec_process_header()->grow_until = UINT64_MAX;
		if (stepped.busy && stepped.is_given_up)
			rec_pool.handles[stepped.lane].reader->owner = 1;
		numbered_write_some(4 * NUMBERED_IN(SMALL));
		if (stepped.is_given_up && !rec_lane_is_made(stepped.lane))
			rec_pool.handles[stepped.lane].reader->owner = 0;
	}
}

/*
 * A writer that is interrupted at any instruction finds its lane given up, or given up and remade: its event is read
 * once, and whole. If `before` is 0, each interrupted event is a plain one; otherwise it begins a sub-buffer.
 */
static void interrupt_at_any(unsigned int before, unsigned int instructions, bool again)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct steps steps = stepped.busy || stepped.gated ? steps_begin_all(instructions) :
							     steps_begin(11, instructions);
	uint64_t number;

	numbered_begin(SMALL, 0);
	sigaction(SIGTRAP, &action, NULL);
	stepped.again = again;
	do {
		rec_process_header()->grow_until = 0;
		/* Begin on a new sub-buffer, whose events all have the same size except the first. */
		while (!numbered_next ||
		       REC_POS_OFF(rec_lane_at(rec_thread_handle->lane ? numbered_lane() : 0)->tail) > 4080 / 2)
			numbered_write_some(1);
		while (before && REC_POS_OFF(rec_thread_handle->lane->tail) + 28 <= 4080)
			numbered_write_some(1);
		read_all();
		number = numbered_next++;
		stepped.step = 0;
		stepped.target = steps.at;
		if (stepped.gated)
			rec_gate_close(rec_thread_handle);
		has_traps = true;
		trap_flag_set();
		numbered_write(number);
		has_traps = false;
		trap_flag_clear();
		read_all();
		/* If its lane was not given up, the handler's events are nested, and may have overwritten the event. */
		if (stepped.is_given_up)
			cr_assert_eq(seen[number], 1, "event %d, interrupted after instruction %u", (int)number,
				     steps.at);
		stepped.is_given_up = false;
		cr_assert_eq(stepped.events + stepped.lost, numbered_next);
		memset(seen, 0, numbered_next);
	} while (numbered_next < NUMBERED_MAX - 100000 && steps_next(&steps, stepped.step >= stepped.target));
	/* The loop may end early, when there are no numbers left for further instructions. */
	repeat_nothing();
	cr_assert_gt(stepped.given_up, 0);
}

Test(grow, a_writer_interrupted_at_any_instruction, .timeout = 600)
{
	interrupt_at_any(0, 60, false);
}

Test(grow, a_writer_that_changes_pages_interrupted_at_any_instruction, .timeout = 600)
{
	interrupt_at_any(1, 300, false);
}

Test(grow, a_writer_interrupted_whose_lane_is_made_again, .timeout = 600)
{
	interrupt_at_any(1, 300, true);
}

Test(grow, a_writer_interrupted_whose_lane_cannot_be_made_again, .timeout = 600)
{
	stepped.busy = true;
	interrupt_at_any(0, 60, true);
}

Test(grow, a_writer_at_a_closed_gate_interrupted_at_any_instruction, .timeout = 600)
{
	stepped.gated = true;
	interrupt_at_any(0, 300, false);
}

/* --------------------------------------------------------------------------------------------------------- forks */

static struct {
	volatile unsigned int step, target;
	volatile bool in_child;
	bool raw;
	int status; /* of the child */
	unsigned int forks;
} forked;

static void on_trap_fork(int number, siginfo_t *info, void *context)
{
	pid_t pid;

	(void)number;
	(void)info;
	if (++forked.step != forked.target)
		return;
	trap_flag_clear_in(context);
	has_traps = false;
	forked.status = -1;
	forked.forks++;
	pid = forked.raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	forked.in_child = pid == 0;
	/* The child of a raw clone must record an event before it returns. */
	if (pid == 0 && forked.raw)
		numbered_write(0);
	if (pid > 0)
		waitpid(pid, &forked.status, 0);
}

/* An event, and one that is too long: it is refused after the thread has taken a shared lane. */
static void write_and_refuse(uint64_t number)
{
	static const unsigned char bytes[8192];
	struct rec_handle *handle;

	numbered_write(number);
	handle = rec_handle_get();
	if (handle)
		rec_write(handle, bytes, sizeof(bytes));
}

/* The child returns from the handler, finishes what it has begun, and writes to its own buffer. */
static void fork_at_any(struct worker *worker)
{
	const struct sigaction action = { .sa_sigaction = on_trap_fork, .sa_flags = SA_SIGINFO };
	struct steps steps = steps_begin(11, 300);

	sigaction(SIGTRAP, &action, NULL);
	cr_assert_eq(rec_context_set("key", "value"), 0);
	do {
		/* The values are written again, after the lane has been given back, when it has entered enough. */
		for (unsigned int i = 0; i < NUMBERED_IN(1); i++)
			numbered_write(worker->number + i);
		forked.step = 0;
		forked.target = steps.at;
		has_traps = true;
		trap_flag_set();
		write_and_refuse(worker->number);
		has_traps = false;
		trap_flag_clear();
		if (forked.in_child) {
			write_and_refuse(worker->number);
			_exit(0);
		}
		cr_assert_eq(forked.status, 0, "a child that is made after instruction %u: status %x",
			     steps.at, (unsigned int)forked.status);
	} while (steps_next(&steps, forked.step >= forked.target));
	cr_assert_gt(forked.forks, 0);
}

static void fork_while_sharing(bool raw)
{
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	forked.raw = raw;
	worker_do(n - 1, fork_at_any, 1000);
}

Test(grow, a_fork_at_any_instruction_of_a_thread_that_shares, .timeout = 600)
{
	fork_while_sharing(false);
}

Test(grow, a_raw_clone_at_any_instruction_of_a_thread_that_shares, .timeout = 600)
{
	fork_while_sharing(true);
}

#endif

/* ------------------------------------------------------------------------------------------------- at full speed */

/* The writers wait for the main thread, if that gets no CPU, so that the numbers last for all rounds. */
#define NUMBERS_A_ROUND 7000u

static struct {
	uint64_t numbers;
	uint64_t rounds; /* of the main thread, which have begun */
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

static void *write_without_end(void *arg)
{
	while (!rec_load_acquire(&storm.end)) {
		if (rec_load_relaxed(&storm.numbers) > rec_load_relaxed(&storm.rounds) * NUMBERS_A_ROUND) {
			sched_yield();
			continue;
		}
		write_in_storm(0);
		if (storm.numbers % 64 == 0)
			raise(SIGUSR1);
	}
	return arg;
}

/* A reader that consumes, and by turns permits and forbids growth; two threads with handlers. */
Test(grow, beside_a_reader, .timeout = 300)
{
	struct sums sums, all = { 0 };
	unsigned int i, moves = 0;
	pthread_t threads[2];

	numbered_begin(SMALL, 32);
	on_signal(SIGUSR1, write_in_storm, 0);
	for (i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_without_end, NULL), 0);
	for (i = 0; (moves < 20 || i < 200) && rec_load_relaxed(&storm.numbers) < NUMBERED_MAX - 500000; i++) {
		rec_store_relaxed(&storm.rounds, i + 1);
		numbered_want_growth(i % 8 < 5 ? 3600 : 0);
		sums = numbered_read();
		all.events += sums.events;
		all.lost += sums.reported;
		moves += rec_load_relaxed(&rec_pool.grown) > 0;
	}
	rec_store_release(&storm.end, 1);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sums = numbered_read();
	cr_assert_eq(all.events + all.lost + sums.events + sums.lost,
		     storm.numbers < NUMBERED_MAX ? storm.numbers : NUMBERED_MAX);
	cr_assert_eq(sums.torn + sums.no_lane, 0);
	cr_assert_gt(moves, 0);
	numbered_expect_no_owner();
}
