/* SPDX-License-Identifier: MIT */
/*
 * Pairs begins with ends. Spans without keys nest on their thread, or on their CPU if they are interrupts: an end
 * closes the innermost span of its name, and what was still open inside it is cut at that moment. Spans with keys are
 * found by them, whatever thread ends them; of several with the same keys, the one that was begun last in the process
 * that ends it.
 *
 * A begin and an end between which events of their thread were lost are shown as one span, marked as cut: between them
 * there may have been an end and another begin.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- open spans */

static struct model_open *open_take(struct model *m)
{
	struct model_open *open = m->unused;

	if (!open)
		return calloc(1, sizeof(*open));
	m->unused = open->outer;
	return open;
}

static void open_give(struct model *m, struct model_open *open)
{
	/* Records are small. Many large ones must not be kept with the unused spans. */
	if (open->room > 256) {
		free(open->bytes);
		open->bytes = NULL;
		open->room = 0;
	}
	open->outer = m->unused;
	m->unused = open;
}

/* Copy the record, which must outlive the event. */
static int keep_record(struct model_open *open, const struct model_record *record)
{
	if (!open->bytes || open->room < record->size) {
		unsigned char *more = realloc(open->bytes, record->size ? record->size : 1);

		if (!more)
			return -ENOMEM;
		open->bytes = more;
		open->room = record->size;
	}
	memcpy(open->bytes, record->data, record->size);
	open->span.first = (struct model_record){ .type = record->type, .data = open->bytes, .size = record->size };
	return 0;
}

static void set_keys(struct model_span *span, const struct model_step *step)
{
	span->nr_keys = step->rule->nr_keys;
	for (unsigned int i = 0; i < span->nr_keys; i++)
		span->keys[i] = (uint64_t)model_number(step->rule->keys[i], &step->record);
}

static struct model_stack *stack_of(const struct model_step *step)
{
	return step->rule->is_of_cpu ? &step->cpu->stack : &step->thread->stack;
}

/* Fill in what is known of a span at its begin. 0; -ENOMEM. */
static int describe(struct model *m, const struct model_step *step, struct model_span *span)
{
	const struct model_stack *stack = stack_of(step);
	const char *name = model_name(m->rules, step->rule, &step->record);

	if (!name)
		return -ENOMEM;
	*span = (struct model_span){
		.name = name,
		.id = m->next_id++,
		.parent = stack->top ? stack->top->span.id : 0,
		.rule = step->rule,
		.depth = step->rule->is_keyed ? 0 : stack->depth,
		.begin = step->event->ts,
		.tid = step->thread->tid,
		.end_tid = step->thread->tid,
		.cpu = step->event->cpu,
		.end_cpu = step->event->cpu,
		.task = step->thread->task,
	};
	set_keys(span, step);
	return 0;
}

static int give(struct model *m, const struct model_span *span)
{
	return m->sink.span ? m->sink.span(m->sink.arg, span) : 0;
}

/* The innermost span of a stack ends; its time is no longer its parent's own. */
static int pop(struct model *m, struct model_stack *stack, uint64_t ts, unsigned int flags)
{
	struct model_open *open = stack->top;
	struct model_span *span = &open->span;
	uint64_t duration;
	int err;

	stack->top = open->outer;
	*(stack->top ? &stack->top->child : &stack->bottom) = NULL;
	stack->depth--;
	span->end = ts;
	span->flags |= flags;
	duration = span->end - span->begin;
	span->own = duration > open->inner ? duration - open->inner : 0;
	if (stack->top)
		stack->top->inner += duration;
	err = give(m, span);
	open_give(m, open);
	return err;
}

/* The outermost span is given up: its end will not be recognised. */
static int give_up(struct model *m, struct model_stack *stack, uint64_t ts)
{
	struct model_open *open = stack->bottom;
	const uint64_t duration = ts - open->span.begin;
	int err;

	stack->bottom = open->child;
	stack->bottom->outer = NULL;
	stack->depth--;
	open->span.end = ts;
	open->span.own = duration > open->inner ? duration - open->inner : 0;
	open->span.flags |= MODEL_CUT;
	model_count_given_up(m);
	err = give(m, &open->span);
	open_give(m, open);
	return err;
}

static int push(struct model *m, struct model_stack *stack, struct model_open *open)
{
	open->outer = stack->top;
	open->child = NULL;
	*(stack->top ? &stack->top->child : &stack->bottom) = open;
	stack->top = open;
	stack->depth++;
	return stack->depth > MODEL_DEPTH_MAX ? give_up(m, stack, open->span.begin) : 0;
}

/* ----------------------------------------------------------------------------------------------------------- events */

/* The process of the event's thread. -1 for the kernel, which may end a span in another process than it began it. */
static int32_t process_of(const struct model *m, const struct model_step *step)
{
	return step->rule->is_kernel ? -1 : event_process(model_rules_table(m->rules), step->thread->tid);
}

