/* SPDX-License-Identifier: MIT */
/*
 * Events declared and written without macros: they are the same as those that the macros make, and malformed ones are
 * refused.
 */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/ffi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { OP_GET = 1, OP_PUT = -7 };

REC_EVENT(ffi, all, u8(a), s64(b), array(u16, list, 3), real(load, 2), named(op, OP_GET, OP_PUT), string(path),
	  bytes(raw));

#define ALL                                                                                                            \
	"all, u8(a), s64(b), array(u16, list, 3), real(load, 2), named(op, OP_GET, OP_PUT), string(path), bytes(raw)"

static const int64_t constants[] = { 3, 2, 2, OP_GET, OP_PUT };

#define NR_CONSTANTS 5u

struct __attribute__((packed)) fields {
	uint8_t a;
	int64_t b;
	uint16_t list[3];
	int64_t load;
	int32_t op;
	uint32_t path, raw;
	char dynamic[8];
};

static void begin(void)
{
	view_begin(8);
}

TestSuite(ffi, .init = begin, .fini = lane_end);

static struct rec_event *declare(const char *declaration)
{
	struct rec_event *event = NULL;

	cr_assert_eq(rec_event_declare("ffi", declaration, NULL, 0, &event), 0, "%s", declaration);
	return event;
}

/* The record of the next event; 0: there is no event. */
static uint32_t next_record(void *record, size_t size)
{
	struct rec_view_event event;

	if (rec_view_lanes(view) == 0 || rec_view_consume(view, 0, &event) != 1)
		return 0;
	cr_assert_leq(event.record.size, size);
	memcpy(record, event.record.payload, event.record.size);
	return event.record.size;
}

Test(ffi, is_the_event_of_the_macro)
{
	const uint16_t list[] = { 10, 20, 65535 };
	const uint32_t at = REC_EVENT_COMMON_SIZE + offsetof(struct fields, dynamic);
	const struct fields fields = { 5,  -6, { 10, 20, 65535 }, 125, OP_PUT, at | 5u << 16, (at + 5) | 3u << 16,
				       { '/', 't', 'm', 'p', 0, 1, 2, 3 } };
	unsigned char macro[128], written[128];
	struct rec_event *event = NULL;
	uint32_t size;

	cr_assert_eq(rec_event_declare("ffi", ALL, constants, NR_CONSTANTS, &event), 0);
	cr_assert_eq(event->id, rec_event_ffi__all.id);
	cr_assert_eq(rec_event_write(event, &fields, sizeof(fields)), 0, "it is off");
	cr_assert_eq(next_record(written, sizeof(written)), 0);
	cr_assert_eq(rec_enable("ffi:all"), 1, "one event, however often it is declared");
	REC(ffi, all, 5, -6, list, 1.25, OP_PUT, "/tmp", "\1\2\3", 3);
	cr_assert_eq(rec_event_write(event, &fields, sizeof(fields)), 1);
	size = next_record(macro, sizeof(macro));
	/* In the ring its length is a multiple of 4. */
	cr_assert_eq(size, (REC_EVENT_COMMON_SIZE + sizeof(fields) + 3) / 4 * 4);
	cr_assert_eq(next_record(written, sizeof(written)), size);
	cr_assert_arr_eq(macro, written, size);
}

Test(ffi, other_constants_are_another_event)
{
	const int64_t others[] = { 3, 2, 2, OP_GET, OP_PUT + 1 };
	struct rec_event *event = NULL;

	cr_assert_eq(rec_event_declare("ffi", ALL, others, NR_CONSTANTS, &event), 0);
	cr_assert_neq(event->id, rec_event_ffi__all.id);
	cr_assert_eq(declare("plain, u32(n)")->id, declare("plain, u32(n)")->id);
	cr_assert_neq(declare("plain, u32(n)")->id, declare("plain, u32(m)")->id);
}

Test(ffi, malformed_declarations)
{
	static const struct {
		const char *system, *declaration;
		unsigned int nr; /* of the constants */
	} wrong[] = {
		{ "ffi", "", 0 },
		{ "ffi", "n m", 0 },
		{ "", "none, u32(n)", 0 },
		{ "f i", "none, u32(n)", 0 },
		{ "ffi", "none, u33(n)", 0 },
		{ "ffi", "none, u32()", 0 },
		{ "ffi", "none, u32(n", 0 },
		{ "ffi", "none, u32(n)) ", 0 },
		{ "ffi", "none, u32(n),", 0 },
		{ "ffi", "none u32(n)", 0 },
		{ "ffi", "none, array(u16, list, 3)", 0 },
		{ "ffi", "none, named(op, OP_GET, OP_PUT)", 1 },
		{ "ffi", "none, u32(n)", 1 },
		{ "ffi", ALL, NR_CONSTANTS - 1 },
	};
	struct rec_event *event = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_eq(rec_event_declare(wrong[i].system, wrong[i].declaration, constants, wrong[i].nr, &event),
			     -EINVAL, "'%s:%s', %u constants", wrong[i].system, wrong[i].declaration, wrong[i].nr);
	cr_assert_null(event);
}

