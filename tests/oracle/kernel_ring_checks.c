/* SPDX-License-Identifier: MIT */
#include "kernel_ring_checks.h"

#include <inttypes.h>
#include <librecorder/page.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Failures of each kind are printed this often, then no more. */
#define DIAGNOSES 20

static const char *const check_names[NR_CHECKS] = {
	[READS] = "when there is something to read",
	[EVENTS] = "events in order, intact",
	[FILL] = "bytes on a page",
	[LOSSES] = "losses reported with a page",
	[LOST_TIME] = "time of the first event lost",
	[TIMES] = "times of events",
	[REFUSALS] = "what is refused",
	[STATS] = "stats: entries, overrun, commit overrun, dropped events, read events",
	[BYTES] = "stats: bytes",
	[OLDEST] = "stats: oldest event ts",
	[FORM] = "stats: the same eight lines",
	[EQUAL] = "the same from both",
};

bool check(struct run *run, enum check what, bool good, const char *format, ...)
{
	va_list args;

	if (good) {
		run->good[run->same_ends][what]++;
		return true;
	}
	if (run->bad[run->same_ends][what]++ < DIAGNOSES) {
		printf("# %s; seed %u, sequence %u: ", check_names[what], run->seed + run->configuration,
		       run->sequence);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n# repeat: tests/oracle/kernel_ring %u 1\n", run->seed + run->configuration);
	}
	return false;
}

static void check_times(struct run *run, const struct side *side)
{
	const struct batch *batch = &side->batch;
	uint32_t i;

	for (i = 0; i < batch->nr; i++) {
		const struct moment *moment = &side->moments[batch->event[i].number % NUMBERS];
		const uint64_t time = batch->event[i].time;

		if (!check(run, TIMES, time >= moment->from && time <= moment->to,
			   "%s: event %" PRIu64 " at %" PRIu64 ", written from %" PRIu64 " to %" PRIu64, side->name,
			   batch->event[i].number, time, moment->from, moment->to))
			return;
	}
}

static uint32_t stored_size(const struct model_event *event)
{
	return rec_event_total(event->size) - (event->size > REC_EVENT_SMALL_MAX ? 8 : 4);
}

static void check_events(struct run *run, const struct side *side, const struct model_read *expected)
{
	const struct batch *batch = &side->batch;
	const struct model_event *first = &expected->events[0];
	bool equal = !batch->is_damaged;
	uint32_t i, nr = 0;

	for (i = 0; i < expected->nr; i++) {
		const struct model_event *event = &expected->events[i];

		if (event->is_filler)
			continue;
		equal = equal && nr < batch->nr && batch->event[nr].number == event->number &&
			batch->event[nr].size == stored_size(event);
		nr++;
	}
	check(run, EVENTS, equal && nr == batch->nr && (side == &run->k || batch->first == first->index),
	      "%s: %u events from %" PRIu64 " on, expected %u from %" PRIu64 "%s", side->name, batch->nr,
	      batch->nr ? batch->event[0].number : 0, nr, first->number, batch->is_damaged ? "; damaged" : "");
}

void check_batch(struct run *run, const struct side *side, const struct model_read *expected)
{
	const struct batch *batch = &side->batch;
	const struct moment *first = &side->moments[expected->lost_first % NUMBERS];

	check_events(run, side, expected);
	check_times(run, side);
	check(run, FILL, expected->bytes == batch->bytes, "%s: %u, expected %u", side->name, batch->bytes,
	      expected->bytes);
	check(run, LOSSES, expected->lost == batch->lost, "%s: %" PRIu64 ", expected %" PRIu64, side->name,
	      batch->lost, expected->lost);
	/* The kernel stores no time of a loss. The time in our ring is 0 if a reset came between refusals. */
	if (!expected->lost || side == &run->k)
		return;
	if (batch->lost_time == 0)
		run->nr_unknown++;
	else
		check(run, LOST_TIME, batch->lost_time >= first->from && batch->lost_time <= first->to,
		      "%" PRIu64 ", event %" PRIu64 " was lost from %" PRIu64 " to %" PRIu64, batch->lost_time,
		      expected->lost_first, first->from, first->to);
}

