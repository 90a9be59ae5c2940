/* SPDX-License-Identifier: MIT */
/* The kernel's streams in the weave: pages as a kernel writes them, woven with programs. */
#include "kernel_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- woven */

Test(weave_kernel, each_cpu_in_the_order_of_time)
{
	struct both b;
	struct seen *seen;
	uint64_t i;
	uint64_t numbers[2] = { 0, 0 };

	both_begin(&b, 2, 2);
	/* Two CPUs of the kernel and two lanes that change their CPU, each event at a time of its own. */
	for (i = 0; i < 20000; i++) {
		const uint64_t time = 1000 + i * 10 + (i > 9000 ? UINT64_C(1) << 30 : 0);

		if (i % 3)
			both_put(&b, (unsigned int)(i % 2), time, i);
		else
			both_put_user(&b, (unsigned int)(i / 3 % 2), (unsigned int)(i / 900 % 2), time, i);
	}
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 20000);
	cr_assert_eq(b.w.stats.kernel_events, 13333);
	cr_assert_eq(b.w.stats.kernel_cpus, 2);
	cr_assert_eq(b.w.stats.processes, 1);
	cr_assert_eq(b.w.stats.threads, 1);
	cr_assert_eq(b.w.stats.time_raised + b.w.stats.damaged_pages + b.w.stats.unknown_events, 0);
	for (i = 0; i < 20000; i++) {
		const uint64_t time = 1000 + i * 10 + (i > 9000 ? UINT64_C(1) << 30 : 0);

		check_event(&seen->events[i], i % 3 ? "sched:tick" : "t:a", (uint32_t)(i % 3 ? i % 2 : i / 900 % 2),
			    time, i);
		cr_assert_eq(seen->events[i].common.type, i % 3 ? ID_TICK : ID_A);
		numbers[seen->events[i].cpu]++;
	}
	cr_assert_gt(numbers[0], 8000);
	cr_assert_str_eq(seen->clock, "[mono]");
	weaving_end(&b.w, seen);
}

/*
 * At equal times the kernel's events come first, whatever the numbers of the streams; events of each side stay in
 * order.
 */
Test(weave_kernel, equal_times)
{
	static const unsigned int order[] = { 0, 2, 4, 1, 3, 5 };
	unsigned int is_first;

	for (is_first = 0; is_first < 2; is_first++) {
		struct both b;
		struct seen *seen;
		unsigned int i;

		both_begin(&b, 1, 1);
		if (is_first)
			both_put(&b, 0, 4999, 0);
		else
			both_put_user(&b, 0, 0, 4999, 0);
		both_put_user(&b, 0, 0, 5000, 1);
		both_put(&b, 0, 5000, 2);
		both_put_user(&b, 0, 0, 5000, 3);
		both_put(&b, 0, 5000, 4);
		both_put(&b, 0, 5001, 5);
		if (is_first) {
			const struct fake_stream lane = b.w.fake->streams[0];
			const struct weave_stream described = b.w.fake->described[0];

			b.w.fake->streams[0] = b.w.fake->streams[1];
			b.w.fake->streams[1] = lane;
			b.w.fake->described[0] = b.w.fake->described[1];
			b.w.fake->described[1] = described;
		}
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 6);
		for (i = 0; i < 6; i++)
			cr_assert_eq(seen->events[i].number, order[i]);
		weaving_end(&b.w, seen);
	}
}

/* Counts and gaps of the kernel begin a page, before the event that followed them. */
Test(weave_kernel, losses)
{
	struct both b;
	struct seen *seen;
	uint64_t i;

	both_begin(&b, 1, 1);
	for (i = 0; i < 300; i++) {
		if (i == 100)
			fake_lose(b.w.fake, 1, 12);
		if (i == 200)
			fake_lose(b.w.fake, 1, REC_LOST_UNKNOWN);
		if (i % 2)
			both_put_user(&b, 0, 0, 1000 + i, i);
		else
			both_put(&b, 0, 1000 + i, i);
	}
	b.w.fake->described[1].lost = 5;
	b.processes[1].lost = 2;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 302);
	for (i = 0; i < 300; i++)
		cr_assert_eq(seen->events[i].lost, i == 100 ? 12 : i == 200 ? -1 : 0);
	cr_assert_str_eq(seen->events[300].name, "recorder:end");
	cr_assert_eq(seen->events[300].lost + seen->events[301].lost, 7);
	cr_assert_eq(seen->events[300].cpu + seen->events[301].cpu, 0);
	cr_assert_str_eq(seen->kernel_losses, "0 on");
	cr_assert_str_eq(seen->program_losses, "");
	weaving_end(&b.w, seen);
}

/*
 * Records that are not kernel events are left out, and counted; also where everything else could be copied unchanged.
 */
