/* SPDX-License-Identifier: MIT */
/*
 * Pairs begins with ends. Spans without keys nest on their thread, or on their CPU if they are interrupts: an end
 * closes the innermost span of its name, and what was still open inside it is cut at that moment. Spans with keys are
 * found by them, whatever thread ends them; of several with the same keys, the one that was begun last in the process
 * that ends it.
 *
 * A begin and an end between which events of their thread were lost are shown as one span, marked as cut: between them
 * there may have been an end and another begin. If a field of both shows that they belong to different spans, for
 * example to the calls read and write, they are not joined: the end has no begin.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- open spans */

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
	return step->rule->is_of_cpu ? &step->cpu->stack : model_thread_stack(step);
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

/* ----------------------------------------------------------------------------------------------------------- events */

/* The process of the event's thread. -1 for the kernel, which may end a span in another process than it began it. */
static int32_t process_of(const struct model *m, const struct model_step *step)
{
	return step->rule->is_kernel ? -1 : event_process(model_rules_table(m->rules), step->thread->tid);
}

/* Begin a keyed span. 0; -ENOMEM; what the sink returned. */
static int begin_keyed(struct model *m, const struct model_step *step, struct model_open *open)
{
	int err = 0;

	open->process = process_of(m, step);
	if (model_keyed_add(&m->keyed, open)) {
		model_open_give(m, open);
		return -ENOMEM;
	}
	while (!err && m->keyed.used > 1 && (m->keyed.used > MODEL_KNOWN_MAX || m->keyed.bytes > MODEL_BYTES_MAX)) {
		model_count_given_up(m);
		err = model_open_end(m, model_keyed_oldest(&m->keyed), step->event->ts, MODEL_CUT);
	}
	return err;
}

/* The last loss that may concern a span without a key, of those that were reported until now. */
static uint64_t loss_of(const struct model_step *step)
{
	if (step->rule->is_of_cpu || model_thread_stack(step) == &step->cpu->idle)
		return step->cpu->kernel_loss_ts;
	return step->rule->is_kernel ? step->thread->kernel_loss_ts : step->thread->program_loss_ts;
}

int model_span_begin(struct model *model, struct model_step *step)
{
	struct model_open *open = model_open_take(model);
	int err;

	if (!open)
		return -ENOMEM;
	if (step->rule->depth && (err = model_graph_cut(model, step, stack_of(step), loss_of(step)))) {
		model_open_give(model, open);
		return err;
	}
	if (describe(model, step, &open->span) || keep_record(open, &step->record)) {
		model_open_give(model, open);
		return -ENOMEM;
	}
	open->inner = open->inner_until = 0;
	open->has_second = open->is_over = false;
	open->raw = step->event->raw;
	step->span = open->span.id;
	if (step->rule->is_keyed) {
		err = begin_keyed(model, step, open);
	} else if (step->rule->is_single) {
		err = model_single_begin(model, step, open);
	} else {
		err = model_stack_push(model, stack_of(step), open);
	}
	return err || !model->sink.span_begin ? err : model->sink.span_begin(model->sink.arg, &open->span);
}

/* The last loss that may concern a span with a key. */
static uint64_t keyed_loss(const struct model *m, const struct model_rule *rule)
{
	return rule->is_kernel ? m->kernel_loss_ts : m->program_loss_ts;
}

/*
 * A loss is reported only with the next event of the same lane or CPU, which may still come. The file's notes state all
 * losses: whether events of the span's side were lost between its begin and a later time.
 */
static bool is_noted(const struct model *m, const struct model_open *open, uint64_t raw)
{
	const struct event_table *table = model_rules_table(m->rules);

	return dat_losses_between(open->span.rule->is_kernel ? &table->kernel_losses : &table->program_losses,
				  open->raw, raw);
}

/*
 * Whether events may have been lost between the begin of a keyed span and a later time. Any thread may have written
 * them.
 */
static bool is_lost_in(const struct model *m, const struct model_open *open, uint64_t raw)
{
	return keyed_loss(m, open->span.rule) > open->span.begin || is_noted(m, open, raw);
}

bool model_span_has_loss(const struct model *m, const struct model_step *step, const struct model_open *open)
{
	if (loss_of(step) > open->span.begin)
		return true;
	/* A CPU that has lost events of the thread may report this only after the thread has left it. */
	return step->rule->is_kernel && !step->rule->is_of_cpu && model_run_may_have_left(m, step->thread, open) &&
	       is_noted(m, open, step->event->raw);
}

/* The flags of a span without a key that ends with this step. */
static unsigned int end_flags(const struct model *m, const struct model_step *step, const struct model_open *open)
{
	return model_span_has_loss(m, step, open) ? MODEL_CUT : 0;
}

/*
 * The time after which a begin would have been seen: since then nothing was lost of the thread or, for an interrupt, of
 * the CPU. An interrupt also began after the last switch of its CPU, because a CPU does not switch threads within an
 * interrupt, and after the end of the last interrupt whose begin was not seen. A new thread begins with the end of the
 * system call that made it, and no event of it came before.
 */
static uint64_t known_since(const struct model *m, const struct model_step *step)
{
	uint64_t since = step->rule->is_keyed ? keyed_loss(m, step->rule) : loss_of(step);

	if (step->rule->is_of_cpu)
		since = later(since, later(step->cpu->switch_ts, step->cpu->alone_ts));
	else if (!step->rule->is_keyed)
		since = later(since, step->thread->born_ts);
	return later(since, m->first_ts);
}

