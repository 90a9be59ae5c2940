/* SPDX-License-Identifier: MIT */
/* Events with a meaning: the recorded events, their format texts, and declarations that are refused. */
#include "tests/unit/event_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/event_text.h>
#include <librecorder/ffi.h>
#include <librecorder/pattern.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { OPEN, CLOSED = -2 };

REC_SPAN(span, request, u64(id), string(path), end(s32(result), named(how, OPEN, CLOSED)));
REC_SPAN(span, step, u32(n));
REC_SPAN(span, bare);
REC_SPAN_KEYED(span, rpc, key(u64(id), named(s8, kind, OPEN, CLOSED)), array(u8, a, 2), flow(cause), end(s32(status)));
REC_SPAN_KEYED(span, only, key(s16(id)));
REC_TIMED(span, flush, u64(bytes), string(where));
REC_TIMED(span, blank);
REC_COUNTER(span, heap, s64(bytes), string(zone));
REC_COUNTER(span, level, u8(percent));
REC_STATE(span, conn, key(u64(id)), named(value, OPEN, CLOSED));
REC_STATE(span, mode, flag(value), u8(why));
REC_EVENT(span, linked, u8(a), flow(cause));

static void expect(const char *expected)
{
	const char *text = event_fixture_text();

	cr_assert_str_eq(text, expected, "\n%s\ninstead of\n%s", text, expected);
}

static void all_on(void)
{
	cr_assert_gt(rec_enable("*"), 0);
}

TestSuite(span, .init = all_on);

Test(span, begin_and_end_are_two_events)
{
	static const uint8_t a[2] = { 1, 2 };

	REC_BEGIN(span, request, 7, "/etc");
	REC_BEGIN(span, rpc, UINT64_MAX, CLOSED, a, 99);
	REC_END(span, rpc, UINT64_MAX, CLOSED, -1);
	REC_BEGIN(span, only, -3);
	REC_END(span, only, -3);
	REC_END(span, request, -5, CLOSED);
	expect("request_begin: id=7 path=/etc\n"
	       "rpc_begin: id=18446744073709551615 kind=CLOSED a={1,2} cause=99\n"
	       "rpc_end: id=18446744073709551615 kind=CLOSED status=-1\n"
	       "only_begin: id=-3\n"
	       "only_end: id=-3\n"
	       "request_end: result=-5 how=CLOSED\n");
}

static int leave_by(int way)
{
	REC_SCOPE(span, bare);
	for (int i = 0; i < 2; i++) {
		REC_SCOPE(span, step, (unsigned int)i);
		if (way == i)
			return way;
		if (way == 7)
			break;
	}
	return -1;
}

Test(span, scopes_end_with_their_block)
{
	cr_assert_eq(leave_by(1), 1);
	cr_assert_eq(leave_by(7), -1);
	expect("bare_begin: \nstep_begin: n=0\nstep_end: \nstep_begin: n=1\nstep_end: \nbare_end: \n"
	       "bare_begin: \nstep_begin: n=0\nstep_end: \nbare_end: \n");
}

/*
 * A jump leaves spans open: the next end of an outer span shows it. No event is written in place of the missing ends.
 */
Test(span, a_jump_writes_no_end)
{
	jmp_buf back;

	REC_BEGIN(span, request, 1, "x");
	if (setjmp(back) == 0) {
		REC_SCOPE(span, bare);
		longjmp(back, 1);
	}
	REC_END(span, request, 0, OPEN);
	expect("request_begin: id=1 path=x\nbare_begin: \nrequest_end: result=0 how=OPEN\n");
}

/* The begin and the end are each recorded if they are on at that moment. */
Test(span, a_span_that_is_switched_inside)
{
	REC_BEGIN(span, request, 1, "x");
	cr_assert_eq(rec_disable("span:request"), 2);
	REC_END(span, request, 1, OPEN);
	REC_BEGIN(span, request, 2, "x");
	cr_assert_eq(rec_enable("span:request"), 2);
	REC_END(span, request, 2, OPEN);
	expect("request_begin: id=1 path=x\nrequest_end: result=2 how=OPEN\n");
}

static unsigned int evaluated;