Test(weave_kernel, ids_and_sizes_that_cannot_be)
{
	unsigned int round;

	for (round = 0; round < 6; round++) {
		const unsigned int with_user = round % 2;
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, 1000, 1);
		both_put(&b, 0, 1001, 2);
		if (round / 2 == 0)
			fake_put(b.w.fake, 1, 0, 1002, REC_EVENT_ID_FIRST + 1, 77, 3, FAKE_SIZE);
		else if (round / 2 == 1)
			fake_put_bytes(b.w.fake, 1, 0, 1003, &(uint32_t){ ID_TICK }, 4);
		else
			fake_put(b.w.fake, 1, 0, 1004, 0, 77, 4, FAKE_SIZE);
		both_put(&b, 0, 1005, 5);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 2 + with_user);
		cr_assert_eq(b.w.stats.unknown_events, 1);
		cr_assert_eq(seen->events[1 + with_user].number, 5);
		cr_assert_eq(seen->events[1 + with_user].lost, 1);
		weaving_end(&b.w, seen);
	}
}

/* Put sched:tick of a thread, with common_flags; `number` shows which one it is. */
static void put_flagged(struct both *b, uint64_t time, int32_t tid, unsigned char flags)
{
	const struct fake_event event = { { ID_TICK, flags, 0, tid }, flags };

	fake_put_bytes(b->w.fake, b->lanes, 0, time, &event, sizeof(event));
}

/* Of a hidden thread, the events of interrupts that came while it ran are kept. */
Test(weave_kernel, interrupts_of_hidden_threads)
{
	/* irqs off, hard interrupt with irqs off, soft interrupt, bottom halves off, non-maskable interrupt */
	static const unsigned char flags[] = { 0x01, 0x09, 0x10, 0x80, 0x40 };
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 1);
		b.w.params.notes.hidden = "4711";
		if (with_user)
			both_put_user(&b, 0, 0, 500, 9);
		put_flagged(&b, 999, 77, 0);
		for (unsigned int i = 0; i < 5; i++)
			put_flagged(&b, 1000 + i, 4711, flags[i]);
		put_flagged(&b, 2000, 77, 0);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 5 + with_user);
		check_event(&seen->events[1 + with_user], "sched:tick", 0, 1001, 0x09);
		check_event(&seen->events[2 + with_user], "sched:tick", 0, 1002, 0x10);
		check_event(&seen->events[3 + with_user], "sched:tick", 0, 1004, 0x40);
		weaving_end(&b.w, seen);
	}
}

/* Put a call at a depth, one with its return address, and a return. */
static void put_calls(struct both *b, uint64_t time, uint64_t depth)
{
	const struct {
		struct fake_event head;
		uint64_t depth;
	} call = { { { ID_CALL, 0, 0, 77 }, depth }, depth };
	struct {
		struct fake_event head;
		uint32_t depth;
	} narrow = { { { ID_ADDRESS, 0, 0, 77 }, depth }, (uint32_t)depth };
	const uint32_t size = sizeof(narrow.head) + sizeof(narrow.depth);

	fake_put_bytes(b->w.fake, b->lanes, 0, time, &call, sizeof(call));
	fake_put_bytes(b->w.fake, b->lanes, 0, time + 1, &narrow, size);
	narrow.head.common.type = ID_RETURN;
	fake_put_bytes(b->w.fake, b->lanes, 0, time + 2, &narrow, size);
}

/* Calls from a depth on are left out, wherever they are on the page; without a limit all are kept. */
Test(weave_kernel, depth_of_calls)
{
	static const uint64_t depths[] = { 0, 1, 2, 1, UINT64_C(1) << 32 | 1, 2 };

	for (unsigned int round = 0; round < 4; round++) {
		const unsigned int with_user = round % 2, limit = round / 2 * 2;
		struct both b;
		struct seen *seen;
		unsigned int at = with_user;

		both_begin(&b, 1, 1);
		b.kernel.graph_depth = limit;
		if (with_user)
			both_put_user(&b, 0, 0, 500, 9);
		for (unsigned int i = 0; i < 6; i++)
			put_calls(&b, 1000 + 3 * i, depths[i]);
		seen = weave(&b.w);
		for (unsigned int i = 0; i < 6; i++) {
			const uint64_t time = 1000 + 3 * i;

			if (!limit || depths[i] < limit)
				check_event(&seen->events[at++], "ftrace:funcgraph_entry", 0, time, depths[i]);
			/* The depths of the other two events have 32 bits: for the fifth call they are 1. */
			if (limit && (uint32_t)depths[i] >= limit)
				continue;
			check_event(&seen->events[at++], "ftrace:fgraph_retaddr_entry", 0, time + 1, depths[i]);
			check_event(&seen->events[at++], "ftrace:funcgraph_exit", 0, time + 2, depths[i]);
		}
		cr_assert_eq(seen->nr, at);
		cr_assert_eq(b.w.stats.kernel_events, at - with_user);
		weaving_end(&b.w, seen);
	}
}

