/* SPDX-License-Identifier: MIT */
/* Keeps what is needed of a trace, in lists that can be searched by time. */
#include "format/why/why_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct why_thread *add_thread(struct why *why, int32_t tid)
{
	const size_t nr = why->nr_threads;
	struct why_thread *known = why_thread(why, tid);
	struct why_thread *more = why->threads;

	if (known)
		return known;
	/* The room is doubled when it is full, at each power of two. */
	if (!(nr & (nr - 1)))
		more = reallocarray(more, nr ? 2 * nr : 1, sizeof(*more));
	if (!more)
		return NULL;
	why->threads = more;
	if (number_map_set(&why->by_tid, (uint32_t)tid, why->nr_threads + 1))
		return NULL;
	more[why->nr_threads] = (struct why_thread){ .tid = tid };
	return &more[why->nr_threads++];
}

static struct why_cpu *add_cpu(struct why *why, uint32_t cpu)
{
	if (cpu >= why->nr_cpus) {
		struct why_cpu *more = reallocarray(why->cpus, cpu + 1, sizeof(*more));

		if (!more)
			return NULL;
		for (uint32_t i = why->nr_cpus; i <= cpu; i++)
			more[i] = (struct why_cpu){ 0 };
		why->cpus = more;
		why->nr_cpus = cpu + 1;
	}
	return &why->cpus[cpu];
}

/* ---------------------------------------------------------------------------------------------------------- collect */

static int add_state(void *arg, const struct model_thread_state *s)
{
	struct why *why = arg;
	struct why_thread *thread = add_thread(why, s->tid);
	struct why_cpu *cpu = model_state_runs(s) ? add_cpu(why, s->cpu) : NULL;
	/* An interrupt before the sleep is not the one that the CPU was in at the sleep's end. */
	const uint32_t waker_cpu = s->waker_irq && s->waker_early ? UINT32_MAX : s->waker_cpu;
	const struct why_state state = { s->begin,  s->end,	  s->state,   s->cpu,	  s->waker,
					 waker_cpu, s->waker_irq, s->is_open, s->is_lost, s->is_inferred,
					 s->absent };
	const struct why_run run = { s->begin, s->end, s->tid };

	if (!thread || (model_state_runs(s) && !cpu))
		return -ENOMEM;
	if (s->waker >= 0)
		why->has_wakes = true;
	blob_put(&thread->states, &state, sizeof(state));
	if (cpu)
		blob_put(&cpu->runs, &run, sizeof(run));
	return thread->states.error ? -ENOMEM : cpu && cpu->runs.error ? -ENOMEM : 0;
}

static bool field_number(const struct model_record *record, const char *name, int64_t *ret_number)
{
	const struct tep_format_field *field = record->data ? tep_find_field(record->type->event, name) : NULL;

	if (!field || field->size > 8 || (uint32_t)(field->offset + field->size) > record->size)
		return false;
	*ret_number = model_number(field, record);
	return true;
}

/* The text of a dynamic field of a record; NULL: it has none. */
static const char *field_text(struct why *why, const struct model_record *record, const char *name)
{
	struct tep_format_field *field = record->data ? tep_find_field(record->type->event, name) : NULL;
	uint32_t length;
	const char *text = field ? model_text(field, record, &length) : NULL;

	return text ? why_text(why, "%.*s", (int)length, text) : NULL;
}

/* The field of the begin by which users identify a span without a key: "id", or the first number; NULL: none. */
static const struct tep_format_field *id_field(const struct model_span *span)
{
	struct tep_format_field *field = NULL;
	int64_t number;

	if (!span->first.data)
		return NULL;
	if (field_number(&span->first, "id", &number))
		return tep_find_field(span->first.type->event, "id");
	for (field = span->first.type->event->format.fields; field; field = field->next) {
		if (!(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING)) &&
		    field_number(&span->first, field->name, &number))
			break;
	}
	return field;
}

/* Set the number by which users identify a span: its key, that field, or the model's id. */
static void set_id(const struct model_span *span, struct why_span *to)
{
	const struct tep_format_field *field = span->nr_keys ? span->rule->keys[0] : id_field(span);

	if (span->nr_keys)
		to->id = span->keys[0];
	else
		to->id = field ? (uint64_t)model_number(field, &span->first) : span->id;
	to->is_signed = field && (field->flags & TEP_FIELD_IS_SIGNED);
}

