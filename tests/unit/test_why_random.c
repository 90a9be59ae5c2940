/* SPDX-License-Identifier: MIT */
/*
 * `recorder why` on a simulated machine (why_machine.h), for which the right answer is known for every nanosecond. With
 * all events, with some kinds of events not recorded, and from the middle of a run: each piece has the right class,
 * thread, CPU, cause and text, and is unknown only if it cannot be known. With losses: no class is wrong, and a class
 * that cannot be known is unknown. The same with switches that the host hides; there, a thread is known to run from its
 * first event on.
 */
#include "why_truth.h"
#include "repeat.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct machine machine;
static struct truth truth;
static struct event_table *table;
static uint64_t nr_ns, nr_unknown, nr_spans, nr_of[WHY_CLASSES];
/* Jobs; those whose last hand-over is known; those of them with a sleep after it. */
static uint64_t nr_jobs, nr_followed, nr_slept;

enum mode { ALL, KINDS, LOSSES, HIDDEN };

/* Whether the right answer is known in all details. */
static bool is_exact(enum mode mode)
{
	return mode == ALL || mode == KINDS;
}

static void setup(void)
{
	table = machine_table();
}

static void teardown(void)
{
	event_table_close(table);
}

TestSuite(why_random, .init = setup, .fini = teardown);

/* ------------------------------------------------------------------------------------------------- what is recorded */

static void choose_kinds(enum mode mode)
{
	for (unsigned int kind = 0; kind < NR_KINDS; kind++)
		truth.recorded[kind] = mode != KINDS || machine_below(&machine, 4) || kind == KIND_REQUEST ||
				       kind == KIND_JOB;
}

/* Whether one loss can concern both events: they are in the same ring of the kernel, or in the lane of one thread. */
static bool is_same_ring(const struct machine_event *a, const struct machine_event *b)
{
	const bool is_program = event_is_programs(event_id(table, a->bytes, a->size));

	if (is_program != event_is_programs(event_id(table, b->bytes, b->size)))
		return false;
	return is_program ? event_pid(table, a->bytes, a->size) == event_pid(table, b->bytes, b->size)
			  : a->cpu == b->cpu;
}

/* Runs of events of one ring are lost; its next event reports the number. */
static void lose(void)
{
	for (unsigned int runs = 1 + machine_below(&machine, 4); runs; runs--) {
		const unsigned int first = machine_below(&machine, machine.nr_events);
		const struct machine_event *of = &machine.events[first];
		unsigned int left = 1 + machine_below(&machine, 12), next = first;
		int64_t lost = 0;

		while (next < machine.nr_events && left) {
			left -= is_same_ring(of, &machine.events[next]);
			next++;
		}
		while (next < machine.nr_events &&
		       (!is_same_ring(of, &machine.events[next]) || !machine.events[next].is_recorded))
			next++;
		if (next == machine.nr_events)
			continue;
		for (unsigned int i = first; i < next; i++) {
			if (!is_same_ring(of, &machine.events[i]) || !machine.events[i].is_recorded)
				continue;
			lost += 1 + machine.events[i].lost;
			machine.events[i].lost = 0;
			machine.events[i].is_recorded = false;
		}
		machine.events[next].lost += lost;
	}
}

/*
 * Some switches have no event, most of them from the idle task. The first one of a CPU has, and so has the one after
 * each that has none: a thread that comes and goes unseen cannot be known.
 */
static void hide(void)
{
	struct machine_event *hidden[MACHINE_CPUS] = { NULL };
	bool may_hide[MACHINE_CPUS] = { false };

	for (unsigned int i = 0; i < machine.nr_events; i++) {
		struct machine_event *e = &machine.events[i];
		const bool is_from_idle = !event_pid(table, e->bytes, e->size);

		if (e->kind != KIND_SWITCH || !e->is_recorded)
			continue;
		e->is_recorded = !may_hide[e->cpu] || machine_below(&machine, is_from_idle ? 2 : 6);
		may_hide[e->cpu] = e->is_recorded;
		hidden[e->cpu] = e->is_recorded ? NULL : e;
	}
	for (unsigned int i = 0; i < MACHINE_CPUS; i++) {
		if (hidden[i])
			hidden[i]->is_recorded = true;
	}
}

