/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: any events in time order, given to the model. An input is a sequence of events, each a
 * struct head and its bytes. What the model reports obeys the rules of model.h: an item ends not before it begins, a
 * span is reported once, after its begin and after its parent's begin, and states of a thread do not overlap.
 */
#include "format/model/model.h"
#include "tests/unit/model_formats.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NR_FORMATS  (sizeof(model_formats) / sizeof(model_formats[0]))
#define NR_TIDS	    8u
#define EVENTS_MAX  1000u
#define RECORD_MAX  64u

struct head {
	uint8_t event; /* number of the format; beyond them: an event without a format */
	uint8_t cpu;   /* low bits; the high bits are the lost events before it: 0 none, 15 an unknown number */
	uint8_t tid;
	uint8_t size; /* of the bytes after the common fields */
	uint16_t step; /* ns since the event before */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct event_table *table;
static struct model_rules *rules;

/* What the model has reported of one input. */
struct reported {
	unsigned char spans[EVENTS_MAX + 1]; /* by id: 1 begun, 2 reported */
	uint64_t thread_until[256];
};

static void check(bool fine)
{
	if (!fine)
		abort();
}

static int take_begin(void *arg, const struct model_span *span)
{
	struct reported *r = arg;

	check(span->id && span->id <= EVENTS_MAX && !r->spans[span->id] && span->parent < span->id && !span->end);
	r->spans[span->id] = 1;
	return 0;
}

static int take_span(void *arg, const struct model_span *span)
{
	struct reported *r = arg;

	check(span->id && span->id <= EVENTS_MAX && r->spans[span->id] != 2);
	/* A span whose begin was not seen, or that was written at its end, may be reported without a begin. */
	check(r->spans[span->id] == 1 || span->flags & MODEL_NO_BEGIN || span->rule->meaning == MODEL_TIMED);
	r->spans[span->id] = 2;
	check(span->begin <= span->end && span->own <= span->end - span->begin);
	check(span->parent != span->id && (!span->parent || r->spans[span->parent]));
	check(span->rule->is_keyed || span->rule->is_of_cpu || span->tid == span->end_tid);
	return 0;
}

static int take_state(void *arg, const struct model_state *state)
{
	(void)arg;
	check(state->begin <= state->end);
	return 0;
}

static int take_task(void *arg, const struct model_task *task)
{
	(void)arg;
	check(task->task && task->begin <= task->end);
	return 0;
}

static int take_flow(void *arg, const struct model_flow *flow)
{
	(void)arg;
	check(flow->flow && flow->from_ts <= flow->ts);
	return 0;
}

static int take_thread_state(void *arg, const struct model_thread_state *state)
{
	struct reported *r = arg;

	check(state->begin <= state->end);
	if (state->tid >= 0 && state->tid < 256) {
		check(state->begin >= r->thread_until[state->tid]);
		r->thread_until[state->tid] = state->end;
	}
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	table = table_of(model_formats, NR_FORMATS, "recorder 1.0.0; processes: 1 2, 3 4");
	check(model_rules_open(table, &rules) == 0);
	return 0;
}

/* One event from the input. Returns the bytes that it takes. */
static size_t feed(struct model *model, const uint8_t *data, size_t size, uint64_t *ts)
{
	static char no_name[1];
	static struct dat_buffer buffer = { .name = no_name };
	struct head head;
	struct dat_event event = { .buffer = &buffer };
	unsigned char room[RECORD_MAX] = { 0 }, *exact;
	int32_t tid;
	uint16_t id;
	size_t used;

	memcpy(&head, data, sizeof(head));
	size -= sizeof(head);
	used = head.size % (RECORD_MAX - 8);
	used = used < size ? used : size;
	id = head.event < NR_FORMATS ? (uint16_t)table->all[head.event].event->id : head.event & 1 ? 20000 : 9999;
	tid = (int32_t)(head.tid % NR_TIDS);
	memcpy(room, &id, sizeof(id));
	memcpy(room + 4, &tid, sizeof(tid));
	memcpy(room + 8, data + sizeof(head), used);
	/* A copy, so that the sanitizer knows where it ends. */
	exact = malloc(8 + used);
	check(exact != NULL);
	memcpy(exact, room, 8 + used);
	*ts += head.step;
	event.ts = event.raw = *ts;
	event.cpu = head.cpu & 3;
	event.lost = head.cpu >> 4 == 15 ? -1 : head.cpu >> 4;
	event.size = (uint32_t)(8 + used);
	event.data = exact;
	check(model_event(model, &event) == 0);
	memset(exact, 0xee, 8 + used);
	free(exact);
	return sizeof(head) + used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reported reported = { .spans = { 0 } };
	const struct model_sink sink = {
		.arg = &reported,
		.span = take_span,
		.span_begin = take_begin,
		.state = take_state,
		.task = take_task,
		.flow = take_flow,
		.thread_state = take_thread_state,
	};
	uint64_t ts = 1000000000;
	struct model *model;

	check(model_open(rules, &sink, &model) == 0);
	for (unsigned int i = 0; i < EVENTS_MAX / 2 && size > sizeof(struct head); i++) {
		const size_t used = feed(model, data, size, &ts);

		data += used;
		size -= used;
	}
	check(model_end(model) == 0);
	for (unsigned int id = 0; id <= EVENTS_MAX; id++)
		check(reported.spans[id] != 1);
	model_close(model);
	return 0;
}
