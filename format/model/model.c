/* SPDX-License-Identifier: MIT */
/* See model.h. Each event passes through here; the parts of the model keep what is open. */
#include "format/model/model_private.h"

#include "format/io/bytes.h"
#include "format/text/event_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int model_open(const struct model_rules *rules, const struct model_sink *sink, struct model **ret_model)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->rules = rules;
	m->sink = *sink;
	m->has_timed = model_rules_have_timed(rules);
	m->next_id = 1;
	if (model_items_open(m)) {
		free(m);
		return -ENOMEM;
	}
	if (model_sched_open(m) || model_absent_open(m)) {
		model_close(m);
		return -ENOMEM;
	}
	*ret_model = m;
	return 0;
}

struct model *model_close(struct model *model)
{
	if (!model)
		return NULL;
	model_spans_free(model);
	model_items_free(model);
	model_threads_free(model);
	for (uint32_t i = 0; i < model->nr_cpus; i++)
		number_map_free(&model->cpus[i].rings);
	number_map_free(&model->places);
	free(model->cpus);
	free(model->changes);
	free(model);
	return NULL;
}

void model_count_given_up(const struct model *model)
{
	if (model->sink.given_up)
		++*model->sink.given_up;
}

/*
 * The place of an event's CPU in the list: its number. If the file is of several machines, so are the CPUs of a number;
 * then each buffer, which is of one machine, has CPUs of its own. UINT32_MAX: out of memory.
 */
static uint32_t cpu_place(struct model *model, const struct dat_event *event)
{
	uint64_t key, place;

	if (!model->absent->several_machines)
		return event->cpu;
	if (!model->first_buffer)
		model->first_buffer = event->buffer;
	/* The buffers of a file are one array. */
	key = (uint64_t)(uint32_t)(event->buffer - model->first_buffer) << 32 | event->cpu;
	place = number_map_get(&model->places, key);
	if (!place) {
		place = model->places.used + 1;
		if (number_map_set(&model->places, key, place))
			return UINT32_MAX;
	}
	return (uint32_t)place - 1;
}

static struct model_cpu *cpu_of(struct model *model, const struct dat_event *event)
{
	const uint32_t cpu = cpu_place(model, event);

	if (cpu == UINT32_MAX)
		return NULL;
	if (cpu >= model->nr_cpus) {
		const uint32_t nr = cpu + 1;
		struct model_cpu *more = reallocarray(model->cpus, nr, sizeof(*more));

		if (!more)
			return NULL;
		for (uint32_t i = model->nr_cpus; i < nr; i++)
			more[i] = (struct model_cpu){ 0 };
		model->cpus = more;
		model->nr_cpus = nr;
	}
	return &model->cpus[cpu];
}

/* The key of a buffer's ring in a CPU's map of rings. */
static uint64_t ring_key(const struct dat_buffer *buffer)
{
	return (uint64_t)(uintptr_t)buffer;
}

static bool is_big(const struct model_record *record)
{
	return record->type->event->tep && tep_is_file_bigendian(record->type->event->tep);
}

int64_t model_number(const struct tep_format_field *field, const struct model_record *record)
{
	const uint32_t offset = (uint32_t)field->offset, width = (uint32_t)field->size;

	if (offset > record->size || width > record->size - offset)
		return 0;
	return bytes_number(record->data + offset, width, field->flags & TEP_FIELD_IS_SIGNED, is_big(record));
}

const char *model_text(const struct tep_format_field *field, const struct model_record *record, uint32_t *ret_length)
{
	return event_field_text(field, record->data, record->size, is_big(record), ret_length);
}

const char *model_span_state_name(enum model_span_state state)
{
	static const char *const names[] = {
		[MODEL_SPAN_WHOLE] = "whole",
		[MODEL_SPAN_NO_BEGIN] = "no begin",
		[MODEL_SPAN_CUT] = "cut",
		[MODEL_SPAN_OPEN] = "open",
	};

	return names[state];
}

/* ----------------------------------------------------------------------------------------------------------- losses */

/* Whether the notes have a loss that ends with an event. */
static bool is_noted(const struct dat_losses *losses, const struct dat_event *event)
{
	return event->raw && dat_losses_between(losses, event->raw - 1, event->raw);
}

bool model_loss_is_programs(const struct event_table *table, const struct dat_event *event)
{
	if (event->lost < 0)
		return is_noted(&table->program_losses, event) && !is_noted(&table->kernel_losses, event);
	return event->lost && event_is_programs(event_id(table, event->data, event->size)) &&
	       event_pid(table, event->data, event->size) > 0;
}

bool model_loss_is_kernels(const struct event_table *table, const struct dat_event *event)
{
	if (event->lost < 0)
		return is_noted(&table->kernel_losses, event) && !is_noted(&table->program_losses, event);
	return event->lost && !model_loss_is_programs(table, event);
}

/*
 * Events of a ring of the kernel were lost after its last event. Events of other rings may be later: an interrupt ends
 * no earlier than those inside it.
 */
static int lose_ring(struct model *m, const struct model_step *step, uint64_t since)
{
	struct model_stack *stack = &step->cpu->stack;
	int err = model_sched_loss(m, step, since);

	while (!err && stack->top) {
		const uint64_t inside = later(stack->top->span.begin, stack->top->inner_until);

		err = model_stack_pop(m, stack, later(since, inside), MODEL_NO_END | MODEL_CUT);
	}
	return err;
}

/* It has the losses of a program's lanes after their last events. */
bool model_is_end_of_program(const struct model_step *step)
{
	const struct event_type *type = step->record.type;

	return type && !strcmp(type->event->system, "recorder") && !strcmp(type->event->name, "end");
}

