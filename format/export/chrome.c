/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, a JSON object, for chrome://tracing, speedscope and others. Each event is on a line of
 * its own, for tools that work on lines. Times are microseconds with three decimals.
 *
 * A span of a thread is a complete event (X); if it is open where the trace ends, a begin (B) without an end. Spans
 * that may overlap others of their thread without being inside them, states and tasks are asynchronous events (b and
 * e): Perfetto drops a complete event that does not nest. A flow is a start (s) and steps (t).
 */
#include "format/export/export.h"
#include "format/export/export_json.h"
#include "format/io/number_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pids of made-up processes; no real process has such a pid. The threads of the first two are the CPUs. */
#define INTERRUPTS 10000000
#define IDLE_TASKS 10000001
#define NAMESAKES  10000002
#define NAME_ROOM  320u

struct chrome {
	struct export_trace *trace;
	struct export_out *out;
	struct model *model;
	struct number_map seen; /* processes and threads whose names were written */
	bool is_begun;		/* an event was written */
};

/* The row of an item: a thread of a process. */
struct row {
	int32_t pid, tid;
};

/* -------------------------------------------------------------------------------------------------------- events */

/* Writes {"name":..,"cat":..,"ph":..,"ts":..,"pid":..,"tid":.. ; the event continues until end_event(). */
static void begin_event(struct chrome *c, const char *name, const char *category, char type, uint64_t ts,
			struct row row)
{
	export_out_text(c->out, c->is_begun ? ",\n{\"name\":" : "{\"name\":");
	c->is_begun = true;
	export_json_text(c->out, name);
	export_out_text(c->out, ",\"cat\":");
	export_json_text(c->out, category);
	export_out_printf(c->out, ",\"ph\":\"%c\",\"ts\":%" PRIu64 ".%03u,\"pid\":%d,\"tid\":%d", type, ts / 1000,
			  (unsigned int)(ts % 1000), row.pid, row.tid);
}

static int end_event(struct chrome *c)
{
	export_out_text(c->out, "}");
	return c->out->error;
}

static int put_name(struct chrome *c, const char *kind, uint64_t key, struct row row, const char *name)
{
	if (number_map_get(&c->seen, key))
		return 0;
	if (number_map_set(&c->seen, key, 1))
		return -ENOMEM;
	if (!name[0])
		return 0;
	begin_event(c, kind, "__metadata", 'M', 0, row);
	export_out_text(c->out, ",\"args\":{\"name\":");
	export_json_text(c->out, name);
	export_out_text(c->out, "}");
	return end_event(c);
}

#define KEY_THREAD  (UINT64_C(1) << 32)
#define KEY_PROCESS (UINT64_C(2) << 32)
#define KEY_CPU(of) ((uint64_t)(of) << 32)

static int introduce_cpu(struct chrome *c, int32_t of, uint32_t cpu, struct row *ret_row)
{
	char name[32];
	int err = put_name(c, "process_name", KEY_CPU(of) | UINT32_MAX, (struct row){ of, of },
			   of == INTERRUPTS ? "interrupts" : "idle tasks");

	*ret_row = (struct row){ of, (int32_t)cpu };
	snprintf(name, sizeof(name), "CPU %u", cpu);
	return err ? err : put_name(c, "thread_name", KEY_CPU(of) | cpu, *ret_row, name);
}

/*
 * Finds the row of a thread, and writes its names unless the file has them. Each CPU has an idle task, all with the
 * number 0.
 */
static int introduce(struct chrome *c, int32_t tid, uint32_t cpu, struct row *ret_row)
{
	const int32_t pid = export_process(c->trace, tid);
	int err;

	if (!tid)
		return introduce_cpu(c, IDLE_TASKS, cpu, ret_row);
	*ret_row = (struct row){ pid, tid };
	err = put_name(c, "process_name", KEY_PROCESS | (uint32_t)pid, (struct row){ pid, pid },
		       export_task_name(c->trace, pid));
	if (!err)
		err = put_name(c, "thread_name", KEY_THREAD | (uint32_t)tid, *ret_row, export_task_name(c->trace, tid));
	return err;
}