/*
 * If both raw_syscalls and syscalls are recorded, a call begins with two events and ends with two, and the kernel may
 * write them in the same order at both ends. So the second one does not nest in the first one, nor the other way round.
 */
static bool is_second_of_call(const struct model_step *step)
{
	const struct model_open *top = step->thread->stack.top;

	return step->rule->is_call && top && top->span.rule->is_call &&
	       strcmp(top->span.rule->system, step->rule->system) != 0;
}

/* End the span of a call that is beside the stack. */
static int end_beside(struct model *m, struct model_thread *thread, uint64_t ts, unsigned int flags)
{
	struct model_open *open = thread->beside;
	int err;

	thread->beside = NULL;
	open->span.end = ts;
	open->span.own = ts - open->span.begin;
	open->span.flags |= flags;
	err = give(m, &open->span);
	open_give(m, open);
	return err;
}

/*
 * The end of the span beside the stack was not seen until `ts`. For some calls the kernel does not write this end: then
 * the span ended with the other span of the call.
 */
static int leave_beside(struct model *m, struct model_thread *thread, uint64_t ts, unsigned int flags)
{
	if (!thread->beside)
		return 0;
	if (thread->beside_until)
		return end_beside(m, thread, thread->beside_until, MODEL_CUT);
	return end_beside(m, thread, ts, flags);
}

static int begin_beside(struct model *m, struct model_thread *thread, struct model_open *open)
{
	const int err = leave_beside(m, thread, open->span.begin, MODEL_CUT);

	open->span.is_beside = true;
	thread->beside = open;
	thread->beside_until = 0;
	return err;
}

/* Begin a keyed span. 0; -ENOMEM; what the sink returned. */
static int begin_keyed(struct model *m, const struct model_step *step, struct model_open *open)
{
	int err = 0;

	open->process = process_of(m, step);
	if (model_keyed_add(&m->keyed, open)) {
		open_give(m, open);
		return -ENOMEM;
	}
	while (!err && m->keyed.used > 1 && (m->keyed.used > MODEL_KNOWN_MAX || m->keyed.bytes > MODEL_BYTES_MAX)) {
		struct model_open *oldest = model_keyed_oldest(&m->keyed);

		oldest->span.end = step->event->ts;
		oldest->span.own = oldest->span.end - oldest->span.begin;
		oldest->span.flags |= MODEL_CUT;
		model_count_given_up(m);
		err = give(m, &oldest->span);
		open_give(m, oldest);
	}
	return err;
}

int model_span_begin(struct model *model, struct model_step *step)
{
	struct model_open *open = open_take(model);
	int err;

	if (!open)
		return -ENOMEM;
	if (describe(model, step, &open->span) || keep_record(open, &step->record)) {
		open_give(model, open);
		return -ENOMEM;
	}
	open->inner = 0;
	open->raw = step->event->raw;
	step->span = open->span.id;
	if (step->rule->is_keyed) {
		err = begin_keyed(model, step, open);
	} else if (is_second_of_call(step)) {
		err = begin_beside(model, step->thread, open);
	} else {
		err = push(model, stack_of(step), open);
	}
	return err || !model->sink.span_begin ? err : model->sink.span_begin(model->sink.arg, &open->span);
}

/*
 * Whether events may have been lost between the begin of a keyed span and a later time. Any thread may have written
 * them, and a loss is reported only with an event after it, which may still come: only the file's notes state it.
 */
static bool is_lost_in(const struct model *m, const struct model_open *open, uint64_t raw)
{
	return m->loss_ts > open->span.begin ||
	       dat_losses_between(&model_rules_table(m->rules)->losses, open->raw, raw);
}

/*
 * The time after which a begin would have been seen: after it, nothing was lost of the thread or, for an interrupt, of
 * the CPU. A CPU was in no interrupt when it switched threads, and an interrupt began after the end of the one before.
 */
static uint64_t known_since(const struct model *m, const struct model_step *step)
{
	uint64_t since = step->rule->is_keyed ? m->loss_ts : step->thread->loss_ts;

	if (step->rule->is_of_cpu)
		since = later(step->cpu->loss_ts, later(step->cpu->switch_ts, step->cpu->alone_ts));
	return later(since, m->first_ts);
}

/*
 * An end whose begin was not seen. Either the open spans began inside this span, and a jump has left them; or the end
 * belongs to no span. Which of the two is unknown, so later ends may belong to other spans, too.
 */
static int end_alone(struct model *m, struct model_step *step)
{
	struct model_open *open = step->rule->is_keyed ? NULL : stack_of(step)->top;
	struct model_span span;

	for (; open; open = open->outer)
		open->span.flags |= MODEL_CUT;
	if (describe(m, step, &span))
		return -ENOMEM;
	span.begin = known_since(m, step);
	span.end = step->event->ts;
	span.own = span.end - span.begin;
	span.flags = MODEL_NO_BEGIN;
	span.last = step->record;
	step->span = span.id;
	if (step->rule->is_of_cpu)
		step->cpu->alone_ts = span.end;
	return give(m, &span);
}

