/* SPDX-License-Identifier: MIT */
/*
 * The meaning of a program's events: each case feeds events and compares the model's items with the expected ones.
 * test_model_kernel.c has the kernel's events.
 */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define KNOWN_MAX 262144 /* MODEL_KNOWN_MAX */

TestSuite(model, .init = model_fixture_open, .fini = model_fixture_close);

/* ------------------------------------------------------------------------------------------------------------ spans */

Test(model, spans_nest_on_their_thread)
{
	feed_int(10, OUTER_BEGIN, 1, 7);
	feed_bare(20, INNER_BEGIN, 1);
	feed_bare(25, INNER_BEGIN, 2);
	feed_bare(30, INNER_END, 1);
	feed_int(35, PLAIN, 1, 0);
	feed_int(50, OUTER_END, 1, -1);
	feed_bare(60, INNER_END, 2);
	expect_items("io:inner 1 20-30 own 10 depth 1 in 1\n"
		     "plain 1 at 35 in 1\n"
		     "io:outer 1 10-50 own 30 depth 0\n"
		     "io:inner 2 25-60 own 35 depth 0\n");
}

Test(model, an_outer_end_cuts_what_a_jump_has_left)
{
	feed_int(10, OUTER_BEGIN, 1, 7);
	feed_bare(20, INNER_BEGIN, 1);
	feed_bare(25, INNER_BEGIN, 1);
	feed_int(50, OUTER_END, 1, -1);
	feed_int(60, OUTER_BEGIN, 1, 7);
	feed_int(70, OUTER_END, 1, 0);
	expect_items("io:inner 1 25-50 own 25 depth 2 cut in 2\n"
		     "io:inner 1 20-50 own 5 depth 1 cut in 1\n"
		     "io:outer 1 10-50 own 10 depth 0\n"
		     "io:outer 1 60-70 own 10 depth 0\n");
}

Test(model, what_is_open_at_the_end_and_what_began_before)
{
	feed_int(10, PLAIN, 1, 0);
	feed_bare(20, INNER_END, 1);
	feed_int(30, OUTER_BEGIN, 1, 7);
	feed_int(40, PLAIN, 2, 0);
	expect_items("plain 1 at 10 in 0\n"
		     "io:inner 1 10-20 own 10 depth 0 no-begin\n"
		     "plain 2 at 40 in 0\n"
		     "io:outer 1 30-40 own 10 depth 0 open\n");
}

/* Begins without ends: of too many open spans, the outermost are given up. The others end as usual. */
Test(model, spans_that_never_end)
{
	for (uint64_t i = 0; i < 1026; i++)
		feed_bare(100 + i, INNER_BEGIN, 1);
	cr_assert_str_eq(items_text, "io:inner 1 100-1124 own 1024 depth 0 cut\n"
				     "io:inner 1 101-1125 own 1024 depth 1 cut in 1\n");
	items_text[0] = '\0';
	for (uint64_t i = 0; i < 1024; i++) {
		items_text[0] = '\0';
		feed_bare(2000 + i, INNER_END, 1);
	}
	cr_assert_str_eq(items_text, "io:inner 1 102-3023 own 2 depth 2 in 2\n");
	items_text[0] = '\0';
	feed_bare(4000, INNER_END, 1);
	expect_items("io:inner 1 100-4000 own 3900 depth 0 no-begin\n");
}

Test(model, a_recursive_span)
{
	feed_bare(10, INNER_BEGIN, 1);
	feed_bare(20, INNER_BEGIN, 1);
	feed_bare(30, INNER_END, 1);
	feed_bare(40, INNER_END, 1);
	expect_items("io:inner 1 20-30 own 10 depth 1 in 1\n"
		     "io:inner 1 10-40 own 20 depth 0\n");
}

