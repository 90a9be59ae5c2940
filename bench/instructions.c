/* SPDX-License-Identifier: MIT */
/*
 * Counts the instructions of an event exactly, by stepping through it one instruction at a time.
 *
 *	instructions	a line a case: instructions, how many of them lock or fence, how many read the clock, the name,
 *			with tabs in between. Status 77: this process may not trace its child.
 *
 * A child runs the cases, its parent counts. Nothing is emulated, so the clock and the CPU number are read as in any
 * program; no time is measured, so a busy machine changes nothing. What libc does (strlen, memcpy) is left out: it
 * differs from CPU to CPU. The call with its arguments is counted, too, so the row of the empty function is included in
 * all others except the reader's.
 *
 * The program contains the ring and its fixture, and nothing else of the library; bench/instructions.sh compiles it.
 */
#include "librecorder/process/event_private.h"
#include "tests/unit/ring_fixture.h"

#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "counts are kept for x86-64 only"
#endif

#define NOINLINE __attribute__((noinline))

/* A bound for loops: more events than the ring holds. */
#define MANY 10000

/*
 * Each case is counted this often, and the smallest number is the result, because a pause of 50 ms in the middle makes
 * an event longer.
 */
#define ROUNDS 5

#define PAGES	    4
#define SUBBUF_SIZE 4096
#define EVENT_SIZE  16

REC_EVENT(bench, u64, u64(n));
REC_EVENT(bench, ints, u64(a), u64(b), u32(c), u32(d), u32(e), u16(f), u16(g));
REC_EVENT(bench, text, string(s));
REC_EVENT(bench, off, u64(n));
REC_EVENT(bench, filtered, u64(n));
REC_SPAN(bench, span, u64(n), end(u64(n)));
REC_SPAN(bench, step, u64(n));
REC_SPAN(bench, quiet, u64(n));

/* -------------------------------------------------------------------- in place of the parts that are not counted */

__thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec")));
static uint32_t on = REC_ENABLE_ON;

/* The only condition, and the enable word that names it. */
unsigned char *rec_event_conditions;
static _Alignas(16) unsigned char conditions[REC_CONDITIONS_SIZE];
static uint32_t on_if = REC_ENABLE_ON | 1u << REC_ENABLE_CONDITION_SHIFT;

struct rec_handle *rec_lane_lease(void)
{
	abort();
}

void rec_event_register_as(struct rec_event *event, const struct rec_log_event *description)
{
	(void)description;
	if (event != &rec_event_bench__off && event != &rec_event_bench__quiet_begin &&
	    event != &rec_event_bench__quiet_end)
		event->enabled = event == &rec_event_bench__filtered ? &on_if : &on;
}

void rec_event_unregister(struct rec_event *event)
{
	(void)event;
}

void rec_event_too_long(struct rec_handle *handle)
{
	(void)handle;
}

/* --------------------------------------------------------------------------------------------------- the subjects */

static NOINLINE void empty(uint64_t n)
{
	__asm__ volatile("" : : "r"(n));
}

static NOINLINE void write_off(uint64_t n)
{
	REC(bench, off, n);
}

static NOINLINE void write_u64(uint64_t n)
{
	REC(bench, u64, n);
}

static NOINLINE void write_filtered(uint64_t n)
{
	REC(bench, filtered, n);
}

static NOINLINE void write_ints(uint64_t n)
{
	REC(bench, ints, n, n, 1, 2, 3, 4, 5);
}

static NOINLINE void write_text(const char *string)
{
	REC(bench, text, string);
}

static NOINLINE void write_span(uint64_t n)
{
	REC_BEGIN(bench, span, n);
	REC_END(bench, span, n);
}

static NOINLINE void write_scope(uint64_t n)
{
	REC_SCOPE(bench, step, n);
	__asm__ volatile("" : : "r"(n));
}

static NOINLINE void write_scope_off(uint64_t n)
{
	REC_SCOPE(bench, quiet, n);
	__asm__ volatile("" : : "r"(n));
}

/* The compiler does not know the function that is called inside the scope. */
static NOINLINE void write_scope_off_around(uint64_t n)
{
	REC_SCOPE(bench, quiet, n);
	empty(n);
}

static NOINLINE void write_nested(uint64_t n)
{
	struct rec_handle *handle = rec_thread_handle;
	struct rec_slot slot;
	void *payload = rec_reserve(handle, EVENT_SIZE, &slot);

	write_u64(n);
	memcpy(payload, &n, sizeof(n));
	rec_commit(&slot);
}

static NOINLINE void write_discarded(uint64_t n)
{
	struct rec_handle *handle = rec_thread_handle;
	struct rec_slot slot;
	void *payload = rec_reserve(handle, EVENT_SIZE, &slot);

	memcpy(payload, &n, sizeof(n));
	rec_discard(&slot, payload);
}

