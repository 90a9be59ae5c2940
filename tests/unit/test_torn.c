/* SPDX-License-Identifier: MIT */
/*
 * Reservations that a thread never finishes, left at any instruction. Each is torn with all that was reserved inside
 * it, and the lane counts exactly these events. All other events are read, in order, with their times and CPUs.
 */
#include "film.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "numbered.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)

#define PAGE_EVENTS 140u /* more than fit on a sub-buffer of 4096 */

/* STEPS by default (steps.h), for an event that goes to another sub-buffer: it has many instructions. */
#define STRIDE 11

/* The actions of a thread. */
static struct plan {
	unsigned int before, after; /* number of events */
	bool crosses;		     /* the event that is left goes to another sub-buffer */
	bool handler_writes;
	/* By default the events after the one that is left are written from frames far below its own. */
	bool deeper;		  /* the event that is left is written from a frame far below theirs */
	bool level;		  /* all are written from the same frame */
	unsigned int instruction; /* after this instruction a handler interrupts, and jumps away */
	bool once_reserved;	  /* it jumps away only if something is reserved */
	uint64_t number;	  /* of the next event */
	bool struck;		  /* the handler has jumped away */
} plan;

/* Which events must be read and which are torn; events that were refused or never reserved are neither. */
enum fate { NEITHER, READ, TORN };

static unsigned char fates[NUMBERED_MAX];
static uint64_t refused;

/* The lane in which an event was left that was not found yet. NULL: there is no such lane. */
static const struct rec_lane *left_in;
static uint64_t left_number, tail_before;

static sigjmp_buf back;
static volatile unsigned int stepped;

static uint64_t count_refusals(void)
{
	uint64_t sum = 0;
	uint32_t lane;

	for (lane = 0; lane < rec_lanes(); lane++)
		sum += rec_lane_refusals(rec_lane_at(lane));
	return sum;
}

static __attribute__((noinline)) void write_here(uint64_t number, bool in_steps)
{
	if (in_steps)
		trap_flag_set();
	numbered_write(number);
	trap_flag_clear();
}

/* This is inline, so that write_here() is called from the caller's frame. */
static inline __attribute__((always_inline)) void write_one(void)
{
	const uint64_t refusals = count_refusals(), number = plan.number++;

	write_here(number, false);
	if (count_refusals() != refusals)
		refused++;
	else
		fates[number] = rec_thread_handle->lane == left_in ? TORN : READ;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	const struct rec_lane *lane = rec_thread_handle->lane;

	(void)signal;
	(void)info;
	if (++stepped < plan.instruction || (plan.once_reserved && lane->tail == lane->commit))
		return;
	trap_flag_clear_in(context);
	plan.struck = true;
	if (lane->tail != lane->commit) {
		cr_assert(lane->open);
		left_in = lane;
		fates[left_number] = TORN;
	} else if (lane->tail != tail_before) {
		fates[left_number] = READ;
	}
	if (plan.handler_writes)
		write_one();
	siglongjmp(back, 1);
}

static bool is_room(void)
{
	const uint64_t tail = rec_thread_handle->lane->tail;

	return REC_POS_OFF(tail) + rec_event_total(REC_EVENT_COMMON_SIZE + 16) <= rec_thread_handle->capacity * 4;
}

static __attribute__((noinline)) void write_deeper_in_steps(void)
{
	volatile char room[4096];

	room[0] = 0;
	write_here(left_number, true);
	(void)room[0];
}

static __attribute__((noinline)) void write_after_from_below(void)
{
	volatile char room[4096];
	unsigned int i;

	room[0] = 0;
	for (i = 0; i < plan.after; i++)
		write_one();
	(void)room[0];
}

static void *be_left(void *arg)
{
	unsigned int i;

	(void)arg;
	cr_assert_eq(rec_thread_attach(), 0);
	left_in = NULL;
	for (i = 0; i < plan.before; i++)
		write_one();
	while (plan.crosses && is_room())
		write_one();
	stepped = 0;
	tail_before = rec_thread_handle->lane->tail;
	left_number = plan.number++;
	if (sigsetjmp(back, 1) == 0) {
		if (plan.deeper)
			write_deeper_in_steps();
		else
			write_here(left_number, true);
		fates[left_number] = READ;
	}
	if (!plan.deeper && !plan.level) {
		write_after_from_below();
		return NULL;
	}
	/* From here on, the frames of events show which event was left. */
	left_in = NULL;
	for (i = 0; i < plan.after; i++)
		write_one();
	return NULL;
}

/* No link may keep the UPDATE mark of a writer that was left while it moved the head. */
static void check_marks(void)
{
	uint32_t lane, id;

	for (lane = 0; lane < rec_lanes(); lane++)
		for (id = 0; id < rec_pool.handles[lane].nr_subbufs; id++)
			cr_assert_neq(REC_LINK_FLAG(rec_pool.handles[lane].links[id].next), REC_LINK_UPDATE);
}

static void begin(uint32_t pages)
{
	const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER };

	numbered_begin(pages, 0);
	sigaction(SIGTRAP, &action, NULL);
}

/* Whether the thread reached the instruction. */
static bool run_and_be_left(void)
{
	pthread_t thread;

	plan.struck = false;
	cr_assert_eq(pthread_create(&thread, NULL, be_left, NULL), 0);
	pthread_join(thread, NULL);
	return plan.struck;
}

