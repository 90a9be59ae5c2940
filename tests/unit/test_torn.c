/* SPDX-License-Identifier: MIT */
/*
 * Reservations that are never finished. Each is torn with all that was reserved inside it, and the lane counts exactly
 * these events. All other events are read, in order, with their times and CPUs.
 */
#include "film.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- a ring by itself */

static struct ring *ring;
static struct ring_order order;
static unsigned int seed;
static uint64_t next;

/* When and where each event was reserved: no earlier, no later, on this CPU. */
static uint64_t since[RING_ORDER_MAX * 2], until[RING_ORDER_MAX * 2];
static uint32_t cpu_of[RING_ORDER_MAX * 2];

/*
 * The expected state of the lane: how many writers are inside, and where the events of the outermost one begin in
 * `order`.
 */
static struct {
	unsigned int inside, begin;
	bool is_deep; /* the outermost one was called from a frame far below the test's own */
	uint64_t torn;
} model;

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 68 / 25 % 200);
}

/* All events from this one on are torn. */
static void tear_from(unsigned int at)
{
	model.torn += order.placed - at;
	order.placed = at;
}

static unsigned int place_of(uint64_t number)
{
	unsigned int at = order.placed;

	while (at-- > 0 && order.numbers[at] != number)
		;
	return at;
}

/*
 * The writer of event `number`, which found `below` others inside, ends. It finds any writer that was left inside it.
 */
static void end_writer(uint64_t number, unsigned int below)
{
	if (model.inside > below + 1)
		tear_from(place_of(number) + 1);
	model.inside = below;
}

/* An event with others inside it. False: one of them jumped away, out of this one, too. */
static bool write_some(unsigned int depth, bool is_deep)
{
	const uint64_t number = next++;
	unsigned int below;
	struct rec_slot slot;
	void *payload;

	ring->cpu = draw(8) ? ring->cpu : draw(3);
	cpu_of[number] = ring->cpu;
	/* A frame above that of the outermost writer: that one was left. */
	if (model.inside && model.is_deep && !is_deep) {
		tear_from(model.begin);
		model.inside = 0;
	}
	below = model.inside;
	since[number] = rec_clock_mono();
	payload = rec_reserve(&ring->handle, size_of(number), &slot);
	until[number] = rec_clock_mono();
	if (!payload)
		return true;
	if (!below) {
		model.begin = order.placed;
		model.is_deep = is_deep;
	}
	model.inside++;
	ring_place(&order, number);
	while (depth && draw(3) == 0)
		/* Sometimes it was interrupted at a point that no jump passes. */
		if (!write_some(depth - 1, is_deep) && draw(2))
			return false;
	if (depth < 3 && draw(12) == 0)
		return false;
	ring_fill(payload, number, size_of(number));
	end_writer(number, below);
	if (draw(10) == 0) {
		ring_take_back(&order, number);
		rec_discard(&slot, payload);
	} else {
		rec_commit(&slot);
	}
	return true;
}

static __attribute__((noinline)) void write_deeper(void)
{
	volatile char room[4096];

	room[0] = 0;
	write_some(3, true);
	(void)room[0];
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
			cr_assert_eq(record.cpu, cpu_of[number], "event %d, seed %u", (int)number, seed);
			on_page++;
		}
		cr_assert_eq(on_page, page.entries, "%d, not %d", (int)on_page, (int)page.entries);
		events += on_page;
	}
	return events;
}

static void check_lane(unsigned int first_seed)
{
	const struct rec_lane *lane = ring->handle.lane;

	cr_assert_eq(lane->open != 0, model.inside != 0, "seed %u", first_seed);
	cr_assert_eq(lane->broken, 0);
	if (!model.inside) {
		cr_assert_eq(lane->tail, lane->commit, "seed %u", first_seed);
		cr_assert_eq(lane->torn, model.torn, "seed %u: %d, not %d", first_seed, (int)lane->torn,
			     (int)model.torn);
	}
}

