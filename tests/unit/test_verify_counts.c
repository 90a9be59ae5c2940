/* SPDX-License-Identifier: MIT */
/* Times that go back; and the numbers of events in the statistics, the pages and the notes of a file. */
#include "tests/unit/verify_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- back */

Test(verify_counts, time_goes_back)
{
	begin();
	user(0, 200, 5);
	user(0, 199, 5);
	user(0, 300, 5);
	finish_with(VERIFY_BACK, 1);
	cr_assert_eq(said.before, 200);
	cr_assert_eq(said.event, 199);
}

Test(verify_counts, time_stands_still)
{
	begin();
	user(0, 200, 5);
	user(0, 200, 5);
	user(1, 100, 5);
	finish_clean();
}

/* -------------------------------------------------------------------------------------------------------- count */

static void stat(const char *text)
{
	options[file.nr_options++] = (struct dat_option){ .id = DAT_CPUSTAT, .size = (uint32_t)strlen(text) + 1,
							  .data = (char *)(uintptr_t)text };
}

#define STAT(cpu, entries, overrun, dropped, read)                                                             \
	"CPU: " cpu "\nentries: " entries "\noverrun: " overrun "\ncommit overrun: 0\nbytes: 5\n"             \
	"oldest event ts: 1.0\nnow ts: 2.0\ndropped events: " dropped "\nread events: " read "\n"

Test(verify_counts, statistics_agree)
{
	stat(STAT("0", "0", "7", "0", "2"));
	stat(STAT("1", "0", "0", "4", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	user(0, 200, 5);
	user(1, 200, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 2);
}

Test(verify_counts, statistics_of_kernel_and_programs)
{
	stat(STAT("0", "0", "7", "0", "2") "\n" STAT("0, programs", "0", "3", "0", "1"));
	begin();
	lost_before = 7;
	of(ID_OTHER, 0, 100, 5);
	of(ID_OTHER, 0, 200, 5);
	lost_before = 3;
	user(0, 200, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 1);
}

Test(verify_counts, an_event_is_missing)
{
	stat(STAT("0", "0", "0", "0", "2"));
	begin();
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, losses_that_no_page_reports)
{
	stat(STAT("0", "0", "8", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, losses_that_no_statistics_know)
{
	stat(STAT("0", "0", "6", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, losses_of_unknown_size)
{
	stat(STAT("0", "0", "8", "0", "1"));
	begin();
	lost_before = -1;
	user(0, 100, 5);
	finish_clean();
}

Test(verify_counts, not_all_was_read)
{
	stat(STAT("0", "3", "8", "0", "1"));
	begin();
	user(0, 100, 5);
	finish_clean();
}

/* trace-cmd reads the rest of the ring after its statistics, completely or in part. */
Test(verify_counts, the_rest_was_read_after_the_statistics)
{
	uint64_t read;

	for (read = 1; read <= 3; read++) {
		file.nr_options = 0;
		stat(STAT("0", "2", "0", "0", "1"));
		begin();
		for (uint64_t i = 0; i < read; i++)
			user(0, 100 + i, 5);
		finish_clean();
	}
}

/* trace-cmd --date writes an event into one CPU's ring and reads it itself. */
Test(verify_counts, the_event_by_which_the_date_was_found)
{
	unsigned int missing;

	for (missing = 1; missing <= 3; missing++) {
		memset(&said, 0, sizeof(said));
		file.nr_options = 0;
		options[file.nr_options++] = (struct dat_option){ .id = DAT_DATE, .data = (char[]){ "0x1" } };
		options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = (char[]){ "3.1.6" } };
		stat(missing == 3 ? STAT("0", "0", "0", "0", "3") : STAT("0", "0", "0", "0", "2"));
		stat(missing == 2 ? STAT("1", "0", "0", "0", "2") : STAT("1", "0", "0", "0", "1"));
		begin();
		user(0, 100, 5);
		user(1, 100, 5);
		finish();
		cr_assert_eq(figures.of_kind[VERIFY_COUNT], missing > 1);
	}
}

/* recorder --date writes no such event. */
Test(verify_counts, a_recorder_needs_no_event_for_the_date)
{
	options[file.nr_options++] = (struct dat_option){ .id = DAT_DATE, .data = (char[]){ "0x1" } };
	stat(STAT("0", "0", "0", "0", "2"));
	begin();
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, more_than_the_rest)
{
	stat(STAT("0", "2", "0", "0", "1"));
	begin();
	for (uint64_t i = 0; i < 4; i++)
		user(0, 100 + i, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, the_rest_was_read_and_its_losses_are_not_reported)
{
	stat(STAT("0", "1", "8", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	user(0, 101, 5);
	finish_with(VERIFY_COUNT, 1);
}

/* In version 7 a CPU without events has no entry in the list, and a top buffer without events does not exist. */
Test(verify_counts, statistics_of_a_cpu_that_only_an_instance_has)
{
	uint64_t wrong;

	for (wrong = 0; wrong < 2; wrong++) {
		memset(&said, 0, sizeof(said));
		file.nr_options = 0;
		stat(wrong ? STAT("1", "0", "0", "0", "2") : STAT("1", "0", "0", "0", "1"));
		buffers[0].nr_streams = 1;
		begin();
		into = &buffers[1];
		user(1, 100, 5);
		finish();
		cr_assert_eq(figures.counts, 1);
		cr_assert_eq(figures.of_kind[VERIFY_COUNT], wrong);
	}
	file.nr_options = 0;
	stat(STAT("0", "0", "0", "0", "0"));
	stat("\nBuffer: lanes\n\n");
	stat(STAT("0", "0", "0", "0", "2"));
	file.buffers = &buffers[1];
	file.nr_buffers = 2;
	begin();
	into = &buffers[2];
	user(0, 100, 5);
	user(0, 101, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 2);
}

Test(verify_counts, statistics_of_a_cpu_without_events)
{
	stat(STAT("7", "0", "0", "0", "0"));
	stat(STAT("8", "0", "0", "0", "1"));
	begin();
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, statistics_of_an_instance)
{
	stat(STAT("0", "0", "0", "0", "1"));
	stat("\nBuffer: other\n\n");
	stat(STAT("0", "0", "0", "0", "2"));
	begin();
	user(0, 100, 5);
	user(0, 101, 5);
	into = &buffers[1];
	user(0, 100, 5);
	finish();
	/* Both buffers have wrong counts, although the sum of both is right. */
	cr_assert_eq(figures.of_kind[VERIFY_COUNT], 2);
}

Test(verify_counts, statistics_of_a_buffer_without_any)
{
	stat(STAT("0", "0", "0", "0", "2") "\n" STAT("0, programs", "0", "0", "0", "1"));
	begin();
	of(ID_OTHER, 0, 100, 5);
	of(ID_OTHER, 0, 200, 5);
	into = &buffers[1];
	user(0, 200, 5);
	finish_clean();
}

static void end(const char *statistics, int64_t says, int64_t page)
{
	stat(statistics);
	begin();
	user(0, 100, 5);
	lost_before = page;
	put(0, 110, ID_END, 5, &says, sizeof(says));
}

Test(verify_counts, recorder_end_agrees_with_its_page)
{
	end(STAT("0", "0", "3", "0", "1"), 3, 3);
	finish_clean();
	cr_assert_eq(figures.user_events, 1);
}

Test(verify_counts, recorder_end_disagrees_with_its_page)
{
	end(STAT("0", "0", "3", "0", "1"), 4, 3);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify_counts, the_end_may_be_on_another_cpu_than_what_was_lost)
{
	end(STAT("0", "0", "0", "0", "1"), 3, 3);
	finish_clean();
}
