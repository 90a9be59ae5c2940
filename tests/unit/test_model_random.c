/* SPDX-License-Identifier: MIT */
/*
 * The spans of random programs. Threads begin and end spans, jump out of them, make system calls and move between CPUs.
 * The model's spans are compared with a plain list, made by searching backwards from each end.
 *
 * Without losses the two are equal. With losses, each unmarked span of the model is one of the program's, to the
 * nanosecond; and each span without a loss inside it is in the model.
 */
#include "format/model/model.h"
#include "repeat.h"
#include "table_fixture.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#define NR_THREADS 6
#define NR_CPUS	   3
#define NR_EVENTS  400

/* Kinds of spans; the system call is the kernel's. */
enum { OUTER, INNER, CALL, NR_KINDS };
enum { BEGIN, END, NOTE };

static const struct table_format formats[] = {
	{ "syscalls", FORMAT(304, "sys_enter_read", "") },
	{ "syscalls", FORMAT(305, "sys_exit_read", "") },
	{ "misc", FORMAT(306, "note", "") },
	{ "io", FORMAT(16400, "outer_begin", "") },
	{ "io", FORMAT(16401, "outer_end", "") },
	{ "io", FORMAT(16402, "inner_begin", "") },
	{ "io", FORMAT(16403, "inner_end", "") },
	{ "io", FORMAT(16404, "note", "") },
};

static const int ids[NR_KINDS][3] = {
	[OUTER] = { 16400, 16401, 16404 },
	[INNER] = { 16402, 16403, 16404 },
	[CALL] = { 304, 305, 306 },
};

/* An event of the program; if it is lost, the model does not get it. */
struct act {
	uint64_t ts;
	int tid, kind, what;
	uint32_t cpu;
	bool is_lost;
	int64_t lost_before;
	bool is_used; /* a begin whose end was found, or whose span was left by a jump */
};

/* A span that was seen whole. */
struct known {
	int tid, kind;
	uint64_t begin, end, own;
	bool is_found;
};

static struct act acts[NR_EVENTS];
static struct known spans[NR_EVENTS];
static unsigned int nr_spans;
static struct known given[NR_EVENTS];
static unsigned int nr_given;
static struct event_table *table;
static struct model_rules *rules;
static uint64_t state;

static unsigned int below(unsigned int most)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(state >> 33) % most;
}

/* ------------------------------------------------------------------------------------------------------ the program */

static void make_acts(void)
{
	int stack[NR_THREADS][NR_EVENTS], depth[NR_THREADS] = { 0 };
	uint32_t cpus[NR_THREADS];
	uint64_t ts = 1000;

	for (unsigned int i = 0; i < NR_THREADS; i++)
		cpus[i] = i % NR_CPUS;
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		const unsigned int t = below(NR_THREADS);
		const bool in_call = depth[t] && stack[t][depth[t] - 1] == CALL;
		struct act *act = &acts[i];

		if (!below(4))
			cpus[t] = below(NR_CPUS);
		ts += 1 + below(9);
		*act = (struct act){ .ts = ts, .tid = (int)t + 1, .cpu = cpus[t] };
		if (!below(4)) {
			act->what = NOTE;
			act->kind = in_call ? CALL : OUTER;
		} else if (in_call || (depth[t] && below(2))) {
			/* Sometimes a jump leaves inner spans. */
			while (!in_call && depth[t] > 1 && !below(8))
				depth[t]--;
			act->what = END;
			act->kind = stack[t][--depth[t]];
		} else {
			act->kind = (int)below(NR_KINDS);
			stack[t][depth[t]++] = act->kind;
		}
	}
}

static bool is_kernel(const struct act *act)
{
	return act->kind == CALL;
}

/* Whether one loss can concern both events: they are in the same ring of the kernel, or in the same lane. */
static bool is_same_ring(const struct act *a, const struct act *b)
{
	return is_kernel(a) == is_kernel(b) && (is_kernel(a) ? a->cpu == b->cpu : a->tid == b->tid);
}