/* Again and again: some events, some of them left, then the thread ends and another one has the lane. */
static void leave_some(unsigned int first_seed, uint32_t pages, uint32_t subbuf_size, unsigned int events_max)
{
	uint64_t events = 0;
	unsigned int round, i;

	seed = first_seed;
	memset(&order, 0, sizeof(order));
	memset(&model, 0, sizeof(model));
	next = 0;
	ring = ring_new(pages, subbuf_size, true);
	for (round = 0; round < 20; round++) {
		for (i = draw(events_max); i > 0; i--) {
			if (draw(2))
				write_deeper();
			else
				write_some(3, false);
			check_lane(first_seed);
		}
		if (model.inside)
			tear_from(model.begin);
		model.inside = 0;
		rec_ring_repair(&ring->handle);
		check_lane(first_seed);
		events += read_ring();
	}
	if (pages == 64)
		cr_assert_eq(events, order.placed, "seed %u: %d of %u", first_seed, (int)events, order.placed);
	cr_assert_eq(ring->handle.lane->nested_limit, 0);
	cr_assert_gt(model.torn, 0);
	ring_free(ring);
}

Test(torn, what_was_not_left_is_read)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 64, s % 2 ? 4096 : 8192, 40);
}

/* Where the tail wraps, and refuses, while something is open. */
Test(torn, what_was_not_left_is_read_in_small_rings)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 2 + s % 3, 4096, 120);
}

/* --------------------------------------------------------------------------------------------- copies that meet a fault */

REC_EVENT(torn, raw, bytes(data));

static sigjmp_buf fault;

static void jump_back(int signal)
{
	(void)signal;
	siglongjmp(fault, 1);
}

/* Memory that cannot be read: a copy from it faults after the reservation, and the handler jumps away. */
static const void *begin_faults(void)
{
	const struct sigaction action = { .sa_handler = jump_back };
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(none, MAP_FAILED);
	sigaction(SIGSEGV, &action, NULL);
	return none;
}

static void check_found_out(const struct rec_lane *lane)
{
	cr_assert_eq(lane->torn, 1);
	cr_assert_eq(lane->open, 0);
	cr_assert_eq(lane->tail, lane->commit);
	cr_assert_eq(REC_POS_COUNT(lane->commit), 2);
}

/*
 * The next event of the statement that left one finds that out itself, also where the reservation is made by a function
 * of the library.
 */
Test(torn, a_write_that_faults_is_found_out_by_the_next_one)
{
	const void *none = begin_faults();
	const char some[64] = "";
	volatile unsigned int i;

	ring = ring_new(4, 4096, true);
	for (i = 0; i < 3; i++)
		if (sigsetjmp(fault, 1) == 0)
			rec_write(&ring->handle, i == 1 ? none : some, sizeof(some));
	check_found_out(ring->handle.lane);
	ring_free(ring);
}

/* A clock that needs a call. */
Test(torn, an_event_that_faults_is_found_out_by_the_next_one)
{
	const void *none = begin_faults();
	const char some[64] = "";
	volatile unsigned int i;

	cr_assert_eq(rec_enable("torn:raw"), 1);
	cr_assert_eq(rec_thread_attach(), 0);
	rec_thread_handle->clock = REC_CLOCK_MONO;
	for (i = 0; i < 3; i++)
		if (sigsetjmp(fault, 1) == 0)
			REC(torn, raw, i == 1 ? none : some, sizeof(some));
	check_found_out(rec_thread_handle->lane);
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
	bool deeper;		  /* it is written from a frame far below that of the events after it */
	bool level;		  /* from the same frame; by default those are written from far below */
	unsigned int instruction; /* after which a handler interrupts and jumps away */
	bool once_reserved;	  /* not before */
	uint64_t number;	  /* of the next event */
	bool struck;
} plan;

/* Which events must be read, which are torn; those refused, or never reserved, are neither. */
enum fate { NEITHER, READ, TORN };

static unsigned char fates[NUMBERED_MAX];
static uint64_t refused;

/* The lane in which an event was left, if it was not found out yet. NULL: there is none. */
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