/* A damaged file has events of programs without a format. */
Test(model, a_loss_before_an_event_without_a_format)
{
	event_of(20000, 1);
	event_feed_lost(20, 0, 5);
	expect_items("lost 5 before 20 on 0 by programs\n"
		     "? 1 at 20 in 0\n");
}

Test(model, a_loss_within_a_span_makes_it_doubtful)
{
	feed_bare(10, INNER_BEGIN, 1);
	event_of(PLAIN, 1);
	event_put32(0);
	event_feed_lost(20, 0, 5);
	feed_bare(30, INNER_END, 1);
	feed_bare(40, INNER_BEGIN, 1);
	feed_bare(50, INNER_END, 1);
	expect_items("lost 5 before 20 on 0 by programs\n"
		     "plain 1 at 20 in 1\n"
		     "io:inner 1 10-30 own 20 depth 0 cut\n"
		     "io:inner 1 40-50 own 10 depth 0\n");
}

Test(model, a_loss_on_the_cpu_where_a_thread_was_seen_last)
{
	feed_bare(10, INNER_BEGIN, 1);
	event_of(PLAIN, 2);
	event_put32(0);
	event_feed_lost(20, 0, -1);
	event_of(INNER_END, 1);
	event_feed(30, 1);
	event_of(INNER_BEGIN, 3);
	event_feed(40, 1);
	event_of(INNER_END, 3);
	event_feed(50, 1);
	expect_items("lost -1 before 20 on 0\n"
		     "plain 2 at 20 in 0\n"
		     "io:inner 1 10-30 own 20 depth 0 cut\n"
		     "io:inner 3 40-50 own 10 depth 0\n");
}

Test(model, a_loss_on_the_cpu_where_a_thread_is_seen_next)
{
	feed_bare(10, INNER_BEGIN, 1);
	event_of(PLAIN, 2);
	event_put32(0);
	event_feed_lost(20, 1, 5);
	event_of(INNER_END, 1);
	event_feed(30, 1);
	event_of(INNER_BEGIN, 1);
	event_feed(40, 1);
	event_of(INNER_END, 1);
	event_feed(50, 1);
	expect_items("lost 5 before 20 on 1 by programs\n"
		     "plain 2 at 20 in 0\n"
		     "io:inner 1 10-30 own 20 depth 0 cut\n"
		     "io:inner 1 40-50 own 10 depth 0\n");
}

/* A jump may have left the outer span at 30; then the end at 40 belongs to another span. */
Test(model, an_end_without_a_begin_makes_what_is_open_doubtful)
{
	feed_int(10, PLAIN, 1, 0);
	feed_int(20, OUTER_BEGIN, 1, 7);
	feed_bare(25, INNER_BEGIN, 2);
	feed_bare(30, INNER_END, 1);
	feed_int(40, OUTER_END, 1, 0);
	feed_bare(45, INNER_END, 2);
	feed_int(50, OUTER_BEGIN, 1, 7);
	feed_int(60, OUTER_END, 1, 0);
	expect_items("plain 1 at 10 in 0\n"
		     "io:inner 1 10-30 own 20 depth 1 no-begin in 1\n"
		     "io:outer 1 20-40 own 20 depth 0 cut\n"
		     "io:inner 2 25-45 own 20 depth 0\n"
		     "io:outer 1 50-60 own 10 depth 0\n");
}

Test(model, keys_find_a_span_on_any_thread)
{
	feed_int(10, RPC_BEGIN, 1, 5);
	feed_int(20, RPC_BEGIN, 1, 6);
	feed_int(30, RPC_END, 2, 5);
	feed_int(40, RPC_END, 1, 9);
	feed_int(50, RPC_BEGIN, 3, 6);
	feed_int(60, RPC_END, 4, 6);
	expect_items("net:rpc 1 10-30 own 20 depth 0 key 5 to 2\n"
		     "net:rpc 1 10-40 own 30 depth 0 no-begin key 9\n"
		     "net:rpc 3 50-60 own 10 depth 0 key 6 to 4\n"
		     "net:rpc 1 20-60 own 40 depth 0 open key 6\n");
}

