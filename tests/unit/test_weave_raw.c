/* SPDX-License-Identifier: MIT */
/* Weaving raw: pages as they were recorded, a CPU for each stream. */
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(weave, raw_keeps_pages_and_their_losses)
{
	/* The rate is constant, because a file of the TSC has one rate. */
	static const struct rec_anchor anchors[] = {
		{ UINT64_C(30000000000), UINT64_C(5000000000), 0, 10 },
		{ UINT64_C(60000000000), UINT64_C(15000000000), 0, 10 },
	};
	struct weaving s;
	struct seen *seen;
	uint64_t number;
	uint64_t markers = 0;

	weaving_begin(&s, 3);
	s.process.clock = REC_CLOCK_TSC;
	s.process.anchors = anchors;
	s.process.nr_anchors = 2;
	s.params.raw = true;
	for (number = 0; number < 6000; number++) {
		if (number == 3000)
			fake_lose(s.fake, 0, 12);
		if (number == 4000)
			fake_lose(s.fake, 0, REC_LOST_UNKNOWN);
		fake_put(s.fake, (unsigned int)(number % 2), 7, UINT64_C(30000000000) + number * 3000, ID_A, PID,
			 number, FAKE_SIZE);
	}
	s.fake->described[1].lost = 4;
	s.process.lost = 6;
	seen = weave(&s);
	cr_assert_eq(seen->nr, 6002);
	cr_assert_eq(s.stats.cpus, 2);
	cr_assert_eq(seen->cpus, 3);
	cr_assert_not_null(strstr(seen->clock, "x86-tsc"));
	cr_assert_eq(seen->lost, 12 + 4 + 6);
	cr_assert_eq(seen->lost_unknown, 1);
	for (number = 0; number < 6000; number++) {
		const struct seen_event *event = &seen->events[number];

		cr_assert_eq(event->number, number);
		cr_assert_eq(event->cpu, number % 2);
		/* The file has one rate, of 32 bits, for all its times, which costs up to 2 ns. */
		cr_assert_leq(event->time + 2 - (UINT64_C(5000000000) + number * 1000), 4);
		markers += event->lost != 0;
	}
	cr_assert_eq(markers, 2);
	cr_assert_eq(seen->events[6000].lost, 4);
	cr_assert_eq(seen->events[6001].lost, 6);
	cr_assert_eq(seen->events[6001].number2, 6);
	weaving_end(&s, seen);
}

/* Removing events from a page does not change the times of the others. */
Test(weave, raw_has_only_what_is_wanted)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number, time = 5000;

	weaving_begin(&s, 1);
	s.params.raw = true;
	s.params.wants = fake_wants;
	s.params.wants_arg = (char[]){ "a" };
	fake_lose(s.fake, 0, 3);
	for (number = 0; number < 3000; number++) {
		time += number % 7 ? number : UINT64_C(1) << 29;
		fake_put(s.fake, 0, (uint32_t)(number / 50 % 4), time, number % 3 ? ID_B : ID_A, PID, number,
			 number % 5 ? FAKE_SIZE : 152);
		/* All events of one page are left out. */
		for (unsigned int i = 0; number == 600 && i < 400; i++)
			fake_put(s.fake, 0, 1, time + i / 100, ID_B, PID, number, FAKE_SIZE);
	}
	s.params.output = fixture_path("raw.dat");
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), 0);
	cr_expect_eq(s.stats.events, 1000);
	cr_expect_eq(s.stats.lost, 3);
	cr_expect_eq(s.stats.unknown_events + s.stats.damaged_pages, 0);
	seen = seen_read(s.params.output);
	cr_assert_eq(seen->nr, 1000);
	cr_expect_eq(seen->events[0].lost, 3);
	for (number = 0, time = 5000; number < 3000; number++) {
		time += number % 7 ? number : UINT64_C(1) << 29;
		if (number % 3)
			continue;
		cr_assert_eq(seen->events[number / 3].number, number);
		cr_assert_eq(seen->events[number / 3].time, time, "event %llu", (unsigned long long)number);
	}
	weaving_end(&s, seen);
}

/* The count needs 8 bytes after the data: the marker makes room. */
Test(weave, raw_full_page_after_a_loss)
{
	struct weaving s;
	struct seen *seen;
	struct rec_page *page;
	uint64_t number;
	uint32_t left;

	weaving_begin(&s, 1);
	s.params.raw = true;
	fake_lose(s.fake, 0, 21);
	for (number = 0; number < 30; number++)
		fake_put(s.fake, 0, (uint32_t)(number / 20), 1000 + number * (number == 29 ? UINT64_C(1) << 30 : 1),
			 ID_A, PID, number, number == 29 ? 200 : 100);
	page = fake_last_page(s.fake, 0);
	/* One more event takes the bytes that are left, except four. */
	left = 4096 - 16 - page->size - 4 - 8;
	memcpy(s.fake->streams[0].pages[0].bytes + 16 + page->size, &(uint32_t[2]){ 1u << 5, left + 4 }, 8);
	memcpy(s.fake->streams[0].pages[0].bytes + 16 + page->size + 8,
	       &(struct fake_event){ { ID_B, 0, 0, PID }, 30 }, sizeof(struct fake_event));
	page->size += left + 8;
	page->entries++;
	seen = weave(&s);
	cr_assert_eq(s.stats.pages, 1);
	cr_assert_eq(seen->nr, 31);
	cr_assert_eq(seen->events[0].lost, 21);
	for (number = 0; number < 31; number++)
		cr_assert_eq(seen->events[number].number, number);
	cr_assert_eq(seen->events[29].time, 1000 + 29 * (UINT64_C(1) << 30));
	cr_assert_eq(seen->events[30].time, seen->events[29].time + 1);
	cr_assert_eq(seen->events[30].size, left);
	weaving_end(&s, seen);
}

Test(weave, too_many_streams_for_raw)
{
	struct weaving s;

	weaving_begin(&s, 4097);
	s.params.raw = true;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -E2BIG);
	s.params.raw = false;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), 0);
	fake_free(s.fake);
	blob_free(&s.log);
}