/* The same for an event, or a span, of the kernel or of a program. */
static int introduce_of(struct chrome *c, bool is_program, int32_t tid, uint32_t cpu, struct row *ret_row)
{
	const struct row process = { NAMESAKES, NAMESAKES };
	char name[64];
	int err;

	if (!export_is_namesake(c->trace, is_program, tid))
		return introduce(c, tid, cpu, ret_row);
	*ret_row = (struct row){ NAMESAKES, tid };
	snprintf(name, sizeof(name), EXPORT_NAMESAKE, tid);
	err = put_name(c, "process_name", KEY_CPU(NAMESAKES) | UINT32_MAX, process, "kernel's threads");
	return err ? err : put_name(c, "thread_name", KEY_CPU(NAMESAKES) | (uint32_t)tid, *ret_row, name);
}

/*
 * Writes the fields from `first` on, after `nr` others. If `other` has a field of the same name, "end." is put before
 * the name.
 */
static void put_fields(struct chrome *c, const struct export_event *event, const struct export_event *other,
		       uint32_t first, const unsigned char *record, uint32_t size, unsigned int *nr)
{
	struct export_value value;
	char name[NAME_ROOM];

	for (uint32_t i = first; i < event->nr_fields; i++) {
		const struct export_field *field = &event->fields[i];

		if (!export_value(field, record, size, &value))
			continue;
		snprintf(name, sizeof(name), "%s%s", export_has_field(other, field->name) ? "end." : "", field->name);
		export_out_text(c->out, (*nr)++ ? "," : "");
		export_json_text(c->out, name);
		export_out_text(c->out, ":");
		export_json_value(c->out, field, &value);
	}
}

/* Writes the context values of the thread. */
static void put_contexts(struct chrome *c, int32_t tid, uint64_t ts, unsigned int *nr)
{
	struct export_context context;
	size_t next = 0;

	while (export_context(c->trace, tid, ts, &next, &context)) {
		export_out_text(c->out, (*nr)++ ? "," : "");
		export_json_text(c->out, context.name);
		export_out_text(c->out, ":");
		export_json_text(c->out, context.value);
	}
}

/* --------------------------------------------------------------------------------------------------------- spans */

/* The name of an argument that is not a field. If an event of the span has a field of this name, it gets a prefix. */
static void put_added_name(struct chrome *c, const char *name, const struct export_event *first,
			   const struct export_event *last, unsigned int *nr)
{
	const char *prefix = export_has_field(first, name) || export_has_field(last, name) ? "span." : "";

	export_out_printf(c->out, "%s\"%s%s\":", (*nr)++ ? "," : "", prefix, name);
}

static void put_span_arguments(struct chrome *c, const struct model_span *span)
{
	const bool is_pair = span->first.data && span->last.data && span->first.data != span->last.data;
	const struct model_record *record = span->first.data ? &span->first : &span->last;
	const struct export_event *type = export_event(c->trace->fields, record->type->event->id);
	const struct export_event *last = is_pair ? export_event(c->trace->fields, span->last.type->event->id) : NULL;
	const char *incomplete = export_incomplete(span);
	unsigned int nr = 0;

	export_out_text(c->out, ",\"args\":{");
	put_fields(c, type, NULL, 0, record->data, record->size, &nr);
	if (last)
		put_fields(c, last, type, span->nr_keys, span->last.data, span->last.size, &nr);
	if (!span->rule->is_of_cpu && !export_is_namesake(c->trace, span->rule->is_program, span->tid))
		put_contexts(c, span->tid, span->begin, &nr);
	if (span->task) {
		put_added_name(c, "task", type, last, &nr);
		export_out_printf(c->out, "\"%" PRIu64 "\"", span->task);
	}
	if (incomplete) {
		put_added_name(c, "incomplete", type, last, &nr);
		export_out_printf(c->out, "\"%s\"", incomplete);
	}
	export_out_text(c->out, "}");
}

static int put_async(struct chrome *c, const struct model_span *span, struct row row)
{
	int err;

	begin_event(c, span->name, span->rule->system, 'b', span->begin, row);
	export_out_printf(c->out, ",\"id\":\"span %" PRIu64 "\"", span->id);
	put_span_arguments(c, span);
	err = end_event(c);
	if (err || export_span_is_open(c->trace, span))
		return err;
	begin_event(c, span->name, span->rule->system, 'e', span->end, row);
	export_out_printf(c->out, ",\"id\":\"span %" PRIu64 "\"", span->id);
	return end_event(c);
}

