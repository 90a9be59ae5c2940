/* SPDX-License-Identifier: MIT */
/*
 * Records that the weave copies in runs (format/weave/weave_run.c): all cases that must end a run, and the order of
 * records.
 */
#include "kernel_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/page.h>
#include <string.h>

/* The program and the kernel on the TSC, which these anchors convert to nanoseconds. */
static void begin_tsc(struct both *b, unsigned int lanes, unsigned int cpus, const struct rec_anchor *anchors,
		      unsigned int nr_anchors)
{
	both_begin(b, lanes, cpus);
	b->kernel.clock = "x86-tsc";
	b->processes[0].clock = REC_CLOCK_TSC;
	b->processes[1].clock = REC_CLOCK_TSC;
	b->processes[1].anchors = anchors;
	b->processes[1].nr_anchors = nr_anchors;
}

/* The anchors in a spool may have any values. seen_read() fails if times go back. */
Test(weave_run, invalid_anchors)
{
	static const struct {
		const char *what;
		struct rec_anchor anchors[2];
		uint64_t step;
	} cases[] = {
		{ "no ns for a tick", { { 1000, 1000, 0, 10 }, { UINT64_C(1) << 62, 1001, 0, 10 } }, 10 },
		{ "ns that go round",
		  { { 1000, UINT64_MAX - 2000000, 0, 10 }, { 3001000, UINT64_MAX - 1000000, 0, 10 } },
		  4000 },
		{ "ticks that go round as signed ones",
		  { { (UINT64_C(1) << 63) + 1000, 1000, 0, 10 },
		    { (UINT64_C(1) << 63) + 30000000000, 10000001000, 0, 10 } },
		  4000 },
		{ "many ns for a tick", { { 1000, 1000, 0, 10 }, { 2000, UINT64_C(1) << 40, 0, 10 } }, 10 },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct both b;
		struct seen *seen;

		begin_tsc(&b, 1, 1, cases[i].anchors, 2);
		for (uint64_t number = 0; number < 3000; number++) {
			const uint64_t time = cases[i].anchors[0].clock + 1000 + number * cases[i].step;

			if (number % 10 == 0)
				both_put_user(&b, 0, 0, time, number);
			else
				both_put(&b, 0, time, number);
		}
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 3000, "%s", cases[i].what);
		weaving_end(&b.w, seen);
	}
}

/* A damaged page ends in a record of an odd length. The weave still writes later records at aligned places. */
Test(weave_run, a_record_cut_by_its_page)
{
	const struct fake_event event = { { ID_TICK, 0, 0, 77 }, 4 };
	const uint32_t odd = sizeof(event) + 5, long_form[] = { 10u << REC_TYPE_BITS, 4 + odd };
	struct rec_page *page;
	unsigned char *end;
	struct both b;
	struct seen *seen;
	uint64_t commit;

	both_begin(&b, 1, 1);
	both_put(&b, 0, 1000, 1);
	both_put_user(&b, 0, 0, 1500, 2);
	both_put(&b, 0, 2000, 3);
	page = fake_last_page(b.w.fake, 1);
	end = (unsigned char *)(uintptr_t)page->data + REC_SUBBUF_HEADER_SIZE + page->size;
	memcpy(end, long_form, sizeof(long_form));
	memset(end + sizeof(long_form), 0, odd);
	memcpy(end + sizeof(long_form), &event, sizeof(event));
	page->size += (uint32_t)sizeof(long_form) + odd;
	commit = page->size;
	memcpy((unsigned char *)(uintptr_t)page->data + sizeof(uint64_t), &commit, sizeof(commit));
	for (uint64_t number = 5; number < 8; number++)
		both_put_user(&b, 0, 0, 3000 + number, number);
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 7);
	for (uint64_t i = 0; i < 7; i++)
		cr_assert_eq(seen->events[i].number, i + 1);
	weaving_end(&b.w, seen);
}

/* ---------------------------------------------------------------------------------------------------- any order */

#define ANCHORS	   20
#define EVENTS_MAX 3500

struct made {
	bool is_kernel;
	unsigned int cpu;
};

static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33) % below;
}