/*
 * Lost events may concern three kinds of threads: that of the next event, those that were last seen on this CPU, and
 * those that are next seen on it. note_thread() handles the last two when their next event comes.
 */
static int note_loss(struct model *m, const struct model_step *step)
{
	const struct dat_event *event = step->event;
	const bool is_program = model_loss_is_programs(model_rules_table(m->rules), event);
	const uint64_t last = is_program ? step->cpu->last_ts
					 : number_map_get(&step->cpu->rings, ring_key(event->buffer));
	const uint64_t since = later(last, m->first_ts);
	const struct model_loss loss = {
		.ts = event->ts, .since = since, .cpu = event->cpu, .lost = event->lost, .is_program = is_program,
		.buffer = event->buffer,
	};
	const int err = is_program ? 0 : lose_ring(m, step, since);

	if (!model_loss_is_kernels(model_rules_table(m->rules), event))
		m->program_loss_ts = step->cpu->program_loss_ts = step->thread->program_loss_ts = event->ts;
	if (is_program && model_is_end_of_program(step))
		m->tail_loss_ts = event->ts;
	if (!is_program)
		m->kernel_loss_ts = step->cpu->kernel_loss_ts = step->thread->kernel_loss_ts = event->ts;
	return err || !m->sink.loss ? err : m->sink.loss(m->sink.arg, &loss);
}

static void note_thread(const struct model *m, const struct model_step *step)
{
	struct model_thread *thread = step->thread;
	const struct model_cpu none = { 0 }, *left = thread->cpu < m->nr_cpus ? &m->cpus[thread->cpu] : &none;
	const uint64_t program_loss = later(left->program_loss_ts, step->cpu->program_loss_ts);
	const uint64_t kernel_loss = later(left->kernel_loss_ts, step->cpu->kernel_loss_ts);

	if (program_loss > thread->last_ts)
		thread->program_loss_ts = later(program_loss, thread->program_loss_ts);
	if (kernel_loss > thread->last_ts)
		thread->kernel_loss_ts = later(kernel_loss, thread->kernel_loss_ts);
	thread->cpu = (uint32_t)(step->cpu - m->cpus);
	thread->last_ts = step->event->ts;
}

/* ----------------------------------------------------------------------------------------------------------- events */

static int give_point(struct model *m, const struct model_step *step)
{
	return m->sink.point ? m->sink.point(m->sink.arg, &step->record, step->event, step->thread->tid, step->span)
			     : 0;
}

static int take(struct model *m, struct model_step *step)
{
	switch (step->rule->meaning) {
	case MODEL_BEGIN:
		return model_span_begin(m, step);
	case MODEL_END:
		return model_span_end(m, step);
	case MODEL_TIMED:
		return model_span_timed(m, step);
	case MODEL_COUNTER:
		return model_counter_event(m, step);
	case MODEL_STATE:
		return model_state_event(m, step);
	case MODEL_TASK:
		return model_task_event(m, step);
	case MODEL_SWITCH:
		return model_switch_event(m, step);
	case MODEL_WAKE:
		return model_wake_event(m, step);
	default:
		return give_point(m, step);
	}
}

int model_event(struct model *model, const struct dat_event *event)
{
	const struct event_table *table = model_rules_table(model->rules);
	struct model_step step = { .event = event };
	int err = model->nr_list < MODEL_KNOWN_MAX ? 0 : model_threads_bound(model);
	int32_t tid;

	if (err)
		return err;
	step.rule = model_rule(model->rules, event_id(table, event->data, event->size));
	step.record = (struct model_record){ .type = step.rule->type, .data = event->data, .size = event->size };
	tid = event_pid(table, event->data, event->size);
	step.thread = step.rule->is_program ? model_program_thread(model, tid) : model_thread(model, tid);
	step.cpu = cpu_of(model, event);
	if (!step.thread || !step.cpu)
		return -ENOMEM;
	err = model_absent_pass(model, event);
	if (!model->has_begun)
		model->first_ts = event->ts;
	model->has_begun = true;
	model->last_ts = event->ts;
	if (event->raw > model->last_raw)
		model->last_raw = event->raw;
	if (!err && event->lost)
		err = note_loss(model, &step);
	note_thread(model, &step);
	if (!err)
		err = model_run_note(model, &step);
	step.span = model_thread_stack(&step)->top ? model_thread_stack(&step)->top->span.id : 0;
	if (!err)
		err = take(model, &step);
	if (!err && step.rule->flow)
		err = model_flow_event(model, &step);
	step.cpu->last_ts = event->ts;
	if (!err && !step.rule->is_program && event->ts)
		err = number_map_set(&step.cpu->rings, ring_key(event->buffer), event->ts);
	return err;
}

bool model_has_switches(const struct model *model)
{
	return model->has_switch;
}

int model_end(struct model *model)
{
	const uint64_t ts = model->last_ts;
	int err = 0;

	for (size_t i = 0; !err && i < model->nr_list; i++) {
		struct model_thread *thread = model->list[i];

		err = model_thread_stop(model, thread, ts);
		if (!err)
			err = model_task_stop(model, thread, ts);
		if (!err)
			err = model_sched_stop(model, thread, ts);
	}
	for (uint32_t i = 0; !err && i < model->nr_cpus; i++) {
		err = model_spans_stop(model, &model->cpus[i].stack, ts, 0);
		for (struct model_open *open = model->cpus[i].idle.top; open; open = open->outer) {
			if (model->cpus[i].kernel_loss_ts > open->span.begin)
				open->span.flags |= MODEL_CUT;
		}
		if (!err)
			err = model_spans_stop(model, &model->cpus[i].idle, ts, 0);
	}
	if (!err)
		err = model_keyed_stop(model, ts);
	return err ? err : model_states_stop(model, ts);
}