/* What the file's notes have: the times of the events before and after a loss. */
static void note(unsigned int first, unsigned int after)
{
	struct dat_losses *losses = is_kernel(&acts[first]) ? &table->kernel_losses : &table->program_losses;
	unsigned int before = first;

	while (before && !(is_same_ring(&acts[first], &acts[before - 1]) && !acts[before - 1].is_lost))
		before--;
	dat_losses_add(losses, before ? acts[before - 1].ts : 0,
		       after < NR_EVENTS ? acts[after].ts : DAT_LOSS_NO_END);
}

/* Runs of events of one ring are lost; its next event reports the number. */
static void lose(bool kernel_too)
{
	for (unsigned int runs = 1 + below(4); runs; runs--) {
		const unsigned int at = below(NR_EVENTS);
		const struct act *first = &acts[at];
		unsigned int i = at, left = 1 + below(6);
		int64_t lost = 0;

		if (is_kernel(first) && !kernel_too)
			continue;
		for (; i < NR_EVENTS; i++) {
			if (!is_same_ring(first, &acts[i]))
				continue;
			if (!left && !acts[i].is_lost)
				break;
			lost += 1 + acts[i].lost_before;
			acts[i].lost_before = 0;
			acts[i].is_lost = true;
			left -= left > 0;
		}
		if (i < NR_EVENTS)
			acts[i].lost_before += lost;
		note(at, i);
	}
	dat_losses_join(&table->kernel_losses);
	dat_losses_join(&table->program_losses);
}

/* --------------------------------------------------------------------------------------------------- the plain list */

/*
 * Searches back from an end for a begin of its kind that has no end yet. Begins of the thread in between were left by a
 * jump; their spans count as inner ones up to here. A span's own time does not include that of its outermost inner
 * spans.
 */
static void list_span(unsigned int last)
{
	const struct act *end = &acts[last];
	struct known span = { .tid = end->tid, .kind = end->kind, .end = end->ts };
	unsigned int first = last;

	while (first && !(acts[first].tid == end->tid && acts[first].kind == end->kind && acts[first].what == BEGIN &&
			  !acts[first].is_used))
		first--;
	if (!(acts[first].tid == end->tid && acts[first].kind == end->kind && acts[first].what == BEGIN))
		return;
	span.begin = acts[first].ts;
	span.own = span.end - span.begin;
	for (uint64_t at = span.begin; at < span.end;) {
		uint64_t next = span.end, until = span.end;

		/* The next inner span that begins after `at`: listed, or left. */
		for (unsigned int i = first + 1; i < last && next == span.end; i++) {
			if (acts[i].tid != end->tid || acts[i].what != BEGIN || acts[i].ts <= at)
				continue;
			next = acts[i].ts;
			for (unsigned int k = 0; k < nr_spans; k++) {
				if (spans[k].tid == end->tid && spans[k].begin == next)
					until = spans[k].end;
			}
		}
		span.own -= until - next;
		at = until;
	}
	for (unsigned int i = first; i < last; i++) {
		if (acts[i].tid == end->tid && acts[i].what == BEGIN)
			acts[i].is_used = true;
	}
	spans[nr_spans++] = span;
}

static void list_spans(void)
{
	nr_spans = 0;
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		if (acts[i].what == END)
			list_span(i);
	}
}

/* -------------------------------------------------------------------------------------------------------- the model */

static int take(void *arg, const struct model_span *span)
{
	const int kind = span->rule->is_kernel ? CALL : !strcmp(span->rule->name, "outer") ? OUTER : INNER;

	(void)arg;
	if (!span->flags)
		given[nr_given++] = (struct known){
			.tid = span->tid, .kind = kind, .begin = span->begin, .end = span->end, .own = span->own
		};
	return 0;
}

static void run_model(void)
{
	const struct model_sink sink = { .span = take };
	struct dat_buffer buffer = { .name = (char[]){ "" } };
	struct model *model;

	nr_given = 0;
	cr_assert_eq(model_open(rules, &sink, &model), 0);
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		const struct act *act = &acts[i];
		const uint16_t id = (uint16_t)ids[act->kind][act->what];
		const int32_t tid = act->tid;
		unsigned char record[8] = { 0 };
		const struct dat_event event = {
			.ts = act->ts,
			.raw = act->ts,
			.cpu = act->cpu,
			.size = sizeof(record),
			.data = record,
			.lost = act->lost_before,
			.buffer = &buffer,
		};

		memcpy(record, &id, sizeof(id));
		memcpy(record + 4, &tid, sizeof(tid));
		if (!act->is_lost)
			cr_assert_eq(model_event(model, &event), 0);
	}
	cr_assert_eq(model_end(model), 0);
	model_close(model);
}