/* Thread 1 has lost the end of its span and the begin of another one; its next event, at 60, reports that. */
Test(model, a_loss_that_is_reported_after_another_thread_ended_the_span)
{
	model_fixture_lose_programs(12, 60);
	feed_int(5, RPC_BEGIN, 1, 4);
	feed_int(6, RPC_END, 2, 4);
	feed_int(10, RPC_BEGIN, 1, 5);
	feed_int(11, RPC_BEGIN, 1, 6);
	feed_int(12, RPC_END, 2, 6);
	feed_int(30, RPC_END, 2, 5);
	event_of(PLAIN, 1);
	event_put32(0);
	event_feed_lost(60, 0, 2);
	feed_int(61, RPC_BEGIN, 1, 5);
	feed_int(70, RPC_END, 2, 5);
	expect_items("net:rpc 1 5-6 own 1 depth 0 key 4 to 2\n"
		     "net:rpc 1 11-12 own 1 depth 0 key 6 to 2\n"
		     "net:rpc 1 10-30 own 20 depth 0 cut key 5 to 2\n"
		     "lost 2 before 60 on 0 by programs\n"
		     "plain 1 at 60 in 0\n"
		     "net:rpc 1 61-70 own 9 depth 0 key 5 to 2\n");
}

/* The end of the first span may be among the lost events. The span that began after the loss lacks nothing. */
Test(model, a_keyed_span_is_open_when_events_were_lost)
{
	model_fixture_lose_programs(12, 60);
	feed_int(10, RPC_BEGIN, 1, 5);
	feed_int(61, RPC_BEGIN, 1, 6);
	expect_items("net:rpc 1 10-61 own 51 depth 0 open cut key 5\n"
		     "net:rpc 1 61-61 own 0 depth 0 open key 6\n");
}

/* The file is a piece of a recording, and its notes have the losses of all pieces. */
Test(model, a_keyed_span_is_open_in_a_piece_before_the_losses)
{
	model_fixture_lose_programs(50, 60);
	feed_int(10, RPC_BEGIN, 1, 5);
	feed_int(20, RPC_BEGIN, 1, 6);
	expect_items("net:rpc 1 10-20 own 10 depth 0 open key 5\n"
		     "net:rpc 1 20-20 own 0 depth 0 open key 6\n");
}

/* This also holds after the table has grown several times. */
Test(model, of_equal_keys_the_last_begin_has_the_first_end)
{
	feed_int(1, RPC_BEGIN, 1, 7);
	feed_int(2, RPC_BEGIN, 1, 7);
	feed_int(3, RPC_BEGIN, 1, 7);
	for (int i = 0; i < 1000; i++)
		feed_int(4, RPC_BEGIN, 1, 100 + i);
	feed_int(10, RPC_END, 1, 7);
	feed_int(20, RPC_END, 1, 7);
	feed_int(30, RPC_END, 1, 7);
	cr_assert_str_eq(items_text, "net:rpc 1 3-10 own 7 depth 0 key 7\n"
				     "net:rpc 1 2-20 own 18 depth 0 key 7\n"
				     "net:rpc 1 1-30 own 29 depth 0 key 7\n");
}

/* Two processes count their requests from 1. A third one ends what the first left. */
Test(model, of_equal_keys_a_process_ends_its_own)
{
	feed_int(1, RPC_BEGIN, 71, 1);
	feed_int(2, RPC_BEGIN, 81, 1);
	feed_int(3, RPC_END, 72, 1);
	feed_int(4, RPC_BEGIN, 71, 1);
	feed_int(5, RPC_END, 82, 1);
	feed_int(6, RPC_END, 5, 1);
	cr_assert_str_eq(items_text, "net:rpc 71 1-3 own 2 depth 0 key 1 to 72\n"
				     "net:rpc 81 2-5 own 3 depth 0 key 1 to 82\n"
				     "net:rpc 71 4-6 own 2 depth 0 key 1 to 5\n");
}