static int add_request(struct why *why, const struct model_span *span)
{
	struct why_request request = {
		.begin = span->begin,
		.end = span->end,
		.cpu = span->end_cpu,
		.device = span->keys[0],
		.sector = span->keys[1],
	};
	int64_t sectors = 0;

	why->has_requests = true;
	if (span->flags)
		return 0;
	field_number(&span->first, "nr_sector", &sectors);
	request.sectors = (uint64_t)sectors;
	blob_put(&why->requests, &request, sizeof(request));
	return why->requests.error;
}

static int add_inner(struct why *why, struct blob *list, const struct model_span *span)
{
	struct why_inner inner = {
		.begin = span->begin, .end = span->end, .model_id = span->id, .rule = span->rule, .tid = span->tid
	};
	const struct model_record *record = span->first.data ? &span->first : &span->last;
	int64_t number = -1;

	if (span->rule->is_kernel && !field_number(record, "id", &number) && !field_number(record, "irq", &number))
		field_number(record, "vec", &number);
	inner.number = (int32_t)number;
	/* Make the interrupt end later, so that the trace's last event is inside it. */
	if (span->rule->is_of_cpu && (span->flags & (MODEL_NO_END | MODEL_CUT)) == MODEL_NO_END)
		inner.end++;
	if (span->rule->is_of_cpu)
		inner.name = field_text(why, &span->first, "name");
	else
		inner.name = span->name;
	blob_put(list, &inner, sizeof(inner));
	return list->error;
}

static int add_span(void *arg, const struct model_span *span)
{
	struct why *why = arg;
	struct why_thread *thread;
	struct why_cpu *cpu;

	if (span->rule->is_kernel && span->rule->is_keyed)
		return add_request(why, span);
	if (span->rule->is_of_cpu) {
		why->has_interrupts = true;
		cpu = add_cpu(why, span->cpu);
		if (cpu && (span->flags & MODEL_CUT) && (span->flags & MODEL_NO_END))
			cpu->has_cut = true;
		return cpu ? add_inner(why, &cpu->inner, span) : -ENOMEM;
	}
	if (span->rule->is_kernel)
		why->has_calls = true;
	if (span->rule->is_kernel && event_is_ambiguous(why->table, span->tid))
		return 0;
	thread = add_thread(why, span->tid);
	if (!thread || (!span->rule->is_keyed && add_inner(why, &thread->inner, span)))
		return -ENOMEM;
	if (!span->rule->is_kernel) {
		struct why_span s = {
			.rule = span->rule,
			.model_id = span->id,
			.begin = span->begin,
			.end = span->end,
			.tid = span->tid,
			.end_tid = span->end_tid,
			.task = span->task,
			.flags = span->flags,
		};

		set_id(span, &s);
		blob_put(&why->spans, &s, sizeof(s));
	}
	return why->spans.error;
}

static int add_task(void *arg, const struct model_task *task)
{
	struct why *why = arg;
	struct why_thread *thread = add_thread(why, task->tid);
	const struct why_task t = { task->begin, task->end, task->task };

	if (!thread)
		return -ENOMEM;
	blob_put(&thread->tasks, &t, sizeof(t));
	return thread->tasks.error;
}