/* A time that goes back is raised to the time before it; the next event has its own time again, once that is later. */
Test(weave_kernel, times_that_go_back)
{
	static const uint64_t times[] = { 5000, 3000, 4000, 4900, 6000, 6001 };
	struct both b;
	struct seen *seen;
	unsigned int i;

	both_begin(&b, 1, 1);
	for (i = 0; i < 6; i++) {
		both_put(&b, 0, times[i], i);
		if (!i)
			fake_end_page(b.w.fake, 1);
	}
	both_put_user(&b, 0, 0, 7000, 6);
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 7);
	cr_assert_eq(b.w.stats.time_raised, 3);
	for (i = 0; i < 6; i++)
		check_event(&seen->events[i], "sched:tick", 0, times[i] < 5000 ? 5000 : times[i], i);
	weaving_end(&b.w, seen);
}

/* ------------------------------------------------------------------------------------------- pages of a kernel */

static void check_page(const struct seen *seen, uint64_t time)
{
	static const uint64_t times[] = { 0, 50, 87, 87 + (UINT64_C(1) << 40) };
	unsigned int i, at = 0;

	for (i = 0; i < seen->nr; i++) {
		if (seen->events[i].common.type != ID_TICK)
			continue;
		check_event(&seen->events[i], "sched:tick", 0, time + times[at], at + 1);
		at++;
	}
	cr_assert_eq(at, 4);
}

/* The same result with and without copying of whole pages. */
Test(weave_kernel, all_kinds_of_records)
{
	const uint64_t time = (UINT64_C(1) << 59) + 12345;
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct page_maker page;
		struct rec_page *last;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, time + 60, 9);
		both_put(&b, 0, time, 0);
		last = fake_last_page(b.w.fake, 1);
		page.bytes = b.w.fake->streams[1].pages[0].bytes;
		make_page(&page, time);
		last->size = page.size;
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 4 + with_user);
		check_page(seen, time);
		if (with_user)
			cr_assert_eq(seen->events[2].number, 9);
		weaving_end(&b.w, seen);
	}
}

/* A discarded event after a stamp counts its time as well, however many there are. */
Test(weave_kernel, paddings_after_a_stamp)
{
	static const uint64_t times[] = { 0, 50 + 30 + 4 + 7, 1000 + 5 };
	const uint64_t time = (UINT64_C(1) << 59) + 12345;
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct page_maker page;
		unsigned int i;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, time + 2000, 9);
		both_put(&b, 0, time, 0);
		page = (struct page_maker){ b.w.fake->streams[1].pages[0].bytes, 0 };
		put_tick(&page, 0, 0);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 50);
		put_padding(&page, 30, 20);
		put_padding(&page, 4, 12);
		put_tick(&page, 7, 1);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 200);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 1000);
		put_tick(&page, 5, 2);
		fake_last_page(b.w.fake, 1)->size = page.size;
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 3 + with_user);
		for (i = 0; i < 3; i++)
			check_event(&seen->events[i], "sched:tick", 0, time + times[i], i);
		weaving_end(&b.w, seen);
	}
}

/* From a page with an invalid end, the events before it are used; an unknown number of later events is lost. */
Test(weave_kernel, damage)
{
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct rec_page *page;

		both_begin(&b, 1, 1);
		both_put(&b, 0, 1000, 1);
		both_put(&b, 0, 1001, 2);
		page = fake_last_page(b.w.fake, 1);
		memcpy(b.w.fake->streams[1].pages[0].bytes + 16 + page->size, (uint32_t[2]){ 0, 70000 }, 8);
		page->size += 8;
		fake_end_page(b.w.fake, 1);
		both_put(&b, 0, 1002, 3);
		if (with_user)
			both_put_user(&b, 0, 0, 2000, 4);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 3 + with_user);
		cr_assert_eq(b.w.stats.damaged_pages, 1);
		cr_assert_eq(seen->events[2].number, 3);
		cr_assert_eq(seen->events[2].lost, -1);
		weaving_end(&b.w, seen);
	}
}

Test(weave_kernel, what_is_refused)
{
	struct both b;

	both_begin(&b, 0, 2);
	b.w.fake->described[1].cpu = 0;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL); /* two streams of one CPU */
	b.w.fake->described[1].cpu = 8192;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	b.w.fake->described[1].cpu = 1;
	b.processes[0].kernel = &b.kernel;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL); /* two kernels */
	fake_free(b.w.fake);
	blob_free(&b.w.log);
}