static void record(enum mode mode)
{
	const int from = machine_below(&machine, 2) ? (int)machine_below(&machine, MACHINE_NS / 2) : 0;

	choose_kinds(mode);
	for (unsigned int i = 0; i < machine.nr_events; i++)
		machine.events[i].is_recorded = truth.recorded[machine.events[i].kind] && machine.events[i].at >= from;
	if (mode == LOSSES)
		lose();
	else if (mode == HIDDEN)
		hide();
	truth_open(&truth, &machine);
}

static struct why *read_all(void)
{
	struct dat_buffer buffer = { .name = (char[]){ "" } };
	struct why *why;

	cr_assert_eq(why_begin(table, &why), 0);
	for (unsigned int i = 0; i < machine.nr_events; i++) {
		const struct machine_event *e = &machine.events[i];
		const struct dat_event event = {
			.ts = MACHINE_EPOCH + (uint64_t)e->at,
			.cpu = (uint32_t)e->cpu,
			.size = e->size,
			.data = e->bytes,
			.lost = e->lost,
			.buffer = &buffer,
		};

		if (e->is_recorded)
			cr_assert_eq(why_event(why, &event), 0);
	}
	cr_assert_eq(why_end(why), 0);
	return why;
}

/* ------------------------------------------------------------------------------------------------------- comparison */

/* The machine's item of a span; -1: none. */
static int item_of(const struct why_span *span)
{
	for (unsigned int i = 0; i < machine.nr_items; i++) {
		const struct machine_item *item = &machine.items[i];
		const bool is_open = span->flags & MODEL_NO_END;

		if (item->tid != span->tid || (item->kind != KIND_REQUEST && item->kind != KIND_STEP) ||
		    strcmp(item->name + 3, span->rule->name) != 0)
			continue;
		if (span->flags & MODEL_NO_BEGIN
			    ? span->end == MACHINE_EPOCH + (uint64_t)item->end && item->begin < truth.first
			    : span->begin == MACHINE_EPOCH + (uint64_t)item->begin &&
				      (is_open ? item->end > truth.last
					       : span->end == MACHINE_EPOCH + (uint64_t)item->end))
			return (int)i;
	}
	return -1;
}

/* A span in the machine: an item, or a job with the threads that had it. */
struct known {
	int item; /* -1: a job */
	struct truth_job job;
	struct truth_path path;
};

static void compare_piece(const struct why_span *span, const struct known *known, const struct why_piece *piece)
{
	struct answer a;

	for (uint64_t ts = piece->begin; ts < piece->end; ts++) {
		if (known->item >= 0)
			truth_at(&truth, known->item, span->task, (int)(ts - MACHINE_EPOCH), &a);
		else
			truth_of_job(&truth, &known->job, &known->path, (int)(ts - MACHINE_EPOCH), &a);
		cr_assert(a.class == piece->class && a.tid == piece->tid && a.cpu == piece->cpu &&
				  !strcmp(a.by, piece->by) && !strcmp(a.what, piece->what),
			  "at %d, span %" PRIu64
			  " of %d: %s of %d on %d by '%s': '%s' is right, not %s of %d on %d by '%s': '%s'",
			  (int)(ts - MACHINE_EPOCH), span->id, span->tid, why_class_name(a.class), a.tid, a.cpu, a.by,
			  a.what, why_class_name(piece->class), piece->tid, piece->cpu, piece->by, piece->what);
	}
}

/*
 * A span with losses may consist of other events than it seems. Whether its thread's activity is known does not depend
 * on that.
 */
static void compare_class(const struct why_span *span, const struct why_piece *piece)
{
	for (uint64_t ts = piece->begin; ts < piece->end; ts++) {
		const int at = (int)(ts - MACHINE_EPOCH);
		const enum why_class right = truth_class(&truth, span->tid, at);
		const bool is_task = piece->class == WHY_BLOCKED && strstr(piece->what, "another task");

		nr_unknown += piece->class == WHY_UNKNOWN;
		cr_assert(piece->class == WHY_UNKNOWN || piece->class == right || (is_task && right == WHY_RUNNING),
			  "at %d, span %" PRIu64 " of %d: %s is right, not %s by '%s': '%s'", at, span->id, span->tid,
			  why_class_name(right), why_class_name(piece->class), piece->by, piece->what);
	}
}