/* The search for the process's own span skips 1024 spans of other processes; then the newest span of all is taken. */
Test(model, of_equal_keys_very_many_of_another_process)
{
	feed_int(1, RPC_BEGIN, 71, 1);
	for (int i = 0; i < 1024; i++)
		feed_int(2 + (uint64_t)i, RPC_BEGIN, 81, 1);
	feed_int(2000, RPC_END, 72, 1);
	feed_int(2001, RPC_BEGIN, 71, 1);
	for (int i = 0; i < 1025; i++)
		feed_int(2002 + (uint64_t)i, RPC_BEGIN, 81, 1);
	feed_int(4000, RPC_END, 72, 1);
	feed_int(4001, RPC_END, 72, 1);
	cr_assert_str_eq(items_text, "net:rpc 71 1-2000 own 1999 depth 0 key 1 to 72\n"
				     "net:rpc 81 3026-4000 own 974 depth 0 key 1 to 72\n"
				     "net:rpc 71 2001-4001 own 2000 depth 0 key 1 to 72\n");
}

Test(model, many_keys)
{
	char wanted[64];

	for (int i = 0; i < 1000; i++)
		feed_int((uint64_t)i, RPC_BEGIN, 1, i);
	for (int i = 999; i >= 0; i--) {
		items_text[0] = '\0';
		feed_int(1000 + (uint64_t)(999 - i), RPC_END, 1, i);
		snprintf(wanted, sizeof(wanted), "net:rpc 1 %d-%d own %d depth 0 key %d\n", i, 1999 - i, 1999 - 2 * i,
			 i);
		cr_assert_str_eq(items_text, wanted);
	}
	items_text[0] = '\0';
	expect_items("");
}

Test(model, a_span_written_at_its_end)
{
	feed_int(10, OUTER_BEGIN, 1, 0);
	feed_long(50, FLUSH, 1, 30);
	feed_int(60, OUTER_END, 1, 0);
	expect_items("io:flush 1 20-50 own 30 depth 1 in 1\n"
		     "io:outer 1 10-60 own 20 depth 0\n");
}

/* Spans that ended inside a timed span are its own time no longer, and are not taken twice from the span around it. */
Test(model, a_span_written_at_its_end_has_others_inside)
{
	feed_int(10, OUTER_BEGIN, 1, 0);
	feed_bare(12, INNER_BEGIN, 1);
	feed_bare(17, INNER_END, 1);
	feed_bare(20, INNER_BEGIN, 1);
	feed_bare(30, INNER_END, 1);
	feed_long(40, FLUSH, 1, 8);
	feed_long(45, FLUSH, 1, 25);
	feed_int(60, OUTER_END, 1, 0);
	feed_long(65, FLUSH, 1, 60);
	expect_items("io:inner 1 12-17 own 5 depth 1 in 1\n"
		     "io:inner 1 20-30 own 10 depth 1 in 1\n"
		     "io:flush 1 32-40 own 8 depth 1 in 1\n"
		     "io:flush 1 20-45 own 7 depth 1 in 1\n"
		     "io:outer 1 10-60 own 20 depth 0\n"
		     "io:flush 1 5-65 own 10 depth 0\n");
}

/* Of very many spans that have ended, the last ones stay apart, and the time of the others stays exact. */
Test(model, a_span_written_at_its_end_after_very_many)
{
	feed_int(10, OUTER_BEGIN, 1, 0);
	for (uint64_t i = 0; i < 5000; i++) {
		items_text[0] = '\0';
		feed_bare(100 + 10 * i, INNER_BEGIN, 1);
		feed_bare(103 + 10 * i, INNER_END, 1);
	}
	items_text[0] = '\0';
	feed_long(50100, FLUSH, 1, 200);
	feed_long(50110, FLUSH, 1, 50050);
	feed_int(50120, OUTER_END, 1, 0);
	expect_items("io:flush 1 49900-50100 own 140 depth 1 in 1\n"
		     "io:flush 1 60-50110 own 34910 depth 1 in 1\n"
		     "io:outer 1 10-50120 own 60 depth 0\n");
}

