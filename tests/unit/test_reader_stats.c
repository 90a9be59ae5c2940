/* SPDX-License-Identifier: MIT */
/* Statistics in the kernel's words, and their reset. */
#include "step_clock.h"
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <librecorder/lane.h>
#include <stdio.h>
#include <string.h>

#define EVENT 92u

static void begin(void)
{
	lane_begin(4, false);
}

TestSuite(reader_stats, .init = begin, .fini = lane_end);

static void write_some(uint64_t from, uint64_t to)
{
	lane_write(from, to, EVENT);
}

/* The eight lines as Linux 6.18 writes them; tests/oracle compares them with the kernel's. */
Test(reader_stats, text)
{
	const struct rec_lane_stats stats = {
		.entries = 1,
		.overrun = 2,
		.commit_overrun = 3,
		.bytes = 4,
		.oldest_event_ts = 1234567890123,
		.now_ts = 7,
		.dropped_events = 5,
		.read_events = 6,
		.clock = REC_CLOCK_MONO,
	};
	const char *expected = "entries: 1\noverrun: 2\ncommit overrun: 3\nbytes: 4\noldest event ts:  1234.567890\n"
			       "now ts:     0.000000\ndropped events: 5\nread events: 6\n";
	struct rec_lane_stats tsc = stats;
	char text[512];
	int n = rec_stats_text(&stats, text, sizeof(text));

	cr_assert_eq(n, (int)strlen(expected));
	cr_assert_str_eq(text, expected);
	tsc.clock = REC_CLOCK_TSC;
	cr_assert_gt(rec_stats_text(&tsc, text, sizeof(text)), 0);
	cr_assert_not_null(strstr(text, "\noldest event ts: 1234567890123\nnow ts: 7\n"));
	cr_assert_eq(rec_stats_text(&stats, text, (size_t)n), -ENOSPC);
	cr_assert_eq(rec_stats_text(&stats, text, (size_t)n + 1), n);
}

Test(reader_stats, how_full)
{
	struct rec_page page;
	int before = rec_view_fill(view, 0), fill;

	cr_assert_eq(before, 0);
	cr_assert_eq(rec_view_fill(view, 1), -EINVAL);
	/* 42 events fit on a sub-buffer: five full ones, and then the overwritten ones. */
	for (uint64_t from = 0; from < 420; from += 42) {
		write_some(from, from + 42);
		fill = rec_view_fill(view, 0);
		cr_assert_geq(fill, before);
		cr_assert_leq(fill, 100);
		before = fill;
	}
	cr_assert_gt(before, 50);
	while (rec_view_read(view, 0, REC_READ_WHOLE, &page) == 1)
		continue;
	cr_assert_lt(rec_view_fill(view, 0), 30, "all sub-buffers were read, except the one that is written to");
}

Test(reader_stats, numbers)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	const uint64_t before = rec_clock_mono();

	cr_assert_eq(rec_view_stats(view, 1, &stats), -EINVAL);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.bytes, 0);
	write_some(0, 3);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 3);
	/* A marker and a stamp come first; each event has an event word. */
	cr_assert_eq(stats.bytes, 24 + 3 * 96);
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.oldest_event_ts, event.record.time);
	cr_assert_gt(stats.oldest_event_ts, before);
	cr_assert_geq(stats.now_ts, event.record.time);
	cr_assert_leq(stats.now_ts, rec_clock_mono());
	cr_assert_eq(stats.bytes, 24 + 3 * 96);
	cr_assert_eq(stats.clock, REC_CLOCK_MONO);
	cr_assert_eq(stats.nr_pages, 4);
	cr_assert_eq(stats.subbuf_size, 4096);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.read_events, 1);
	cr_assert_eq(stats.entries, 2);
	cr_assert_eq(stats.bytes, 2 * 96);
}

/* Overwritten events count at once, while the reader page still holds older ones. */
Test(reader_stats, what_was_overwritten_counts_at_once)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	const uint64_t on_a_page = (4096 - 16 - 24) / 96;
	uint64_t read = 1, oldest;

	write_some(0, 1);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	write_some(1, 20 * on_a_page + 1);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	/* The rest of the reader page, three full sub-buffers, and one event after them. */
	cr_assert_eq(stats.entries, on_a_page - 1 + 3 * on_a_page + 1, "%lu", stats.entries);
	cr_assert_eq(stats.read_events, 1);
	cr_assert_eq(stats.overrun, 16 * on_a_page);
	cr_assert_eq(stats.lost_unread, 16 * on_a_page);
	cr_assert_eq(stats.bytes, stats.entries * 96 + 4 * 24);
	oldest = stats.oldest_event_ts;
	for (; rec_view_consume(view, 0, &event) == 1; read++) {
		if (event.lost)
			cr_assert_eq(event.record.time, oldest, "the head's time, whatever the reader page holds");
		cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
		cr_assert_eq(stats.read_events, read + 1);
		cr_assert_eq(stats.overrun, 16 * on_a_page);
		cr_assert_eq(stats.entries, 4 * on_a_page + 1 - read - 1);
		cr_assert_eq(stats.lost_unread, event.number < 16 * on_a_page ? 16 * on_a_page : 0);
	}
	cr_assert_eq(read, 4 * on_a_page + 1);
}