static unsigned int count(void)
{
	return ++evaluated;
}

Test(span, a_scope_that_was_off_has_no_end)
{
	cr_assert_gt(rec_disable("span:*"), 0);
	{
		REC_SCOPE(span, step, count());
		cr_assert_gt(rec_enable("span:*"), 0);
	}
	expect("");
	cr_assert_eq(evaluated, 0);
	{
		REC_SCOPE(span, step, count());
		cr_assert_gt(rec_disable("span:*"), 0);
	}
	expect("step_begin: n=1\n");
}

Test(span, a_scope_whose_begin_is_suppressed_has_no_end)
{
	cr_assert_eq(rec_enable("span:step_begin if n == 2"), 1);
	for (unsigned int i = 1; i <= 3; i++) {
		REC_SCOPE(span, step, i);
	}
	expect("step_begin: n=2\nstep_end: \n");
}

Test(span, a_scope_whose_begin_is_refused_has_no_end)
{
	REC_BEGIN(span, bare); /* leases the lane */
	cr_assert_eq(rec_lane_disable(0), 0);
	{
		REC_SCOPE(span, step, 1);
		cr_assert_eq(rec_lane_enable(0), 0);
	}
	REC_END(span, bare);
	expect("bare_begin: \nbare_end: \n");
}

Test(span, a_timed_event_has_the_time_since_its_start)
{
	const uint64_t before = rec_clock_mono();
	const uint64_t start = REC_TIMED_START(span, flush);
	uint64_t after;
	unsigned long long dur;
	int end = 0;

	cr_assert_geq(start, before);
	REC_TIMED_END(span, flush, start, 5, "disk");
	after = rec_clock_mono();
	cr_assert_eq(sscanf(event_fixture_text(), "flush: dur=%llu bytes=5 where=disk\n%n", &dur, &end), 1);
	cr_assert_gt(end, 0);
	cr_assert_leq(dur, after - before);
	REC_TIMED_END(span, blank, rec_clock_mono());
	cr_assert_eq(sscanf(event_fixture_text(), "blank: dur=%llu\n", &dur), 1);
}

Test(span, a_timed_event_that_was_off_at_its_start_is_not_written)
{
	uint64_t start;

	cr_assert_gt(rec_disable("span:*"), 0);
	start = REC_TIMED_START(span, flush);
	cr_assert_eq(start, 0);
	cr_assert_gt(rec_enable("span:*"), 0);
	REC_TIMED_END(span, flush, start, count(), "disk");
	expect("");
	cr_assert_eq(evaluated, 0);
}

Test(span, counters_states_flows)
{
	REC(span, heap, -1, "low");
	REC(span, level, 100);
	REC(span, conn, 4, OPEN);
	REC(span, conn, 4, CLOSED);
	REC(span, mode, true, 3);
	REC(span, linked, 1, 99);
	expect("heap: bytes=-1 zone=low\nlevel: percent=100\nconn: id=4 value=OPEN\nconn: id=4 value=CLOSED\n"
	       "mode: value=1 why=3\nlinked: a=1 cause=99\n");
}

Test(span, tasks)
{
	char longest[300];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	errno = 77;
	REC_TASK(5);
	cr_assert_eq(errno, 77);
	REC_TASK(UINT64_MAX, "reader");
	REC_TASK(0, NULL);
	expect("task: id=5 name=\ntask: id=18446744073709551615 name=reader\ntask: id=0 name=\n");
	REC_TASK(1, longest);
	cr_assert_eq(strlen(event_fixture_text()), strlen("task: id=1 name=\n") + 255);
	cr_assert_eq(rec_disable("recorder:task"), 1);
	REC_TASK(evaluated++);
	expect("");
	cr_assert_eq(evaluated, 0);
}

Test(span, a_task_is_not_written_before_it_is_wanted)
{
	cr_assert_gt(rec_disable("*"), 0);
	REC_TASK(5);
	expect("");
	cr_assert_gt(rec_enable("recorder:*"), 0);
	REC_TASK(6);
	expect("task: id=6 name=\n");
}

