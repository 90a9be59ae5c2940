/* SPDX-License-Identifier: MIT */
/* Sets of series, and the pass over the trace that feeds them. */
#include "format/series/series_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_IDS 65536

int series_set_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
		    struct series_set **ret_set)
{
	struct series_set *set = calloc(1, sizeof(*set));
	int err;

	if (!set)
		return -ENOMEM;
	set->file = file;
	set->time = time;
	set->table = table;
	set->taps = calloc(NR_IDS, sizeof(struct series_tap *));
	err = set->taps ? model_rules_open(table, &set->rules) : -ENOMEM;
	if (!err)
		err = export_fields_open(table, file->big, &set->fields);
	if (err) {
		series_set_close(set);
		return err;
	}
	*ret_set = set;
	return 0;
}

struct series_set *series_set_close(struct series_set *set)
{
	if (!set)
		return NULL;
	for (uint32_t i = 0; set->taps && i < set->table->nr_events; i++) {
		const struct event_type *type = event_type_at(set->table, i);

		while (type && set->taps[type->event->id]) {
			struct series_tap *tap = set->taps[type->event->id];

			set->taps[type->event->id] = tap->next;
			free(tap);
		}
	}
	while (set->first) {
		struct series *series = set->first;

		set->first = series->next;
		series_pairs_free(series);
		free(series);
	}
	export_fields_close(set->fields);
	model_rules_close(set->rules);
	free(set->taps);
	free(set);
	return NULL;
}

int series_add(struct series_set *set, const struct series_spec *spec, series_take take, void *arg,
	       struct series **ret_series, struct series_error *ret_error)
{
	struct series *series = calloc(1, sizeof(*series));
	int err;

	if (!series)
		return -ENOMEM;
	series->set = set;
	series->take = take;
	series->arg = arg;
	series->call = -1;
	series->next = set->first;
	set->first = series;
	err = series_find(set, series, spec, ret_error);
	if (!err)
		*ret_series = series;
	return err;
}

int series_give(struct series *series, const struct series_point *point)
{
	series->counts.points++;
	return series->take(series->arg, point);
}

/* ------------------------------------------------------------------------------------------------------------ spans */

static int take_span_for(struct series *series, const struct model_span *span)
{
	const struct series_point point = {
		.value = (int64_t)(span->end - span->begin),
		.begin = span->begin,
		.end = span->end,
		.tid = span->tid,
		.end_tid = span->end_tid,
		.cpu = span->end_cpu,
	};

	switch (model_span_state(span)) {
	case MODEL_SPAN_WHOLE:
		return series_give(series, &point);
	case MODEL_SPAN_NO_BEGIN:
		series->counts.no_begin++;
		break;
	case MODEL_SPAN_CUT:
		series->counts.cut++;
		break;
	case MODEL_SPAN_OPEN:
		series->counts.no_end++;
		break;
	}
	return 0;
}

static int take_span(void *arg, const struct model_span *span)
{
	const struct series_set *set = arg;
	int err = 0;

	for (const struct series_tap *tap = set->taps[span->rule->type->event->id]; !err && tap; tap = tap->next)
		if (tap->role == ROLE_SPAN)
			err = take_span_for(tap->series, span);
	return err;
}

/*
 * A point for each wake-up: the time until the woken thread runs. A preempted thread was not woken. If a state is known
 * only from the event that ended it, its begin was lost; if it is cut, the switch to the thread is missing.
 */
static int take_state(void *arg, const struct model_thread_state *state)
{
	const struct series_set *set = arg;
	const struct series_point point = {
		.value = (int64_t)(state->end - state->begin),
		.begin = state->begin,
		.end = state->end,
		.tid = state->tid,
		.end_tid = state->tid,
		.cpu = state->cpu,
	};
	int err = 0;

	if (state->state != MODEL_RUNNABLE || state->is_preempted)
		return 0;
	for (struct series *series = set->first; !err && series; series = series->next) {
		if (!series->is_wakeup)
			continue;
		if (state->is_open)
			series->counts.no_end++;
		else if (state->is_inferred || state->is_cut)
			series->counts.cut++;
		else
			err = series_give(series, &point);
	}
	return err;
}