/* A view that does not read the lane sees the same. */
Test(reader_stats, of_a_lane_that_another_view_reads)
{
	struct rec_view *other = reader_view();
	struct rec_lane_stats one, two;
	struct rec_view_event event;

	write_some(0, 1000);
	for (int i = 0; i < 130; i++) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(rec_view_stats(view, 0, &one), 0);
		cr_assert_eq(rec_view_stats(other, 0, &two), 0);
		cr_assert_eq(two.read_events, (uint64_t)i + 1);
		cr_assert_eq(one.entries, two.entries);
		cr_assert_eq(one.overrun, two.overrun);
		cr_assert_eq(one.bytes, two.bytes);
	}
	rec_view_close(other);
}

Test(reader_stats, reset)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	char text[512];
	uint64_t after;

	write_some(0, 1000);
	for (int i = 0; i < 60; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	for (int i = 0; i < 5; i++)
		cr_assert_not(reader_write(lane, 0, 4096));
	cr_assert_eq(rec_view_reset(view, 1), -EINVAL);
	cr_assert_eq(rec_view_reset(view, 0), 0);
	after = rec_clock_mono();
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.too_long, 0);
	cr_assert_eq(stats.lost_unread, 0);
	cr_assert_gt(rec_stats_text(&stats, text, sizeof(text)), 0);
	cr_assert_eq(strstr(text, "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\n"), text, "%s", text);
	cr_assert_not_null(strstr(text, "\ndropped events: 0\nread events: 0\n"));
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(event.lost, 0);
	/* Numbers continue; earlier refusals are not reported any more, later ones are. */
	cr_assert_not(reader_write(lane, 0, 4096));
	write_some(1000, 1060);
	for (uint64_t i = 1000; i < 1060; i++) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(event.number, i);
		if (event.lost) {
			cr_assert_eq(event.lost, 1);
			cr_assert(event.lost_time == 0 || event.lost_time >= after);
		}
	}
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.read_events, 60);
	cr_assert_eq(stats.overrun, 0);
	cr_assert_eq(stats.too_long, 1);
}

/*
 * A reader that was killed while it reset a lane has left the bases half written, without the mark that they are
 * complete.
 */
Test(reader_stats, reset_half_done)
{
	struct rec_lane_stats before, stats;
	struct rec_lane_bases *half;

	for (unsigned int turn = 0; turn < 3; turn++) {
		write_some(0, 100);
		cr_assert_not(reader_write(lane, 0, 4096));
		cr_assert_eq(rec_view_stats(view, 0, &before), 0);
		half = &lane->reader->bases[(lane->reader->resets + 1) % 2];
		memset(half, 0x55, sizeof(*half) / 2);
		cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
		cr_expect_eq(stats.entries, 100);
		cr_expect_eq(stats.too_long, 1);
		cr_expect_eq(stats.lost_unread, before.lost_unread);
		cr_expect_eq(stats.overrun, 0);
		cr_assert_eq(rec_view_reset(view, 0), 0);
		cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
		cr_expect_eq(stats.entries + stats.too_long + stats.lost_unread + stats.overrun, 0);
	}
}

Test(reader_stats, a_page_taken_back_whole)
{
	struct rec_lane_stats stats;
	struct rec_slot slot;
	void *payload = rec_reserve(lane, EVENT, &slot);

	rec_discard(&slot, payload);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.read_events, 0);
	cr_assert_eq(stats.overrun, 0);
}

/*
 * A commit position far ahead, on a sub-buffer to which no link leads: full pages follow each other in a circle, and it
 * is never reached.
 */
Test(reader_stats, reset_of_a_lane_without_an_end, .timeout = 300)
{
	struct rec_page page;
	struct rec_link *into;
	uint32_t at;

	write_some(0, 1000);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	at = REC_POS_ID(lane->lane->commit);
	into = &lane->links[lane->links[at].prev];
	into->next = REC_LINK(REC_LINK_ID(lane->links[at].next), REC_LINK_HEAD, 0);
	lane->links[at].next &= ~(uint64_t)REC_LINK_FLAGS;
	lane->subbufs[at].first = UINT64_C(1) << 60;
	cr_assert_eq(rec_view_reset(view, 0), -EBADMSG);
}

/* An empty lane has no ring while it is remade; before it is made for the first time, there is nothing to show. */
Test(reader_stats, while_the_lane_is_made_anew)
{
	struct rec_lane_stats stats;

	write_some(0, 3);
	lane->lane->subbuf_size = 0;
	/* The lane is not empty, but it is being remade, so the caller must try again. */
	cr_assert_eq(rec_view_stats(view, 0, &stats), -EAGAIN);
	lane->lane->subbuf_size = 4096;
	cr_assert_eq(rec_view_reset(view, 0), 0);
	lane->lane->subbuf_size = 0;
	cr_assert_eq(rec_view_stats(view, 0, &stats), -EAGAIN);
	lane->lane->subbuf_size = 4096;
	write_some(3, 1000);
	cr_assert_eq(rec_view_reset(view, 0), 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.subbuf_size, 4096);
	lane->lane->tail = 0;
	lane->lane->subbuf_size = 0;
	cr_assert_eq(rec_view_stats(view, 0, &stats), -EAGAIN);
}

/*
 * While the program remakes its lane, it holds the lane as a reader would: there are no events then, and the caller
 * soon tries again.
 */
Test(reader_stats, open_while_the_program_holds_the_lane)
{
	struct rec_page page;

	write_some(0, 1);
	lane->reader->owner = rec_process_header()->start_time << 32 | (uint32_t)rec_process_pid();
	cr_assert_eq(rec_view_read(view, 0, 0, &page), -EAGAIN);
	lane->lane->subbuf_size = 0;
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 0);
	lane->lane->subbuf_size = 4096;
	lane->reader->owner = 0;
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
}