/* Whether a span is inside those that are open around it, or around them, and never across the end of one. */
static bool is_nested(const struct chrome *c, const struct model_span *span)
{
	return !span->rule->is_keyed && !span->is_beside && !span->is_given_up && span->first.data &&
	       span->rule->meaning != MODEL_TIMED && !export_span_is_apart(c->trace, span);
}

static int on_span(void *arg, const struct model_span *span)
{
	struct chrome *c = arg;
	const bool is_open = export_span_is_open(c->trace, span);
	struct row row;
	int err = span->rule->is_of_cpu ? introduce_cpu(c, INTERRUPTS, span->cpu, &row)
					: introduce_of(c, span->rule->is_program, span->tid, span->cpu, &row);

	if (err)
		return err;
	if (!is_nested(c, span))
		return put_async(c, span, row);
	begin_event(c, span->name, span->rule->system, is_open ? 'B' : 'X', span->begin, row);
	if (!is_open)
		export_out_printf(c->out, ",\"dur\":%" PRIu64 ".%03u", (span->end - span->begin) / 1000,
				  (unsigned int)((span->end - span->begin) % 1000));
	put_span_arguments(c, span);
	return end_event(c);
}

/* --------------------------------------------------------------------------------------------------- other items */

/* Write an event as an instant of its thread. */
static int put_point(struct chrome *c, const struct export_event *type, const struct dat_event *event, int32_t tid)
{
	unsigned int nr = 0;
	const char *text;
	struct row row;
	int err = introduce_of(c, type->is_program, tid, event->cpu, &row);

	if (err)
		return err;
	begin_event(c, type->name, type->system, 'i', event->ts, row);
	export_out_text(c->out, ",\"s\":\"t\",\"args\":{");
	if (export_has_text(type)) {
		text = export_text(c->trace, event);
		export_out_text(c->out, "\"text\":");
		export_json_text(c->out, text ? text : "");
		nr++;
	} else {
		put_fields(c, type, NULL, 0, event->data, event->size, &nr);
	}
	if (!export_is_namesake(c->trace, type->is_program, tid))
		put_contexts(c, tid, event->ts, &nr);
	export_out_text(c->out, "}");
	return end_event(c);
}

static int on_counter(void *arg, const struct model_counter *counter)
{
	struct chrome *c = arg;
	const struct export_event *type = export_event(c->trace->fields, counter->rule->type->event->id);
	const struct model_record *record = &counter->record;
	const struct dat_event event = {
		.ts = counter->ts, .cpu = counter->cpu, .data = record->data, .size = record->size
	};
	struct row row;
	int err = introduce(c, counter->tid, counter->cpu, &row);
	char name[NAME_ROOM];

	if (err)
		return err;
	snprintf(name, sizeof(name), "%s:%s", counter->rule->system, counter->rule->name);
	begin_event(c, name, counter->rule->system, 'C', counter->ts, row);
	export_out_text(c->out, ",\"args\":{\"value\":");
	if (counter->rule->value->flags & TEP_FIELD_IS_SIGNED)
		export_out_printf(c->out, "%" PRId64, counter->value);
	else
		export_out_printf(c->out, "%" PRIu64, (uint64_t)counter->value);
	export_out_text(c->out, "}");
	err = end_event(c);
	/* Arguments of a counter are series of numbers, so its further fields are those of an instant. */
	return err || type->nr_fields == 1 ? err : put_point(c, type, &event, counter->tid);
}

/* Write a slice as asynchronous events; `id` names its row. */
static int put_row(struct chrome *c, const char *id, struct export_slice slice)
{
	unsigned int nr = 0;
	struct row row;
	int err = introduce(c, slice.tid, 0, &row);

	for (unsigned int i = 0; i < 2 && !err; i++) {
		if (i && slice.is_open)
			break;
		begin_event(c, slice.name, slice.category, i ? 'e' : 'b', i ? slice.end : slice.begin, row);
		export_out_text(c->out, ",\"id\":");
		export_json_text(c->out, id);
		if (!i && slice.rule) {
			export_out_text(c->out, ",\"args\":{");
			put_fields(c, export_event(c->trace->fields, slice.rule->type->event->id), NULL, slice.first,
				   slice.record->data, slice.record->size, &nr);
			export_out_text(c->out, "}");
		}
		err = end_event(c);
	}
	return err;
}

