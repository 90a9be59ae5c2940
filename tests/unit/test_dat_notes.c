/* SPDX-License-Identifier: MIT */
/* A file's notes about its making: the text, and the data parsed from it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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

/* The notes in a text are read, and written as the same text. So a copy of a file has the file's notes. */
Test(dat_notes, of_a_copy)
{
	static const char *const texts[] = {
		"recorder 1.0",
		"recorder 1.0; switches of some threads alone; time error at most 5 ns",
		"recorder 1.0; switches of some threads alone: 9 10; time error at most 5 ns",
		"recorder 1.0; switches of some threads alone: 9 10 and no others; hidden threads: 3",
		"recorder 1.0; switches of some threads alone: 9 10 and no others from 3 to 4, 8 on",
		"recorder 1.0; switches of some threads alone: 9 from 3 to 4; processes: 9 10, 12",
		"recorder 1.0; switches of some threads alone from 3 to 4",
		("recorder 1.0; events of the kernel lost from 3 to 4; events of programs lost from 5 on; "
		 "CPUs not recorded: 1-3,5; no switches from 7 to 8, 10 on; "
		 "no events of the kernel from 7 to 8; no events of programs from 5 to 6, 9 on; "
		 "nothing left out from 11 to 12"),
		"recorder 1.0; kernel - programs: CPU 0 -1 to 2 ns in 3 rounds; CPUs not recorded: 1",
		"recorder 1.0; no events of programs from 5 to 6, 9 on; several machines",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct dat_notes notes;
		char *text;

		cr_assert(dat_notes_read(texts[i], &notes));
		notes.program = texts[i];
		text = put(&notes);
		cr_expect_str_eq(text, texts[i]);
		free(text);
	}
}

Test(dat_notes, cpus)
{
	const char *at = "1-3,5; no switches from 7 to 8";
	bool set[5] = { false };
	uint32_t first, last;

	cr_expect_eq(dat_notes_cpus(at, set, 5), 6);
	cr_expect(!set[0] && set[1] && set[2] && set[3] && !set[4]);
	cr_assert(dat_notes_next_cpus(&at, &first, &last) && first == 1 && last == 3);
	cr_assert(dat_notes_next_cpus(&at, &first, &last) && first == 5 && last == 5);
	cr_expect_not(dat_notes_next_cpus(&at, &first, &last));
	for (size_t i = 0; i < 3; i++) {
		static const char *const damaged[] = { "3-1", "x", "0-99999999999" };

		cr_expect_eq(dat_notes_cpus(damaged[i], set, 5), 0);
	}
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
		.listed = "9\n10\n",
		.hidden = "12\n345\n",
		.other_pids = " 2 3",
		.processes = "100 101, 200",
		.time_error = 40,
		.kernel_losses = "100 to 200, 300 on",
		.program_losses = "150 to 160",
	};
	char *text = put(&notes);
	struct clock_offset offset;
	struct dat_notes found;
	int32_t tid, pid = 0;

	cr_expect_str_eq(
		text,
		"recorder 1.0; kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 2 3 to 12 ns in 7 rounds; "
		"switches of some threads alone: 9 10; hidden threads: 12 345; threads of other pid namespaces: 2 3; "
		"processes: 100 101, 200; time error at most 40 ns; events of the kernel lost from 100 to 200, 300 on; "
		"events of programs lost from 150 to 160");
	cr_expect(dat_notes_read(text, &found));
	cr_expect(found.some_threads);
	cr_assert(dat_notes_next_thread(&found.listed, &tid));
	cr_expect_eq(tid, 9);
	cr_assert(dat_notes_next_thread(&found.listed, &tid));
	cr_expect_eq(tid, 10);
	cr_expect_not(dat_notes_next_thread(&found.listed, &tid));
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
	cr_expect(!strncmp(found.kernel_losses, "100 to 200, 300 on;", 19));
	cr_expect_str_eq(found.program_losses, "150 to 160");
	free(text);
	free(measured);
}

