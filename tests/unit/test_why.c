/* SPDX-License-Identifier: MIT */
/* `recorder why` on long spans with very much inside: work that grows with the square of that would never end. */
#include "format/why/why.h"
#include "why_machine_events.h"

#include <criterion/criterion.h>
#include <string.h>

#define MANY 200000u

static struct event_table *table;
static struct why *why;
static struct machine machine;
static uint64_t ts;

static void setup(void)
{
	table = machine_table();
	cr_assert_eq(why_begin(table, &why), 0);
	ts = 1000;
}

static void teardown(void)
{
	why_close(why);
	event_table_close(table);
}

TestSuite(why, .init = setup, .fini = teardown);

static struct machine_event *event(enum machine_id id, int pid)
{
	machine.nr_events = 0;
	return machine_event(&machine, KIND_REQUEST, id, 0, 0, pid, false);
}

static void feed(const struct machine_event *e)
{
	struct dat_buffer buffer = { .name = (char[]){ "" } };
	const struct dat_event event = { .ts = ts++, .size = e->size, .data = e->bytes, .buffer = &buffer };

	cr_assert_eq(why_event(why, &event), 0);
}

static void feed_number(enum machine_id id, int pid, uint64_t number)
{
	struct machine_event *e = event(id, pid);

	machine_put64(e, number);
	feed(e);
}

static void feed_switch(int from, int64_t state, int to)
{
	struct machine_event *e = event(ID_SWITCH, from);

	machine_put32(e, (uint32_t)from);
	machine_put32(e, 120);
	machine_put64(e, (uint64_t)state);
	machine_put32(e, (uint32_t)to);
	machine_put32(e, 120);
	feed(e);
}

static void feed_task(uint64_t task)
{
	struct machine_event *e = event(ID_TASK, 1);

	machine_put64(e, task);
	machine_put_text(e, "");
	feed(e);
}

/* The span with this number. */
static const struct why_span *span_of(uint64_t id)
{
	size_t nr;
	const struct why_span *spans = why_spans(why, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (spans[i].id == id)
			return &spans[i];
	}
	return NULL;
}

Test(why, many_inner_spans)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];

	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	for (unsigned int i = 0; i < MANY; i++) {
		feed_number(ID_STEP_BEGIN, 1, 100 + i);
		ts += 2;
		feed(event(ID_STEP_END, 1));
	}
	feed(event(ID_REQUEST_END, 1));
	feed_switch(1, 1, 0);
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, sums), 2 * MANY + 1);
	cr_assert_eq(sums[WHY_RUNNING], 4 * MANY + 1);
	cr_assert_str_eq(pieces[2 * MANY - 1].what, "io:step");
	cr_assert_str_eq(pieces[2 * MANY].what, "");
	/* One of them. */
	cr_assert_eq(why_explain(why, span_of(100 + MANY / 2), &pieces, sums), 1);
	cr_assert_eq(sums[WHY_RUNNING], 3);
}

/* Long ones, one in the other, all around those after them. */
Test(why, many_interrupts_and_tasks)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];
	struct machine_event *e;

	feed_switch(0, 0, 1);
	feed_task(1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	for (unsigned int i = 0; i < 500; i++)
		feed_number(ID_STEP_BEGIN, 1, 100 + i);
	for (unsigned int i = 0; i < MANY; i++) {
		e = event(ID_SOFTIRQ_ENTRY, 1);
		machine_put32(e, 7);
		feed(e);
		e = event(ID_SOFTIRQ_EXIT, 1);
		machine_put32(e, 7);
		feed(e);
		feed_task(2);
		feed_task(1);
	}
	for (unsigned int i = 0; i < 500; i++)
		feed(event(ID_STEP_END, 1));
	feed(event(ID_REQUEST_END, 1));
	feed_switch(1, 1, 0);
	cr_assert_eq(why_end(why), 0);
	cr_assert(why_explain(why, span_of(7), &pieces, sums) > 3 * (long)MANY);
	cr_assert_eq(sums[WHY_INTERRUPTED], MANY);
	cr_assert_eq(sums[WHY_BLOCKED], MANY);
	cr_assert_eq(sums[WHY_RUNNING], 2 * MANY + 1001);
	cr_assert_str_eq(pieces[0].what, "");
	cr_assert_str_eq(pieces[1].what, "io:step");
}
