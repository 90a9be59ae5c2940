/* SPDX-License-Identifier: MIT */
/*
 * The items of the model as rows: which row and line each gets, with which name. The items are made here;
 * tests/unit/test_model and test_model_kernel have those that events make.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "format/view/view_items.h"
#include "format/view/view_rows.h"
#include "table_fixture.h"

static const struct table_format formats[] = {
	{ "demo", FORMAT_PRINT(16400, "heap", FIELD("rec_counter_s64", "bytes", 8, 8, 1), "\"%lld\", REC->bytes") },
	{ "demo", FORMAT_PRINT(16401, "state",
			       FIELD("rec_key_u64", "id", 12, 8, 0) FIELD("rec_key_s32", "side", 20, 4, 1)
				       FIELD("rec_state_s32", "value", 8, 4, 1),
			"\"value=%s\", __print_symbolic(REC->value, { 0, \"CLOSED\" }, { 3, \"<OPEN>\" }, "
			"{ 4294967295, \"FAILED\" })") },
	{ "demo", FORMAT_PRINT(16402, "rpc_begin", FIELD("rec_key_u64", "id", 8, 8, 0), "\"%llu\", REC->id") },
	{ "demo", FORMAT(16403, "step_begin", "") },
	{ "demo", FORMAT(16404, "total", FIELD("rec_counter_u64", "bytes", 8, 8, 0)) },
	{ "raw_syscalls", FORMAT(300, "sys_enter", FIELD("long", "id", 8, 8, 1)) },
	{ "demo", FORMAT(301, "note", FIELD("int", "number", 8, 4, 1)) },
};

static struct event_table *table;
static struct model_rules *rules;
static struct view_trace trace;
static struct view_items *items;
static struct model_sink sink;

static void setup(void)
{
	table = table_of(formats, sizeof(formats) / sizeof(formats[0]), "recorder 1; processes: 7 8, 9");
	cr_assert_eq(model_rules_open(table, &rules), 0);
	items = calloc(1, sizeof(*items));
	cr_assert_not_null(items);
	items->trace = &trace;
	items->table = table;
	trace.begin = 0;
	trace.end = 1000;
	trace.events = 100;
	sink = view_items_sink(items);
}

static void teardown(void)
{
	view_items_free(items);
	free(items);
	view_trace_free(&trace);
	model_rules_close(rules);
	event_table_close(table);
}

TestSuite(view_items, .init = setup, .fini = teardown);

static const struct model_rule *rule(int id)
{
	return model_rule(rules, id);
}

static const struct view_row *row_named(const char *name)
{
	for (size_t i = 0; i < trace.nr_rows; i++)
		if (!strcmp(trace.strings[trace.rows[i].name], name))
			return &trace.rows[i];
	cr_assert_fail("there is no row '%s'", name);
	return NULL;
}

static const struct view_item *item_of(const struct view_row *row, size_t line, size_t i)
{
	cr_assert_lt(line, row->nr_lines);
	cr_assert_lt(i, row->lines[line].levels[0].nr);
	return &row->lines[line].levels[0].items[i];
}

Test(view_items, counters)
{
	const int64_t values[] = { 5, -3, 900 };
	const struct view_row *row;

	for (size_t i = 0; i < 3; i++) {
		const struct model_counter counter = {
			.rule = rule(16400), .ts = 100 * i, .tid = 7, .value = values[i]
		};

		items->event = (uint32_t)i;
		cr_assert_eq(sink.counter(items, &counter), 0);
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	row = row_named("demo:heap, process 7");
	cr_assert_eq(row->kind, VIEW_COUNTER);
	cr_assert_eq(row->lines[0].kind, VIEW_VALUES);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(item_of(row, 0, i)->low, values[i]);
		cr_assert_eq(item_of(row, 0, i)->end, i < 2 ? 100 * (i + 1) : 1000);
		cr_assert_eq(item_of(row, 0, i)->event, i);
	}
}

Test(view_items, a_large_unsigned_counter_is_not_negative)
{
	const struct model_counter counter = { .rule = rule(16404), .tid = 7, .value = INT64_MIN };

	cr_assert_eq(sink.counter(items, &counter), 0);
	cr_assert_eq(item_of(row_named("demo:total, process 7"), 0, 0)->low, INT64_MAX);
	cr_assert_eq(item_of(row_named("demo:total, process 7"), 0, 0)->high, INT64_MAX);
}

/* Threads 7 and 8 are of process 7, and 9 is a process. The file has no process for thread 10. */
Test(view_items, each_process_has_its_own_counter)
{
	const int32_t tids[] = { 7, 9, 8, 10 };
	const char *const names[] = { "demo:heap, process 7", "demo:heap, process 9", "demo:heap, process 10" };
	const int64_t first[] = { 0, 1, 3 };

	for (size_t i = 0; i < 4; i++) {
		const struct model_counter counter = {
			.rule = rule(16400), .ts = 100 * i, .tid = tids[i], .value = (int64_t)i
		};

		cr_assert_eq(sink.counter(items, &counter), 0);
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	for (size_t i = 0; i < 3; i++) {
		const struct view_row *row = row_named(names[i]);

		cr_assert_eq(row->lines[0].levels[0].nr, i ? 1 : 2);
		cr_assert_eq(item_of(row, 0, 0)->low, first[i]);
	}
	/* A value lasts until the next value of the same process. */
	cr_assert_eq(item_of(row_named(names[0]), 0, 0)->end, 200);
	cr_assert_eq(item_of(row_named(names[1]), 0, 0)->end, 1000);
}

Test(view_items, states_have_the_words_of_their_values)
{
	const char *const words[] = { "CLOSED", "<OPEN>", "FAILED", "12" };
	const int64_t values[] = { 0, 3, -1, 12 };
	const struct view_row *row;

	for (size_t i = 0; i < 4; i++) {
		const struct model_state state = { .rule = rule(16401),
						   .begin = 100 * i,
						   .end = 100 * i + 100,
						   .nr_keys = 2,
						   .keys = { UINT64_MAX, (uint64_t)INT64_C(-4) },
						   .value = values[i],
						   .is_open = i == 3 };

		cr_assert_eq(sink.state(items, &state), 0);
	}
	row = row_named("demo:state 18446744073709551615 -4");
	cr_assert_eq(row->kind, VIEW_STATE);
	for (size_t i = 0; i < 4; i++)
		cr_assert_str_eq(trace.strings[item_of(row, 0, i)->name], words[i]);
	cr_assert_eq(item_of(row, 0, 1)->flags, 0);
	cr_assert_eq(item_of(row, 0, 3)->flags, VIEW_NO_END);
}

Test(view_items, tasks_and_flows)
{
	const struct model_task one = { .task = 5, .tid = 7, .begin = 10, .end = 20 };
	const struct model_task other = {
		.task = 5, .name = "lunch", .tid = 8, .begin = 30, .end = 40, .is_open = true
	};
	const struct model_flow first = { .flow = 1, .ts = 100, .tid = 7 };
	const struct model_flow second = { .flow = 1, .ts = 250, .tid = 8, .from_ts = 100, .from_tid = 7 };
	const struct view_row *row;

	cr_assert_eq(sink.task(items, &one) | sink.task(items, &other) | sink.flow(items, &first) |
			     sink.flow(items, &second),
		     0);
	row = row_named("lunch, task 5");
	cr_assert_eq(row->kind, VIEW_TASK);
	cr_assert_str_eq(trace.strings[item_of(row, 0, 0)->name], "<...>-7");
	cr_assert_str_eq(trace.strings[item_of(row, 0, 1)->name], "<...>-8");
	cr_assert_eq(trace.nr_arrows, 1);
	cr_assert(trace.arrows[0].kind == VIEW_FLOW && trace.arrows[0].from == 100 && trace.arrows[0].to == 250);
	cr_assert_eq(trace.rows[trace.arrows[0].from_row].id, 7);
	cr_assert_eq(trace.rows[trace.arrows[0].to_row].id, 8);
}

Test(view_items, spans_by_key_share_a_row)
{
	const struct view_row *row;

	for (uint64_t i = 0; i < 3; i++) {
		struct model_span span = {
			.id = i + 1, .rule = rule(16402), .begin = 10 * i, .end = 100 + 10 * i, .tid = 7
		};

		items->event = (uint32_t)i;
		cr_assert_eq(sink.span_begin(items, &span), 0);
		span.last.data = (const unsigned char *)"";
		items->event = (uint32_t)(10 + i);
		cr_assert_eq(sink.span(items, &span), 0);
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	row = row_named("demo:rpc");
	cr_assert_eq(row->kind, VIEW_KEYED);
	cr_assert_eq(row->nr_lines, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(item_of(row, i, 0)->begin, 10 * i);
		cr_assert_eq(item_of(row, i, 0)->event, i);
		cr_assert_eq(item_of(row, i, 0)->last, 10 + i);
	}
}

/* The begin of a timed span has no event of its own; the columns have differences to the begin of the trace. */
Test(view_items, a_span_that_began_before_the_first_event)
{
	const struct model_span span = { .rule = rule(16403), .name = "x", .begin = 400, .end = 600, .tid = 7 };

	trace.begin = 500;
	cr_assert_eq(sink.span(items, &span), 0);
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	cr_assert_eq(trace.begin, 400);
}

Test(view_items, a_thread_that_runs_is_on_a_cpu_and_its_waker_is_known)
{
	const struct model_thread_state sleeping = {
		.tid = 7, .state = MODEL_SLEEPING, .cpu = UINT32_MAX, .begin = 10, .end = 20, .waker = 8
	};
	const struct model_thread_state running = {
		.tid = 7, .state = MODEL_RUNNING, .cpu = 3, .begin = 20, .end = 50, .waker = -1
	};
	const struct view_item *ran;

	cr_assert_eq(sink.thread_state(items, &sleeping) | sink.thread_state(items, &running), 0);
	ran = item_of(row_named("CPU 3"), 0, 0);
	cr_assert(ran->begin == 20 && ran->end == 50 && !strcmp(trace.strings[ran->name], "<...>-7"));
	cr_assert_eq(item_of(row_named("<...>-7"), 0, 1)->name, VIEW_RUNNING);
	cr_assert_eq(trace.nr_arrows, 1);
	cr_assert(trace.arrows[0].kind == VIEW_WAKE && trace.arrows[0].from == 20);
	cr_assert_eq(trace.rows[trace.arrows[0].from_row].id, 8);
}

/* The kernel's thread has the id of a program's thread in another pid namespace: only the CPU's row shows its run. */
Test(view_items, a_thread_of_another_pid_namespace)
{
	const struct model_thread_state ran = {
		.tid = 7, .state = MODEL_UNKNOWN, .absent = MODEL_OTHER_IDS, .cpu = 3, .begin = 10, .end = 20,
		.waker = -1,
	};

	cr_assert_eq(sink.thread_state(items, &ran), 0);
	cr_assert_eq(item_of(row_named("CPU 3"), 0, 0)->end, 20);
	cr_assert_str_eq(trace.strings[item_of(row_named("CPU 3"), 0, 0)->name], "kernel's thread 7");
	cr_assert_eq(row_named("<...>-7")->nr_lines, 0);
}

static void add_span_of(int id)
{
	const struct model_span span = { .rule = rule(id), .name = "x", .begin = 10, .end = 20, .tid = 7, .cpu = 3 };

	cr_assert_eq(sink.span(items, &span), 0);
}

static void add_point_of(uint16_t id)
{
	const struct model_record record = { .type = rule(id)->type };
	const struct dat_event event = { .ts = 15, .cpu = 3, .size = sizeof(id), .data = (const void *)&id };

	cr_assert_eq(sink.point(items, &record, &event, 7, 0), 0);
}

/* The row of a program's thread does not show what the kernel's thread of the same id does. */
Test(view_items, the_kernels_events_in_a_thread_of_another_pid_namespace)
{
	const struct model_thread_state woken = {
		.tid = 8, .state = MODEL_SLEEPING, .cpu = UINT32_MAX, .begin = 10, .end = 20, .waker = 7
	};

	cr_assert_eq(number_map_set(&table->other_pids, 7, 1), 0);
	cr_assert(rule(300)->is_kernel && rule(16403)->is_program);
	add_span_of(300);
	add_span_of(16403);
	add_point_of(301);
	add_point_of(16403);
	cr_assert_eq(sink.thread_state(items, &woken), 0);
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	cr_assert_eq(row_named("<...>-7")->nr_lines, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(row_named("<...>-7")->lines[i].levels[0].nr, 1);
		cr_expect_not(strncmp(trace.strings[item_of(row_named("<...>-7"), i, 0)->name], "demo:", 5));
	}
	/* The kernel's point is in the row of the CPU. */
	cr_expect_str_eq(trace.strings[item_of(row_named("CPU 3"), 0, 0)->name], "demo:note");
	cr_expect_eq(trace.nr_arrows, 0);
}

Test(view_items, threads_stand_under_their_process)
{
	const int32_t tids[] = { 7, 8, 9, 10 };
	const char *const headings[] = { "<...>, process 7", "<...>, process 7", "<...>, process 9", "Other threads" };

	for (size_t i = 0; i < 4; i++) {
		const uint32_t row = view_thread_row(&trace, table, tids[i]);

		cr_assert_str_eq(trace.strings[trace.rows[trace.rows[row].parent].name], headings[i]);
		if (i < 3)
			continue;
		view_thread_is_program(&trace, table, row);
		cr_assert_str_eq(trace.strings[trace.rows[trace.rows[row].parent].name], "Threads");
	}
}

/* The numbers of the model and of the page are the same. */
Test(view_items, names_of_states_agree)
{
	cr_assert(VIEW_RUNNING == (int)MODEL_RUNNING && VIEW_RUNNABLE == (int)MODEL_RUNNABLE &&
		  VIEW_SLEEPING == (int)MODEL_SLEEPING);
	cr_assert(VIEW_BLOCKED == (int)MODEL_BLOCKED && VIEW_STOPPED == (int)MODEL_STOPPED &&
		  VIEW_UNKNOWN == (int)MODEL_UNKNOWN);
	cr_assert(VIEW_NO_BEGIN == MODEL_NO_BEGIN && VIEW_NO_END == MODEL_NO_END && VIEW_CUT == MODEL_CUT);
}
