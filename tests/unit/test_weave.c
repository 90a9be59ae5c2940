/* SPDX-License-Identifier: MIT */
/* Weaving: order, CPUs, times, ids, and that no event or loss is added or dropped on the way. */
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(weave, four_streams_become_cpus_in_order)
{
	struct weaving s;
	struct seen *seen;
	uint64_t next[4] = { 0 };
	uint64_t number;
	size_t i;

	weaving_begin(&s, 4);
	/* Each stream moves to the next CPU every 10 events; the times of the streams are interleaved. */
	for (number = 0; number < 20000; number++) {
		const unsigned int stream = (unsigned int)(number % 4);

		fake_put(s.fake, stream, ((uint32_t)number / 40 + stream) % 4, 1000000 + number * 10,
			 number % 3 ? ID_A : ID_B, PID + (int32_t)stream, number,
			 FAKE_SIZE + 4 * (uint32_t)(number % 30));
	}
	seen = weave(&s);
	cr_assert_eq(seen->nr, 20000);
	cr_assert_eq(s.stats.synthetic, 0);
	cr_assert_eq(s.stats.threads, 4);
	cr_assert_eq(s.stats.processes, 1);
	cr_assert_eq(s.stats.cpus, 4);
	cr_assert_eq(seen->cpus, 4);
	for (i = 0; i < seen->nr; i++) {
		const struct seen_event *event = &seen->events[i];

		cr_assert_eq(event->number, i);
		cr_assert_eq(event->time, 1000000 + i * 10);
		cr_assert_eq(event->cpu, (i / 40 + i % 4) % 4);
		cr_assert_eq(event->common.pid, PID + (int32_t)(i % 4));
		cr_assert_str_eq(event->name, i % 3 ? "t:a" : "t:b");
		next[i % 4]++;
	}
	cr_assert_eq(s.stats.first_time, 1000000);
	cr_assert_eq(s.stats.last_time, 1000000 + 19999 * 10);
	cr_assert_eq(s.stats.time_error, 0);
	cr_assert_str_eq(seen->cmdlines, "1000 prog\n1001 prog\n1002 prog\n1003 prog\n");
	cr_assert_not_null(strstr(seen->clock, "mono"));
	weaving_end(&s, seen);
}

Test(weave, version_7_holds_the_same)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 2);
	for (number = 0; number < 1000; number++)
		fake_put(s.fake, (unsigned int)(number % 2), 3, 5000 + number, ID_A, PID, number, FAKE_SIZE);
	s.params.version = 7;
	seen = weave(&s);
	cr_assert_eq(seen->version, 7);
	for (number = 0; number < 1000; number++)
		cr_assert_eq(seen->events[number].number, number);
	weaving_end(&s, seen);
}

Test(weave, losses_stand_before_the_next_event_of_their_stream)
{
	struct weaving s;
	struct seen *seen;

	weaving_begin(&s, 2);
	fake_lose(s.fake, 0, 5);
	fake_put(s.fake, 0, 0, 100, ID_A, PID, 1, FAKE_SIZE);
	fake_put(s.fake, 1, 0, 110, ID_A, PID + 1, 2, FAKE_SIZE);
	fake_lose(s.fake, 0, 7);
	fake_put(s.fake, 0, 0, 120, ID_A, PID, 3, FAKE_SIZE);
	fake_lose(s.fake, 0, REC_LOST_UNKNOWN);
	fake_put(s.fake, 0, 1, 130, ID_A, PID, 4, FAKE_SIZE);
	fake_lose(s.fake, 1, 11);
	fake_put(s.fake, 1, 1, 130, ID_A, PID + 1, 5, FAKE_SIZE);
	fake_put(s.fake, 1, 1, 140, ID_A, PID + 1, 6, FAKE_SIZE);
	s.fake->described[1].lost = 13;
	seen = weave(&s);
	cr_assert_eq(seen->nr, 7);
	cr_assert_eq(seen->events[0].lost, 5);
	cr_assert_eq(seen->events[1].lost, 0);
	cr_assert_eq(seen->events[2].lost, 7);
	cr_assert_eq(seen->events[3].lost, -1);
	cr_assert_eq(seen->events[3].number, 4);
	cr_assert_eq(seen->events[4].lost, 11);
	cr_assert_eq(seen->events[5].lost, 0);
	cr_assert_eq(seen->events[6].lost, 13);
	cr_assert_str_eq(seen->events[6].name, "recorder:end");
	cr_assert_eq(seen->events[6].number, 13);
	cr_assert_eq(seen->events[6].common.pid, PID);
	cr_assert_eq(seen->lost, 5 + 7 + 11 + 13);
	/* The first stream lost events before 100 and after it; the second after 110 and after its last event. */
	cr_assert_str_eq(seen->program_losses, "0 to 130, 140 on");
	cr_assert_str_eq(seen->kernel_losses, "");
	weaving_end(&s, seen);
}