/*
 * An end whose begin was not seen. Either the open spans began inside this span, and a jump has left them; or the end
 * belongs to no span. Which of the two is unknown, so later ends may belong to other spans, too; except for functions,
 * whose depth is known, and, if the end is the kernel's, for spans of programs, which never begin inside one of the
 * kernel. `since`: the begin was not before this time.
 */
static int end_alone(struct model *m, struct model_step *step, uint64_t since)
{
	struct model_open *open = step->rule->is_keyed || step->rule->depth ? NULL : stack_of(step)->top;
	struct model_span span;

	for (; open; open = open->outer) {
		if (!step->rule->is_kernel || !open->span.rule->is_program)
			open->span.flags |= MODEL_CUT;
	}
	if (describe(m, step, &span))
		return -ENOMEM;
	span.begin = later(since, known_since(m, step));
	span.end = step->event->ts;
	span.own = span.end - span.begin;
	span.flags = MODEL_NO_BEGIN;
	span.last = step->record;
	step->span = span.id;
	if (step->rule->is_of_cpu)
		step->cpu->alone_ts = span.end;
	return m->sink.span ? m->sink.span(m->sink.arg, &span) : 0;
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

	set_keys(&like, step);
	open = model_keyed_take(&m->keyed, &like, process_of(m, step));
	if (!open)
		return end_alone(m, step, 0);
	set_end(&open->span, step);
	step->span = open->span.id;
	return model_open_end(m, open, step->event->ts, is_lost_in(m, open, step->event->raw) ? MODEL_CUT : 0);
}

/*
 * The innermost open span that an end belongs to; NULL: none. A program begins no span inside a function of the kernel:
 * if events were lost and one seems to be there, the function ended before, and this end is that of a later one.
 */
static struct model_open *find(const struct model *m, const struct model_step *step)
{
	struct model_open *open = stack_of(step)->top;

	while (open && (open->is_over || !model_open_fits(open, step)))
		open = open->outer;
	if (open && step->rule->depth && model_has_program_inside(open) && model_span_has_loss(m, step, open))
		return NULL;
	return open;
}

int model_span_end(struct model *model, struct model_step *step)
{
	struct model_stack *stack = stack_of(step);
	const uint64_t ts = step->event->ts;
	struct model_open *open;
	uint64_t since = 0;
	int err = 0;

	if (step->rule->is_keyed)
		return keyed_end(model, step);
	if (step->rule->is_single)
		err = model_single_end(model, step, &open, &since);
	else
		open = find(model, step);
	if (!err && !open && step->rule->depth) {
		err = model_graph_cut(model, step, stack, loss_of(step));
		since = stack->top ? stack->top->span.begin : 0;
	}
	if (err)
		return err;
	if (!open)
		return end_alone(model, step, since);
	step->span = open->span.id;
	set_end(&open->span, step);
	if (open == step->thread->beside)
		return model_beside_end(model, step->thread, ts, end_flags(model, step, open));
	while (!err && stack->top != open)
		err = model_stack_pop(model, stack, ts, MODEL_CUT);
	if (err)
		return err;
	if (step->thread->beside && step->thread->beside->span.parent == open->span.id)
		step->thread->beside_until = ts;
	return model_stack_pop(model, stack, ts, end_flags(model, step, open));
}

/* The event is written at the end of the span: the sink already has the spans inside it. */
int model_span_timed(struct model *model, struct model_step *step)
{
	const uint64_t duration = (uint64_t)model_number(step->rule->value, &step->record);
	struct model_span span;

	if (describe(model, step, &span))
		return -ENOMEM;
	span.end = step->event->ts;
	span.begin = duration < span.end ? span.end - duration : 0;
	if (model_stack_timed(&step->thread->stack, &span))
		return -ENOMEM;
	span.first = span.last = step->record;
	step->span = span.id;
	return model->sink.span ? model->sink.span(model->sink.arg, &span) : 0;
}

/* ------------------------------------------------------------------------------------------------------------- ends */

/*
 * Whether the end of a span that is still open where its thread, or the file, ends may be lost: with what a lane has
 * lost, or on another CPU, unless the thread is known to have run on its own CPU since the begin.
 */
static bool may_have_ended(const struct model *m, const struct model_thread *thread, const struct model_open *open)
{
	const uint64_t begin = open->span.begin;

	if (!open->span.rule->is_kernel)
		return later(m->tail_loss_ts, thread->program_loss_ts) > begin;
	return m->cpus[thread->cpu].kernel_loss_ts > begin ||
	       (m->kernel_loss_ts > begin && model_run_may_have_left(m, thread, open));
}

int model_thread_stop(struct model *model, struct model_thread *thread, uint64_t ts)
{
	struct model_open *beside = thread->beside;
	int err;

	for (struct model_open *open = thread->stack.top; open; open = open->outer) {
		if (may_have_ended(model, thread, open))
			open->span.flags |= MODEL_CUT;
	}
	if (beside && may_have_ended(model, thread, beside))
		beside->span.flags |= MODEL_CUT;
	err = model_beside_leave(model, thread, ts, MODEL_NO_END);
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
		err = model->sink.span ? model->sink.span(model->sink.arg, &open->span) : 0;
	}
	return err;
}