Test(ffi, sizes)
{
	struct rec_event *event = declare("sized, u32(n), string(s)");
	static unsigned char bytes[REC_EVENT_SIZE_MAX];
	struct rec_lane_stats stats;

	cr_assert_eq(rec_enable("ffi:sized"), 1);
	cr_assert_eq(rec_event_write(event, bytes, 7), -EINVAL, "less than the fixed fields take");
	cr_assert_eq(rec_event_write(event, bytes, 8), 1);
	cr_assert_eq(rec_event_write(event, bytes, 4060), -EBUSY, "more than a sub-buffer takes");
	cr_assert_eq(rec_event_write(event, bytes, sizeof(bytes)), -EBUSY, "more than an event can have");
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 1);
	cr_assert_eq(stats.too_long, 2);
}

Test(ffi, filters)
{
	struct rec_event *event = declare("filtered, u32(n)");
	unsigned char record[64];
	uint32_t n, seen, count = 0;

	cr_assert_eq(rec_enable("ffi:filtered if n == 3"), 1);
	for (n = 0; n < 10; n++)
		cr_assert_eq(rec_event_write(event, &n, sizeof(n)), 1);
	for (; next_record(record, sizeof(record)); count++) {
		memcpy(&seen, record + REC_EVENT_COMMON_SIZE, sizeof(seen));
		cr_assert_eq(seen, 3);
	}
	cr_assert_eq(count, 1);
}

/* f32 and f64, as the macro writes them. */
Test(ffi, floats)
{
	unsigned char room[12];
	struct rec_fields fields;
	struct rec_event *event;
	float single;
	double wide;

	cr_assert_eq(rec_event_declare("ffi", "floats, f32(a), f64(b)", NULL, 0, &event), 0);
	cr_assert_gt(rec_enable("ffi:floats"), 0);
	cr_assert_eq(rec_fields_begin(&fields, event, room, sizeof(room)), 1);
	cr_assert_eq(rec_fields_put_real(&fields, 0.1), 0);
	cr_assert_eq(rec_fields_put_real(&fields, -0.1), 0);
	cr_assert_eq(rec_fields_write(&fields), 1);
	memcpy(&single, room, sizeof(single));
	memcpy(&wide, room + sizeof(single), sizeof(wide));
	cr_assert(single >= 0.1f && single <= 0.1f);
	cr_assert(wide >= -0.1 && wide <= -0.1);
	cr_assert_eq(rec_fields_begin(&fields, event, room, sizeof(room)), 1);
	cr_assert_eq(rec_fields_put_signed(&fields, 1), -EINVAL);
}

static void put(struct rec_fields *fields, unsigned int last)
{
	static const uint16_t list[] = { 10, 20, 65535 };

	for (unsigned int i = 0; i < last; i++)
		switch (i) {
		case 0:
			cr_assert_eq(rec_fields_put_unsigned(fields, 5), 0);
			break;
		case 1:
			cr_assert_eq(rec_fields_put_signed(fields, -6), 0);
			break;
		case 2:
			cr_assert_eq(rec_fields_put_array(fields, list, sizeof(list[0]), 3), 0);
			break;
		case 3:
			cr_assert_eq(rec_fields_put_real(fields, 1.25), 0);
			break;
		case 4:
			cr_assert_eq(rec_fields_put_signed(fields, OP_PUT), 0);
			break;
		case 5:
			cr_assert_eq(rec_fields_put_text(fields, "/tmp/beyond", 4), 0);
			break;
		default:
			cr_assert_eq(rec_fields_put_bytes(fields, "\1\2\3", 3), 0);
			break;
		}
}

#define NR_FIELDS 7u

static struct rec_event *declare_all(void)
{
	struct rec_event *event = NULL;

	cr_assert_eq(rec_event_declare("ffi", ALL, constants, NR_CONSTANTS, &event), 0);
	return event;
}

