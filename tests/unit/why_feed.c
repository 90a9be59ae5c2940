/* SPDX-License-Identifier: MIT */
#include "why_feed.h"

#include <criterion/criterion.h>

struct event_table *table;
struct why *why;
struct machine machine;
uint64_t ts;
uint32_t cpu;
int64_t lost;

void why_feed_begin(void)
{
	table = machine_table();
	cr_assert_eq(why_begin(table, &why), 0);
	ts = 1000;
	cpu = 0;
	lost = 0;
}

void why_feed_end(void)
{
	why_close(why);
	event_table_close(table);
}

struct machine_event *event(enum machine_id id, int pid)
{
	machine.nr_events = 0;
	return machine_event(&machine, KIND_REQUEST, id, 0, 0, pid, false);
}

void feed(const struct machine_event *e)
{
	static char name[] = "";
	static struct dat_buffer buffer = { .name = name };
	const struct dat_event event = {
		.ts = ts, .raw = ts, .cpu = cpu, .lost = lost, .size = e->size, .data = e->bytes, .buffer = &buffer
	};

	ts++;
	lost = 0;
	cr_assert_eq(why_event(why, &event), 0);
}

void feed_number(enum machine_id id, int pid, uint64_t number)
{
	struct machine_event *e = event(id, pid);

	machine_put64(e, number);
	feed(e);
}

void feed_switch(int from, int64_t state, int to)
{
	struct machine_event *e = event(ID_SWITCH, from);

	machine_put32(e, (uint32_t)from);
	machine_put32(e, 120);
	machine_put64(e, (uint64_t)state);
	machine_put32(e, (uint32_t)to);
	machine_put32(e, 120);
	feed(e);
}

void feed_wake(int by, int woken)
{
	struct machine_event *e = event(ID_WAKING, by);

	machine_put32(e, (uint32_t)woken);
	machine_put32(e, 120);
	machine_put32(e, 0);
	feed(e);
}

void feed_wakeup(int woken)
{
	struct machine_event *e = event(ID_WAKEUP, 0);

	machine_put32(e, (uint32_t)woken);
	machine_put32(e, 120);
	machine_put32(e, cpu);
	feed(e);
}

void feed_soft_interrupt(int pid)
{
	struct machine_event *e = event(ID_SOFTIRQ_ENTRY, pid);

	machine_put32(e, 7);
	feed(e);
	e = event(ID_SOFTIRQ_EXIT, pid);
	machine_put32(e, 7);
	feed(e);
}

void feed_task_of(int pid, uint64_t task)
{
	struct machine_event *e = event(ID_TASK, pid);

	machine_put64(e, task);
	machine_put_text(e, "");
	feed(e);
}

void feed_task(uint64_t task)
{
	feed_task_of(1, task);
}

const struct why_span *span_of(uint64_t id)
{
	size_t nr;
	const struct why_span *spans = why_spans(why, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (spans[i].id == id)
			return &spans[i];
	}
	return NULL;
}
