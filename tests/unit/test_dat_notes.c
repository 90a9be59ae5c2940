/* SPDX-License-Identifier: MIT */
/* A file's notes on how it was made: the text, and what is read from it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "format/dat/dat_notes.h"
#include "format/io/blob.h"

static char *put(const struct dat_notes *notes)
{
	struct blob text = BLOB_INIT;

	dat_notes_put(&text, notes);
	blob_put(&text, "", 1);
	cr_assert_eq(text.error, 0);
	return (char *)text.data;
}

Test(dat_notes, all_of_it)
{
	const struct clock_offset offsets[] = {
		{ .cpu = 0, .rounds = 400, .low = -120, .high = 95 },
		{ .cpu = 1 },
		{ .cpu = 2, .rounds = 7, .low = 3, .high = 12 },
	};
	char *measured = clock_offsets_text(offsets, 3);
	const struct dat_notes notes = {
		.program = "recorder 1.0",
		.offsets = measured,
		.some_threads = true,
		.hidden = "12\n345\n",
		.other_pids = " 2 3",
		.processes = "100 101, 200",
		.time_error = 40,
	};
	char *text = put(&notes);
	struct clock_offset offset;
	struct dat_notes found;
	int32_t tid, pid = 0;

	cr_expect_str_eq(text, "recorder 1.0; kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 2 3 to 12 ns in 7 rounds; "
			       "switches of some threads alone; hidden threads: 12 345; threads of other pid namespaces: 2 3; processes: 100 101, 200; time error at most 40 ns");
	cr_expect(dat_notes_read(text, &found));
	cr_expect(found.some_threads);
	cr_expect_eq(found.time_error, 40);
	cr_assert(clock_offsets_next(&found.offsets, &offset));
	cr_expect_eq(offset.low, -120);
	cr_expect_eq(offset.high, 95);
	cr_expect(clock_offset_contains_zero(&offset));
	cr_assert(clock_offsets_next(&found.offsets, &offset));
	cr_expect_eq(offset.cpu, 2);
	cr_expect_not(clock_offset_contains_zero(&offset));
	cr_expect_not(clock_offsets_next(&found.offsets, &offset));
	cr_assert(dat_notes_next_thread(&found.hidden, &tid));
	cr_expect_eq(tid, 12);
	cr_assert(dat_notes_next_thread(&found.hidden, &tid));
	cr_expect_eq(tid, 345);
	/* The number in "time error" is not a thread id. */
	cr_expect_not(dat_notes_next_thread(&found.hidden, &tid));
	cr_assert(dat_notes_next_thread(&found.other_pids, &tid));
	cr_expect_eq(tid, 2);
	cr_assert(dat_notes_next_thread(&found.other_pids, &tid));
	cr_expect_eq(tid, 3);
	cr_expect_not(dat_notes_next_thread(&found.other_pids, &tid));
	cr_assert(dat_notes_next_member(&found.processes, &pid, &tid));
	cr_expect(pid == 100 && tid == 100);
	cr_assert(dat_notes_next_member(&found.processes, &pid, &tid));
	cr_expect(pid == 100 && tid == 101);
	cr_assert(dat_notes_next_member(&found.processes, &pid, &tid));
	cr_expect(pid == 200 && tid == 200);
	cr_expect_not(dat_notes_next_member(&found.processes, &pid, &tid));
	free(text);
	free(measured);
}

Test(dat_notes, nothing_known)
{
	char *text = put(&(struct dat_notes){ .program = "librecorder 1.0", .hidden = "", .time_error = DAT_TIME_ERROR_UNKNOWN });
	struct dat_notes found;

	cr_expect_str_eq(text, "librecorder 1.0");
	cr_expect(dat_notes_read(text, &found));
	cr_expect_null(found.offsets);
	cr_expect_null(found.hidden);
	cr_expect_not(found.some_threads);
	cr_expect_eq(found.time_error, DAT_TIME_ERROR_UNKNOWN);
	free(text);
}

Test(dat_notes, others)
{
	struct dat_notes found;

	cr_expect_not(dat_notes_read(NULL, &found));
	cr_expect_eq(found.time_error, DAT_TIME_ERROR_UNKNOWN);
	cr_expect_not(dat_notes_read("3.1.6", &found));
	cr_expect_not(dat_notes_read("recorders", &found));
}