static int add_loss(void *arg, const struct model_loss *loss)
{
	struct why *why = arg;
	const struct why_loss l = { loss->since, loss->ts, loss->cpu };
	struct why_cpu *cpu;

	if (loss->is_program)
		return 0;
	cpu = add_cpu(why, loss->cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->is_doubtful = cpu->is_doubtful || cpu->has_cut;
	blob_put(&cpu->losses, &l, sizeof(l));
	blob_put(&why->losses, &l, sizeof(l));
	return cpu->losses.error ? -ENOMEM : why->losses.error;
}

static int by_begin(const void *a, const void *b)
{
	const struct why_inner *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	/* The outer span comes first. */
	return x->end != y->end ? (x->end > y->end ? -1 : 1) : x->model_id < y->model_id ? -1 : 1;
}

static void sort_inner(struct blob *inner)
{
	struct why_inner *list = (struct why_inner *)(void *)inner->data;
	const size_t nr = inner->size / sizeof(*list);

	if (nr)
		qsort(list, nr, sizeof(*list), by_begin);
	for (size_t i = 1; i < nr; i++) {
		size_t outer = i - 1;

		while (list[outer].end <= list[i].end && list[outer].outer)
			outer -= list[outer].outer;
		list[i].outer = list[outer].end > list[i].end ? i - outer : 0;
	}
}

static int by_run_begin(const void *a, const void *b)
{
	const struct why_run *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_end(const void *a, const void *b)
{
	const struct why_request *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

static void sort_all(struct why *why)
{
	for (size_t i = 0; i < why->nr_threads; i++)
		sort_inner(&why->threads[i].inner);
	for (uint32_t i = 0; i < why->nr_cpus; i++) {
		sort_inner(&why->cpus[i].inner);
		if (why->cpus[i].runs.size)
			qsort(why->cpus[i].runs.data, why->cpus[i].runs.size / sizeof(struct why_run),
			      sizeof(struct why_run), by_run_begin);
	}
	if (why->requests.size)
		qsort(why->requests.data, why->requests.size / sizeof(struct why_request), sizeof(struct why_request),
		      by_end);
}

int why_begin(const struct event_table *table, struct why **ret_why)
{
	struct why *why = calloc(1, sizeof(*why));
	const struct model_sink sink = {
		.arg = why, .span = add_span, .thread_state = add_state, .task = add_task, .loss = add_loss,
		.given_up = &why->gaps.given_up
	};
	int err;

	if (!why)
		return -ENOMEM;
	why->table = table;
	why->counts_ns = true;
	err = model_rules_open(table, &why->rules);
	if (!err)
		err = model_open(why->rules, &sink, &why->model);
	if (err) {
		why_close(why);
		return err;
	}
	*ret_why = why;
	return 0;
}

/*
 * Extend a loss that is within an interrupt: the threads of the CPU are unknown until the CPU is seen outside of
 * interrupts.
 */
static void extend_loss(struct why_cpu *cpu, uint64_t ts)
{
	struct why_loss *last = (struct why_loss *)(void *)(cpu->losses.data + cpu->losses.size) - 1;

	cpu->is_doubtful = false;
	last->end = ts;
}

int why_event(struct why *why, const struct dat_event *event)
{
	const int err = model_event(why->model, event);
	struct why_cpu *cpu = event->cpu < why->nr_cpus ? &why->cpus[event->cpu] : NULL;

	why->last_ts = event->ts;
	dat_gaps_note(&why->gaps, event);
	if (!err && cpu && cpu->is_doubtful &&
	    !(event_flags(why->table, event->data, event->size) & EVENT_IN_INTERRUPT))
		extend_loss(cpu, event->ts);
	if (cpu)
		cpu->has_cut = false;
	return err;
}

int why_end(struct why *why)
{
	int err;

	for (uint32_t i = 0; i < why->nr_cpus; i++) {
		if (why->cpus[i].is_doubtful)
			extend_loss(&why->cpus[i], why->last_ts + 1);
	}
	err = model_end(why->model);
	why->has_switches = model_has_switches(why->model);
	why->model = model_close(why->model);
	if (err || why->error)
		return err ? err : why->error;
	sort_all(why);
	if (why_sort_workers(why))
		return -ENOMEM;
	return why_cut_losses(why);
}

int why_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
	     struct why **ret_why)
{
	struct dat_merge *merge = NULL;
	struct why *why = NULL;
	struct dat_event event;
	int err = why_begin(table, &why);

	if (!err)
		why->counts_ns = dat_time_counts_ns(file, time);
	if (!err)
		err = dat_merge_open(file, time, NULL, NULL, &merge);
	while (!err && dat_merge_next(merge, &event))
		err = why_event(why, &event);
	if (!err)
		dat_gaps_end(&why->gaps, merge);
	if (!err)
		err = why_end(why);
	dat_merge_close(merge);
	if (err) {
		why_close(why);
		return err;
	}
	*ret_why = why;
	return 0;
}

struct why *why_close(struct why *why)
{
	if (!why)
		return NULL;
	for (size_t i = 0; i < why->nr_threads; i++) {
		blob_free(&why->threads[i].states);
		blob_free(&why->threads[i].inner);
		blob_free(&why->threads[i].tasks);
	}
	for (uint32_t i = 0; i < why->nr_cpus; i++) {
		blob_free(&why->cpus[i].runs);
		blob_free(&why->cpus[i].inner);
		blob_free(&why->cpus[i].losses);
	}
	blob_free(&why->spans);
	blob_free(&why->requests);
	blob_free(&why->losses);
	blob_free(&why->workers);
	blob_free(&why->wakes);
	free(why->numbers);
	blob_free(&why->pieces);
	number_map_free(&why->by_tid);
	number_map_free(&why->names);
	text_pool_close(&why->pool);
	model_close(why->model);
	model_rules_close(why->rules);
	free(why->threads);
	free(why->cpus);
	free(why);
	return NULL;
}

const struct why_span *why_spans(const struct why *why, size_t *ret_nr)
{
	return why_items(struct why_span, &why->spans, *ret_nr);
}

bool why_counts_ns(const struct why *why)
{
	return why->counts_ns;
}

const struct dat_gaps *why_gaps(const struct why *why)
{
	return &why->gaps;
}