Test(ffi, put_value_by_value)
{
	unsigned char macro[128], written[128], room[sizeof(struct fields)];
	struct rec_event *event = declare_all();
	const uint16_t list[] = { 10, 20, 65535 };
	struct rec_fields fields;
	uint32_t size;

	cr_assert_eq(rec_enable("ffi:all"), 1);
	cr_assert_eq(rec_fields_begin(&fields, event, room, sizeof(room)), 1);
	put(&fields, NR_FIELDS);
	cr_assert_eq(rec_fields_write(&fields), 1);
	cr_assert_eq(rec_fields_write(&fields), 1, "the same again");
	REC(ffi, all, 5, -6, list, 1.25, OP_PUT, "/tmp", "\1\2\3", 3);
	size = next_record(written, sizeof(written));
	cr_assert_eq(size, (REC_EVENT_COMMON_SIZE + sizeof(struct fields) + 3) / 4 * 4);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(next_record(macro, sizeof(macro)), size);
		cr_assert_arr_eq(macro, written, size);
	}
	cr_assert_eq(next_record(macro, sizeof(macro)), 0);
}

Test(ffi, put_null)
{
	struct rec_event *event = declare("nulls, string(s), bytes(b), stringn(t)");
	const uint32_t expected[] = { 20u | 7u << 16, 27u, 27u | 1u << 16 };
	unsigned char room[64], record[64];
	struct rec_fields fields;

	cr_assert_eq(rec_enable("ffi:nulls"), 1);
	cr_assert_eq(rec_fields_begin(&fields, event, room, sizeof(room)), 1);
	cr_assert_eq(rec_fields_put_text(&fields, NULL, 1000), 0);
	cr_assert_eq(rec_fields_put_bytes(&fields, NULL, 1000), 0);
	cr_assert_eq(rec_fields_put_text(&fields, "", 0), 0);
	cr_assert_eq(rec_fields_write(&fields), 1);
	cr_assert_eq(next_record(record, sizeof(record)), 28);
	cr_assert_arr_eq(record + REC_EVENT_COMMON_SIZE, expected, sizeof(expected));
	cr_assert_arr_eq(record + 20, "(null)\0", 8);
}

Test(ffi, put_ranges)
{
	static const struct {
		const char *kind;
		uint64_t most;
	} numbers[] = {
		{ "u8", UINT8_MAX },   { "u16", UINT16_MAX }, { "u32", UINT32_MAX }, { "u64", UINT64_MAX },
		{ "ptr", UINT64_MAX }, { "flag", 1 },	      { "hex8", UINT8_MAX }, { "hex16", UINT16_MAX },
		{ "s8", INT8_MAX },    { "s16", INT16_MAX },  { "s32", INT32_MAX },  { "s64", INT64_MAX },
	};
	unsigned char room[8], record[64];
	struct rec_fields fields;
	struct rec_event *event;
	char declaration[64];
	int64_t found;
	bool is_signed;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const uint64_t most = numbers[i].most;

		snprintf(declaration, sizeof(declaration), "range_%s, %s(n)", numbers[i].kind, numbers[i].kind);
		event = declare(declaration);
		is_signed = numbers[i].kind[0] == 's';
		cr_assert_eq(rec_enable("ffi"), (int)i + 2, "these events and that of the macro");
		rec_fields_begin(&fields, event, room, sizeof(room));
		cr_expect_eq(is_signed ? rec_fields_put_signed(&fields, -(int64_t)most - 1) :
					 rec_fields_put_unsigned(&fields, most), 0, "%s", declaration);
		cr_assert_eq(rec_fields_write(&fields), 1);
		cr_assert_geq(next_record(record, sizeof(record)), 9);
		memcpy(&found, record + REC_EVENT_COMMON_SIZE, sizeof(found));
		if (is_signed)
			cr_expect_eq((uint64_t)found & (2 * most + 1), most + 1, "%s", declaration);
		else
			cr_expect_eq((uint64_t)found & most, most, "%s", declaration);
		if (most == UINT64_MAX || most == INT64_MAX)
			continue;
		rec_fields_begin(&fields, event, room, sizeof(room));
		cr_expect_eq(is_signed ? rec_fields_put_signed(&fields, (int64_t)most + 1) :
					 rec_fields_put_unsigned(&fields, most + 1), -ERANGE, "%s", declaration);
		cr_expect_eq(rec_fields_write(&fields), -ERANGE, "%s", declaration);
		if (!is_signed)
			continue;
		rec_fields_begin(&fields, event, room, sizeof(room));
		cr_expect_eq(rec_fields_put_signed(&fields, -(int64_t)most - 2), -ERANGE, "%s", declaration);
	}
}