Test(weave, losses_without_any_event)
{
	static const struct rec_anchor anchor = { 77, 77, 0, 0 };
	struct weaving s;
	struct seen *seen;

	weaving_begin(&s, 1);
	s.fake->described[0].lost = 3;
	s.process.lost = 4;
	s.process.anchors = &anchor;
	s.process.nr_anchors = 1;
	seen = weave(&s);
	cr_assert_eq(seen->nr, 1);
	cr_assert_eq(seen->events[0].lost, 7);
	cr_assert_eq(seen->events[0].number, 7);
	cr_assert_eq(seen->events[0].number2, 4);
	cr_assert_eq(seen->events[0].time, 77);
	weaving_end(&s, seen);
}

/* Events that were not requested are neither in the file nor lost. */
Test(weave, only_what_is_wanted)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 2);
	s.params.wants = fake_wants;
	s.params.wants_arg = (char[]){ "a" };
	for (number = 0; number < 1000; number++)
		fake_put(s.fake, (unsigned int)(number % 2), 3, 5000 + number, number % 3 ? ID_B : ID_A, PID, number,
			 FAKE_SIZE);
	s.params.output = fixture_path("wanted.dat");
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), 0);
	cr_expect_eq(s.stats.events, 334);
	cr_expect_eq(s.stats.lost + s.stats.unknown_events + s.stats.damaged_pages, 0);
	seen = seen_read(s.params.output);
	cr_assert_eq(seen->nr, 334);
	for (number = 0; number < 334; number++) {
		cr_assert_eq(seen->events[number].number, number * 3);
		cr_assert_eq(seen->events[number].time, 5000 + number * 3);
		cr_assert_str_eq(seen->events[number].name, "t:a");
	}
	weaving_end(&s, seen);
}

Test(weave, nothing_is_refused)
{
	struct weaving s;

	weaving_begin(&s, 1);
	s.params.wants = fake_wants;
	s.params.wants_arg = (char[]){ "a" };
	fake_lose(s.fake, 0, 5);
	fake_put(s.fake, 0, 3, 5000, ID_B, PID, 1, FAKE_SIZE);
	s.params.refuse_empty = true;
	s.params.output = fixture_path("refused.dat");
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -ENODATA);
	cr_expect_eq(s.stats.lost, 5);
	cr_expect_eq(s.stats.file_size, 0);
	cr_expect_neq(access(s.params.output, F_OK), 0);
	fake_free(s.fake);
	blob_free(&s.log);
}

Test(weave, nothing_at_all)
{
	struct weaving s;
	struct seen *seen;

	weaving_begin(&s, 0);
	s.params.nr_processes = 0;
	seen = weave(&s);
	cr_assert_eq(seen->nr, 0);
	weaving_end(&s, seen);
}

Test(weave, equal_times_keep_the_order_of_streams)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 3);
	for (number = 0; number < 300; number++)
		fake_put(s.fake, (unsigned int)(number / 100), 0, 1000 + number % 100 / 10, ID_A, PID, number,
			 FAKE_SIZE);
	seen = weave(&s);
	for (number = 1; number < seen->nr; number++) {
		const struct seen_event *a = &seen->events[number - 1];
		const struct seen_event *b = &seen->events[number];

		cr_assert(a->time < b->time || (a->time == b->time && a->number < b->number));
	}
	weaving_end(&s, seen);
}

Test(weave, padding_and_markers_are_no_events)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 1);
	for (number = 0; number < 500; number++) {
		fake_put(s.fake, 0, (uint32_t)number % 2, 1000 + number, ID_A, PID, number, FAKE_SIZE);
		fake_discard(s.fake, 0, 1000 + number, 16);
	}
	seen = weave(&s);
	cr_assert_eq(seen->nr, 500);
	cr_assert_eq(seen->events[499].time, 1499);
	weaving_end(&s, seen);
}

