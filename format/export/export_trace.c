/* SPDX-License-Identifier: MIT */
/* See export_trace.h. */
#include "format/export/export_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Finds the difference between the time of day and the file's times: from its date, or else from its first reading. */
static void find_realtime(struct export_trace *trace)
{
	const struct clock_reading *first = trace->readings;

	trace->nr_readings = dat_time_readings(trace->file, trace->readings);
	trace->has_realtime = dat_time_date(trace->file, &trace->realtime);
	if (!trace->has_realtime && trace->nr_readings) {
		trace->has_realtime = true;
		trace->realtime = (int64_t)(first->realtime - first->mono);
	}
}

int export_trace_open(struct export_trace *ret_trace, const struct dat_file *file, const struct dat_time *time,
		      const struct event_table *table)
{
	const struct event_print_options options = { 0 };
	int err;

	*ret_trace = (struct export_trace){ .file = file, .time = time, .table = table };
	err = event_printer_open(&ret_trace->printer, file, time, table, &options);
	if (!err)
		err = export_fields_open(table, file->big, &ret_trace->fields);
	if (!err)
		err = model_rules_open(table, &ret_trace->rules);
	if (err)
		export_trace_close(ret_trace);
	else
		find_realtime(ret_trace);
	return err;
}

void export_trace_close(struct export_trace *trace)
{
	if (!trace->table)
		return;
	event_contexts_close(&trace->contexts);
	model_rules_close(trace->rules);
	export_fields_close(trace->fields);
	event_printer_close(&trace->printer);
	trace->table = NULL;
}

int export_contexts_open(struct export_trace *trace)
{
	return event_contexts_open(trace->file, trace->time, trace->table, &trace->contexts);
}

bool export_context(const struct export_trace *trace, int32_t tid, uint64_t ts, size_t *next,
		    struct export_context *ret_context)
{
	const struct event_context *found = event_contexts_next(&trace->contexts, tid, ts, next);

	if (!found)
		return false;
	snprintf(ret_context->name, sizeof(ret_context->name), "context.%s", found->key->text);
	ret_context->value = found->value->text;
	return true;
}

const char *export_task_name(const struct export_trace *trace, int32_t tid)
{
	return event_comm(trace->table, tid);
}

int32_t export_process(const struct export_trace *trace, int32_t tid)
{
	const int32_t pid = event_process(trace->table, tid);

	return pid > 0 ? pid : tid;
}

static void state_name(const struct export_trace *trace, const struct model_state *state, char *ret_name, size_t size)
{
	const struct export_event *event = export_event(trace->fields, state->rule->type->event->id);
	struct export_value value;

	for (uint32_t i = 0; event && i < event->nr_fields; i++) {
		if (event->fields[i].tep == state->rule->value &&
		    export_value(&event->fields[i], state->record.data, state->record.size, &value) && value.symbol) {
			snprintf(ret_name, size, "%s", value.symbol);
			return;
		}
	}
	model_number_text(state->rule->value, (uint64_t)state->value, ret_name, size);
}

struct export_slice export_state_slice(const struct export_trace *trace, const struct model_state *state, char *name,
				       size_t size)
{
	state_name(trace, state, name, size);
	return (struct export_slice){ .category = state->rule->system,
				      .name = name,
				      .begin = state->begin,
				      .end = state->end,
				      .is_open = state->is_open && trace->is_ending,
				      .tid = state->tid,
				      .rule = state->rule,
				      .record = &state->record,
				      /* The key is the row's, the value is the slice's name. */
				      .first = state->nr_keys + 1 };
}

struct export_slice export_task_slice(const struct export_trace *trace, const struct model_task *task)
{
	const char *thread = export_task_name(trace, task->tid);

	return (struct export_slice){ .category = "task",
				      .name = thread[0] ? thread : "thread",
				      .begin = task->begin,
				      .end = task->end,
				      .is_open = task->is_open && trace->is_ending,
				      .tid = task->tid };
}

bool export_span_is_open(const struct export_trace *trace, const struct model_span *span)
{
	return (span->flags & MODEL_NO_END) && trace->is_ending;
}

bool export_span_is_apart(const struct export_trace *trace, const struct model_span *span)
{
	return span->rule->is_of_cpu && trace->table->absent.several_machines;
}

const char *export_incomplete(const struct model_span *span)
{
	static const char *const texts[] = {
		[MODEL_SPAN_WHOLE] = NULL,
		[MODEL_SPAN_NO_BEGIN] = "its begin was not seen",
		[MODEL_SPAN_CUT] = "cut: its end, or events inside, were not seen",
		[MODEL_SPAN_OPEN] = "its end was not seen",
	};

	return texts[model_span_state(span)];
}

bool export_has_text(const struct export_event *event)
{
	return !strcmp(event->system, "ftrace") &&
	       (!strcmp(event->name, "bprint") || !strcmp(event->name, "bputs") || !strcmp(event->name, "print"));
}

const char *export_text(struct export_trace *trace, const struct dat_event *event)
{
	struct event_printer *printer = &trace->printer;
	struct print_text *text = &printer->text;
	struct dat_event alone = *event;

	alone.lost = 0;
	if (event_print(printer, &alone) || !print_text_grow(text, 1))
		return NULL;
	text->text[text->size] = '\0';
	return text->text + printer->parts.name;
}