static void set_end(struct model_span *span, const struct model_step *step)
{
	span->end_tid = step->thread->tid;
	span->end_cpu = step->event->cpu;
	span->last = step->record;
}

static int keyed_end(struct model *m, struct model_step *step)
{
	struct model_span like = { .rule = step->rule };
	struct model_open *open;
	int err;

	set_keys(&like, step);
	open = model_keyed_take(&m->keyed, &like, process_of(m, step));
	if (!open)
		return end_alone(m, step);
	set_end(&open->span, step);
	open->span.end = step->event->ts;
	open->span.own = open->span.end - open->span.begin;
	if (is_lost_in(m, open, step->event->raw))
		open->span.flags |= MODEL_CUT;
	step->span = open->span.id;
	err = give(m, &open->span);
	open_give(m, open);
	return err;
}

int model_span_end(struct model *model, struct model_step *step)
{
	struct model_stack *stack = stack_of(step);
	const uint64_t ts = step->event->ts;
	struct model_open *open = stack->top;
	uint64_t loss;
	int err = 0;

	if (step->rule->is_keyed)
		return keyed_end(model, step);
	/* The call of that span has ended, and events were lost afterwards: this is the end of a later call. */
	if (step->thread->beside && step->thread->beside_until && step->thread->loss_ts > step->thread->beside_until)
		err = leave_beside(model, step->thread, ts, MODEL_CUT);
	if (err)
		return err;
	if (step->thread->beside && step->thread->beside->span.rule->pair == step->rule->pair) {
		step->span = step->thread->beside->span.id;
		set_end(&step->thread->beside->span, step);
		return end_beside(model, step->thread, ts,
				  step->thread->loss_ts > step->thread->beside->span.begin ? MODEL_CUT : 0);
	}
	while (open && open->span.rule->pair != step->rule->pair)
		open = open->outer;
	if (!open)
		return end_alone(model, step);
	while (!err && stack->top != open)
		err = pop(model, stack, ts, MODEL_CUT);
	if (err)
		return err;
	loss = step->rule->is_of_cpu ? step->cpu->loss_ts : step->thread->loss_ts;
	step->span = open->span.id;
	set_end(&open->span, step);
	if (step->thread->beside && step->thread->beside->span.parent == open->span.id)
		step->thread->beside_until = ts;
	return pop(model, stack, ts, loss > open->span.begin ? MODEL_CUT : 0);
}

/* The event is written at the end of the span: the sink already has the spans inside it. */
int model_span_timed(struct model *model, struct model_step *step)
{
	const uint64_t duration = (uint64_t)model_number(step->rule->value, &step->record);
	struct model_stack *stack = &step->thread->stack;
	struct model_span span;

	if (describe(model, step, &span))
		return -ENOMEM;
	span.end = step->event->ts;
	span.begin = duration < span.end ? span.end - duration : 0;
	span.own = span.end - span.begin;
	span.first = span.last = step->record;
	step->span = span.id;
	if (stack->top && stack->top->span.begin <= span.begin)
		stack->top->inner += span.own;
	return give(model, &span);
}

/* ------------------------------------------------------------------------------------------------------------- ends */

int model_spans_stop(struct model *model, struct model_stack *stack, uint64_t ts, unsigned int flags)
{
	int err = 0;

	while (!err && stack->top)
		err = pop(model, stack, ts, MODEL_NO_END | flags);
	return err;
}

int model_thread_stop(struct model *model, struct model_thread *thread, uint64_t ts)
{
	const int err = leave_beside(model, thread, ts, MODEL_NO_END);

	return err ? err : model_spans_stop(model, &thread->stack, ts, 0);
}

int model_keyed_stop(struct model *model, uint64_t ts)
{
	int err = 0;

	for (struct model_open *open = model->keyed.oldest; !err && open; open = open->newer) {
		open->span.end = ts;
		open->span.own = ts - open->span.begin;
		/*
		 * The end may be one of the events that were lost until the end of the file. Later losses are those of
		 * the whole recording, of which this file is a part.
		 */
		open->span.flags |= MODEL_NO_END | (is_lost_in(model, open, model->last_raw + 1) ? MODEL_CUT : 0);
		err = give(model, &open->span);
	}
	return err;
}

static void free_chain(struct model_open *open)
{
	while (open) {
		struct model_open *outer = open->outer;

		free(open->bytes);
		free(open);
		open = outer;
	}
}

void model_spans_free(struct model *model)
{
	for (size_t i = 0; i < model->nr_list; i++) {
		struct model_open *beside = model->list[i]->beside;

		free_chain(model->list[i]->stack.top);
		if (beside)
			beside->outer = NULL;
		free_chain(beside);
	}
	for (uint32_t i = 0; i < model->nr_cpus; i++)
		free_chain(model->cpus[i].stack.top);
	for (size_t i = 0; i < model->keyed.nr_chains; i++)
		free_chain(model->keyed.chains[i]);
	free(model->keyed.chains);
	free_chain(model->unused);
}
