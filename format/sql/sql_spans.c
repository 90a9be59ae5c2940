/* SPDX-License-Identifier: MIT */
/* The tables of what programs have declared: spans, counters, states, flows, tasks, contexts. */
#include "format/io/blob.h"
#include "format/sql/sql_model.h"
#include "format/text/event_context.h"

/* A key of one number is a number. Keys of several numbers are distinguished by the first. */
static void row_key(struct sql_row *row, const uint64_t *keys, unsigned int nr)
{
	sql_row_int_if(row, nr > 0, nr ? (int64_t)keys[0] : 0);
}

/* Add a cell with the fields of begin and end: {"id": 17, "path": "/x"}. */
static void row_args(struct sql_row *row, const struct model_span *span)
{
	struct blob out = BLOB_INIT;

	if (!sql_row_wants(row)) {
		sql_row_null(row);
		return;
	}
	sql_json_span(row->trace, span, &out);
	if (out.error)
		row->error = out.error;
	else
		sql_row_words(row, (const char *)out.data, out.size);
	blob_free(&out);
}

/* Add a span of a program; the kernel's pairs have tables of their own. */
static int add_span(void *arg, const struct model_span *span)
{
	struct sql_row *row = arg;

	if (span->rule->is_kernel)
		return 0;
	sql_row_int(row, (int64_t)span->begin);
	sql_row_int(row, (int64_t)(span->end - span->begin));
	sql_row_text(row, span->rule->system);
	sql_row_text(row, span->rule->name);
	sql_row_int(row, (int64_t)span->id);
	sql_row_int_if(row, span->parent, (int64_t)span->parent);
	sql_row_int(row, span->depth);
	sql_row_int_if(row, !span->rule->is_keyed, (int64_t)span->own);
	sql_row_thread(row, span->tid);
	sql_row_int(row, span->cpu);
	sql_row_int(row, span->end_tid);
	sql_row_int(row, span->end_cpu);
	sql_row_int_if(row, span->task, (int64_t)span->task);
	row_key(row, span->keys, span->nr_keys);
	sql_row_text(row, model_span_state_name(model_span_state(span)));
	row_args(row, span);
	return sql_row_end(row);
}

int sql_collect_spans(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .span = add_span };

	return sql_model_run(trace, cells, &sink);
}

static int add_counter(void *arg, const struct model_counter *counter)
{
	struct sql_row *row = arg;

	sql_row_int(row, (int64_t)counter->ts);
	sql_row_text(row, counter->rule->system);
	sql_row_text(row, counter->rule->name);
	sql_row_int(row, counter->value);
	sql_row_thread(row, counter->tid);
	sql_row_int(row, counter->cpu);
	return sql_row_end(row);
}

int sql_collect_counters(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .counter = add_counter };

	return sql_model_run(trace, cells, &sink);
}

static int add_state(void *arg, const struct model_state *state)
{
	const struct model_rule *rule = state->rule;
	struct sql_row *row = arg;
	const struct tep_print_flag_sym *names = sql_row_wants(row) ? event_symbols(rule->type, rule->value) : NULL;

	sql_row_int(row, (int64_t)state->begin);
	sql_row_int(row, (int64_t)(state->end - state->begin));
	sql_row_text(row, rule->system);
	sql_row_text(row, rule->name);
	row_key(row, state->keys, state->nr_keys);
	sql_row_int(row, state->value);
	sql_row_text(row, event_symbol(names, rule->value, state->value));
	sql_row_thread(row, state->tid);
	sql_row_text(row, state->is_open ? "open" : "whole");
	return sql_row_end(row);
}

int sql_collect_states(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .state = add_state };

	return sql_model_run(trace, cells, &sink);
}

static int add_flow(void *arg, const struct model_flow *flow)
{
	struct sql_row *row = arg;

	sql_row_int(row, (int64_t)flow->ts);
	sql_row_int(row, (int64_t)flow->flow);
	sql_row_int(row, flow->tid);
	sql_row_int(row, flow->cpu);
	sql_row_int_if(row, flow->span, (int64_t)flow->span);
	sql_row_int_if(row, flow->from_ts, (int64_t)flow->from_ts);
	sql_row_int_if(row, flow->from_ts, flow->from_tid);
	sql_row_int_if(row, flow->from_span, (int64_t)flow->from_span);
	return sql_row_end(row);
}

int sql_collect_flows(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .flow = add_flow };

	return sql_model_run(trace, cells, &sink);
}

static int add_task(void *arg, const struct model_task *task)
{
	struct sql_row *row = arg;

	sql_row_int(row, (int64_t)task->begin);
	sql_row_int(row, (int64_t)(task->end - task->begin));
	sql_row_int(row, (int64_t)task->task);
	sql_row_text(row, task->name);
	sql_row_thread(row, task->tid);
	return sql_row_end(row);
}

int sql_collect_tasks(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .task = add_task };

	return sql_model_run(trace, cells, &sink);
}

static bool pass_ends(void *trace)
{
	return sql_pass_ends(trace);
}

int sql_collect_contexts(struct sql_trace *trace, struct sql_cells *cells)
{
	struct sql_row row = { .trace = trace, .cells = cells };
	struct event_contexts contexts;
	int err = event_contexts_open_until(trace->file, &trace->time, trace->table, pass_ends, trace, &contexts);

	for (size_t i = 0; !err && i < contexts.nr; i++) {
		const struct event_context *context = &contexts.list[i];

		if (!context->value->size)
			continue;
		sql_row_int(&row, (int64_t)context->begin);
		sql_row_int_if(&row, context->end != UINT64_MAX, (int64_t)(context->end - context->begin));
		sql_row_words(&row, context->key->text, context->key->size);
		sql_row_words(&row, context->value->text, context->value->size);
		sql_row_thread(&row, context->tid);
		err = sql_row_end(&row);
	}
	event_contexts_close(&contexts);
	return err;
}
