/* SPDX-License-Identifier: MIT */
/*
 * Reservations to which nobody comes back. What was committed behind them is read, in order, with its times; they
 * themselves are counted as torn, and nothing of them is shown.
 */
#include "film.h"
#include "librecorder/lane_private.h"
#include "librecorder/process.h"
#include "numbered.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* -------------------------------------------------------------------------------------------------- a ring by itself */

static struct ring *ring;
static struct rec_nested notes;
static struct ring_order order;
static unsigned int seed;
static uint64_t next, abandoned;

/* When each event was reserved: not before, and not after. */
static uint64_t since[RING_ORDER_MAX * 2], until[RING_ORDER_MAX * 2];

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 68 / 25 % 200);
}

/* An event with others inside it. False: somebody in it jumped away, out of this one, too. */
static bool write_some(unsigned int depth)
{
	const uint64_t number = next++;
	struct rec_slot slot;
	void *payload;

	since[number] = rec_clock_mono();
	payload = rec_reserve(&ring->handle, size_of(number), &slot);
	until[number] = rec_clock_mono();
	if (!payload)
		return true;
	ring_place(&order, number);
	while (depth && draw(3) == 0) {
		/* Sometimes it was interrupted where nobody jumps past it. */
		if (!write_some(depth - 1) && draw(2)) {
			ring_take_back(&order, number);
			abandoned++;
			return false;
		}
	}
	if (depth < 3 && draw(12) == 0) {
		ring_take_back(&order, number);
		abandoned++;
		return false;
	}
	ring_fill(payload, number, size_of(number));
	if (draw(10) == 0) {
		ring_take_back(&order, number);
		rec_discard(&slot, payload);
	} else {
		rec_commit(&slot);
	}
	return true;
}

static uint64_t read_ring(void)
{
	struct rec_page page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, events = 0, time = 0, on_page;

	while (rec_ring_read(&ring->reader, false, &page) > 0) {
		on_page = 0;
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			memcpy(&number, record.payload, sizeof(number));
			cr_assert(ring_is_intact(record.payload, size_of(number), &number), "seed %u", seed);
			cr_assert(ring_meet(&order, number), "event %d, seed %u", (int)number, seed);
			cr_assert_geq(record.time, time);
			time = record.time;
			cr_assert(time >= since[number] && time <= until[number], "event %d, seed %u", (int)number, seed);
			on_page++;
		}
		cr_assert_eq(on_page, page.entries, "%d, not %d", (int)on_page, (int)page.entries);
		events += on_page;
	}
	return events;
}

/* Again and again: some events, some of them left, then the thread ends and another one has the lane. */
static void leave_some(unsigned int first_seed, uint32_t pages, uint32_t subbuf_size, unsigned int events_max)
{
	uint64_t events = 0;
	unsigned int round, i;

	seed = first_seed;
	memset(&notes, 0, sizeof(notes));
	memset(&order, 0, sizeof(order));
	next = abandoned = 0;
	ring = ring_new(pages, subbuf_size, true);
	ring->handle.nested = &notes;
	for (round = 0; round < 20; round++) {
		for (i = draw(events_max); i > 0; i--) {
			ring->cpu = draw(8) ? ring->cpu : draw(3);
			write_some(3);
		}
		rec_ring_repair(&ring->handle);
		cr_assert_eq(ring->handle.lane->tail, ring->handle.lane->commit);
		cr_assert_eq(ring->handle.lane->broken, 0);
		events += read_ring();
	}
	if (pages == 64)
		cr_assert_eq(events, order.placed, "seed %u: %d of %u", first_seed, (int)events, order.placed);
	cr_assert_leq(ring->handle.lane->torn, abandoned);
	cr_assert_eq(ring->handle.lane->torn > 0, abandoned > 0);
	ring_free(ring);
}

Test(torn, what_was_committed_behind_is_read)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 64, s % 2 ? 4096 : 8192, 40);
}

/* Where the tail goes round, and refuses, while something stands open. */
Test(torn, what_was_committed_behind_is_read_in_small_rings)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 2 + s % 3, 4096, 120);
}

/* ----------------------------------------------------------------------------------------- threads, at any instruction */

#if defined(__x86_64__)

#define TRAP_FLAG   0x100ul
#define PAGE_EVENTS 140u /* more than fit on a sub-buffer of 4096 */

/* STEPS by default (steps.h), for an event that goes to another sub-buffer: it has many instructions. */
#define STRIDE 11