/* ------------------------------------------------------------------------------------------ counters, states, flows */

Test(model, counters)
{
	feed_int(10, HEAP, 1, -5);
	feed_int(20, HEAP, 2, 1000);
	expect_items("mem:heap 1 at 10: -5\nmem:heap 2 at 20: 1000\n");
}

static void state_of(uint64_t ts, int32_t id, int32_t value)
{
	event_of(STATE, 1);
	event_put32(id);
	event_put32(value);
	event_feed(ts, 0);
}

Test(model, a_state_lasts_until_the_next_of_its_key)
{
	state_of(10, 1, 0);
	state_of(20, 2, 0);
	state_of(30, 1, 4);
	state_of(40, 1, 4);
	expect_items("conn:state 10-30 of 1: 0\n"
		     "conn:state 30-40 of 1: 4\n"
		     "conn:state 40-40 of 1: 4 open\n"
		     "conn:state 20-40 of 2: 0 open\n");
}

Test(model, a_state_of_two_shapes)
{
	state_of(10, 1, 0);
	event_of(STATE_REASON, 2); /* of another build of the program */
	event_put32(1);
	event_put32(0);
	event_put64(9);
	event_feed(20, 0);
	state_of(30, 1, 4);
	expect_items("conn:state 10-20 of 1: 0\nconn:state 20-30 of 1: 0\nconn:state 30-30 of 1: 4 open\n");
}

/* Those that were known first are given up. The next state of such a key begins anew. */
Test(model, states_of_too_many_things)
{
	for (int32_t id = 0; id < KNOWN_MAX + 2; id++)
		state_of(10 + (uint64_t)id, id, 0);
	cr_assert_str_eq(items_text, "conn:state 10-262154 of 0: 0 open\n"
				     "conn:state 11-262155 of 1: 0 open\n");
	items_text[0] = '\0';
	state_of(300000, 2, 1);
	state_of(300001, 0, 1);
	cr_assert_str_eq(items_text, "conn:state 12-300000 of 2: 0\n"
				     "conn:state 300000-300001 of 2: 1 open\n");
	cr_assert_eq(items_given_up, 3);
}

/* Half of them are given up, those with the oldest events; what is open of them is cut. */
Test(model, too_many_threads)
{
	for (int32_t tid = 1; tid <= KNOWN_MAX; tid++)
		feed_bare((uint64_t)tid, INNER_BEGIN, tid);
	cr_assert_str_eq(items_text, "");
	feed_bare(300000, INNER_END, KNOWN_MAX / 2 + 1);
	cr_assert_eq(items_given_up, KNOWN_MAX / 2);
	items_text[0] = '\0';
	feed_bare(300001, INNER_END, KNOWN_MAX / 2);
	feed_bare(300002, INNER_END, KNOWN_MAX);
	cr_assert_str_eq(items_text, "io:inner 131072 262144-300001 own 37857 depth 0 no-begin\n"
				     "io:inner 262144 262144-300002 own 37858 depth 0\n");
}

/* What CPUs, and the file, know of threads stays true: those that run, and those that are listed, are kept. */
Test(model, too_many_threads_beside_one_that_runs)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone: 5 6");
	switch_to(10, 1, 0, 0, 5);
	switch_to(20, 0, 6, 1, 0);
	for (int32_t tid = 1; tid <= KNOWN_MAX + 1; tid++)
		feed_bare(100 + (uint64_t)tid, INNER_BEGIN, 10 + tid);
	cr_assert(items_given_up > 0);
	items_text[0] = '\0';
	switch_to(400000, 0, 0, 0, 6);
	switch_to(400100, 0, 6, 1, 0);
	switch_to(400200, 1, 5, 1, 0);
	cr_assert_str_eq(items_text, "6 S 20-400000\n6 R 400000-400100\n5 R 10-400200\n");
}