static const struct machine_event *recorded_at(int at)
{
	for (unsigned int i = 0; i < machine.nr_events && machine.events[i].at <= at; i++) {
		if (machine.events[i].at == at && machine.events[i].is_recorded)
			return &machine.events[i];
	}
	return NULL;
}

static bool is_on(int tid, int cpu, int at)
{
	return machine.moments[at].thread[tid].state == STATE_RUNS && machine.moments[at].thread[tid].cpu == cpu;
}

/*
 * Whether an event shows that the thread runs from then on: the switch to it, a system call or an interrupt in it. (The
 * kernel writes other events in a thread also at the end of the switch from it.)
 */
static bool shows(const struct machine_event *e, int tid, bool is_first)
{
	if (!e)
		return false;
	if (event_pid(table, e->bytes, e->size) != tid)
		return is_first && e->kind == KIND_SWITCH;
	return e->kind == KIND_CALL || e->kind == KIND_IRQ || e->kind == KIND_TIMER;
}

/* Whether the thread runs at a time, and its events before and after this time show that. */
static bool is_shown(int tid, int at)
{
	const int cpu = machine.moments[at].thread[tid].cpu;
	const struct machine_event *e;
	bool before = false, after = false;

	for (int i = at; !before && is_on(tid, cpu, i); i--)
		before = shows(recorded_at(i), tid, !i || !is_on(tid, cpu, i - 1));
	for (int i = at + 1; before && !after && i <= truth.last && is_on(tid, cpu, i - 1); i++) {
		e = recorded_at(i);
		after = e && event_pid(table, e->bytes, e->size) == tid && e->cpu == cpu;
	}
	return after;
}

/*
 * Whichever thread had the job, known data about a piece's thread must be true. (A piece that is blocked names the last
 * thread of a chain of wake-ups.)
 */
static void compare_thread(const struct why_span *span, const struct why_piece *piece)
{
	for (uint64_t ts = piece->begin; ts < piece->end; ts++) {
		const enum why_class right = truth_class(&truth, piece->tid, (int)(ts - MACHINE_EPOCH));

		cr_assert(piece->class == WHY_UNKNOWN || piece->class == WHY_BLOCKED || piece->class == right,
			  "at %d, job %" PRIu64 " of %d: %s is right, not %s", (int)(ts - MACHINE_EPOCH), span->id,
			  span->tid, why_class_name(right), why_class_name(piece->class));
	}
}

/* Whether the events show each hand-over of the job: a known thread was woken for it. */
static bool shows_hands(const struct machine_job *job)
{
	for (unsigned int i = 0; i < job->nr_hands; i++) {
		if (!job->hands[i].is_wake || job->hands[i].at <= truth.known[job->hands[i].tid])
			return false;
	}
	return job->nr_hands > 0;
}

/* Whether it is known which threads had a job. */
static bool know_job(const struct why_span *span, struct known *known)
{
	const struct machine_job *job = &machine.jobs[span->id];
	const bool is_whole = !span->flags;

	cr_assert(span->id < machine.nr_jobs);
	cr_assert(!is_whole || (job->tid == span->tid && job->end_tid == span->end_tid));
	known->item = -1;
	known->job = (struct truth_job){ span->tid, span->end_tid, (int)(span->begin - MACHINE_EPOCH),
					 (int)(span->end - MACHINE_EPOCH), span->task };
	nr_jobs++;
	if (!truth_path(&truth, &known->job, &known->path))
		return false;
	/* If each hand-over is shown, the only way that the events show is the right one. */
	if (known->path.last_hand < 0 || !is_whole || !shows_hands(job))
		return true;
	cr_assert_eq(job->hands[job->nr_hands - 1].at, known->path.last_hand, "job %" PRIu64 ": at %d is right, not %d",
		     span->id, job->hands[job->nr_hands - 1].at, known->path.last_hand);
	nr_followed++;
	nr_slept += truth_sleeps_after(&truth, span->end_tid, known->path.last_hand, job->end);
	return true;
}

