/* SPDX-License-Identifier: MIT */
/*
 * A writer or reader is interrupted at any instruction: it runs with the processor's single-step flag. After its k-th
 * instruction, for each k that STEPS selects (tests/unit/steps.h), others run to their end in the trap's signal
 * handler: writers that add an event, fill a page, wrap the ring or take their event back, and the reader. These are
 * interrupted in turn at an instruction drawn by a seeded generator, down to a third level. To the ring this is the
 * same as a reader on another CPU between two instructions of a writer.
 *
 * Afterwards the links must have exactly one mark. Every committed event must be read once or counted as lost. Each
 * level's events must be in order, and no time may go back.
 */
#include "tests/unit/ring_fixture.h"
#include "tests/unit/steps.h"
#include "tests/unit/tell.h"
#include "tests/unit/trap_flag.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#define LEVELS	3
#define SIZE	400u /* ten fit on a page, so pages change often */
#define NUMBERS 1024

/*
 * STEPS by default. All instructions take four minutes of CPU time, nearly all of it in the kernel, which delivers
 * traps.
 */
#define STRIDE 37

/* Each actor has at least this number of instructions. */
#define INSTRUCTIONS 50u

enum action { WRITE_ONE, WRITE_PAGE, WRITE_ROUND, WRITE_TWICE, TAKE_BACK, READ_SOME, READ_WHOLE, ACTIONS };

/* Level 0 is stepped through; the writer of each further level interrupts the one below. */
struct level {
	volatile unsigned int step;
	volatile unsigned int target; /* 0: not stepped */
	volatile bool interrupted;
};

static struct {
	struct ring *ring;
	struct level levels[LEVELS];
	volatile unsigned int level;
	unsigned int seed;
	enum action nested;
	uint64_t next;
	uint64_t committed;
	uint64_t refused;
	uint64_t read;
	uint64_t lost;
	uint64_t time;
	unsigned char seen[NUMBERS];
	unsigned char made[NUMBERS];
	volatile bool reading;
	const char *wrong;
} t;

static void act(enum action action);

/*
 * The payload has the number at both ends only: filling and checking every byte under the trap flag would take most of
 * the time.
 */
static void fill(unsigned char *payload, uint64_t number)
{
	memcpy(payload, &number, sizeof(number));
	memcpy(payload + SIZE - sizeof(number), &number, sizeof(number));
}

static bool is_intact(const unsigned char *payload, uint64_t *ret_number)
{
	memcpy(ret_number, payload, sizeof(*ret_number));
	return memcmp(payload, payload + SIZE - sizeof(*ret_number), sizeof(*ret_number)) == 0;
}

static void write_event(bool take_back)
{
	const uint64_t number = __atomic_fetch_add(&t.next, 1, __ATOMIC_RELAXED) % NUMBERS;
	struct rec_slot slot;
	void *payload = rec_reserve(&t.ring->handle, SIZE, &slot);

	if (!payload) {
		__atomic_fetch_add(&t.refused, 1, __ATOMIC_RELAXED);
		return;
	}
	fill(payload, number);
	if (take_back) {
		rec_discard(&slot, payload);
		return;
	}
	t.made[number]++;
	__atomic_fetch_add(&t.committed, 1, __ATOMIC_RELAXED);
	rec_commit(&slot);
}

static void check_page(const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number = 0, events = 0;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		if (record.offset < page->from)
			continue;
		if (record.size != SIZE || !is_intact(record.payload, &number) || number >= NUMBERS)
			t.wrong = "a payload is damaged";
		else if (++t.seen[number] > 1)
			t.wrong = "an event came twice";
		else if (!t.made[number])
			t.wrong = "an event that was never committed";
		if (record.time < t.time)
			t.wrong = "time went back";
		t.time = record.time;
		events++;
	}
	if (r < 0)
		t.wrong = "a page is damaged";
	if (events != page->entries)
		t.wrong = "a page's count is wrong";
	t.read += events;
	t.lost += page->lost;
}

static void read_pages(unsigned int pages, bool whole)
{
	struct rec_page page;
	int r = 1;

	/* Readers do not nest. */
	if (t.reading)
		return;
	t.reading = true;
	while (pages-- && (r = rec_ring_read(&t.ring->reader, whole, &page)) > 0) {
		/* The code below is the test's own, so it need not be stepped through. */
		t.levels[t.level].target = 0;
		check_page(&page);
	}
	if (r == -EBADMSG)
		t.wrong = "the ring is damaged";
	t.reading = false;
}

static void act(enum action action)
{
	unsigned int i;

	switch (action) {
	case WRITE_ONE:
	case TAKE_BACK:
		write_event(action == TAKE_BACK);
		break;
	case WRITE_TWICE:
		write_event(true);
		write_event(false);
		break;
	case WRITE_PAGE:
		for (i = 0; i < 11; i++)
			write_event(false);
		break;
	case WRITE_ROUND:
		for (i = 0; i < 45; i++)
			write_event(i % 7 == 3);
		break;
	case READ_SOME:
		read_pages(2, false);
		break;
	default:
		read_pages(2, true);
		break;
	}
}

