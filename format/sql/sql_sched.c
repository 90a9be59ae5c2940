/* SPDX-License-Identifier: MIT */
/* The tables that come from the kernel's events: states of threads, interrupts, system calls. */
#include "format/sql/sql_field.h"
#include "format/sql/sql_model.h"

static const char *const run_names[] = {
	[MODEL_RUNNING] = "running", [MODEL_RUNNABLE] = "runnable",	  [MODEL_SLEEPING] = "sleeping",
	[MODEL_BLOCKED] = "uninterruptible", [MODEL_STOPPED] = "stopped", [MODEL_DEAD] = "dead",
	[MODEL_UNKNOWN] = "unknown",
};

static int add_thread_state(void *arg, const struct model_thread_state *s)
{
	struct sql_row *row = arg;
	const bool is_asleep = (s->state == MODEL_SLEEPING || s->state == MODEL_BLOCKED) && s->waker >= 0;

	sql_row_int(row, (int64_t)s->begin);
	sql_row_int(row, (int64_t)(s->end - s->begin));
	sql_row_thread(row, s->tid);
	sql_row_int_if(row, s->cpu != UINT32_MAX && (s->state == MODEL_RUNNING || s->state == MODEL_RUNNABLE), s->cpu);
	sql_row_text(row, run_names[s->state]);
	sql_row_int(row, s->is_preempted);
	sql_row_int(row, s->prio);
	sql_row_int_if(row, is_asleep, s->waker);
	if (is_asleep)
		sql_row_comm(row, s->waker);
	else
		sql_row_null(row);
	sql_row_int_if(row, is_asleep, s->waker_cpu);
	sql_row_int_if(row, is_asleep && s->waker_span, (int64_t)s->waker_span);
	sql_row_int(row, s->is_open);
	return sql_row_end(row);
}

int sql_collect_sched(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .thread_state = add_thread_state };

	return sql_model_run(trace, cells, &sink);
}

/* A field of a record by its name. */
static bool number_named(const struct sql_trace *trace, const struct model_record *record, const char *name,
			 int64_t *ret_number)
{
	struct tep_format_field *field = record->data ? tep_find_field(record->type->event, name) : NULL;

	return field && sql_field_number(field, record->data, record->size, trace->file->big, ret_number);
}

static void row_text_named(struct sql_row *row, const struct model_record *record, const char *name)
{
	struct tep_format_field *field = record->data ? tep_find_field(record->type->event, name) : NULL;
	struct sql_value value = sql_null();

	if (field)
		value = sql_field_value(field, record->data, record->size, row->trace->file->big, row->trace->room);
	sql_row_words(row, value.kind == SQL_TEXT ? value.text : NULL, value.size);
}

/* The event of the pair that is in the trace; the other one may be lost. */
static const struct model_record *seen(const struct model_span *span)
{
	return span->first.data ? &span->first : &span->last;
}

static int add_irq(void *arg, const struct model_span *span)
{
	struct sql_row *row = arg;
	const struct model_record *record = seen(span);
	const bool is_soft = !strncmp(span->rule->name, "softirq", 7);
	int64_t number = 0;
	bool is_known;

	if (!span->rule->is_kernel || strcmp(span->rule->system, "irq") != 0)
		return 0;
	is_known = number_named(row->trace, record, is_soft ? "vec" : "irq", &number);
	sql_row_int(row, (int64_t)span->begin);
	sql_row_int(row, (int64_t)(span->end - span->begin));
	sql_row_int(row, span->cpu);
	sql_row_text(row, is_soft ? "softirq" : "irq");
	sql_row_int_if(row, is_known, number);
	row_text_named(row, &span->first, "name");
	sql_row_int(row, span->tid);
	sql_row_comm(row, span->tid);
	return sql_row_end(row);
}

int sql_collect_irqs(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .span = add_irq };

	return sql_model_run(trace, cells, &sink);
}

/* The name of a call, "read"; NULL: the events have only a number, and no call of this machine has it. */
static const char *call_name(const struct model_span *span)
{
	const bool is_raw = span->rule->naming == MODEL_NAME_CALL;

	return is_raw && span->name == span->rule->name ? NULL : span->name;
}

static int add_syscall(void *arg, const struct model_span *span)
{
	struct sql_row *row = arg;
	int64_t number = 0, result = 0;
	bool is_known, has_result;

	/* A call that has events of raw_syscalls and of syscalls has two spans. */
	if (!span->rule->is_kernel || !span->rule->is_call || span->is_beside)
		return 0;
	is_known = number_named(row->trace, seen(span), "id", &number) ||
		   number_named(row->trace, seen(span), "__syscall_nr", &number);
	has_result = number_named(row->trace, &span->last, "ret", &result);
	sql_row_int(row, (int64_t)span->begin);
	sql_row_int(row, (int64_t)(span->end - span->begin));
	sql_row_int(row, span->cpu);
	sql_row_thread(row, span->tid);
	sql_row_int_if(row, is_known, number);
	sql_row_text(row, call_name(span));
	sql_row_int_if(row, has_result, result);
	sql_row_text(row, model_span_state_name(model_span_state(span)));
	return sql_row_end(row);
}

int sql_collect_syscalls(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .span = add_syscall };

	return sql_model_run(trace, cells, &sink);
}