/* What a thread does. */
static struct plan {
	unsigned int before, behind; /* events */
	bool crosses;		     /* the event that is left goes to another sub-buffer */
	bool handler_writes;
	unsigned int instruction; /* behind which the handler strikes that jumps away */
	bool once_reserved;	  /* not before */
	uint64_t number;	  /* of the next event */
	bool struck;
} plan;

static sigjmp_buf back;
static volatile unsigned int stepped;

static void on_step(int signal, siginfo_t *info, void *context)
{
	const struct rec_lane *lane = rec_thread_handle->lane;

	(void)signal;
	(void)info;
	if (++stepped < plan.instruction || (plan.once_reserved && lane->tail == lane->commit))
		return;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(long long)TRAP_FLAG;
	plan.struck = true;
	if (plan.handler_writes)
		numbered_write(plan.number++);
	siglongjmp(back, 1);
}

static void set_trap_flag(bool on)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
	flags = on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG;
	__asm__ volatile("pushq %0\n\tpopfq" : : "r"(flags) : "cc", "memory");
}

static bool is_room(void)
{
	const uint64_t tail = rec_thread_handle->lane->tail;

	return REC_POS_OFF(tail) + rec_event_total(REC_EVENT_COMMON_SIZE + 16) <= rec_thread_handle->capacity * 4;
}

static void *be_left(void *arg)
{
	unsigned int i;

	(void)arg;
	cr_assert_eq(rec_thread_attach(), 0);
	for (i = 0; i < plan.before; i++)
		numbered_write(plan.number++);
	while (plan.crosses && is_room())
		numbered_write(plan.number++);
	stepped = 0;
	if (sigsetjmp(back, 1) == 0) {
		set_trap_flag(true);
		numbered_write(plan.number++);
		set_trap_flag(false);
	}
	for (i = 0; i < plan.behind; i++)
		numbered_write(plan.number++);
	return NULL;
}

/* A writer that moved the head and was left in that has no mark behind it. */
static void check_marks(void)
{
	uint32_t lane, id;

	for (lane = 0; lane < rec_lanes(); lane++)
		for (id = 0; id < rec_process.handles[lane].nr_subbufs; id++)
			cr_assert_neq(REC_LINK_FLAG(rec_process.handles[lane].links[id].next), REC_LINK_UPDATE);
}

static void begin(uint32_t pages)
{
	const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER };

	numbered_begin(pages, 0);
	sigaction(SIGTRAP, &action, NULL);
}

/* Whether the thread came to the instruction. */
static bool run_and_be_left(void)
{
	pthread_t thread;

	plan.struck = false;
	cr_assert_eq(pthread_create(&thread, NULL, be_left, NULL), 0);
	pthread_join(thread, NULL);
	return plan.struck;
}

/*
 * A thread for each instruction of an event that STEPS selects; each one's event is left there, by a jump out of a
 * signal handler. And one more for the first instruction behind the reservation, so that something is torn.
 */
static void leave_everywhere(unsigned int before, unsigned int behind, uint32_t pages, bool crosses, bool handler_writes)
{
	struct steps steps = steps_begin(crosses ? STRIDE : 1, 30);
	uint64_t written = 0, left = 0;
	struct sums sums;

	begin(pages);
	plan = (struct plan){ .before = before, .behind = behind, .crosses = crosses, .handler_writes = handler_writes };
	do {
		plan.instruction = steps.at;
		left += run_and_be_left();
		cr_assert_lt(plan.instruction, 5000);
	} while (steps_next(&steps, plan.struck));
	plan.instruction = 0;
	plan.once_reserved = true;
	left += run_and_be_left();
	cr_assert(plan.struck);
	written = plan.number;
	/* The lane that was left, and the one that the thread went to. */
	cr_assert_leq(rec_lanes(), 3);
	check_marks();
	sums = numbered_read();
	numbered_expect_no_owner();
	cr_assert_leq(sums.torn, left);
	cr_assert_gt(sums.torn, 0);
	/* What was left is missing, unless its commit was through. */
	cr_assert_leq(sums.events + sums.lost, written);
	cr_assert_geq(sums.events + sums.lost, written - left);
	cr_assert_leq(sums.events + sums.lost + sums.torn, written);
}

#define STEP_OR_SKIP()                                                                                                 \
	do {                                                                                                           \
		if (!film_can())                                                                                       \
			cr_skip_test("the processor's trap flag is out of a program's reach here");                    \
	} while (0)

