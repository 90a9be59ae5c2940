/* SPDX-License-Identifier: MIT */
/*
 * Reads traces. Spans of which a begin or an end is missing, or inside which events were lost, have no duration and are
 * left out. Spans, waits and classes come from one pass over the trace; if it has switches, format/why divides the
 * spans of programs.
 */
#include "format/diff/diff_collect.h"

#include "format/io/number_map.h"
#include "format/io/text_pool.h"
#include "format/why/why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diff_collect {
	unsigned int nr_runs;
	int64_t *lost;
	uint64_t *given_up;
	struct diff_series *series;
	size_t nr_series, nr_room;
	struct text_pool pool;
	struct number_map by_key; /* address of the key in the pool: place in `series` plus one */

	/* for the run that is being read */
	unsigned int run;
	const struct event_table *table;
	/*
	 * numbers of events of programs and of the kernel: nr_all: in the whole run; nr_before: before the current
	 * event
	 */
	uint64_t nr_all[2];
	uint64_t nr_before[2];
	size_t *of_event; /* by event_type_number(), of this run: place in `series` plus one */
	bool has_switches;
};

/* ----------------------------------------------------------------------------------------------------------- series */

static struct diff_series *grow(struct diff_collect *c)
{
	struct diff_series *more;
	struct blob *runs;

	if (c->nr_series == c->nr_room) {
		more = reallocarray(c->series, c->nr_room ? 2 * c->nr_room : 64, sizeof(*more));
		if (!more)
			return NULL;
		c->series = more;
		c->nr_room = c->nr_room ? 2 * c->nr_room : 64;
	}
	runs = calloc(c->nr_runs, sizeof(*runs));
	if (!runs)
		return NULL;
	more = &c->series[c->nr_series++];
	*more = (struct diff_series){ .runs = runs };
	return more;
}

/* The place of a series, which is made if it is new. -ENOMEM. */
static long series_of(struct diff_collect *c, enum diff_kind kind, bool is_kernel, const char *name, const char *class)
{
	char key[512];
	const struct pooled_text *pooled, *pooled_name = text_pool_add(&c->pool, name, strlen(name));
	struct diff_series *series;
	uint64_t place;

	snprintf(key, sizeof(key), "%d %s %.400s", (int)kind, class, name);
	pooled = text_pool_add(&c->pool, key, strlen(key));
	if (!pooled || !pooled_name)
		return -ENOMEM;
	place = number_map_get(&c->by_key, (uint64_t)(uintptr_t)pooled);
	if (place)
		return (long)place - 1;
	series = grow(c);
	if (!series)
		return -ENOMEM;
	series->kind = kind;
	series->is_kernel = is_kernel;
	series->name = pooled_name->text;
	series->class = class;
	if (number_map_set(&c->by_key, (uint64_t)(uintptr_t)pooled, c->nr_series))
		return -ENOMEM;
	return (long)c->nr_series - 1;
}

/* Add a value to the series at `place`, which may be an error of series_of(). 0; -ENOMEM. */
static int put_value(struct diff_collect *c, long place, double value)
{
	if (place < 0)
		return (int)place;
	blob_put(&c->series[place].runs[c->run], &value, sizeof(value));
	return c->series[place].runs[c->run].error;
}

/* ------------------------------------------------------------------------------------------------- spans and waits */

static int take_span(void *arg, const struct model_span *span)
{
	struct diff_collect *c = arg;
	unsigned long long number;
	char name[256];
	/* Events of raw_syscalls and of syscalls are of the same calls: the sides may differ in which they have. */
	const char *system = span->rule->is_call ? "syscalls" : span->rule->system;
	int nr = snprintf(name, sizeof(name), "%s:%s", system, span->name);
	struct tep_format_field *field;

	/* A system call with two events at each end has two spans; one change must not be reported twice. */
	if (span->flags || span->is_beside)
		return 0;
	/* System calls without a name on this machine differ by their number. */
	field = span->rule->naming == MODEL_NAME_CALL && span->name == span->rule->name ? span->rule->naming_field
											: NULL;
	if (field && (uint32_t)(field->offset + field->size) <= span->first.size &&
	    !tep_read_number_field(field, span->first.data, &number))
		snprintf(name + nr, sizeof(name) - (size_t)nr, " %lld", (long long)number);
	return put_value(c, series_of(c, DIFF_SPAN, span->rule->is_kernel, name, ""),
			 (double)(span->end - span->begin));
}