Test(span, the_name_of_a_span_stands_for_both_events)
{
	cr_assert_gt(rec_disable("*"), 0);
	cr_assert_eq(rec_enable("span:request"), 2);
	REC_BEGIN(span, request, 7, "/");
	REC_BEGIN(span, bare);
	REC_END(span, bare);
	REC_END(span, request, 0, OPEN);
	expect("request_begin: id=7 path=/\nrequest_end: result=0 how=OPEN\n");
	cr_assert(rec_pattern_match("io:*,!io:reque?t", "io", 2, "submit", 6));
	cr_assert_not(rec_pattern_match("io:*,!io:reque?t", "io", 2, "request_end", 11));
	cr_assert(rec_pattern_match("io:a_end", "io", 2, "a_end_begin", 11));
	cr_assert(rec_pattern_match("io:a_end", "io", 2, "a_end", 5));
	cr_assert_not(rec_pattern_match("io:a", "io", 2, "a_end_begin", 11));
	cr_assert_not(rec_pattern_match("io:a", "io", 2, "a_begins", 8));
	cr_assert_not(rec_pattern_match("io:?", "io", 2, "_end", 4));
	cr_assert(rec_pattern_match("io:_end", "io", 2, "_end", 4));
}

/* ------------------------------------------------------------------------------------------------ format texts */

static void expect_fields(const struct rec_event *event, enum rec_event_meaning meaning, const char *name,
			  const char *expected)
{
	char text[REC_EVENT_TEXT_MAX], head[64];
	const char *fields;

	cr_assert_eq(rec_event_meaning(event->description), (int)meaning);
	cr_assert_gt(rec_event_text(event->description, 16385, text, sizeof(text)), 0);
	snprintf(head, sizeof(head), "name: %s\n", name);
	cr_assert_eq(strncmp(text, head, strlen(head)), 0, "%s", text);
	fields = strstr(text, "signed:1;\n\n") + strlen("signed:1;\n\n");
	cr_assert_eq(strncmp(fields, expected, strlen(expected)), 0, "\n%s\ninstead of\n%s", fields, expected);
	cr_assert_eq(strncmp(fields + strlen(expected), "\nprint fmt: ", 12), 0);
}

Test(span, type_words)
{
	expect_fields(&rec_event_span__request_begin, REC_MEANS_BEGIN, "request_begin",
		      "\tfield:u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:__data_loc char[] path;\toffset:16;\tsize:4;\tsigned:0;\n");
	expect_fields(&rec_event_span__request_end, REC_MEANS_END, "request_end",
		      "\tfield:s32 result;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:s32 how;\toffset:12;\tsize:4;\tsigned:1;\n");
	expect_fields(&rec_event_span__bare_end, REC_MEANS_END, "bare_end", "");
	expect_fields(&rec_event_span__rpc_begin, REC_MEANS_BEGIN, "rpc_begin",
		      "\tfield:rec_key_u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:rec_key_s8 kind;\toffset:16;\tsize:1;\tsigned:1;\n"
		      "\tfield:u8 a[2];\toffset:17;\tsize:2;\tsigned:0;\n"
		      "\tfield:rec_flow cause;\toffset:19;\tsize:8;\tsigned:0;\n");
	expect_fields(&rec_event_span__rpc_end, REC_MEANS_END, "rpc_end",
		      "\tfield:rec_key_u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:rec_key_s8 kind;\toffset:16;\tsize:1;\tsigned:1;\n"
		      "\tfield:s32 status;\toffset:17;\tsize:4;\tsigned:1;\n");
	expect_fields(&rec_event_span__flush, REC_MEANS_TIMED, "flush",
		      "\tfield:rec_duration dur;\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:u64 bytes;\toffset:16;\tsize:8;\tsigned:0;\n"
		      "\tfield:__data_loc char[] where;\toffset:24;\tsize:4;\tsigned:0;\n");
	expect_fields(&rec_event_span__heap, REC_MEANS_COUNTER, "heap",
		      "\tfield:rec_counter_s64 bytes;\toffset:8;\tsize:8;\tsigned:1;\n"
		      "\tfield:__data_loc char[] zone;\toffset:16;\tsize:4;\tsigned:0;\n");
	expect_fields(&rec_event_span__conn, REC_MEANS_STATE, "conn",
		      "\tfield:rec_key_u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
		      "\tfield:rec_state_s32 value;\toffset:16;\tsize:4;\tsigned:1;\n");
	expect_fields(&rec_event_span__mode, REC_MEANS_STATE, "mode",
		      "\tfield:rec_state_u8 value;\toffset:8;\tsize:1;\tsigned:0;\n"
		      "\tfield:u8 why;\toffset:9;\tsize:1;\tsigned:0;\n");
	expect_fields(
		&rec_event_span__linked, REC_MEANS_EVENT, "linked",
		"\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n\tfield:rec_flow "
		"cause;\toffset:9;\tsize:8;\tsigned:0;\n");
}

