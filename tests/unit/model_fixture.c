/* SPDX-License-Identifier: MIT */
#include "model_fixture.h"
#include "format/model/model.h"
#include "model_formats.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NR_FORMATS (sizeof(model_formats) / sizeof(model_formats[0]))

static const char symbols[] =
	"0000000000001000 T vfs_read\n0000000000002000 T ksys_read\n0000000000003000 t flush_work\n"
	"0000000000004000 t tcp_timer\n0000000000005000 t hrtimer_wakeup\n";
static struct dat_buffer buffers[] = { { .name = (char[]){ "" } }, { .name = (char[]){ "second" } } };
static unsigned int buffer; /* of the next events */
static struct event_table *table;
static struct model_rules *rules;
static struct model *model;
char items_text[8192];
uint32_t items_waits[8];
unsigned int items_nr_waits;

uint64_t items_given_up;

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
	say("lost %lld before %llu on %u%s\n", (long long)l->lost, (unsigned long long)l->ts, l->cpu,
	    l->is_program ? " by programs" : "");
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

static void open_with(const char *notes)
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
		.given_up = &items_given_up,
	};

	items_given_up = 0;
	buffer = 0;
	table = table_of(model_formats, NR_FORMATS, notes);
	cr_assert_eq(event_table_add_symbols(table, symbols, sizeof(symbols) - 1), 0);
	cr_assert_eq(model_rules_open(table, &rules), 0);
	cr_assert_eq(model_open(rules, &sink, &model), 0);
}

void model_fixture_open(void)
{
	open_with("recorder 1.0.0; processes: 71 72, 81 82");
}

void model_fixture_reopen(const char *notes)
{
	model_fixture_close();
	open_with(notes);
}

void model_fixture_close(void)
{
	model_close(model);
	model_rules_close(rules);
	event_table_close(table);
}

static unsigned char record[4096];
static uint32_t record_size;

void event_put_padding(uint32_t size)
{
	cr_assert_leq(size, sizeof(record) - record_size);
	memset(record + record_size, 0, size);
	record_size += size;
}

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

void model_fixture_lose_programs(uint64_t since, uint64_t until)
{
	dat_losses_add(&table->program_losses, since, until);
	dat_losses_join(&table->program_losses);
}

void model_fixture_lose_kernel(uint64_t since, uint64_t until)
{
	dat_losses_add(&table->kernel_losses, since, until);
	dat_losses_join(&table->kernel_losses);
}

void model_fixture_buffer(unsigned int which)
{
	cr_assert_lt(which, sizeof(buffers) / sizeof(buffers[0]));
	buffer = which;
}

void event_feed_lost(uint64_t ts, uint32_t cpu, int64_t lost)
{
	const struct dat_event event = {
		.ts = ts, .raw = ts, .cpu = cpu, .size = record_size, .data = record, .lost = lost,
		.buffer = &buffers[buffer],
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

void switch_lost(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to, int64_t lost)
{
	event_of(SWITCH, from);
	event_put32(from);
	event_put32(120);
	event_put64(state);
	event_put32(to);
	event_put32(120);
	event_feed_lost(ts, cpu, lost);
}

void switch_to(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to)
{
	switch_lost(ts, cpu, from, state, to, 0);
}

void wake(uint64_t ts, uint32_t cpu, int32_t waker, int32_t woken)
{
	event_of(WAKING, waker);
	event_put32(woken);
	event_put32(120);
	event_put32(1);
	event_feed(ts, cpu);
}

void wakeup(uint64_t ts, uint32_t cpu, int32_t current, int32_t woken, int32_t target)
{
	event_of(WAKEUP, current);
	event_put32(woken);
	event_put32(120);
	event_put32(target);
	event_feed(ts, cpu);
}
