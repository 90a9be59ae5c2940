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
#include <string.h>

enum { OP_GET = 1, OP_PUT = -7 };

REC_EVENT(ffi, all, u8(a), s64(b), array(u16, list, 3), real(load, 2), named(op, OP_GET, OP_PUT), string(path), bytes(raw));

#define ALL "all, u8(a), s64(b), array(u16, list, 3), real(load, 2), named(op, OP_GET, OP_PUT), string(path), bytes(raw)"

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
		cr_expect_eq(rec_event_declare(wrong[i].system, wrong[i].declaration, constants, wrong[i].nr, &event), -EINVAL,
			     "'%s:%s', %u constants", wrong[i].system, wrong[i].declaration, wrong[i].nr);
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
