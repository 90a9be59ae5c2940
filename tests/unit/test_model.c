/* SPDX-License-Identifier: MIT */
/*
 * What the events of a trace mean: each case feeds events, and compares the items that the model gives with what should
 * come. No file is needed: formats are parsed from texts, records are made here.
 */
#include "format/model/model.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON                                                                                                         \
	"\tfield:u16 common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                                    \
	"\tfield:u8 common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                                    \
	"\tfield:u8 common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                            \
	"\tfield:s32 common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FORMAT(id, name, fields) "name: " name "\nID: " #id "\nformat:\n" COMMON fields "\nprint fmt: \"\"\n"
#define FIELD(type, name, offset, size, sign)                                                                          \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

enum {
	SWITCH = 300,
	WAKING = 301,
	IRQ_ENTRY = 302,
	IRQ_EXIT = 303,
	READ_ENTER = 304,
	READ_EXIT = 305,
	WAKEUP = 306,
	OUTER_BEGIN = 16400,
	OUTER_END,
	INNER_BEGIN,
	INNER_END,
	RPC_BEGIN,
	RPC_END,
	HEAP,
	STATE,
	TASK,
	SEND,
	FLUSH,
	PLAIN,
};

static const struct {
	const char *system, *text;
} formats[] = {
	{ "sched", FORMAT(300, "sched_switch",
			  FIELD("pid_t", "prev_pid", 8, 4, 1) FIELD("int", "prev_prio", 12, 4, 1)
				  FIELD("long", "prev_state", 16, 8, 1) FIELD("pid_t", "next_pid", 24, 4, 1)
					  FIELD("int", "next_prio", 28, 4, 1)) },
	{ "sched",
	  FORMAT(301, "sched_waking",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "irq", FORMAT(302, "irq_handler_entry", FIELD("int", "irq", 8, 4, 1)) },
	{ "irq", FORMAT(303, "irq_handler_exit", FIELD("int", "irq", 8, 4, 1)) },
	{ "syscalls", FORMAT(304, "sys_enter_read", FIELD("int", "fd", 8, 4, 1)) },
	{ "syscalls", FORMAT(305, "sys_exit_read", FIELD("long", "ret", 8, 8, 1)) },
	{ "sched",
	  FORMAT(306, "sched_wakeup",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
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
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static struct dat_format dat_formats[NR_FORMATS];
static char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static char version[] = "recorder 1.0.0; processes: 71 72, 81 82";
static struct dat_option options[] = { { .id = DAT_VERSION, .size = sizeof(version), .data = version } };
static struct dat_file file = {
	.formats = dat_formats,
	.nr_formats = NR_FORMATS,
	.options = options,
	.nr_options = 1,
	.commit_size = 8,
	.long_size = 8,
};
static struct dat_buffer buffer = { .name = (char[]){ "" } };
static struct event_table *table;
static struct model_rules *rules;
static struct model *model;
static char text[8192]; /* what the model has given */
static uint32_t waits[8]; /* the CPUs for which threads waited */
static unsigned int nr_waits;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	const size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
}

static int say_span(void *arg, const struct model_span *s)
{
	(void)arg;
	say("%s:%s %d %llu-%llu own %llu depth %u%s%s%s", s->rule->system, s->rule->name, s->tid,
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
	if (s->state == MODEL_RUNNABLE && nr_waits < 8)
		waits[nr_waits++] = s->cpu;
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

static void setup(void)
{
	static const struct model_sink sink = {
		.span = say_span, .counter = say_counter,	    .state = say_state, .flow = say_flow,
		.task = say_task, .thread_state = say_thread_state, .loss = say_loss,	.point = say_point,
	};

	for (size_t i = 0; i < NR_FORMATS; i++)
		dat_formats[i] = (struct dat_format){ .system = formats[i].system,
						      .text = { (char *)(uintptr_t)formats[i].text,
								strlen(formats[i].text), 0 } };
	file.header_page = (struct dat_text){ header_page, sizeof(header_page) - 1, 0 };
	cr_assert_eq(event_table_open(&file, EVENT_NO_PLUGINS, &table), 0);
	cr_assert_eq(table->failures, 0);
	cr_assert_eq(model_rules_open(table, &rules), 0);
	cr_assert_eq(model_open(rules, &sink, &model), 0);
}

static void teardown(void)
{
	model_close(model);
	model_rules_close(rules);
	event_table_close(table);
}

TestSuite(model, .init = setup, .fini = teardown);

static unsigned char record[64];
static uint32_t record_size;

static void put(const void *value, size_t size)
{
	memcpy(record + record_size, value, size);
	record_size += (uint32_t)size;
}

static void put32(int32_t value)
{
	put(&value, sizeof(value));
}

static void put64(int64_t value)
{
	put(&value, sizeof(value));
}

static void begin(int id, int32_t tid)
{
	const uint16_t type = (uint16_t)id;

	record_size = 0;
	put(&type, sizeof(type));
	put("\0", 2);
	put32(tid);
}

static void feed_lost(uint64_t ts, uint32_t cpu, int64_t lost)
{
	const struct dat_event event = {
		.ts = ts, .cpu = cpu, .size = record_size, .data = record, .lost = lost, .buffer = &buffer
	};

	cr_assert_eq(model_event(model, &event), 0);
	/* What must last is copied. */
	memset(record, 0xee, sizeof(record));
}

static void feed(uint64_t ts, uint32_t cpu)
{
	feed_lost(ts, cpu, 0);
}

/* An event with one number of 32 bits, or of 64. */
static void at(uint64_t ts, int id, int32_t tid, int32_t value)
{
	begin(id, tid);
	put32(value);
	feed(ts, 0);
}

static void at_long(uint64_t ts, int id, int32_t tid, int64_t value)
{
	begin(id, tid);
	put64(value);
	feed(ts, 0);
}

static void bare(uint64_t ts, int id, int32_t tid)
{
	begin(id, tid);
	feed(ts, 0);
}

static void switch_lost(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to, int64_t lost)
{
	begin(SWITCH, from);
	put32(from);
	put32(120);
	put64(state);
	put32(to);
	put32(120);
	feed_lost(ts, cpu, lost);
}

static void switch_to(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to)
{
	switch_lost(ts, cpu, from, state, to, 0);
}

static void wake(uint64_t ts, uint32_t cpu, int32_t waker, int32_t woken)
{
	begin(WAKING, waker);
	put32(woken);
	put32(120);
	put32(1);
	feed(ts, cpu);
}

/* The second event of a wake-up. */
static void wakeup(uint64_t ts, uint32_t cpu, int32_t current, int32_t woken, int32_t target)
{
	begin(WAKEUP, current);
	put32(woken);
	put32(120);
	put32(target);
	feed(ts, cpu);
}

/* Of what was given, the spans. */
static void expect_spans(const char *wanted)
{
	char spans[1024] = "";

	cr_assert_eq(model_end(model), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strchr(line, ':'))
			snprintf(spans + strlen(spans), sizeof(spans) - strlen(spans), "%s\n", line);
	}
	cr_assert_str_eq(spans, wanted);
}

static void expect(const char *wanted)
{
	cr_assert_eq(model_end(model), 0);
	cr_assert_str_eq(text, wanted);
}

/* ------------------------------------------------------------------------------------------------------------ spans */

Test(model, spans_nest_on_their_thread)
{
	at(10, OUTER_BEGIN, 1, 7);
	bare(20, INNER_BEGIN, 1);
	bare(25, INNER_BEGIN, 2);
	bare(30, INNER_END, 1);
	at(35, PLAIN, 1, 0);
	at(50, OUTER_END, 1, -1);
	bare(60, INNER_END, 2);
	expect("io:inner 1 20-30 own 10 depth 1 in 1\n"
	       "plain 1 at 35 in 1\n"
	       "io:outer 1 10-50 own 30 depth 0\n"
	       "io:inner 2 25-60 own 35 depth 0\n");
}

Test(model, an_outer_end_cuts_what_a_jump_has_left)
{
	at(10, OUTER_BEGIN, 1, 7);
	bare(20, INNER_BEGIN, 1);
	bare(25, INNER_BEGIN, 1);
	at(50, OUTER_END, 1, -1);
	at(60, OUTER_BEGIN, 1, 7);
	at(70, OUTER_END, 1, 0);
	expect("io:inner 1 25-50 own 25 depth 2 cut in 2\n"
	       "io:inner 1 20-50 own 5 depth 1 cut in 1\n"
	       "io:outer 1 10-50 own 10 depth 0\n"
	       "io:outer 1 60-70 own 10 depth 0\n");
}

Test(model, what_is_open_at_the_end_and_what_began_before)
{
	at(10, PLAIN, 1, 0);
	bare(20, INNER_END, 1);
	at(30, OUTER_BEGIN, 1, 7);
	at(40, PLAIN, 2, 0);
	expect("plain 1 at 10 in 0\n"
	       "io:inner 1 10-20 own 10 depth 0 no-begin\n"
	       "plain 2 at 40 in 0\n"
	       "io:outer 1 30-40 own 10 depth 0 open\n");
}

/* Begins without ends: the outermost are given up, as many as there are too many. The others end as usual. */
Test(model, spans_that_never_end)
{
	for (uint64_t i = 0; i < 1026; i++)
		bare(100 + i, INNER_BEGIN, 1);
	cr_assert_str_eq(text, "io:inner 1 100-1124 own 1024 depth 0 cut\n"
			       "io:inner 1 101-1125 own 1024 depth 1 cut in 1\n");
	text[0] = '\0';
	for (uint64_t i = 0; i < 1024; i++) {
		text[0] = '\0';
		bare(2000 + i, INNER_END, 1);
	}
	cr_assert_str_eq(text, "io:inner 1 102-3023 own 2 depth 2 in 2\n");
	text[0] = '\0';
	bare(4000, INNER_END, 1);
	expect("io:inner 1 100-4000 own 3900 depth 0 no-begin\n");
}

Test(model, a_recursive_span)
{
	bare(10, INNER_BEGIN, 1);
	bare(20, INNER_BEGIN, 1);
	bare(30, INNER_END, 1);
	bare(40, INNER_END, 1);
	expect("io:inner 1 20-30 own 10 depth 1 in 1\n"
	       "io:inner 1 10-40 own 20 depth 0\n");
}

Test(model, a_loss_within_a_span_makes_it_doubtful)
{
	bare(10, INNER_BEGIN, 1);
	begin(PLAIN, 1);
	put32(0);
	feed_lost(20, 0, 5);
	bare(30, INNER_END, 1);
	bare(40, INNER_BEGIN, 1);
	bare(50, INNER_END, 1);
	expect("lost 5 before 20 on 0\n"
	       "plain 1 at 20 in 1\n"
	       "io:inner 1 10-30 own 20 depth 0 cut\n"
	       "io:inner 1 40-50 own 10 depth 0\n");
}

Test(model, a_loss_on_the_cpu_where_a_thread_was_seen_last)
{
	bare(10, INNER_BEGIN, 1);
	begin(PLAIN, 2);
	put32(0);
	feed_lost(20, 0, -1);
	begin(INNER_END, 1);
	feed(30, 1);
	begin(INNER_BEGIN, 3);
	feed(40, 1);
	begin(INNER_END, 3);
	feed(50, 1);
	expect("lost -1 before 20 on 0\n"
	       "plain 2 at 20 in 0\n"
	       "io:inner 1 10-30 own 20 depth 0 cut\n"
	       "io:inner 3 40-50 own 10 depth 0\n");
}

Test(model, a_loss_on_the_cpu_where_a_thread_is_seen_next)
{
	bare(10, INNER_BEGIN, 1);
	begin(PLAIN, 2);
	put32(0);
	feed_lost(20, 1, 5);
	begin(INNER_END, 1);
	feed(30, 1);
	begin(INNER_BEGIN, 1);
	feed(40, 1);
	begin(INNER_END, 1);
	feed(50, 1);
	expect("lost 5 before 20 on 1\n"
	       "plain 2 at 20 in 0\n"
	       "io:inner 1 10-30 own 20 depth 0 cut\n"
	       "io:inner 1 40-50 own 10 depth 0\n");
}

/* A jump may have left the outer span at 30; then its end at 40 is that of another one. */
Test(model, an_end_without_a_begin_makes_what_is_open_doubtful)
{
	at(10, PLAIN, 1, 0);
	at(20, OUTER_BEGIN, 1, 7);
	bare(25, INNER_BEGIN, 2);
	bare(30, INNER_END, 1);
	at(40, OUTER_END, 1, 0);
	bare(45, INNER_END, 2);
	at(50, OUTER_BEGIN, 1, 7);
	at(60, OUTER_END, 1, 0);
	expect("plain 1 at 10 in 0\n"
	       "io:inner 1 10-30 own 20 depth 1 no-begin in 1\n"
	       "io:outer 1 20-40 own 20 depth 0 cut\n"
	       "io:inner 2 25-45 own 20 depth 0\n"
	       "io:outer 1 50-60 own 10 depth 0\n");
}

Test(model, keys_find_a_span_on_any_thread)
{
	at(10, RPC_BEGIN, 1, 5);
	at(20, RPC_BEGIN, 1, 6);
	at(30, RPC_END, 2, 5);
	at(40, RPC_END, 1, 9);
	at(50, RPC_BEGIN, 3, 6);
	at(60, RPC_END, 4, 6);
	expect("net:rpc 1 10-30 own 20 depth 0 key 5 to 2\n"
	       "net:rpc 1 10-40 own 30 depth 0 no-begin key 9\n"
	       "net:rpc 3 50-60 own 10 depth 0 key 6 to 4\n"
	       "net:rpc 1 20-60 own 40 depth 0 open key 6\n");
}

/* Also after the table has grown, several times. */
Test(model, of_equal_keys_the_last_begin_has_the_first_end)
{
	at(1, RPC_BEGIN, 1, 7);
	at(2, RPC_BEGIN, 1, 7);
	at(3, RPC_BEGIN, 1, 7);
	for (int i = 0; i < 1000; i++)
		at(4, RPC_BEGIN, 1, 100 + i);
	at(10, RPC_END, 1, 7);
	at(20, RPC_END, 1, 7);
	at(30, RPC_END, 1, 7);
	cr_assert_str_eq(text, "net:rpc 1 3-10 own 7 depth 0 key 7\n"
			       "net:rpc 1 2-20 own 18 depth 0 key 7\n"
			       "net:rpc 1 1-30 own 29 depth 0 key 7\n");
}

/* Two processes count their requests from 1. A third one ends what the first left. */
Test(model, of_equal_keys_a_process_ends_its_own)
{
	at(1, RPC_BEGIN, 71, 1);
	at(2, RPC_BEGIN, 81, 1);
	at(3, RPC_END, 72, 1);
	at(4, RPC_BEGIN, 71, 1);
	at(5, RPC_END, 82, 1);
	at(6, RPC_END, 5, 1);
	cr_assert_str_eq(text, "net:rpc 71 1-3 own 2 depth 0 key 1 to 72\n"
			       "net:rpc 81 2-5 own 3 depth 0 key 1 to 82\n"
			       "net:rpc 71 4-6 own 2 depth 0 key 1 to 5\n");
}

Test(model, many_keys)
{
	char wanted[64];

	for (int i = 0; i < 1000; i++)
		at((uint64_t)i, RPC_BEGIN, 1, i);
	for (int i = 999; i >= 0; i--) {
		text[0] = '\0';
		at(1000 + (uint64_t)(999 - i), RPC_END, 1, i);
		snprintf(wanted, sizeof(wanted), "net:rpc 1 %d-%d own %d depth 0 key %d\n", i, 1999 - i, 1999 - 2 * i,
			 i);
		cr_assert_str_eq(text, wanted);
	}
	text[0] = '\0';
	expect("");
}

Test(model, a_span_written_at_its_end)
{
	at(10, OUTER_BEGIN, 1, 0);
	at_long(50, FLUSH, 1, 30);
	at(60, OUTER_END, 1, 0);
	expect("io:flush 1 20-50 own 30 depth 1 in 1\n"
	       "io:outer 1 10-60 own 20 depth 0\n");
}

/* ------------------------------------------------------------------------------------------ counters, states, flows */

Test(model, counters)
{
	at(10, HEAP, 1, -5);
	at(20, HEAP, 2, 1000);
	expect("mem:heap 1 at 10: -5\nmem:heap 2 at 20: 1000\n");
}

static void state_of(uint64_t ts, int32_t id, int32_t value)
{
	begin(STATE, 1);
	put32(id);
	put32(value);
	feed(ts, 0);
}

Test(model, a_state_lasts_until_the_next_of_its_key)
{
	state_of(10, 1, 0);
	state_of(20, 2, 0);
	state_of(30, 1, 4);
	state_of(40, 1, 4);
	expect("conn:state 10-30 of 1: 0\n"
	       "conn:state 30-40 of 1: 4\n"
	       "conn:state 40-40 of 1: 4 open\n"
	       "conn:state 20-40 of 2: 0 open\n");
}

Test(model, flows_link_events_with_the_same_number)
{
	at(10, OUTER_BEGIN, 1, 0);
	at_long(20, SEND, 1, 99);
	at_long(30, SEND, 2, 99);
	at_long(40, SEND, 2, 98);
	/* 0 links nothing. */
	at_long(42, SEND, 2, 0);
	at_long(44, SEND, 1, 0);
	at(50, OUTER_END, 1, 0);
	expect("send 1 at 20 in 1\nflow 99 at 20 in 1 from 0 by 0 in 0\n"
	       "send 2 at 30 in 0\nflow 99 at 30 in 0 from 20 by 1 in 1\n"
	       "send 2 at 40 in 0\nflow 98 at 40 in 0 from 0 by 0 in 0\n"
	       "send 2 at 42 in 0\nsend 1 at 44 in 1\n"
	       "io:outer 1 10-50 own 40 depth 0\n");
}

static void task(uint64_t ts, int32_t tid, int64_t id, const char *name)
{
	begin(TASK, tid);
	put64(id);
	put32((int32_t)(record_size + 4 + ((strlen(name) + 1) << 16)));
	put(name, strlen(name) + 1);
	feed(ts, 0);
}

Test(model, a_thread_works_for_tasks)
{
	task(10, 1, 5, "five");
	bare(15, INNER_BEGIN, 1);
	task(20, 1, 6, "");
	bare(25, INNER_END, 1);
	task(30, 1, 0, "");
	/* The name is that of the task, whatever thread gave it. */
	task(40, 2, 5, "");
	expect("task 5 five 1 10-20\n"
	       "io:inner 1 15-25 own 10 depth 0 task 5\n"
	       "task 6 - 1 20-30\n"
	       "task 5 five 2 40-40 open\n");
}

/* ------------------------------------------------------------------------------------------------ kernel's events */

Test(model, states_of_threads)
{
	switch_to(10, 0, 1, 1, 2); /* 1 sleeps */
	bare(12, INNER_BEGIN, 2);
	wake(15, 0, 2, 1);
	switch_to(20, 1, 0, 0, 1);
	switch_to(25, 0, 2, 0, 3); /* 2 is preempted */
	switch_to(30, 0, 3, 2, 2); /* 3 waits for a device */
	bare(32, INNER_END, 2);
	switch_to(40, 1, 1, 0x20, 0); /* 1 dies */
	expect("1 S 10-15 by 2 in 1\n"
	       "1 w 15-20\n"
	       "2 R 10-25\n"
	       "3 R 25-30\n"
	       "2 w 25-30 preempted\n"
	       "io:inner 2 12-32 own 20 depth 0\n"
	       "1 R 20-40\n"
	       "2 R 30-40 open\n"
	       "3 D 30-40 open\n");
}

Test(model, the_first_switch_of_a_cpu)
{
	at(10, PLAIN, 9, 0);
	switch_to(20, 1, 4, 0x100, 5);
	/* Who acts on a CPU runs there. */
	expect("plain 9 at 10 in 0\n"
	       "4 R 10-20\n"
	       "9 R 10-20 open\n");
}

Test(model, without_switches_no_state_is_known)
{
	wake(10, 0, 1, 3);
	bare(20, INNER_BEGIN, 3);
	bare(30, INNER_END, 3);
	expect("io:inner 3 20-30 own 10 depth 0\n");
}

Test(model, a_cpu_without_switches)
{
	switch_to(10, 0, 0, 0, 1);
	begin(PLAIN, 2);
	put32(0);
	feed(20, 1);
	begin(PLAIN, 3);
	put32(0);
	feed(30, 1);
	expect("plain 2 at 20 in 0\n"
	       "2 R 10-20\n"
	       "plain 3 at 30 in 0\n"
	       "1 R 10-30 open\n"
	       "2 ? 20-30 open\n");
}

/* Only the second event of a wake-up knows for which CPU the thread waits; without it, where it ran says it. */
Test(model, the_cpu_for_which_a_thread_waits)
{
	switch_to(10, 0, 1, 1, 0);
	switch_to(12, 0, 0, 0, 2);
	switch_to(14, 0, 2, 1, 0);
	wake(20, 0, 0, 1);
	wake(21, 0, 0, 2);
	wakeup(22, 1, 0, 1, 3);
	switch_to(30, 2, 0, 0, 1);
	switch_to(31, 2, 1, 0, 2);
	cr_assert_eq(nr_waits, 2);
	cr_assert_eq(waits[0], 3);
	cr_assert_eq(waits[1], 2);
}

Test(model, a_loss_ends_an_interrupt)
{
	at(10, IRQ_ENTRY, 1, 40);
	switch_lost(30, 0, 1, 1, 2, 7);
	at(40, IRQ_ENTRY, 2, 40);
	at(50, IRQ_EXIT, 2, 40);
	begin(PLAIN, 1);
	put32(0);
	feed_lost(60, 0, 3);
	at(70, IRQ_EXIT, 1, 40); /* begun before 60 */
	expect_spans("irq:irq_handler 1 10-10 own 0 depth 0 open cut\n"
		     "irq:irq_handler 2 40-50 own 10 depth 0\n"
		     "irq:irq_handler 1 60-70 own 10 depth 0 no-begin\n");
}

Test(model, a_switch_that_the_host_hides)
{
	switch_to(10, 0, 0, 0, 1);
	wake(15, 0, 1, 3);
	/* 1 has left the CPU to 2 without a switch. */
	switch_to(20, 0, 2, 1, 3);
	switch_to(30, 0, 3, 1, 0);
	expect("1 R 10-15\n"
	       "2 R 15-20\n"
	      "3 w 15-20\n"
	      "3 R 20-30\n"
	      "1 ? 15-30 open\n"
	      "2 S 20-30 open\n");
}

Test(model, a_loss_makes_the_cpus_thread_unknown)
{
	switch_to(10, 0, 1, 1, 2);
	bare(12, INNER_BEGIN, 2);
	switch_lost(30, 0, 3, 1, 2, 7); /* 2 must have left meanwhile */
	switch_to(40, 0, 2, 1, 0);
	expect("1 S 10-12\n"
	       "2 R 10-12\n"
	       "lost 7 before 30 on 0\n"
	       "2 ? 12-30\n"
	       "2 R 30-40\n"
	       "1 ? 12-40 open\n" /* it may have been woken */
	       "io:inner 2 12-40 own 28 depth 0 open\n"
	       "3 S 30-40 open\n");
}

Test(model, spans_of_a_thread_that_dies_are_open)
{
	bare(10, INNER_BEGIN, 1);
	switch_to(20, 0, 1, 0x10, 0);
	bare(30, INNER_BEGIN, 1); /* the number is used again */
	bare(40, INNER_END, 1);
	expect("1 R 10-20\n"
	       "io:inner 1 10-20 own 10 depth 0 open\n"
	       "io:inner 1 30-40 own 10 depth 0\n");
}

Test(model, interrupts_nest_on_their_cpu)
{
	at(10, READ_ENTER, 1, 3);
	at(20, IRQ_ENTRY, 1, 40);
	at(25, IRQ_ENTRY, 1, 41);
	at(30, IRQ_EXIT, 1, 41);
	at(40, IRQ_EXIT, 2, 40);
	at_long(50, READ_EXIT, 1, -4);
	expect("irq:irq_handler 1 25-30 own 5 depth 1 in 2\n"
	       "irq:irq_handler 1 20-40 own 15 depth 0 to 2\n"
	       "syscalls:read 1 10-50 own 40 depth 0\n");
}