static int take_state(void *arg, const struct model_thread_state *state)
{
	struct diff_collect *c = arg;

	c->has_switches = true;
	if (state->state != MODEL_RUNNABLE || state->is_preempted || state->is_inferred || state->is_open ||
	    state->is_cut || state->tid <= 0)
		return 0;
	return put_value(c, series_of(c, DIFF_LATENCY, true, event_comm_shown(c->table, state->tid), ""),
			 (double)(state->end - state->begin));
}

static int take_loss(void *arg, const struct model_loss *loss)
{
	struct diff_collect *c = arg;
	int64_t *lost = &c->lost[c->run];

	*lost = *lost < 0 || loss->lost < 0 ? -1 : *lost + loss->lost;
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- counts */

/*
 * Count an event in its part of the run. Parts have the same number of events, not the same length: so a program that
 * does the same has the same numbers, even if it had to wait more often. 0; -ENOMEM.
 */
static int count_event(struct diff_collect *c, const struct dat_event *event)
{
	const int id = event_id(c->table, event->data, event->size);
	const struct event_type *type = id < 0 ? NULL : event_type(c->table, id);
	const bool is_kernel = !event_is_programs(id);
	const size_t part = (size_t)(c->nr_before[is_kernel]++ * DIFF_PARTS / c->nr_all[is_kernel]);
	char name[256];
	struct blob *run;
	size_t *at;
	long place;

	if (!type)
		return 0;
	at = &c->of_event[event_type_number(c->table, type)];
	if (!*at) {
		snprintf(name, sizeof(name), "%s:%s", type->event->system, type->event->name);
		place = series_of(c, DIFF_COUNT, is_kernel, name, "");
		if (place < 0)
			return (int)place;
		*at = (size_t)place + 1;
	}
	run = &c->series[*at - 1].runs[c->run];
	if (!run->size)
		blob_zeros(run, DIFF_PARTS * sizeof(double));
	if (!run->error)
		((double *)(void *)run->data)[part]++;
	return run->error;
}

/* Set the counts to 0 in runs without an event of a kind. */
static int fill_counts(struct diff_collect *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->nr_series; i++) {
		for (unsigned int run = 0; c->series[i].kind == DIFF_COUNT && run < c->nr_runs; run++) {
			if (!c->series[i].runs[run].size)
				blob_zeros(&c->series[i].runs[run], DIFF_PARTS * sizeof(double));
			err = err ? err : c->series[i].runs[run].error;
		}
	}
	return err;
}

/* ---------------------------------------------------------------------------------------------------------- classes */

/* Add the time of each span in each class, even if it is 0. */
static int take_classes(struct diff_collect *c, struct why *why)
{
	size_t nr;
	const struct why_span *spans = why_spans(why, &nr);
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];
	char name[256];
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		long whole;

		if (spans[i].flags)
			continue;
		if (why_explain(why, &spans[i], &pieces, sums) < 0)
			return -ENOMEM;
		snprintf(name, sizeof(name), "%s:%s", spans[i].rule->system, spans[i].rule->name);
		whole = series_of(c, DIFF_SPAN, false, name, "");
		for (unsigned int k = 0; !err && k < WHY_CLASSES; k++) {
			const long place = series_of(c, DIFF_CLASS, false, name, why_class_name((enum why_class)k));

			err = whole < 0 ? (int)whole : put_value(c, place, (double)sums[k]);
			if (!err)
				c->series[place].whole = (size_t)whole;
		}
	}
	return err;
}

