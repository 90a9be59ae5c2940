/* SPDX-License-Identifier: MIT */
#include "model_fixture.h"
#include "format/model/model.h"
#include "table_fixture.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct table_format formats[] = {
	{ "sched", FORMAT(300, "sched_switch",
			  FIELD("pid_t", "prev_pid", 8, 4, 1) FIELD("int", "prev_prio", 12, 4, 1)
				  FIELD("long", "prev_state", 16, 8, 1) FIELD("pid_t", "next_pid", 24, 4, 1)
					  FIELD("int", "next_prio", 28, 4, 1)) },
	{ "sched",
	  FORMAT(301, "sched_waking",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "irq",
	  FORMAT(302, "irq_handler_entry",
		 FIELD("int", "irq", 8, 4, 1) "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n") },
	{ "irq", FORMAT(303, "irq_handler_exit", FIELD("int", "irq", 8, 4, 1)) },
	{ "syscalls", FORMAT(304, "sys_enter_read", FIELD("int", "fd", 8, 4, 1)) },
	{ "syscalls", FORMAT(305, "sys_exit_read", FIELD("long", "ret", 8, 8, 1)) },
	{ "sched",
	  FORMAT(306, "sched_wakeup",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "raw_syscalls", FORMAT(307, "sys_enter", FIELD("long", "id", 8, 8, 1)) },
	{ "raw_syscalls", FORMAT(308, "sys_exit", FIELD("long", "id", 8, 8, 1) FIELD("long", "ret", 16, 8, 1)) },
	{ "block",
	  FORMAT(309, "block_rq_issue", FIELD("dev_t", "dev", 8, 4, 0) FIELD("sector_t", "sector", 12, 8, 0)) },
	{ "block",
	  FORMAT(310, "block_rq_complete", FIELD("dev_t", "dev", 8, 4, 0) FIELD("sector_t", "sector", 12, 8, 0)) },
	{ "ftrace", FORMAT(311, "funcgraph_entry", FIELD("unsigned long", "func", 8, 8, 0)) },
	{ "ftrace", FORMAT(312, "funcgraph_exit", FIELD("unsigned long", "func", 8, 8, 0)) },
	{ "workqueue", FORMAT(313, "workqueue_execute_start",
			      FIELD("void *", "work", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "workqueue", FORMAT(314, "workqueue_execute_end", FIELD("void *", "work", 8, 8, 0)) },
	{ "timer",
	  FORMAT(315, "timer_expire_entry", FIELD("void *", "timer", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "timer", FORMAT(316, "timer_expire_exit", FIELD("void *", "timer", 8, 8, 0)) },
	{ "timer", FORMAT(317, "hrtimer_expire_entry",
			  FIELD("void *", "hrtimer", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "timer", FORMAT(318, "hrtimer_expire_exit", FIELD("void *", "hrtimer", 8, 8, 0)) },
	{ "irq", FORMAT(319, "softirq_entry", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "irq", FORMAT(320, "softirq_exit", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "io", FORMAT(16400, "outer_begin", FIELD("u32", "a", 8, 4, 0)) },
	{ "io", FORMAT(16401, "outer_end", FIELD("s32", "b", 8, 4, 1)) },
	{ "io", FORMAT(16402, "inner_begin", "") },
	{ "io", FORMAT(16403, "inner_end", "") },
	{ "net", FORMAT(16404, "rpc_begin", FIELD("rec_key_u32", "id", 8, 4, 0)) },
	{ "net", FORMAT(16405, "rpc_end", FIELD("rec_key_u32", "id", 8, 4, 0)) },
	{ "mem", FORMAT(16406, "heap", FIELD("rec_counter_s32", "bytes", 8, 4, 1)) },
	{ "conn",
	  FORMAT(16407, "state", FIELD("rec_key_u32", "id", 8, 4, 0) FIELD("rec_state_s32", "value", 12, 4, 1)) },
	{ "recorder", FORMAT(16408, "task",
			     FIELD("rec_task", "id", 8, 8,
				   0) "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n") },
	{ "io", FORMAT(16409, "send", FIELD("rec_flow", "id", 8, 8, 0)) },
	{ "io", FORMAT(16410, "flush", FIELD("rec_duration", "dur", 8, 8, 0)) },
	{ "io", FORMAT(16411, "plain", FIELD("u32", "n", 8, 4, 0)) },
	{ "mem", FORMAT(16412, "heap_begin", FIELD("rec_counter_s32", "bytes", 8, 4, 1)) },
	{ "mem", FORMAT(16413, "heap_end", FIELD("rec_state_s32", "value", 8, 4, 1)) },
	{ "io", FORMAT(16414, "flush_end", FIELD("rec_duration", "dur", 8, 8, 0)) },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static const char symbols[] =
	"0000000000001000 T vfs_read\n0000000000002000 T ksys_read\n0000000000003000 t flush_work\n"
	"0000000000004000 t tcp_timer\n0000000000005000 t hrtimer_wakeup\n";
static const char notes[] = "recorder 1.0.0; processes: 71 72, 81 82";
static struct dat_buffer buffer = { .name = (char[]){ "" } };
static struct event_table *table;
static struct model_rules *rules;
static struct model *model;
char items_text[8192];
uint32_t items_waits[8];
unsigned int items_nr_waits;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	const size_t used = strlen(items_text);
	va_list args;

	va_start(args, format);
	vsnprintf(items_text + used, sizeof(items_text) - used, format, args);
	va_end(args);
}

static int say_span(void *arg, const struct model_span *s)
{
	(void)arg;
	say("%s:%s %d %llu-%llu own %llu depth %u%s%s%s", s->rule->system, s->name, s->tid,
	    (unsigned long long)s->begin, (unsigned long long)s->end, (unsigned long long)s->own, s->depth,
	    s->flags & MODEL_NO_BEGIN ? " no-begin" : "", s->flags & MODEL_NO_END ? " open" : "",
	    s->flags & MODEL_CUT ? " cut" : "");
	if (s->nr_keys)
		say(" key %llu", (unsigned long long)s->keys[0]);
	if (s->end_tid != s->tid)
		say(" to %d", s->end_tid);
	if (s->task)
		say(" task %llu", (unsigned long long)s->task);
	if (s->parent)
		say(" in %llu", (unsigned long long)s->parent);
	say("\n");
	return 0;
}

static int say_counter(void *arg, const struct model_counter *c)
{
	(void)arg;
	say("%s:%s %d at %llu: %lld\n", c->rule->system, c->rule->name, c->tid, (unsigned long long)c->ts,
	    (long long)c->value);
	return 0;
}

static int say_state(void *arg, const struct model_state *s)
{
	(void)arg;
	say("%s:%s %llu-%llu of %llu: %lld%s\n", s->rule->system, s->rule->name, (unsigned long long)s->begin,
	    (unsigned long long)s->end, (unsigned long long)s->keys[0], (long long)s->value, s->is_open ? " open" : "");
	return 0;
}

static int say_flow(void *arg, const struct model_flow *f)
{
	(void)arg;
	say("flow %llu at %llu in %llu from %llu by %d in %llu\n", (unsigned long long)f->flow,
	    (unsigned long long)f->ts, (unsigned long long)f->span, (unsigned long long)f->from_ts, f->from_tid,
	    (unsigned long long)f->from_span);
	return 0;
}

static int say_task(void *arg, const struct model_task *t)
{
	(void)arg;
	say("task %llu %s %d %llu-%llu%s\n", (unsigned long long)t->task, t->name ? t->name : "-", t->tid,
	    (unsigned long long)t->begin, (unsigned long long)t->end, t->is_open ? " open" : "");
	return 0;
}

static int say_thread_state(void *arg, const struct model_thread_state *s)
{
	static const char letters[] = { [MODEL_RUNNING] = 'R', [MODEL_RUNNABLE] = 'w', [MODEL_SLEEPING] = 'S',
					[MODEL_BLOCKED] = 'D', [MODEL_STOPPED] = 'T',  [MODEL_UNKNOWN] = '?' };

	(void)arg;
	if (s->state == MODEL_RUNNABLE && items_nr_waits < 8)
		items_waits[items_nr_waits++] = s->cpu;
	say("%d %c %llu-%llu", s->tid, letters[s->state], (unsigned long long)s->begin, (unsigned long long)s->end);
	if (s->is_preempted)
		say(" preempted");
	if (s->waker >= 0)
		say(" by %d in %llu", s->waker, (unsigned long long)s->waker_span);
	say("%s\n", s->is_open ? " open" : "");
	return 0;
}

static int say_loss(void *arg, const struct model_loss *l)
{
	(void)arg;
	say("lost %lld before %llu on %u\n", (long long)l->lost, (unsigned long long)l->ts, l->cpu);
	return 0;
}

static int say_point(void *arg, const struct model_record *record, const struct dat_event *event, int32_t tid,
		     uint64_t span)
{
	(void)arg;
	say("%s %d at %llu in %llu\n", record->type ? record->type->event->name : "?", tid,
	    (unsigned long long)event->ts, (unsigned long long)span);
	return 0;
}

void model_fixture_open(void)
{
	static const struct model_sink sink = {
		.span = say_span,
		.counter = say_counter,
		.state = say_state,
		.flow = say_flow,
		.task = say_task,
		.thread_state = say_thread_state,
		.loss = say_loss,
		.point = say_point,
	};

	table = table_of(formats, NR_FORMATS, notes);
	cr_assert_eq(event_table_add_symbols(table, symbols, sizeof(symbols) - 1), 0);
	cr_assert_eq(model_rules_open(table, &rules), 0);
	cr_assert_eq(model_open(rules, &sink, &model), 0);
}

void model_fixture_close(void)
{
	model_close(model);
	model_rules_close(rules);
	event_table_close(table);
}

static unsigned char record[64];
static uint32_t record_size;

static void put(const void *value, size_t size)
{
	memcpy(record + record_size, value, size);
	record_size += (uint32_t)size;
}

void event_put32(int32_t value)
{
	put(&value, sizeof(value));
}

void event_put64(int64_t value)
{
	put(&value, sizeof(value));
}

void event_put_text(const char *value)
{
	const size_t size = strlen(value) + 1;

	event_put32((int32_t)(record_size + 4 + (size << 16)));
	put(value, size);
}

void event_of(int id, int32_t tid)
{
	const uint16_t type = (uint16_t)id;

	record_size = 0;
	put(&type, sizeof(type));
	put("\0", 2);
	event_put32(tid);
}

void model_fixture_lose(uint64_t since, uint64_t until)
{
	dat_losses_add(&table->losses, since, until);
	dat_losses_join(&table->losses);
}

void event_feed_lost(uint64_t ts, uint32_t cpu, int64_t lost)
{
	const struct dat_event event = {
		.ts = ts, .raw = ts, .cpu = cpu, .size = record_size, .data = record, .lost = lost, .buffer = &buffer
	};

	cr_assert_eq(model_event(model, &event), 0);
	/* Data that outlive the call are copied. */
	memset(record, 0xee, sizeof(record));
}

void event_feed(uint64_t ts, uint32_t cpu)
{
	event_feed_lost(ts, cpu, 0);
}

void feed_int(uint64_t ts, int id, int32_t tid, int32_t value)
{
	event_of(id, tid);
	event_put32(value);
	event_feed(ts, 0);
}

void feed_long(uint64_t ts, int id, int32_t tid, int64_t value)
{
	event_of(id, tid);
	event_put64(value);
	event_feed(ts, 0);
}

void feed_bare(uint64_t ts, int id, int32_t tid)
{
	event_of(id, tid);
	event_feed(ts, 0);
}

void expect_spans(const char *wanted)
{
	char spans[1024] = "";

	cr_assert_eq(model_end(model), 0);
	for (char *line = strtok(items_text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strchr(line, ':'))
			snprintf(spans + strlen(spans), sizeof(spans) - strlen(spans), "%s\n", line);
	}
	cr_assert_str_eq(spans, wanted);
}

void expect_items(const char *wanted)
{
	cr_assert_eq(model_end(model), 0);
	cr_assert_str_eq(items_text, wanted);
}