/* A clock whose rate changes from anchor to anchor. Returns the time of the first. */
static uint64_t draw_anchors(uint64_t *state, struct rec_anchor *anchors)
{
	uint64_t clock = UINT64_C(30000000000), mono = UINT64_C(5000000000);

	for (unsigned int i = 0; i < ANCHORS; i++) {
		anchors[i] = (struct rec_anchor){ clock, mono, 0, 10 };
		clock += 40000000 + draw(state, 3000000);
		mono += 11000000 + draw(state, 1000000);
	}
	return anchors[0].clock;
}

/* Ticks from an event to the next: none, some, many, or more than a record's word has room for. */
static uint64_t draw_step(uint64_t *state, uint32_t usual)
{
	const uint32_t kind = draw(state, 100);

	return kind < 20 ? 0 : kind < 97 ? draw(state, usual) : UINT64_C(3) * draw(state, 100000000);
}

static struct made draw_event(struct both *b, uint64_t *state, unsigned int cpus, uint64_t time, uint64_t number)
{
	const struct made made = { draw(state, 8) != 0, draw(state, cpus) };
	const unsigned int stream = made.is_kernel ? b->lanes + made.cpu : draw(state, b->lanes);
	const uint32_t size = draw(state, 4) ? FAKE_SIZE : FAKE_SIZE + 4 * draw(state, 100);

	if (draw(state, 200) == 0)
		fake_lose(b->w.fake, stream, made.is_kernel && draw(state, 2) ? REC_LOST_UNKNOWN : 1 + draw(state, 9));
	if (draw(state, 200) == 0)
		fake_end_page(b->w.fake, stream);
	fake_put(b->w.fake, stream, made.cpu, time, made.is_kernel ? ID_TICK : ID_A, made.is_kernel ? 77 : PID, number,
		 size);
	return made;
}

/*
 * Checks that each record is there once, on its CPU; seen_read() has checked the times. At equal times the kernel's
 * record comes first.
 */
static void check_all(const struct seen *seen, const struct made *made, uint64_t nr, bool woven)
{
	uint64_t last[4] = { 0 }, found = 0;
	bool was_kernel[4] = { true, true, true, true }, have[EVENTS_MAX] = { false };

	for (size_t i = 0; i < seen->nr; i++) {
		const struct seen_event *event = &seen->events[i];
		const bool is_kernel = !strcmp(event->name, "sched:tick");

		if (!strcmp(event->name, "recorder:end"))
			continue;
		cr_assert_lt(event->number, nr);
		cr_assert_not(have[event->number]);
		cr_assert_eq(is_kernel, made[event->number].is_kernel);
		cr_assert_eq(event->cpu, made[event->number].cpu);
		cr_assert_not(woven && is_kernel && !was_kernel[event->cpu] && event->time == last[event->cpu]);
		have[event->number] = true;
		last[event->cpu] = event->time;
		was_kernel[event->cpu] = is_kernel;
		found++;
	}
	cr_assert_eq(found, nr);
}

Test(weave_run, any_order)
{
	uint64_t state = 1;

	for (unsigned int round = 0; round < 100; round++) {
		static const uint32_t usual[] = { 10, 3000, 400000 };
		static struct made made[EVENTS_MAX];
		const unsigned int cpus = 1 + draw(&state, 3), nr = 500 + draw(&state, 3000);
		const uint32_t step = usual[draw(&state, 3)], size = 4096u << draw(&state, 4);
		const bool woven = draw(&state, 4) != 0;
		struct rec_anchor anchors[ANCHORS];
		struct both b;
		struct seen *seen;
		uint64_t time;

		time = draw_anchors(&state, anchors) - draw(&state, 3) * 1000000;
		begin_tsc(&b, 2, cpus, anchors, ANCHORS);
		b.w.params.version = 6 + draw(&state, 2);
		b.w.params.buffers = woven ? WEAVE_WOVEN : WEAVE_SPLIT;
		b.w.params.nr_cpus = cpus;
		b.w.fake->subbuf_size = size;
		b.processes[0].subbuf_size = size;
		b.processes[1].subbuf_size = size;
		for (uint64_t i = 0; i < nr; i++) {
			time += draw_step(&state, step);
			made[i] = draw_event(&b, &state, cpus, time, i);
		}
		seen = weave(&b.w);
		check_all(seen, made, nr, woven);
		cr_assert_eq(b.w.stats.time_raised, 0);
		weaving_end(&b.w, seen);
	}
}