static NOINLINE int read_page(struct ring *ring, struct rec_page *ret_page)
{
	return rec_ring_read(&ring->reader, true, ret_page);
}

/* --------------------------------------------------------------------------------------------------- the counting */

struct counts {
	uint64_t all;
	uint64_t locked; /* locked instructions and fences, which wait for the store buffer */
	uint64_t clock;
};

/* The memory that child and parent share. */
static struct {
	struct counts least; /* the least counts of the case so far; `all` is UINT64_MAX if there are none yet */
	volatile int end;    /* the child has finished the part that is counted */
} *shared;

#define COUNT(subject)                                                                                                 \
	do {                                                                                                           \
		shared->end = 0;                                                                                       \
		__asm__ volatile("int3" : : : "memory");                                                               \
		subject;                                                                                               \
		shared->end = 1;                                                                                       \
	} while (0)

/* Count the instruction at rip, which is about to be executed. */
static void count_one(pid_t child, long rip, struct counts *counts)
{
	const long text = ptrace(PTRACE_PEEKTEXT, child, rip, NULL);
	unsigned char byte[sizeof(text)];

	memcpy(byte, &text, sizeof(text));
	counts->all++;
	/* A lock prefix, which comes first; mfence; or an exchange with memory, which locks without a prefix. */
	counts->locked += byte[0] == 0xf0 || (byte[0] == 0x0f && byte[1] == 0xae && byte[2] == 0xf0) ||
			  (byte[0] == 0x87 && byte[1] < 0xc0) ||
			  ((byte[0] & 0xf0) == 0x40 && byte[1] == 0x87 && byte[2] < 0xc0);
	counts->clock += byte[0] == 0x0f && byte[1] == 0x31;
}

/* Count the instructions from the breakpoint until the program reports the end. */
static int count(pid_t child)
{
	extern char __executable_start[], etext[];
	struct counts counts = { 0 };
	int status;

	while (!shared->end) {
		const long rip = ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, rip), NULL);

		if ((uintptr_t)rip >= (uintptr_t)__executable_start && (uintptr_t)rip < (uintptr_t)etext)
			count_one(child, rip, &counts);
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0 || waitpid(child, &status, 0) != child ||
		    !WIFSTOPPED(status))
			return -1;
	}
	if (counts.all < shared->least.all)
		shared->least = counts;
	return 0;
}

/* Run the case in a child, and count. Ends the program if that fails. */
static struct counts count_case(void (*run)(void))
{
	const int tracer = getpid();
	int status = 0;
	pid_t child;

	shared->least = (struct counts){ .all = UINT64_MAX };
	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		if (getppid() != tracer)
			_exit(1);
		run();
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
		if (WSTOPSIG(status) != SIGTRAP || count(child) < 0 || ptrace(PTRACE_CONT, child, NULL, NULL) < 0)
			break;
	}
	if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || shared->least.all == UINT64_MAX)
		exit(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
	return shared->least;
}

/* ------------------------------------------------------------------------------------------------------ the cases */

static struct ring *new_ring(bool overwrite)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, overwrite);

	ring_set_clock(ring, REC_CLOCK_TSC);
	rec_thread_handle = &ring->handle;
	write_u64(0);
	return ring;
}

static uint32_t tail_page(const struct ring *ring)
{
	return REC_POS_ID(ring->handle.lane->tail);
}

/* Whether the next event of EVENT_SIZE still has room at the tail. */
static bool fits(const struct ring *ring)
{
	return REC_POS_OFF(ring->handle.lane->tail) + 4 + EVENT_SIZE <= SUBBUF_SIZE - REC_SUBBUF_HEADER_SIZE;
}

static void fill_page(const struct ring *ring)
{
	for (unsigned int n = 0; n < MANY && fits(ring); n++)
		write_u64(0);
}

static void run_nothing(void)
{
	COUNT((void)0);
}

static void run_empty(void)
{
	COUNT(empty(1));
}

/* An event without any rare case, because another one was written just before. */
#define RUN_PLAIN(name, call)                                                                                          \
	static void run_##name(void)                                                                                   \
	{                                                                                                              \
		new_ring(true);                                                                                        \
		for (unsigned int i = 0; i < ROUNDS; i++) {                                                            \
			call;                                                                                          \
			COUNT(call);                                                                                   \
		}                                                                                                      \
	}

/* Volatile, so that the compiler knows neither the length nor the address of the text. */
static const char *volatile text = "/usr/share/doc/recorder.";

RUN_PLAIN(off, write_off(1))
RUN_PLAIN(span, write_span(1))
RUN_PLAIN(scope, write_scope(1))
RUN_PLAIN(scope_off, write_scope_off(1))
RUN_PLAIN(scope_off_around, write_scope_off_around(1))
RUN_PLAIN(u64, write_u64(1))
RUN_PLAIN(passing, write_filtered(7))
RUN_PLAIN(filtered, write_filtered(3))
RUN_PLAIN(ints, write_ints(1))
RUN_PLAIN(text, write_text(text))