/* --------------------------------------------------------------------------------------------------- bindings */

Test(span, declared_at_run_time)
{
	const int64_t constants[] = { 2, OPEN, CLOSED };
	struct rec_event *begin, *end, *event;
	struct rec_fields fields;
	unsigned char room[64];

	cr_assert_eq(rec_span_declare("span",
				      " request , u64(id), string(path), end(s32(result), named(how, OPEN, CLOSED))",
				      constants, 3, &begin, &end),
		     0);
	cr_assert_eq(begin->id, rec_event_span__request_begin.id, "the macro's");
	cr_assert_eq(end->id, rec_event_span__request_end.id);
	cr_assert_eq(rec_fields_begin(&fields, end, room, sizeof(room)), 1);
	cr_assert_eq(rec_fields_put_signed(&fields, -1), 0);
	cr_assert_eq(rec_fields_put_signed(&fields, OPEN), 0);
	cr_assert_eq(rec_fields_write(&fields), 1);

	cr_assert_eq(rec_event_declare("span", "counter:level, u8(percent)", NULL, 0, &event), 0);
	cr_assert_eq(event->id, rec_event_span__level.id);
	cr_assert_eq(rec_event_declare("span", "timed:blank", NULL, 0, &event), 0);
	cr_assert_eq(event->id, rec_event_span__blank.id);
	cr_assert_eq(rec_fields_begin(&fields, event, room, sizeof(room)), 1);
	cr_assert_eq(rec_fields_put_unsigned(&fields, 12345), 0);
	cr_assert_eq(rec_fields_write(&fields), 1);
	expect("request_end: result=-1 how=OPEN\nblank: dur=12345\n");
}

Test(span, malformed_declarations_are_refused)
{
	static const char *const cases[] = {
		"begin:n",
		"begin:_n_begin",
		"begin:_n_end,n",
		"begin:_n_begin,m",
		"begin:n_begin,n",
		"begin:_n_begin,n, end()",
		"begin:_n_begin,n, end(u8(a)), u8(b)",
		"begin:_n_begin,n, end(end(u8(a)))",
		"begin:_n_begin,n, key(string(a))",
		"begin:_n_begin,n, key(flow(a))",
		"begin:_n_begin,n, u8(b), key(u8(a))",
		"begin:_n_begin,n, key(u8(a), u8(b), u8(c), u8(d), u8(e))",
		"n, key(u8(a))",
		"n, end(u8(a))",
		"n, array(flow, a, 2)",
		"none:n",
		":n",
		"counter:n",
		"counter:n, string(a)",
		"counter:n, flow(a)",
		"counter:n, key(u8(a)), u8(b)",
		"counter:n, ptr(a)",
		"counter:n, (\"format\"), u8(a)",
		"state:n, key(u8(a))",
		"state:n, string(a)",
		"state:n, u8(a), key(u8(b))",
		"state:n, u8(a), end(u8(b))",
		"timed:n, end(u8(b))",
		"task:n",
	};
	struct rec_event *event;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_assert_eq(rec_event_declare("bad", cases[i], NULL, 0, &event), -EINVAL, "%s", cases[i]);
	cr_assert_eq(rec_event_declare("good", "begin:_n_begin , n, key(u8(a)), u8(b), end(u8(c))", NULL, 0, &event),
		     0);
	cr_assert_eq(rec_span_declare("bad", "n, u8(a", NULL, 0, &event, &event), -EINVAL);
	cr_assert_eq(rec_span_declare("bad", "", NULL, 0, &event, &event), -EINVAL);
}