/* ----------------------------------------------------------------------------------------------------------- events */

static int take_value(const struct series_tap *tap, const struct dat_event *event, int32_t tid)
{
	struct series_point point = {
		.value = 1, .begin = event->ts, .end = event->ts, .tid = tid, .end_tid = tid, .cpu = event->cpu
	};
	struct export_value value;

	if (tap->field) {
		if (!export_value(tap->field, event->data, event->size, &value))
			return 0;
		/* Numbers of more than 63 bits become INT64_MAX. */
		point.value = tap->field->is_signed || value.u <= INT64_MAX ? (int64_t)value.u : INT64_MAX;
	}
	return series_give(tap->series, &point);
}

/*
 * Whether an event is of the system call of the series. If both kinds of events were recorded, each call is there
 * twice.
 */
static bool is_call(const struct series_tap *tap, const struct dat_event *event)
{
	struct series *series = tap->series;
	struct export_value value;

	if (series->call_source && strcmp(series->call_source, tap->system) != 0)
		return false;
	if (tap->field &&
	    (!export_value(tap->field, event->data, event->size, &value) || (int64_t)value.u != series->call))
		return false;
	series->call_source = tap->system;
	return true;
}

static int take_event(const struct series_set *set, const struct dat_event *event)
{
	const int id = event_id(set->table, event->data, event->size);
	int32_t tid;
	int err = 0;

	if (id < 0 || id >= NR_IDS || !set->taps[id])
		return 0;
	tid = event_pid(set->table, event->data, event->size);
	/* If an event ends one pair and begins the next, the tap of the end comes first. */
	for (const struct series_tap *tap = set->taps[id]; !err && tap; tap = tap->next) {
		if (tap->series->is_call && !is_call(tap, event))
			continue;
		if (tap->role == ROLE_BEGIN)
			err = series_pair_begin(tap, event, tid);
		else if (tap->role == ROLE_END)
			err = series_pair_end(tap, event, tid);
		else if (tap->role == ROLE_VALUE)
			err = take_value(tap, event, tid);
	}
	return err;
}

static void note_event(struct series_set *set, const struct dat_event *event)
{
	if (!set->has_events)
		set->first_ts = event->ts;
	set->has_events = true;
	set->last_ts = event->ts;
	if (event->lost && !model_loss_is_kernels(set->table, event))
		set->program_loss_ts = event->ts;
	if (event->lost && !model_loss_is_programs(set->table, event))
		set->kernel_loss_ts = event->ts;
	dat_gaps_note(&set->gaps, event);
}

static int run_events(struct series_set *set, struct model *model, struct dat_merge *merge, series_loss loss, void *arg)
{
	struct dat_event event;
	int err = 0;

	while (!err && dat_merge_next(merge, &event)) {
		note_event(set, &event);
		if (event.lost && loss)
			err = loss(arg, &event);
		if (!err && model)
			err = model_event(model, &event);
		if (!err)
			err = take_event(set, &event);
	}
	if (!err && model)
		err = model_end(model);
	return err;
}

int series_set_run(struct series_set *set, series_loss loss, void *arg)
{
	const struct model_sink sink = { .arg = set, .span = take_span, .thread_state = take_state,
					 .given_up = &set->gaps.given_up };
	struct dat_merge *merge = NULL;
	struct model *model = NULL;
	int err = set->needs_model ? model_open(set->rules, &sink, &model) : 0;

	if (!err)
		err = dat_merge_open(set->file, set->time, NULL, NULL, &merge);
	if (!err)
		err = run_events(set, model, merge, loss, arg);
	if (!err) {
		dat_gaps_end(&set->gaps, merge);
		for (struct series *series = set->first; series; series = series->next)
			series_pairs_stop(series);
	}
	dat_merge_close(merge);
	model_close(model);
	return err;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

const struct series_counts *series_counts(const struct series *series)
{
	return &series->counts;
}

const struct dat_gaps *series_gaps(const struct series_set *set)
{
	return &set->gaps;
}

bool series_range(const struct series_set *set, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = set->first_ts;
	*ret_last = set->last_ts;
	return set->has_events;
}