static void set_trap_flag(bool on)
{
	unsigned long flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
	flags = on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG;
	__asm__ volatile("pushq %0\n\tpopfq" : : "r"(flags) : "cc", "memory");
}

static __attribute__((noinline)) void write_here(uint64_t number, bool in_steps)
{
	if (in_steps)
		set_trap_flag(true);
	numbered_write(number);
	set_trap_flag(false);
}

/* Inline: so its caller calls write_here() from its own frame. */
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
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(long long)TRAP_FLAG;
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

static __attribute__((noinline)) void write_behind_from_below(void)
{
	volatile char room[4096];
	unsigned int i;

	room[0] = 0;
	for (i = 0; i < plan.behind; i++)
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
		write_behind_from_below();
		return NULL;
	}
	/* From here the frames tell. */
	left_in = NULL;
	for (i = 0; i < plan.behind; i++)
		write_one();
	return NULL;
}

/* A writer that was left while it moved the head has no mark after it. */
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

/* Every event was read, or is torn and counted, as it must be; of what is read some may have been overwritten. */
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
 * A thread for each instruction of an event that STEPS selects; each one's event is left there, by a jump out of a
 * signal handler. And one more for the first instruction behind the reservation, so that something is torn.
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
	/* The lane that was left, and the one that the thread went to. */
	cr_assert_leq(rec_lanes(), plan.deeper || plan.level ? 1 : 3);
	check_marks();
	sums = numbered_read();
	numbered_expect_no_owner();
	check_fates(&sums);
}

#define STEP_OR_SKIP()                                                                                                 \
	do {                                                                                                           \
		if (!film_can())                                                                                       \
			cr_skip_test("the processor's trap flag is out of a program's reach here");                    \
	} while (0)

Test(torn, left_on_a_page, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20 }, 64);
}

Test(torn, left_on_a_page_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20, .handler_writes = true }, 64);
}

Test(torn, left_and_the_thread_goes_on_elsewhere, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 5 * PAGE_EVENTS }, 64);
}

Test(torn, left_at_the_end_of_a_page, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 3 * PAGE_EVENTS, .crosses = true }, 64);
}

Test(torn, left_at_the_end_of_a_page_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20, .crosses = true, .handler_writes = true }, 65);
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

/* One that publishes what was nested in it, and is interrupted after instructions of that by another event. */
static void publish_in_steps(unsigned int nested, uint32_t pages)
{
	const struct sigaction action = { .sa_handler = put_in_step };
	struct steps steps = steps_begin(7, 50);
	struct rec_slot slot;
	unsigned int i;
	void *payload;

	memset(&order, 0, sizeof(order));
	next = 0;
	ring = ring_new(pages, 4096, true);
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
	struct sums sums;
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
	sums = numbered_read();
	check_fates(&sums);
}

/* The first event of a lane, which states time and CPU. */
Test(torn, left_at_the_beginning, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .behind = 3 * PAGE_EVENTS, .handler_writes = true }, 64);
}

/* A ring that is full: the event moves the head, now and then. */
Test(torn, left_where_the_head_moves, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS, .behind = 3 * PAGE_EVENTS, .crosses = true }, 4);
}

Test(torn, left_where_the_head_moves_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS, .behind = 3 * PAGE_EVENTS, .crosses = true, .handler_writes = true }, 3);
}

Test(torn, left_in_a_ring_of_two, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 3 * PAGE_EVENTS, .behind = 3 * PAGE_EVENTS, .crosses = true, .handler_writes = true }, 2);
}

/* The events after it are written from above, so they are read at once, in the same lane. */
Test(torn, left_and_found_out_at_once, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20, .deeper = true }, 64);
}

/* In a loop, by one and the same statement. */
Test(torn, left_and_found_out_by_the_next_of_its_kind, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20, .level = true }, 64);
}

Test(torn, left_where_the_head_moves_and_found_out_by_the_next_of_its_kind, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS, .behind = 20, .level = true, .crosses = true, .handler_writes = true }, 4);
}

Test(torn, left_and_found_out_at_once_and_the_handler_writes, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5, .behind = 20, .deeper = true, .handler_writes = true }, 64);
}