Test(weave, long_pauses_and_the_biggest_events)
{
	const uint32_t biggest = 4096 - 16 - 24 - 8;
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 2);
	for (number = 0; number < 50; number++) {
		const uint64_t time = 1000 + number * (UINT64_C(1) << 28);

		if (number % 5 == 0)
			fake_end_page(s.fake, 0);
		fake_put(s.fake, 0, 0, time, ID_A, PID, 2 * number, number % 5 ? FAKE_SIZE : biggest - 8);
		fake_put(s.fake, 1, 0, time + 1, ID_A, PID, 2 * number + 1, 1000);
	}
	seen = weave(&s);
	cr_assert_eq(seen->nr, 100);
	for (number = 0; number < 50; number++) {
		cr_assert_eq(seen->events[2 * number].time, 1000 + number * (UINT64_C(1) << 28));
		cr_assert_eq(seen->events[2 * number].size, number % 5 ? FAKE_SIZE : biggest - 8);
		cr_assert_eq(seen->events[2 * number + 1].number, 2 * number + 1);
	}
	weaving_end(&s, seen);
}

/* An event that fills its page, with a loss before it, woven and raw. */
Test(weave, biggest_event_after_a_loss)
{
	const uint32_t fills = 4096 - 16 - 24 - 8;
	unsigned char payload[4096] = { 0 };
	const struct fake_event head = { { ID_A, 0, 0, PID }, 42 };
	unsigned int raw;

	for (raw = 0; raw < 2; raw++) {
		struct weaving s;
		struct seen *seen;

		weaving_begin(&s, 1);
		memcpy(payload, &head, sizeof(head));
		fake_lose(s.fake, 0, 9);
		fake_put(s.fake, 0, 1, 500, ID_A, PID, 42, fills - 36);
		/* The event is extended by hand to the page's end, because the fixture leaves room after events. */
		fake_last_page(s.fake, 0)->size = 24;
		fake_last_page(s.fake, 0)->entries = 1;
		memcpy((unsigned char *)s.fake->streams[0].pages[0].bytes + 16 + 24, &(uint32_t[2]){ 0, fills + 4 }, 8);
		memcpy((unsigned char *)s.fake->streams[0].pages[0].bytes + 16 + 32, payload, fills);
		fake_last_page(s.fake, 0)->size = 4096 - 16;
		s.params.raw = raw;
		seen = weave(&s);
		cr_assert_eq(seen->nr, 1);
		cr_assert_eq(seen->events[0].size, fills);
		cr_assert_eq(seen->events[0].number, 42);
		cr_assert_eq(seen->events[0].lost, 9);
		weaving_end(&s, seen);
	}
}

/* Pages without markers, as the kernel's, are filled to the end: they can only show a gap of unknown size. */
Test(weave, no_room_for_the_count)
{
	unsigned int raw;

	for (raw = 0; raw < 2; raw++) {
		const uint32_t fills = 4096 - 16 - 8;
		const uint64_t time = 500;
		struct weaving s;
		struct seen *seen;
		unsigned char *page;

		weaving_begin(&s, 1);
		s.fake->bare = true;
		fake_lose(s.fake, 0, 9);
		fake_put(s.fake, 0, 0, time, ID_A, PID, 42, FAKE_SIZE);
		page = s.fake->streams[0].pages[0].bytes;
		memmove(page + 16 + 8, page + 16 + 4, FAKE_SIZE);
		memcpy(page + 16, &(uint32_t[2]){ 0, fills + 4 }, 8);
		fake_last_page(s.fake, 0)->size = 4096 - 16;
		s.params.raw = raw;
		cr_assert_eq(weave_to_dat(&s.params, &s.stats), 0);
		seen = seen_read(s.params.output);
		cr_assert_eq(s.stats.lost, 9);
		cr_assert_eq(seen->events[0].lost, -1);
		cr_assert_eq(seen->events[0].size, fills);
		/* The CPU is unknown. */
		cr_assert_eq(s.stats.cpu_unknown, !raw);
		weaving_end(&s, seen);
	}
}