Test(torn, left_on_a_page, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(5, 20, 64, false, false);
}

Test(torn, left_on_a_page_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(5, 20, 64, false, true);
}

Test(torn, left_and_the_thread_goes_on_elsewhere, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(5, 5 * PAGE_EVENTS, 64, false, false);
}

Test(torn, left_at_the_end_of_a_page, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(5, 3 * PAGE_EVENTS, 64, true, false);
}

Test(torn, left_at_the_end_of_a_page_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(5, 20, 65, true, true);
}

static void put_one(void)
{
	ring_place(&order, next);
	since[next] = 0;
	until[next] = UINT64_MAX;
	cr_assert(ring_write(ring, next, size_of(next)));
	next++;
}

static void put_in_step(int signal)
{
	(void)signal;
	if (++stepped == plan.instruction) {
		plan.struck = true;
		put_one();
	}
}

/* One that publishes what was nested in it, and is interrupted behind instructions of that by another event. */
static void publish_in_steps(unsigned int nested, uint32_t pages)
{
	const struct sigaction action = { .sa_handler = put_in_step };
	struct steps steps = steps_begin(7, 50);
	struct rec_slot slot;
	unsigned int i;
	void *payload;

	memset(&notes, 0, sizeof(notes));
	memset(&order, 0, sizeof(order));
	next = 0;
	ring = ring_new(pages, 4096, true);
	ring->handle.nested = &notes;
	sigaction(SIGTRAP, &action, NULL);
	plan = (struct plan){ 0 };
	do {
		plan.struck = false;
		plan.instruction = steps.at;
		stepped = 0;
		ring_place(&order, next);
		since[next] = 0;
		until[next] = UINT64_MAX;
		payload = rec_reserve(&ring->handle, size_of(next), &slot);
		cr_assert_not_null(payload);
		ring_fill(payload, next, size_of(next));
		next++;
		for (i = 0; i < nested; i++)
			put_one();
		set_trap_flag(true);
		rec_commit(&slot);
		set_trap_flag(false);
		cr_assert_eq(ring->handle.lane->tail, ring->handle.lane->commit, "instruction %u", plan.instruction);
		read_ring();
		cr_assert_eq(order.at, order.placed, "instruction %u", plan.instruction);
		memset(&order, 0, sizeof(order));
		next = 0;
	} while (steps_next(&steps, plan.struck));
	ring_free(ring);
}

Test(torn, a_handler_while_nested_events_are_published, .timeout = 600)
{
	STEP_OR_SKIP();
	publish_in_steps(1, 64);
	publish_in_steps(2, 64);
	publish_in_steps(45, 64);
}

static pthread_barrier_t barrier;

static void *be_left_and_wait(void *arg)
{
	be_left(arg);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* As long as the thread lives: what it writes elsewhere is seen at once. */
Test(torn, what_is_written_elsewhere_is_seen_at_once, .timeout = 600)
{
	struct rec_lane_stats stats;
	struct rec_view *view = NULL;
	pthread_t thread;

	STEP_OR_SKIP();
	begin(64);
	plan = (struct plan){ .once_reserved = true, .behind = 5 * PAGE_EVENTS };
	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, be_left_and_wait, NULL), 0);
	pthread_barrier_wait(&barrier);
	cr_assert(plan.struck);
	cr_assert_eq(rec_lanes(), 2);
	cr_assert_eq(rec_view_open(rec_process.path, &view), 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(rec_view_stats(view, 1, &stats), 0);
	cr_assert_geq(stats.entries, 3 * PAGE_EVENTS / 2);
	rec_view_close(view);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	cr_assert_eq(numbered_read().torn, 1);
}

/* The first event of a lane, which states time and CPU. */
Test(torn, left_at_the_beginning, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(0, 3 * PAGE_EVENTS, 64, false, true);
}

/* A ring that is full: the event moves the head, now and then. */
Test(torn, left_where_the_head_moves, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(7 * PAGE_EVENTS, 3 * PAGE_EVENTS, 4, true, false);
}

Test(torn, left_where_the_head_moves_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(7 * PAGE_EVENTS, 3 * PAGE_EVENTS, 3, true, true);
}

Test(torn, left_in_a_ring_of_two, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere(3 * PAGE_EVENTS, 3 * PAGE_EVENTS, 2, true, true);
}

#endif