void check_same_batch(struct run *run)
{
	const struct batch *k = &run->k.batch, *o = &run->o.batch;
	bool same = k->nr == o->nr;
	uint32_t i;

	for (i = 0; same && i < k->nr; i++)
		same = k->event[i].number == o->event[i].number && k->event[i].size == o->event[i].size;
	check(run, EQUAL, same, "%u events from %" PRIu64 " on from the kernel, %u from %" PRIu64 " on from the lane",
	      k->nr, k->nr ? k->event[0].number : 0, o->nr, o->nr ? o->event[0].number : 0);
}

static void check_counters(struct run *run, const struct side *side, const struct side_stats *stats)
{
	struct model_stats want;

	model_stats(side->model, &want);
	check(run, STATS,
	      stats->entries == want.entries && stats->overrun == want.overrun && stats->dropped == want.dropped &&
		      stats->read == want.read && stats->commit_overrun == 0,
	      "%s: entries %" PRIu64 " overrun %" PRIu64 " dropped %" PRIu64 " read %" PRIu64 ", expected %" PRIu64
	      " %" PRIu64 " %" PRIu64 " %" PRIu64,
	      side->name, stats->entries, stats->overrun, stats->dropped, stats->read, want.entries, want.overrun,
	      want.dropped, want.read);
	check(run, BYTES, stats->bytes == want.bytes, "%s: %" PRIu64 ", expected %" PRIu64, side->name, stats->bytes,
	      want.bytes);
}

/*
 * The oldest time is that of the first event on the page that is overwritten next; or on the reader page, if the writer
 * is there.
 */
static void check_oldest(struct run *run, const struct side *side, const struct side_stats *stats)
{
	const struct model *model = side->model;
	const struct model_page *page = model->nr_ring ? model->ring[0] : model->reader;
	const struct moment *moment;

	/* An empty page's time is whatever was there before. */
	if (!page->nr)
		return;
	moment = &side->moments[page->events[0].number % NUMBERS];
	check(run, OLDEST, stats->oldest >= moment->from && stats->oldest <= moment->to,
	      "%s: %" PRIu64 ", event %" PRIu64 " was written from %" PRIu64 " to %" PRIu64, side->name,
	      stats->oldest, page->events[0].number, moment->from, moment->to);
}

void check_stats(struct run *run)
{
	struct side_stats k, o;
	struct lane_refusals refusals;

	kernel_stats(&run->kernel, &k);
	lane_stats(&run->lane, &o, &refusals);
	check_counters(run, &run->k, &k);
	check_counters(run, &run->o, &o);
	check_oldest(run, &run->k, &k);
	check_oldest(run, &run->o, &o);
	check(run, FORM, strcmp(k.form, o.form) == 0, "the kernel's:\n%sours:\n%s", k.form, o.form);
	check(run, REFUSALS, refusals.too_long == run->o.model->too_long && refusals.disabled == run->disabled,
	      "lane: %" PRIu64 " too long, %" PRIu64 " while off; expected %" PRIu64 " and %" PRIu64,
	      refusals.too_long, refusals.disabled, run->o.model->too_long, run->disabled);
	if (run->same_ends)
		check(run, EQUAL,
		      k.entries == o.entries && k.overrun == o.overrun && k.dropped == o.dropped &&
			      k.read == o.read && k.commit_overrun == o.commit_overrun,
		      "statistics");
}

unsigned int report_checks(const struct run *run, bool all)
{
	static const char *const forms[2] = { "own page ends", "same page ends" };
	const uint64_t times = run->good[0][LOST_TIME] + run->good[1][LOST_TIME];
	unsigned int form, what, n = 0;

	for (form = 0; form < 2; form++) {
		for (what = 0; what < NR_CHECKS; what++) {
			const uint64_t good = run->good[form][what], bad = run->bad[form][what];

			/*
			 * Pages that end at different events cannot be equal. A check that was never made counts as
			 * failed, except in a run by hand that is too short for all.
			 */
			if (form == 0 && what == EQUAL)
				continue;
			printf("%sok %u - %s: %s%s\n", bad || (all && !good) ? "not " : "", ++n, forms[form],
			       check_names[what], !bad && !good && !all ? " # SKIP not met in so few" : "");
			printf("# %" PRIu64 " comparisons, %" PRIu64 " differ\n", good + bad, bad);
		}
	}
	printf("%sok %u - most losses know their time\n", run->nr_unknown * 20 > times ? "not " : "", ++n);
	printf("# %" PRIu64 " do, %" PRIu64 " do not\n", times, run->nr_unknown);
	return n;
}