static void run_dropped(void)
{
	struct ring *ring = new_ring(false);

	for (unsigned int n = 0; n < MANY && !ring->handle.lane->dropped; n++)
		write_u64(1);
	for (unsigned int i = 0; i < ROUNDS; i++)
		COUNT(write_u64(1));
}

static void run_nested(void)
{
	new_ring(true);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* The event after a nested one is a rare case, too; the next one is not. */
		write_u64(1);
		write_u64(1);
		COUNT(write_nested(1));
	}
}

static void run_discarded(void)
{
	new_ring(true);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		write_u64(1);
		write_u64(1);
		COUNT(write_discarded(1));
	}
}

static void run_extended(void)
{
	struct ring *ring = new_ring(true);

	for (unsigned int i = 0; i < ROUNDS; i++) {
		write_u64(1);
		ring->handle.lane->after -= (uint64_t)REC_DELTA_MAX + 1;
		ring->handle.lane->before = ring->handle.lane->after;
		COUNT(write_u64(1));
	}
}

static void run_migrated(void)
{
	struct ring *ring = new_ring(true);

	for (unsigned int i = 0; i < ROUNDS; i++) {
		write_u64(1);
		ring->cpu++;
		COUNT(write_u64(1));
	}
}

/* Crosses into the next page while the ring is filled for the first time, so the head does not move. */
static void run_cross(void)
{
	struct ring *ring = new_ring(false);

	for (unsigned int i = 1; i < PAGES; i++) {
		fill_page(ring);
		COUNT(write_u64(1));
	}
}

/* Crosses into the next page, and moves the head. */
static void run_cross_head(void)
{
	struct ring *ring = new_ring(true);

	for (unsigned int i = 0; i < PAGES; i++) {
		fill_page(ring);
		write_u64(1);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		fill_page(ring);
		COUNT(write_u64(1));
	}
}

/* Take pages out of a ring that has this many events on each page. */
static void read_pages(unsigned int per_page)
{
	struct ring *ring = new_ring(true);
	struct rec_page page;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < PAGES; i++) {
			const uint32_t before = tail_page(ring);

			/* Write one long event, or as many short ones as fit on the page. */
			for (unsigned int n = 0; n < MANY && tail_page(ring) == before; n++) {
				if (per_page == 1)
					ring_write(ring, 1, 3000);
				else
					write_u64(1);
			}
		}
		/* The previous round has begun the first page, so it is not counted. */
		if (read_page(ring, &page) != 1)
			_exit(1);
		for (unsigned int i = 0; i < PAGES - 2; i++) {
			int r = 0;

			COUNT(r = read_page(ring, &page));
			if (r != 1 || page.entries < per_page)
				_exit(1);
		}
	}
}

static void run_reader_one(void)
{
	read_pages(1);
}

static void run_reader_many(void)
{
	read_pages(100);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "a call of an empty function", run_empty },
	{ "off", run_off },
	{ "u64", run_u64 },
	{ "span: begin and end, each with a u64", run_span },
	{ "scope: begin with a u64, end", run_scope },
	{ "scope that is off", run_scope_off },
	{ "scope that is off, around a call of an empty function", run_scope_off_around },
	{ "seven integers, 32 bytes", run_ints },
	{ "string of 24 characters", run_text },
	{ "dropped (discard mode, lane full)", run_dropped },
	{ "event, and one nested in it", run_nested },
	{ "discarded event", run_discarded },
	{ "u64 that passes its filter, n > 4", run_passing },
	{ "u64 that does not", run_filtered },
	{ "u64 with a time extend", run_extended },
	{ "u64 on another CPU", run_migrated },
	{ "u64 on the next sub-buffer", run_cross },
	{ "u64 on the next sub-buffer, head moved", run_cross_head },
	{ "reader: page taken, 1 event on it", run_reader_one },
	{ "reader: page taken, 100 events and more on it", run_reader_many },
};

static bool make_condition(void)
{
	struct rec_condition *condition = (struct rec_condition *)(void *)(conditions + REC_CONDITION_UNIT);
	struct rec_filter_error error;

	rec_event_conditions = conditions;
	return rec_filter_compile(rec_event_bench__filtered.description, "n > 4", condition, REC_CONDITION_MAX,
				  &error) > 0;
}

int main(void)
{
	struct counts nothing;

	if (!make_condition())
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	nothing = count_case(run_nothing);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct counts counts = count_case(cases[i].run);

		printf("%llu\t%llu\t%llu\t%s\n", (unsigned long long)(counts.all - nothing.all),
		       (unsigned long long)counts.locked, (unsigned long long)counts.clock, cases[i].name);
		fflush(stdout);
	}
	return 0;
}