/* Whether no event was lost between the times, and no earlier loss was reported between them. */
static bool is_undisturbed(uint64_t begin, uint64_t end)
{
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		if (acts[i].ts >= begin && acts[i].ts <= end && (acts[i].is_lost || acts[i].lost_before))
			return false;
	}
	return true;
}

static void compare(void)
{
	unsigned int whole = 0;

	for (unsigned int i = 0; i < nr_given; i++) {
		const struct known *g = &given[i];
		unsigned int k = 0;

		while (k < nr_spans &&
		       (spans[k].tid != g->tid || spans[k].kind != g->kind || spans[k].begin != g->begin))
			k++;
		/* A missing system call inside a span may become known only after the span's end. */
		cr_assert(k < nr_spans && spans[k].end == g->end &&
				  (spans[k].own == g->own || !is_undisturbed(g->begin, g->end)),
			  "kind %d of %d, %" PRIu64 " to %" PRIu64 ", own %" PRIu64 ": the program has %s %" PRIu64
			  ", own %" PRIu64,
			  g->kind, g->tid, g->begin, g->end, g->own, k < nr_spans ? "its end at" : "none,",
			  k < nr_spans ? spans[k].end : 0, k < nr_spans ? spans[k].own : 0);
		spans[k].is_found = true;
	}
	for (unsigned int k = 0; k < nr_spans; k++) {
		whole += spans[k].is_found;
		cr_assert(spans[k].is_found || !is_undisturbed(spans[k].begin, spans[k].end) ||
				  (spans[k].kind == CALL &&
				   dat_losses_between(&table->kernel_losses, spans[k].begin, spans[k].end)),
			  "kind %d of %d, %" PRIu64 " to %" PRIu64 " is missing", spans[k].kind, spans[k].tid,
			  spans[k].begin, spans[k].end);
	}
	cr_assert_eq(whole, nr_given);
}

static void setup(void)
{
	table = table_of(formats, sizeof(formats) / sizeof(formats[0]), NULL);
	cr_assert_eq(model_rules_open(table, &rules), 0);
}

static void teardown(void)
{
	model_rules_close(rules);
	event_table_close(table);
}

TestSuite(model_random, .init = setup, .fini = teardown);

enum losses { NOTHING, LANES, ALL };

static void run(enum losses losses)
{
	const char *set = getenv("RECORDER_MODEL_TRACES");
	const unsigned int rounds = set ? (unsigned int)atoi(set) : 3000;
	unsigned long long seed = 1;
	uint64_t nr_all = 0, nr_whole = 0;

	repeat_numbers("RECORDER_SEED", &seed, 1);
	for (unsigned int round = 0; round < rounds; round++) {
		/* If the test fails, the line that repeats it begins with this round. */
		repeat_by("RECORDER_SEED=%llu", seed + round);
		state = (seed + round) * UINT64_C(0x9e3779b97f4a7c15);
		make_acts();
		list_spans();
		dat_losses_free(&table->kernel_losses);
		dat_losses_free(&table->program_losses);
		if (losses != NOTHING)
			lose(losses == ALL);
		run_model();
		compare();
		nr_all += nr_spans;
		nr_whole += nr_given;
	}
	repeat_nothing();
	tell("seed %llu: %" PRIu64 " spans, %" PRIu64 " without a mark", seed, nr_all, nr_whole);
	cr_assert(nr_whole > 0);
	cr_assert_eq(nr_whole == nr_all, losses == NOTHING);
}

Test(model_random, nothing_is_lost)
{
	run(NOTHING);
}

/* A loss of a lane is reported with the next event of its thread, wherever that is. */
Test(model_random, what_is_lost_in_lanes_is_not_guessed)
{
	run(LANES);
}

/*
 * The kernel reports a loss with the next event of the CPU. If threads may have left the CPU before, only the notes
 * state in time what was lost.
 */
Test(model_random, what_is_lost_is_not_guessed)
{
	run(ALL);
}