Test(weave, page_that_was_partly_read)
{
	unsigned int raw;

	for (raw = 0; raw < 2; raw++) {
		struct weaving s;
		struct seen *seen;
		struct rec_page *page;
		uint64_t number;

		weaving_begin(&s, 1);
		for (number = 0; number < 20; number++)
			fake_put(s.fake, 0, number < 5 ? 0 : 1, 1000 + number, ID_A, PID, number, FAKE_SIZE);
		page = fake_last_page(s.fake, 0);
		page->from = fake_offset(page, 8);
		page->entries = 12;
		page->first = 8;
		page->lost = 2;
		s.params.raw = raw;
		seen = weave(&s);
		cr_assert_eq(seen->nr, 12);
		cr_assert_eq(seen->events[0].number, 8);
		cr_assert_eq(seen->events[0].time, 1008);
		cr_assert_eq(seen->events[0].lost, 2);
		cr_assert_eq(seen->events[0].cpu, raw ? 0 : 1);
		cr_assert_eq(seen->events[11].number, 19);
		cr_assert_eq(s.stats.damaged_pages, 0);
		weaving_end(&s, seen);
	}
}

Test(weave, damaged_pages_cost_what_is_after_the_damage)
{
	unsigned int raw;

	for (raw = 0; raw < 2; raw++) {
		struct weaving s;
		struct seen *seen;
		struct rec_page *page;
		uint64_t number;

		weaving_begin(&s, 2);
		for (number = 0; number < 20; number++)
			fake_put(s.fake, 0, 0, 1000 + number, ID_A, PID, number, FAKE_SIZE);
		page = fake_last_page(s.fake, 0);
		/* Event 15 gets a length beyond the page. */
		memcpy(s.fake->streams[0].pages[0].bytes + 16 + fake_offset(page, 15), &(uint32_t[2]){ 0, 5000 }, 8);
		fake_end_page(s.fake, 0);
		for (; number < 30; number++)
			fake_put(s.fake, 0, 0, 1000 + number, ID_A, PID, number, FAKE_SIZE);
		s.fake->streams[0].error = -EBADMSG;
		fake_put(s.fake, 1, 1, 5000, ID_A, PID, 100, FAKE_SIZE);
		s.params.raw = raw;
		seen = weave(&s);
		cr_assert_eq(seen->nr, 26);
		cr_assert_eq(seen->events[15].number, 20);
		cr_assert_eq(seen->events[15].lost, 5);
		cr_assert_eq(seen->events[25].number, 100);
		cr_assert_eq(s.stats.damaged_streams, 1);
		cr_assert_eq(s.stats.damaged_pages, 1);
		cr_assert_eq(s.stats.damaged_events, 5);
		weaving_end(&s, seen);
	}
}

Test(weave, events_that_nothing_explains_are_losses)
{
	struct weaving s;
	struct seen *seen;

	weaving_begin(&s, 1);
	fake_put(s.fake, 0, 0, 100, ID_A, PID, 1, FAKE_SIZE);
	fake_put(s.fake, 0, 0, 101, ID_B + 7, PID, 2, FAKE_SIZE);
	fake_put(s.fake, 0, 0, 102, 3, PID, 3, FAKE_SIZE);
	fake_put(s.fake, 0, REC_CPU_UNKNOWN, 103, ID_B, PID, 4, FAKE_SIZE);
	fake_put(s.fake, 0, 1 << 20, 104, ID_B, PID, 5, FAKE_SIZE);
	seen = weave(&s);
	cr_assert_eq(seen->nr, 3);
	cr_assert_eq(seen->events[1].number, 4);
	cr_assert_eq(seen->events[1].lost, 2);
	cr_assert_eq(s.stats.unknown_events, 2);
	cr_assert_eq(s.stats.cpu_unknown, 2);
	weaving_end(&s, seen);
}

Test(weave, time_never_goes_back)
{
	struct weaving s;
	struct seen *seen;

	weaving_begin(&s, 1);
	fake_put(s.fake, 0, 0, 1000, ID_A, PID, 1, FAKE_SIZE);
	fake_end_page(s.fake, 0);
	fake_put(s.fake, 0, 0, 900, ID_A, PID, 2, FAKE_SIZE);
	fake_put(s.fake, 0, 0, 1001, ID_A, PID, 3, FAKE_SIZE);
	seen = weave(&s);
	cr_assert_eq(seen->events[1].number, 2);
	cr_assert_eq(seen->events[1].time, 1000);
	cr_assert_eq(seen->events[2].time, 1001);
	cr_assert_eq(s.stats.time_raised, 1);
	cr_assert_eq(s.stats.time_raised_max, 100);
	weaving_end(&s, seen);
}