static void compare_span(struct why *why, const struct why_span *span, enum mode mode)
{
	static struct known known;
	const bool is_job = !strcmp(span->rule->name, "job");
	const bool is_known = is_exact(mode) && (!is_job || know_job(span, &known));
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES], sum = 0, at = span->begin;
	const long nr = why_explain(why, span, &pieces, sums);

	if (!is_job && is_exact(mode)) {
		known.item = item_of(span);
		cr_assert(known.item >= 0, "the machine has no such span of %d: %" PRIu64 " to %" PRIu64, span->tid,
			  span->begin, span->end);
	}
	cr_assert(nr >= 0);
	for (long i = 0; i < nr; i++) {
		cr_assert(pieces[i].begin == at && pieces[i].end > at);
		at = pieces[i].end;
		if (is_known)
			compare_piece(span, &known, &pieces[i]);
		else if (is_job)
			compare_thread(span, &pieces[i]);
		else
			compare_class(span, &pieces[i]);
		for (uint64_t ts = pieces[i].begin; !is_job && mode == HIDDEN && ts < pieces[i].end; ts++)
			cr_assert(pieces[i].class != WHY_UNKNOWN || !is_shown(span->tid, (int)(ts - MACHINE_EPOCH)),
				  "at %d, span %" PRIu64 " of %d: events show that it runs", (int)(ts - MACHINE_EPOCH),
				  span->id, span->tid);
	}
	cr_assert_eq(at, span->end);
	for (unsigned int i = 0; i < WHY_CLASSES; i++) {
		sum += sums[i];
		nr_of[i] += sums[i];
	}
	cr_assert_eq(sum, span->end - span->begin);
	nr_ns += sum;
}

/* The spans of the machine that are in the recording, from their begin or from their end. */
static size_t count_spans(void)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < machine.nr_items; i++) {
		const struct machine_item *item = &machine.items[i];

		nr += (item->kind == KIND_REQUEST || item->kind == KIND_STEP) && truth_item(&truth, (int)i) == (int)i;
	}
	for (unsigned int i = 0; i < machine.nr_jobs; i++) {
		const struct machine_job *job = &machine.jobs[i];
		const bool begins = job->begin >= truth.first && job->begin <= truth.last;
		const bool ends = job->end >= truth.first && job->end <= truth.last;

		nr += begins || ends;
	}
	return nr;
}

static void compare(enum mode mode)
{
	struct why *why = read_all();
	const struct why_span *spans;
	size_t nr;

	spans = why_spans(why, &nr);
	if (is_exact(mode))
		cr_assert_eq(nr, count_spans());
	for (size_t i = 0; i < nr; i++)
		compare_span(why, &spans[i], mode);
	nr_spans += nr;
	why_close(why);
}

static void run(enum mode mode)
{
	const char *set = getenv("RECORDER_WHY_TRACES");
	const unsigned int traces = set ? (unsigned int)atoi(set) : 300;
	unsigned long long seed = 1;

	repeat_numbers("RECORDER_SEED", &seed, 1);
	for (unsigned int i = 0; i < traces; i++) {
		repeat_by("RECORDER_WHY_TRACES=1 RECORDER_SEED=%llu", seed + i);
		machine_run(&machine, seed + i);
		record(mode);
		if (truth.first >= 0)
			compare(mode);
	}
	repeat_nothing();
	tell("seed %llu, %u traces: %" PRIu64 " spans, %" PRIu64 " ns: running %" PRIu64 ", runnable %" PRIu64
	     ", blocked %" PRIu64 ", interrupted %" PRIu64 ", unknown %" PRIu64,
	     seed, traces, nr_spans, nr_ns, nr_of[WHY_RUNNING], nr_of[WHY_RUNNABLE], nr_of[WHY_BLOCKED],
	     nr_of[WHY_INTERRUPTED], nr_of[WHY_UNKNOWN]);
	tell("%" PRIu64 " jobs, of %" PRIu64 " the last hand is known, %" PRIu64 " of them slept after it", nr_jobs,
	     nr_followed, nr_slept);
	/* Every case occurred. */
	for (unsigned int i = 0; i < WHY_UNKNOWN; i++)
		cr_assert(nr_of[i] > 0);
	/* Jobs with a sleep after the last hand-over are rare: one in 200. */
	cr_assert(!is_exact(mode) || traces < 1000 || nr_slept > 0);
}

Test(why_random, each_nanosecond_has_its_reason)
{
	run(ALL);
}

Test(why_random, without_some_events)
{
	run(KINDS);
}

Test(why_random, losses_are_not_guessed)
{
	run(LOSSES);
}

Test(why_random, hidden_switches_are_not_guessed)
{
	run(HIDDEN);
}
