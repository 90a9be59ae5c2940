/* SPDX-License-Identifier: MIT */
#include "tests/unit/context_fixture.h"

#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <librecorder/buffer.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 100000u

struct record {
	int32_t tid;
	bool is_step;
	uint64_t time, age;
	uint64_t value;
};

static struct record *records;
static unsigned int nr;
static uint16_t step_id, context_id;

void context_begin(unsigned int subbufs, unsigned int lanes, bool discard)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = subbufs * 4080ul;
	options.clock = REC_CLOCK_MONO;
	options.discard = discard;
	/* rec_configure() computes a lane's stride from its sizes. Then the memory for the lanes can be set. */
	options.memory_max = lanes ? 1 : 0;
	cr_assert_eq(rec_configure(&options), 0);
	if (lanes) {
		options.memory_max = lanes * rec_pool.geometry.lane_stride;
		cr_assert_eq(rec_configure(&options), 0);
		cr_assert_eq(rec_pool.geometry.max_lanes, lanes);
	}
	cr_assert_gt(rec_enable("*"), 0);
}

void context_set_number(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	cr_assert_eq(rec_context_set("n", value ? text : NULL), 0);
}

void context_write(uint64_t value, unsigned int events, unsigned int filler)
{
	static const char text[4000] = { [0 ... 3998] = 'x' };

	while (events--)
		REC(context, step, value, text + 3999 - filler);
}

static void take_log(struct rec_view *view)
{
	static _Alignas(8) unsigned char log[1u << 20];
	const size_t size = rec_view_log(view, 0, log, sizeof(log));
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		if (record->kind != REC_LOG_EVENT || rec_event_parse((const void *)record, &info) < 0)
			continue;
		if (info.system.size == 7 && !memcmp(info.system.text, "context", 7))
			step_id = record->id;
		else if (info.system.size == 8 && !memcmp(info.system.text, "recorder", 8) && info.name.size == 7 &&
			 !memcmp(info.name.text, "context", 7))
			context_id = record->id;
	}
}

static const char *text_at(const struct rec_record *from, uint32_t word)
{
	cr_assert_leq((word & 0xffff) + (word >> 16), from->size);
	return (const char *)from->payload + (word & 0xffff);
}

static void take_record(const struct rec_record *from)
{
	struct rec_event_common common;
	struct {
		uint64_t number;
		uint32_t text[2];
	} fixed = { 0 };
	struct record *to = &records[nr];

	memcpy(&common, from->payload, sizeof(common));
	memcpy(&fixed, (const char *)from->payload + sizeof(common), common.type == step_id ? 12 : sizeof(fixed));
	*to = (struct record){ .tid = common.pid, .time = from->time };
	if (common.type == step_id) {
		to->is_step = true;
		to->value = fixed.number;
	} else if (common.type == context_id && !strcmp(text_at(from, fixed.text[0]), "n")) {
		to->age = fixed.number;
		to->value = strtoull(text_at(from, fixed.text[1]), NULL, 10);
	} else {
		return;
	}
	cr_assert_lt(++nr, RECORDS_MAX);
}

static int by_time(const void *a, const void *b)
{
	const struct record *one = a, *other = b;

	return one->time < other->time ? -1 : one->time > other->time;
}

static void take_all(struct rec_view *view)
{
	struct rec_view_event event;
	struct rec_iter *iter;

	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++) {
		if (rec_iter_open(view, lane, &iter) < 0)
			continue;
		while (rec_iter_next(iter, &event) == 1)
			take_record(&event.record);
		rec_iter_close(iter);
	}
	qsort(records, nr, sizeof(*records), by_time);
}

/* The thread's next record, if its value is older than the event; otherwise the one before the event. */
static const struct record *find(const struct record *event)
{
	const struct record *one;

	for (one = event + 1; one < records + nr; one++) {
		if (one->is_step || one->tid != event->tid)
			continue;
		if (one->time - one->age <= event->time)
			return one;
		break;
	}
	for (one = event; one-- > records;)
		if (!one->is_step && one->tid == event->tid)
			return one;
	return NULL;
}

struct verdict context_judge_of(const char *path)
{
	struct verdict verdict = { 0 };
	struct rec_view *view = NULL;

	cr_assert_eq(rec_view_open(path, &view), 0, "%s", path);
	records = calloc(RECORDS_MAX, sizeof(*records));
	nr = 0;
	take_log(view);
	take_all(view);
	for (unsigned int i = 0; i < nr; i++) {
		const struct record *found = records[i].is_step ? find(&records[i]) : NULL;

		verdict.events += records[i].is_step;
		verdict.wrong += found && found->value != records[i].value;
		verdict.unknown += records[i].is_step && !found && records[i].value;
		verdict.begins += !records[i].is_step && !records[i].age;
		verdict.repeats += !records[i].is_step && records[i].age;
	}
	free(records);
	rec_view_close(view);
	return verdict;
}

struct verdict context_judge(void)
{
	return context_judge_of(rec_process_path());
}