Test(dat_notes, clocks)
{
	const struct dat_notes notes = {
		.program = "recorder 1.0",
		.time_error = 7,
		.readings = { { 5000, 1700000000000005000, 7000, 40, 3000000 },
			      { 9000, 1700000000000009100, 18446744073709551615u, 50, 2000000 } },
		.nr_readings = 2,
		.boot = "1b4e28ba-2fa1-11d2-883f-0016d3cca427\n",
		.is_merged = true,
		.merge_error = 77,
		.merge_is_open = true,
	};
	char *text = put(&notes);
	struct dat_notes found;

	cr_expect_str_eq(
		text, "recorder 1.0; time error at most 7 ns; clocks: monotonic 5000 realtime 1700000000000005000 "
		      "boottime 7000 ns, monotonic 9000 realtime 1700000000000009100 boottime 18446744073709551615 ns; "
		      "clocks read within 50 ns; time of day within 3000000 ns; "
		      "boot 1b4e28ba-2fa1-11d2-883f-0016d3cca427; merged within 77 ns "
		      "and errors that are not stated");
	cr_expect(dat_notes_read(text, &found));
	cr_expect_eq(found.time_error, 7);
	cr_assert_eq(found.nr_readings, 2);
	cr_expect_eq(found.readings[0].mono, 5000);
	cr_expect_eq(found.readings[0].realtime, 1700000000000005000);
	cr_expect_eq(found.readings[0].boottime, 7000);
	cr_expect_eq(found.readings[1].boottime, UINT64_MAX);
	cr_expect_eq(found.readings[0].error, 50);
	cr_expect_eq(found.readings[1].day_error, 3000000);
	cr_assert_not_null(found.boot);
	cr_expect_eq(strncmp(found.boot, notes.boot, DAT_BOOT_ID), 0);
	cr_expect(found.is_merged && found.merge_is_open);
	cr_expect_eq(found.merge_error, 77);
	free(text);
}

Test(dat_notes, damaged_clocks)
{
	struct dat_notes found;

	cr_expect(dat_notes_read("recorder 1; clocks: monotonic 5 realtime 6", &found));
	cr_expect_eq(found.nr_readings, 0);
	dat_notes_read("recorder 1; clocks: monotonic 5 realtime 6 boottime 7 ns, monotonic 5 realtime 9 boottime 9 ns",
		       &found);
	cr_expect_eq(found.nr_readings, 1, "the second reading is at the moment of the first");
	dat_notes_read(
		"recorder 1; clocks: monotonic 5 realtime 6 boottime 7 ns, monotonic 6 realtime 7 boottime 9 ns, "
		"monotonic 7 realtime 8 boottime 9 ns",
		&found);
	cr_expect_eq(found.nr_readings, 2);
	cr_expect_eq(found.readings[0].error, 0);
	cr_expect_eq(found.readings[0].day_error, 0);
	cr_expect_not(found.is_merged);
	dat_notes_read("recorder 1; boot 1b4e28ba", &found);
	cr_expect_null(found.boot, "half a boot id");
}

/* The time of day gained 100 ns in 1000, and was set back by the second recording's end. */
Test(dat_notes, realtime)
{
	const struct clock_reading gains[] = { { 1000, 50000, 0, 0, 0 }, { 2000, 51100, 0, 0, 0 } };
	const struct clock_reading back[] = { { 1000, 50000, 0, 0, 0 }, { 2000, 40000, 0, 0, 0 } };

	cr_expect_eq(clock_reading_realtime(gains, 2, 900), 49900);
	cr_expect_eq(clock_reading_realtime(gains, 2, 1000), 50000);
	cr_expect_eq(clock_reading_realtime(gains, 2, 1500), 50550);
	cr_expect_eq(clock_reading_realtime(gains, 2, 2000), 51100);
	cr_expect_eq(clock_reading_realtime(gains, 2, 2500), 51600);
	cr_expect_eq(clock_reading_realtime(gains, 1, 2500), 51500);
	cr_expect_eq(clock_reading_mono(gains, 2, 49900), 900);
	cr_expect_eq(clock_reading_mono(gains, 2, 50550), 1500);
	cr_expect_eq(clock_reading_mono(gains, 2, 51600), 2500);
	cr_expect_eq(clock_reading_mono(gains, 1, 51500), 2500);
	cr_expect_eq(clock_reading_realtime(back, 2, 1500), 39500);
	cr_expect_eq(clock_reading_mono(back, 2, 39500), 1500);
	cr_expect_eq(clock_reading_mono(back, 2, 49000), 11000);
	cr_expect_eq(clock_reading_mono(back, 2, 50000), 1000);
	cr_expect_eq(clock_reading_mono(back, 2, 50001), 1001);
}

Test(dat_notes, nothing_known)
{
	char *text = put(&(struct dat_notes){
		.program = "librecorder 1.0", .hidden = "", .time_error = DAT_TIME_ERROR_UNKNOWN });
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

/* Thread 500 of process 100 ended; a program that started later has its id. */