/* Checks that every event was read, or is torn and counted; events that should be read may have been overwritten. */
static void check_fates(const struct sums *sums)
{
	uint64_t read = 0, torn = 0, number;

	for (number = 0; number < plan.number; number++) {
		read += fates[number] == READ;
		torn += fates[number] == TORN;
		cr_assert(!seen[number] || fates[number] == READ, "event %u", (unsigned int)number);
		cr_assert(seen[number] || sums->lost || fates[number] != READ, "event %u", (unsigned int)number);
	}
	cr_assert_eq(sums->torn, torn, "%u torn, not %u", (unsigned int)sums->torn, (unsigned int)torn);
	cr_assert_eq(sums->events + sums->lost, read + refused);
	cr_assert_eq(sums->no_lane, 0);
	cr_assert_gt(torn, 0);
}

/*
 * Runs a thread for each instruction of an event that STEPS selects. The thread leaves its event after that
 * instruction, by a jump out of a signal handler. One more thread does so at the first instruction after the
 * reservation, so that something is torn.
 */
static void leave_everywhere(struct plan what, uint32_t pages)
{
	struct steps steps = steps_begin(what.crosses ? STRIDE : 1, 30);
	struct sums sums;

	begin(pages);
	plan = what;
	do {
		plan.instruction = steps.at;
		run_and_be_left();
		cr_assert_lt(plan.instruction, 5000);
	} while (steps_next(&steps, plan.struck));
	plan.instruction = 0;
	plan.once_reserved = true;
	cr_assert(run_and_be_left());
	/* There are few lanes: those in which events were left, and those in which threads continued. */
	cr_assert_leq(rec_lanes(), plan.deeper || plan.level ? 1 : 3);
	check_marks();
	sums = numbered_read();
	numbered_expect_no_owner();
	check_fates(&sums);
}

Test(torn, left_on_a_page, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20 }, 64);
}

Test(torn, left_on_a_page_and_the_handler_writes, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20, .handler_writes = true }, 64);
}

Test(torn, left_and_the_thread_goes_on_elsewhere, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 5 * PAGE_EVENTS }, 64);
}

Test(torn, left_at_the_end_of_a_page, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 3 * PAGE_EVENTS, .crosses = true }, 64);
}

Test(torn, left_at_the_end_of_a_page_and_the_handler_writes, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20, .crosses = true, .handler_writes = true }, 65);
}

static pthread_barrier_t barrier;

static void *be_left_and_wait(void *arg)
{
	be_left(arg);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* While the thread lives, its events in another lane are visible at once. */
Test(torn, what_is_written_elsewhere_is_seen_at_once, .timeout = 600)
{
	struct rec_lane_stats stats;
	struct rec_view *view = NULL;
	struct sums sums;
	pthread_t thread;

	FILM_OR_SKIP();
	begin(64);
	plan = (struct plan){ .once_reserved = true, .after = 5 * PAGE_EVENTS };
	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, be_left_and_wait, NULL), 0);
	pthread_barrier_wait(&barrier);
	cr_assert(plan.struck);
	cr_assert_eq(rec_lanes(), 2);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(rec_view_stats(view, 1, &stats), 0);
	cr_assert_geq(stats.entries, 3 * PAGE_EVENTS / 2);
	rec_view_close(view);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	sums = numbered_read();
	check_fates(&sums);
}

/* The event that is left is the first one of its lane, which states time and CPU. */
Test(torn, left_at_the_beginning, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .after = 3 * PAGE_EVENTS, .handler_writes = true }, 64);
}

/* The ring is full, so the event sometimes moves the head. */
Test(torn, left_where_the_head_moves, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS, .after = 3 * PAGE_EVENTS, .crosses = true }, 4);
}

Test(torn, left_where_the_head_moves_and_the_handler_writes, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere(
		(struct plan){
			.before = 7 * PAGE_EVENTS, .after = 3 * PAGE_EVENTS, .crosses = true, .handler_writes = true },
		3);
}

Test(torn, left_in_a_ring_of_two, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere(
		(struct plan){
			.before = 3 * PAGE_EVENTS, .after = 3 * PAGE_EVENTS, .crosses = true, .handler_writes = true },
		2);
}

/* The later events are written from a frame above, so they are visible at once, in the same lane. */
Test(torn, left_and_found_out_at_once, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20, .deeper = true }, 64);
}

/* The same statement leaves events in a loop. */
Test(torn, left_and_found_out_by_the_next_of_its_kind, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20, .level = true }, 64);
}

Test(torn, left_where_the_head_moves_and_found_out_by_the_next_of_its_kind, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS,
					.after = 20,
					.level = true,
					.crosses = true,
					.handler_writes = true },
			 4);
}

Test(torn, left_and_found_out_at_once_and_the_handler_writes, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .after = 20, .deeper = true, .handler_writes = true }, 64);
}

Test(torn, left_at_the_end_of_a_page_and_found_out_at_once, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5,
					.after = 20,
					.deeper = true,
					.crosses = true,
					.handler_writes = true },
			 64);
}

Test(torn, left_where_the_head_moves_and_found_out_at_once, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS,
					.after = 3 * PAGE_EVENTS,
					.deeper = true,
					.crosses = true,
					.handler_writes = true },
			 4);
}

#endif