Test(torn, left_at_the_end_of_a_page_and_found_out_at_once, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 5,
					.behind = 20,
					.deeper = true,
					.crosses = true,
					.handler_writes = true },
			 64);
}

Test(torn, left_where_the_head_moves_and_found_out_at_once, .timeout = 600)
{
	STEP_OR_SKIP();
	leave_everywhere((struct plan){ .before = 7 * PAGE_EVENTS,
					.behind = 3 * PAGE_EVENTS,
					.deeper = true,
					.crosses = true,
					.handler_writes = true },
			 4);
}

static void end_in_the_move(int signal)
{
	uint32_t id;

	(void)signal;
	for (id = 0; id < rec_thread_handle->nr_subbufs; id++)
		if (REC_LINK_FLAG(rec_load_relaxed(&rec_thread_handle->links[id].next)) == REC_LINK_UPDATE) {
			plan.struck = true;
			syscall(SYS_exit, 0);
		}
}

/* Ends by a raw system call where its event moves the head. */
static void *end_moving(void *arg)
{
	uint64_t *number = arg;

	cr_assert_eq(rec_thread_attach(), 0);
	while (*number < 7 * PAGE_EVENTS || is_room())
		numbered_write((*number)++);
	set_trap_flag(true);
	numbered_write(*number);
	set_trap_flag(false);
	return NULL;
}

static void *write_last(void *number)
{
	numbered_write(*(uint64_t *)number);
	return NULL;
}

/* A head that a thread was moving when it ended without a word does not keep readers away until its lane is leased again. */
Test(torn, a_raw_exit_where_the_head_moves)
{
	const struct sigaction action = { .sa_handler = end_in_the_move };
	uint64_t number = 0;
	struct sums sums;
	pthread_t thread;

	STEP_OR_SKIP();
	begin(4);
	sigaction(SIGTRAP, &action, NULL);
	cr_assert_eq(pthread_create(&thread, NULL, end_moving, &number), 0);
	pthread_join(thread, NULL);
	cr_assert(plan.struck);
	/* Somebody else has leased a lane since. */
	cr_assert_eq(pthread_create(&thread, NULL, write_last, &number), 0);
	pthread_join(thread, NULL);
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, number + 1, "%u read, %u lost of %u", (unsigned int)sums.events,
		     (unsigned int)sums.lost, (unsigned int)number + 1);
	cr_assert(seen[number - 1] && seen[number]);
	cr_assert_eq(sums.torn, 0);
}

static sigjmp_buf out_of_the_move;

static void jump_in_the_move(int signal)
{
	uint32_t id;

	(void)signal;
	for (id = 0; id < rec_thread_handle->nr_subbufs; id++)
		if (REC_LINK_FLAG(rec_load_relaxed(&rec_thread_handle->links[id].next)) == REC_LINK_UPDATE)
			siglongjmp(out_of_the_move, 1);
}

/* Nor does one that a handler left, when the lane is given away to be saved. */
Test(torn, a_lane_is_swapped_where_a_handler_left_the_move_of_the_head)
{
	const struct sigaction action = { .sa_handler = jump_in_the_move };
	volatile uint64_t number = 0;
	unsigned int lane;
	struct sums sums;

	STEP_OR_SKIP();
	begin(4);
	sigaction(SIGTRAP, &action, NULL);
	cr_assert_eq(rec_thread_attach(), 0);
	if (sigsetjmp(out_of_the_move, 1) == 0) {
		while (number < 7 * PAGE_EVENTS || is_room())
			numbered_write(number++);
		set_trap_flag(true);
		numbered_write(number);
		set_trap_flag(false);
		cr_assert_fail("no head was moved");
	}
	cr_assert_eq(rec_lane_swap(&lane), 0);
	sums = numbered_read();
	cr_assert_gt(sums.events, 0);
	cr_assert_eq(sums.events + sums.lost, number);
	cr_assert(seen[number - 1]);
	cr_assert_eq(rec_lane_release(lane), 0);
}

#endif