/* Put a value of kind `kind` of the table below. */
static int put_kind(struct rec_fields *fields, int kind)
{
	const uint16_t list[3] = { 0 };

	switch (kind) {
	case 0:
		return rec_fields_put_unsigned(fields, 0);
	case 1:
		return rec_fields_put_signed(fields, 0);
	case 2:
		return rec_fields_put_array(fields, list, sizeof(list[0]), 3);
	case 3:
		return rec_fields_put_real(fields, 0);
	case 4:
		return rec_fields_put_text(fields, "", 0);
	default:
		return rec_fields_put_bytes(fields, "", 0);
	}
}

Test(ffi, put_of_another_kind)
{
	/* Which value each field of ALL takes, and none after the last. */
	static const int takes[] = { 0, 1, 2, 3, 1, 4, 5, -1 };
	unsigned char room[sizeof(struct fields)];
	struct rec_event *event = declare_all();
	struct rec_fields fields;

	cr_assert_eq(rec_enable("ffi:all"), 1);
	for (unsigned int field = 0; field <= NR_FIELDS; field++)
		for (int kind = 0; kind < 6; kind++) {
			if (kind == takes[field])
				continue;
			rec_fields_begin(&fields, event, room, sizeof(room));
			put(&fields, field);
			cr_expect_eq(put_kind(&fields, kind), -EINVAL, "field %u, kind %d", field, kind);
			cr_expect_eq(put_kind(&fields, takes[field]), -EINVAL, "field %u: the mistake is kept", field);
			cr_expect_eq(rec_fields_write(&fields), -EINVAL);
		}
	for (unsigned int field = 0; field < NR_FIELDS; field++) {
		rec_fields_begin(&fields, event, room, sizeof(room));
		put(&fields, field);
		cr_expect_eq(rec_fields_write(&fields), -EINVAL, "%u fields", field);
	}
	cr_assert_eq(next_record(room, sizeof(room)), 0);
}

Test(ffi, put_other_elements)
{
	static const uint16_t list[4];
	unsigned char room[sizeof(struct fields)];
	struct rec_event *event = declare_all();
	struct rec_fields fields;

	cr_assert_eq(rec_enable("ffi:all"), 1);
	rec_fields_begin(&fields, event, room, sizeof(room));
	put(&fields, 2);
	cr_assert_eq(rec_fields_put_array(&fields, list, sizeof(list[0]), 4), -EINVAL);
	rec_fields_begin(&fields, event, room, sizeof(room));
	put(&fields, 2);
	cr_assert_eq(rec_fields_put_array(&fields, list, 1, 3), -EINVAL);
}

/* Every size that is too small gives an error, and the bytes after the given room do not change. */
Test(ffi, put_into_small_rooms)
{
	struct rec_event *event = declare_all();
	unsigned char room[sizeof(struct fields) + 1];
	struct rec_fields fields;

	cr_assert_eq(rec_enable("ffi:all"), 1);
	for (size_t size = 0; size < sizeof(struct fields); size++) {
		const bool fixed = size >= offsetof(struct fields, dynamic);

		memset(room, 0xaa, sizeof(room));
		cr_expect_eq(rec_fields_begin(&fields, event, room, size), fixed ? 1 : -ENOSPC, "%zu bytes", size);
		if (fixed)
			put(&fields, 5);
		if (size < offsetof(struct fields, dynamic) + 5)
			cr_expect_eq(rec_fields_put_text(&fields, "/tmp", 4), -ENOSPC, "%zu bytes", size);
		else
			cr_expect_eq(rec_fields_put_text(&fields, "/tmp", 4), 0, "%zu bytes", size);
		cr_expect_eq(rec_fields_put_bytes(&fields, "\1\2\3", 3), -ENOSPC, "%zu bytes", size);
		cr_expect_eq(rec_fields_write(&fields), -ENOSPC, "%zu bytes", size);
		for (size_t i = size; i < sizeof(room); i++)
			cr_expect_eq(room[i], 0xaa, "%zu bytes, byte %zu", size, i);
	}
	rec_fields_begin(&fields, event, room, sizeof(room) - 1);
	put(&fields, 5);
	cr_expect_eq(rec_fields_put_text(&fields, "", SIZE_MAX), -ENOSPC);
	cr_assert_eq(next_record(room, sizeof(room)), 0);
}

Test(ffi, put_while_off)
{
	struct rec_event *event = declare("unseen, u8(n)");
	struct rec_fields fields;

	cr_assert_eq(rec_fields_begin(&fields, event, NULL, 0), 0);
	cr_assert_eq(rec_fields_put_unsigned(&fields, 1000), 0, "values are ignored");
	cr_assert_eq(rec_fields_put_text(&fields, "", 0), 0);
	cr_assert_eq(rec_enable("ffi:unseen"), 1);
	cr_assert_eq(rec_fields_write(&fields), 0, "it was off when it began");
}