static void run_stepped(enum action action, unsigned int target)
{
	struct level *level = &t.levels[t.level];

	level->step = 0;
	level->target = target;
	level->interrupted = false;
	if (target)
		raise(SIGUSR1);
	act(action);
	level->target = 0;
}

static void on_start(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	trap_flag_set_in(context);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	struct level *level = &t.levels[t.level];

	(void)signal, (void)info;
	if (level->target && ++level->step < level->target)
		return;
	trap_flag_clear_in(context);
	if (!level->target || t.level + 1 == LEVELS)
		return;
	level->interrupted = true;
	t.level++;
	run_stepped(t.nested, t.level + 1 < LEVELS ? 1 + (unsigned int)rand_r(&t.seed) % 150 : 0);
	if (t.level == 1 && rand_r(&t.seed) % 3 == 0)
		act((enum action)(rand_r(&t.seed) % ACTIONS));
	t.level--;
}

static unsigned int marks(const struct ring *ring, unsigned int *ret_heads)
{
	uint32_t id = REC_LINK_ID(ring->handle.links[ring->reader.page].next);
	unsigned int steps, marked = 0;

	*ret_heads = 0;
	for (steps = 0; steps < ring->handle.nr_subbufs - 1; steps++) {
		const uint64_t link = ring->handle.links[id].next;

		marked += REC_LINK_FLAG(link) != REC_LINK_NORMAL;
		*ret_heads += REC_LINK_FLAG(link) == REC_LINK_HEAD;
		id = REC_LINK_ID(link);
	}
	return marked;
}

/* Make one run. Returns whether the stepped action reached instruction `target`. */
static bool once(uint32_t pages, bool overwrite, unsigned int before, enum action outer, enum action nested,
		 unsigned int target)
{
	unsigned int i, heads, marked;
	bool interrupted;

	memset(&t, 0, sizeof(t));
	t.ring = ring_new(pages, 4096, overwrite);
	t.nested = nested;
	t.seed = target * 2654435761u + before * 97 + outer * 31 + nested;
	for (i = 0; i < before; i++)
		write_event(false);
	if (before % 2)
		read_pages(1, true);
	run_stepped(outer, target);
	interrupted = t.levels[0].interrupted;
	for (i = 0; i < 3; i++)
		write_event(false);
	marked = marks(t.ring, &heads);
	read_pages(NUMBERS, false);
	t.lost += ring_unreported(t.ring);
	if (marked != 1 || heads != 1)
		t.wrong = "not exactly one head";
	if (t.ring->handle.lane->broken)
		t.wrong = "the lane was stopped";
	if (!t.wrong && t.read + t.lost != t.committed + t.refused)
		t.wrong = "the account does not add up";
	cr_assert_null(
		t.wrong,
		"%s: %u pages, %s, %u before, outer %d, nested %d, instruction %u: read %llu, lost %llu, made %llu + "
		"%llu",
		t.wrong, pages, overwrite ? "overwrite" : "discard", before, (int)outer, (int)nested, target,
		(unsigned long long)t.read, (unsigned long long)t.lost, (unsigned long long)t.committed,
		(unsigned long long)t.refused);
	ring_free(t.ring);
	return interrupted;
}

static void at_instructions(enum action outer, bool overwrite)
{
	/*
	 * The number of events in the ring before: the next event is the last that fits a page, or it crosses into a
	 * page that is the head.
	 */
	static const unsigned int before[] = { 9, 40, 20 };
	/*
	 * Each instruction takes ten microseconds here, so cases that the model checker explores step by step are left
	 * out.
	 */
	const unsigned int nr = outer == WRITE_ONE ? 3 : 2;
	unsigned int i, runs = 0;
	struct steps steps;
	enum action nested;
	bool came;

	for (i = 0; i < nr; i++)
		for (nested = 0; nested < ACTIONS; nested++) {
			steps = steps_begin(STRIDE, INSTRUCTIONS);
			do
				came = once(2 + i % 2, overwrite, before[i], outer, nested, steps.at);
			while (steps_next(&steps, came));
			runs += steps.looks;
		}
	tell("%u runs", runs);
}

static void arm(void)
{
	struct sigaction start = { .sa_sigaction = on_start, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGUSR1, &start, NULL);
	sigaction(SIGTRAP, &step, NULL);
}

TestSuite(step, .init = arm, .timeout = 3600);

Test(step, write_in_overwrite_mode)
{
	at_instructions(WRITE_ONE, true);
}

Test(step, write_in_discard_mode)
{
	at_instructions(WRITE_ONE, false);
}

Test(step, discard_in_overwrite_mode)
{
	at_instructions(TAKE_BACK, true);
}

Test(step, read_in_overwrite_mode)
{
	at_instructions(READ_SOME, true);
}

Test(step, read_in_discard_mode)
{
	at_instructions(READ_WHOLE, false);
}

#else

Test(step, needs_the_x86_trap_flag)
{
	cr_skip_test("single-stepping by the processor's trap flag is x86 only");
}

#endif