Test(model, keyed_spans_that_never_end)
{
	for (int id = 0; id < KNOWN_MAX + 2; id++)
		feed_int((uint64_t)id, RPC_BEGIN, 1, id);
	cr_assert_str_eq(items_text, "net:rpc 1 0-262144 own 262144 depth 0 cut key 0\n"
				     "net:rpc 1 1-262145 own 262144 depth 0 cut key 1\n");
	cr_assert_eq(items_given_up, 2);
}

/* Few, but their records are large. */
Test(model, large_records_of_what_never_ends)
{
	const int fit = (64 << 20) / 4096;

	for (int id = 0; id < fit + 1; id++) {
		event_of(RPC_BEGIN, 1);
		event_put32(id);
		event_put_padding(4096 - 12);
		event_feed((uint64_t)id, 0);
		event_of(STATE, 1);
		event_put32(id);
		event_put_padding(4096 - 12);
		event_feed((uint64_t)id, 0);
	}
	cr_assert_str_eq(items_text, "net:rpc 1 0-16384 own 16384 depth 0 cut key 0\n"
				     "conn:state 0-16384 of 0: 0 open\n");
	cr_assert_eq(items_given_up, 2);
}

Test(model, flows_link_events_with_the_same_number)
{
	feed_int(10, OUTER_BEGIN, 1, 0);
	feed_long(20, SEND, 1, 99);
	feed_long(30, SEND, 2, 99);
	feed_long(40, SEND, 2, 98);
	/* A flow number of 0 links no events. */
	feed_long(42, SEND, 2, 0);
	feed_long(44, SEND, 1, 0);
	feed_int(50, OUTER_END, 1, 0);
	expect_items("send 1 at 20 in 1\nflow 99 at 20 in 1 from 0 by 0 in 0\n"
		     "send 2 at 30 in 0\nflow 99 at 30 in 0 from 20 by 1 in 1\n"
		     "send 2 at 40 in 0\nflow 98 at 40 in 0 from 0 by 0 in 0\n"
		     "send 2 at 42 in 0\nsend 1 at 44 in 1\n"
		     "io:outer 1 10-50 own 40 depth 0\n");
}

static void task(uint64_t ts, int32_t tid, int64_t id, const char *name)
{
	event_of(TASK, tid);
	event_put64(id);
	event_put_text(name);
	event_feed(ts, 0);
}

Test(model, a_thread_works_for_tasks)
{
	task(10, 1, 5, "five");
	feed_bare(15, INNER_BEGIN, 1);
	task(20, 1, 6, "");
	feed_bare(25, INNER_END, 1);
	task(30, 1, 0, "");
	/* The name belongs to the task, whichever thread set it. */
	task(40, 2, 5, "");
	expect_items("task 5 five 1 10-20\n"
		     "io:inner 1 15-25 own 10 depth 0 task 5\n"
		     "task 6 - 1 20-30\n"
		     "task 5 five 2 40-40 open\n");
}

/* A counter named X_begin, a state named X_end and a timed event Y_end are not halves of spans. */
Test(model, type_words_come_before_names)
{
	feed_int(10, COUNTER_BEGIN, 1, 5);
	feed_bare(20, INNER_BEGIN, 1);
	feed_int(30, STATE_END, 1, 7);
	feed_long(40, TIMED_END, 1, 15);
	feed_bare(50, INNER_END, 1);
	expect_items("mem:heap_begin 1 at 10: 5\n"
		     "io:flush_end 1 25-40 own 15 depth 1 in 1\n"
		     "io:inner 1 20-50 own 15 depth 0\n"
		     "mem:heap_end 30-50 of 0: 7 open\n");
}