/* -------------------------------------------------------------------------------------------------------------- run */

/* Count all events, before they are divided into parts. */
static int count_all(struct diff_collect *c, const struct dat_file *file, const struct dat_time *time,
		     struct dat_error *ret_error)
{
	struct dat_merge *merge;
	struct dat_event event;
	uint32_t cpu;
	bool is_damaged;

	if (dat_merge_open(file, time, NULL, NULL, &merge))
		return -ENOMEM;
	memset(c->nr_all, 0, sizeof(c->nr_all));
	memset(c->nr_before, 0, sizeof(c->nr_before));
	while (dat_merge_next(merge, &event))
		c->nr_all[!event_is_programs(event_id(c->table, event.data, event.size))]++;
	is_damaged = dat_merge_damaged(merge, ret_error, &cpu) > 0;
	dat_merge_close(merge);
	return is_damaged ? -EBADMSG : 0;
}

static int read_events(struct diff_collect *c, const struct dat_file *file, const struct dat_time *time,
		       const struct model_rules *rules)
{
	const struct model_sink sink = { .arg = c, .span = take_span, .thread_state = take_state, .loss = take_loss,
					 .given_up = &c->given_up[c->run] };
	struct dat_merge *merge = NULL;
	struct model *model = NULL;
	struct dat_event event;
	int err = model_open(rules, &sink, &model);

	if (!err)
		err = dat_merge_open(file, time, NULL, NULL, &merge);
	while (!err && dat_merge_next(merge, &event)) {
		err = count_event(c, &event);
		if (!err)
			err = model_event(model, &event);
	}
	if (!err)
		err = model_end(model);
	dat_merge_close(merge);
	model_close(model);
	return err;
}

int diff_collect_run(struct diff_collect *c, unsigned int run, const struct dat_file *file, const struct dat_time *time,
		     const struct event_table *table, struct dat_error *ret_error)
{
	struct model_rules *rules = NULL;
	struct why *why = NULL;
	int err;

	c->table = table;
	err = count_all(c, file, time, ret_error);
	if (err)
		return err;
	c->run = run;
	c->has_switches = false;
	free(c->of_event);
	c->of_event = calloc(table->nr_events + 1u, sizeof(*c->of_event));
	err = c->of_event ? model_rules_open(table, &rules) : -ENOMEM;
	if (!err)
		err = read_events(c, file, time, rules);
	if (!err && c->has_switches)
		err = why_open(file, time, table, &why);
	if (!err && why)
		err = take_classes(c, why);
	why_close(why);
	model_rules_close(rules);
	return err ? err : fill_counts(c);
}

/*
 * ---------------------------------------------------------------------------------------------------- open and close
 */

int diff_collect_open(unsigned int nr_runs, struct diff_collect **ret_collect)
{
	struct diff_collect *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->nr_runs = nr_runs;
	c->lost = calloc(nr_runs, sizeof(*c->lost));
	c->given_up = calloc(nr_runs, sizeof(*c->given_up));
	if (!c->lost || !c->given_up) {
		diff_collect_close(c);
		return -ENOMEM;
	}
	*ret_collect = c;
	return 0;
}

struct diff_collect *diff_collect_close(struct diff_collect *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->nr_series; i++) {
		for (unsigned int run = 0; run < c->nr_runs; run++)
			blob_free(&c->series[i].runs[run]);
		free(c->series[i].runs);
	}
	number_map_free(&c->by_key);
	text_pool_close(&c->pool);
	free(c->series);
	free(c->lost);
	free(c->given_up);
	free(c->of_event);
	free(c);
	return NULL;
}

const struct diff_series *diff_collect_series(const struct diff_collect *c, size_t *ret_nr)
{
	*ret_nr = c->nr_series;
	return c->series;
}

int64_t diff_collect_lost(const struct diff_collect *c, unsigned int run)
{
	return c->lost[run];
}

uint64_t diff_collect_given_up(const struct diff_collect *c, unsigned int run)
{
	return c->given_up[run];
}