static int on_state(void *arg, const struct model_state *state)
{
	struct chrome *c = arg;
	char name[NAME_ROOM], id[NAME_ROOM];
	const struct export_slice slice = export_state_slice(c->trace, state, name, sizeof(name));

	model_state_title(state, id, sizeof(id));
	return put_row(c, id, slice);
}

static int on_task(void *arg, const struct model_task *task)
{
	struct chrome *c = arg;
	char id[NAME_ROOM];

	/* Several threads may work for a task at the same time. Slices of one id would end each other. */
	snprintf(id, sizeof(id), "task %" PRIu64 "%s%.200s, thread %d", task->task,
		 task->name && task->name[0] ? " " : "", task->name ? task->name : "", task->tid);
	return put_row(c, id, export_task_slice(c->trace, task));
}

/* Write a flow event, which is bound to the slice that is open at its time. */
static int on_flow(void *arg, const struct model_flow *flow)
{
	struct chrome *c = arg;
	struct row row;
	int err = introduce(c, flow->tid, flow->cpu, &row);

	if (err)
		return err;
	begin_event(c, "flow", "flow", flow->from_ts ? 't' : 's', flow->ts, row);
	export_out_printf(c->out, ",\"id\":\"%" PRIu64 "\"", flow->flow);
	return end_event(c);
}

static int on_point(void *arg, const struct model_record *record, const struct dat_event *event, int32_t tid,
		    uint64_t span)
{
	struct chrome *c = arg;
	const struct export_event *type = record->type ? export_event(c->trace->fields, record->type->event->id) : NULL;

	(void)span;
	return type ? put_point(c, type, event, tid) : 0;
}

static int on_loss(void *arg, const struct model_loss *loss)
{
	struct chrome *c = arg;
	char name[64] = "events lost";

	if (loss->lost > 0)
		snprintf(name, sizeof(name), "%" PRId64 " events lost", loss->lost);
	begin_event(c, name, "lost", 'i', loss->ts, (struct row){ 0 });
	export_out_printf(c->out, ",\"s\":\"g\",\"args\":{\"cpu\":%u", loss->cpu);
	if (loss->lost > 0)
		export_out_printf(c->out, ",\"lost\":%" PRId64, loss->lost);
	export_out_text(c->out, "}");
	return end_event(c);
}

/* -------------------------------------------------------------------------------------------------------- writer */

static void chrome_close(void *state)
{
	struct chrome *c = state;

	if (!c)
		return;
	model_close(c->model);
	number_map_free(&c->seen);
	free(c);
}

static int chrome_open(struct export_trace *trace, struct export_out *out, void **ret_state)
{
	struct chrome *c = calloc(1, sizeof(*c));
	const struct model_sink sink = {
		.arg = c,
		.span = on_span,
		.counter = on_counter,
		.state = on_state,
		.flow = on_flow,
		.task = on_task,
		.loss = on_loss,
		.point = on_point,
		.given_up = &trace->given_up,
	};

	if (!c || export_contexts_open(trace) || model_open(trace->rules, &sink, &c->model)) {
		chrome_close(c);
		return -ENOMEM;
	}
	c->trace = trace;
	c->out = out;
	export_out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	*ret_state = c;
	return 0;
}

static int chrome_event(void *state, const struct dat_event *event)
{
	struct chrome *c = state;

	return model_event(c->model, event);
}

static int chrome_end(void *state)
{
	struct chrome *c = state;
	int err;

	c->trace->is_ending = true;
	err = model_end(c->model);
	export_out_text(c->out, "\n]}\n");
	return err ? err : c->out->error;
}

const struct export_writer export_chrome = { EXPORT_FORM_TEXT, chrome_open, chrome_event, chrome_end, chrome_close };
