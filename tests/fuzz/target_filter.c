/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: filters of any text, on records of any bytes; and selectors, and damaged conditions.
 *
 * An input: a text up to its first NUL, then a record of an event that has a field of each kind. A filter that compiles
 * can be written as a text again, which compiles to a filter that passes the same records.
 */
#include "librecorder/core/filter_text.h"
#include "librecorder/core/selector.h"

#include <librecorder/event.h>
#include <librecorder/event_text.h>
#include <librecorder/filter.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX 512u
#define TEXT_ROOM  16384u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum fuzz_op { OP_GET = 1, OP_PUT = -7, OP_DELETE = 300 };

REC_EVENT(fuzz, every, u8(a), s16(b), u32(c), s64(d), hex32(x), ptr(p), flag(t), real(load, 2),
	  named(op, OP_GET, OP_PUT, OP_DELETE), string(path), bytes(raw), array(u16, list, 3), f32(ratio), f64(wide));

static const struct rec_log_event *const event = &rec_blob_fuzz__every.event;
static volatile bool sink;

struct compiled {
	_Alignas(16) unsigned char bytes[REC_CONDITION_MAX];
	size_t size;
};

static struct rec_condition *condition_of(struct compiled *compiled)
{
	return (struct rec_condition *)(void *)compiled->bytes;
}

static bool compile(const char *text, struct compiled *ret_compiled)
{
	struct rec_filter_error error;
	const int r = rec_filter_compile(event, text, condition_of(ret_compiled), sizeof(ret_compiled->bytes), &error);

	ret_compiled->size = r > 0 ? (size_t)r : 0;
	return r > 0;
}

static bool passes(struct compiled *compiled, const unsigned char *record, size_t size)
{
	return rec_filter_match(condition_of(compiled), compiled->size, record, size, 3);
}

/* The text of a compiled filter is a filter that passes the same records. */
static void write_again(struct compiled *first, const unsigned char *record, size_t size)
{
	static char text[TEXT_ROOM];
	struct rec_event_info info;
	struct compiled again;
	int r;

	if (rec_event_parse(event, &info))
		abort();
	r = rec_filter_text(condition_of(first), first->size, &info, text, sizeof(text));
	if (r < 0 || !compile(text, &again) || passes(first, record, size) != passes(&again, record, size))
		abort();
}

static void try_text(const char *text, const unsigned char *record, size_t size)
{
	struct rec_filter_record read = {
		.record = record, .size = size, .cpu = 3, .time = 12345678901, .comm = "task"
	};
	struct rec_filter_error error;
	struct rec_selector selector;
	struct rec_event_info info;
	struct compiled compiled;
	int r;

	if (compile(text, &compiled)) {
		if (rec_filter_check(text, &error))
			abort();
		write_again(&compiled, record, size);
	}
	rec_event_parse(event, &info);
	r = rec_filter_compile_fields(&info, 0, text, condition_of(&compiled), sizeof(compiled.bytes), &error);
	if (r > 0)
		sink = rec_filter_match_reading(condition_of(&compiled), (size_t)r, &read);
	if (rec_selector_parse(text, &selector) == 0 &&
	    rec_selector_compile(&selector, event, 300, condition_of(&compiled), sizeof(compiled.bytes)) > 0)
		sink = rec_selector_matches(&selector, &info.system, &info.name);
}

/* The record as a condition. */
static void try_condition(const unsigned char *bytes, size_t size)
{
	static char text[TEXT_ROOM];
	struct compiled damaged = { .size = size };
	struct rec_event_info info;

	memcpy(damaged.bytes, bytes, size);
	sink = passes(&damaged, bytes, size);
	rec_event_parse(event, &info);
	rec_filter_text(condition_of(&damaged), size, &info, text, sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *const end = memchr(data, 0, size);
	const size_t length = end ? (size_t)(end - data) : size;
	size_t rest = end ? size - length - 1 : 0;
	unsigned char *record;
	char *text;

	rest = rest < RECORD_MAX ? rest : RECORD_MAX;
	/* Copies, so that the sanitizer knows where they end. */
	text = strndup((const char *)data, length);
	record = malloc(rest + 1);
	if (!text || !record)
		abort();
	memcpy(record, data + size - rest, rest);
	try_text(text, record, rest);
	try_condition(record, rest);
	free(record);
	free(text);
	return 0;
}
