/* SPDX-License-Identifier: MIT */
/*
 * Buffers of other versions: a reader accepts those whose incompatible features it knows, and does not touch the
 * others.
 */
#include "librecorder/process/sweep.h"
#include "tests/unit/lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES  4u
#define EVENTS 20u
#define SIZE   92u

REC_EVENT(features, seen, u32(n));

static void begin(void)
{
	lane_begin(PAGES, false);
}

TestSuite(features, .init = begin, .fini = lane_end);

static struct rec_view *opened;

static int open_patched(uint32_t version, uint64_t compatible, uint64_t incompatible)
{
	struct rec_buffer_header *header = rec_process_header();

	header->version = version;
	header->compatible = compatible;
	header->incompatible = incompatible;
	opened = NULL;
	return rec_view_open(rec_process_path(), &opened);
}

/* All events of the lane are there, and events can be switched. */
static void use_opened(void)
{
	struct rec_view_event event;
	uint64_t number = 0;

	while (rec_view_consume(opened, 0, &event) == 1)
		cr_assert_eq(reader_number(&event), number++);
	cr_expect_eq(number, EVENTS);
	cr_expect_eq(rec_view_switch(opened, "features:seen", true), 1);
	cr_expect(REC_ON(features, seen));
	cr_expect_eq(rec_view_switch(opened, "features:seen", false), 1);
	cr_expect_not(REC_ON(features, seen));
	opened = rec_view_close(opened);
}

static void write_events(void)
{
	for (uint64_t number = 0; number < EVENTS; number++)
		cr_assert(reader_write(lane, number, SIZE));
}

Test(features, any_later_version_is_read)
{
	static const uint32_t versions[] = { REC_ABI_VERSION, REC_ABI_VERSION + 1, 1000, UINT32_MAX };

	for (unsigned int i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		write_events();
		cr_assert_eq(open_patched(versions[i], 0, 0), 0, "version %u", versions[i]);
		use_opened();
	}
}

Test(features, versions_without_feature_bits_are_refused)
{
	for (uint32_t version = 0; version < 5; version++)
		cr_expect_eq(open_patched(version, 0, 0), -EPROTO, "version %u", version);
}

Test(features, unknown_compatible_bits_are_ignored)
{
	write_events();
	cr_assert_eq(open_patched(REC_ABI_VERSION + 1, UINT64_MAX, REC_FEATURES_INCOMPATIBLE), 0);
	use_opened();
}

Test(features, each_unknown_incompatible_bit_is_refused)
{
	for (unsigned int bit = 0; bit < 64; bit++)
		if (!(REC_FEATURES_INCOMPATIBLE >> bit & 1))
			cr_expect_eq(open_patched(REC_ABI_VERSION, 0, UINT64_C(1) << bit), -EPROTO, "bit %u", bit);
	cr_assert_eq(open_patched(REC_ABI_VERSION, 0, REC_FEATURES_INCOMPATIBLE), 0);
	opened = rec_view_close(opened);
}

/* This version knows all features that a writer of this version announces. */
Test(features, a_buffer_announces_what_it_has)
{
	cr_expect_eq(rec_process_header()->version, REC_ABI_VERSION);
	cr_expect_eq(rec_process_header()->compatible, REC_FEATURES_COMPATIBLE);
	cr_expect_eq(rec_process_header()->incompatible, REC_FEATURES_INCOMPATIBLE);
}

/* A child that ends at once and leaves a buffer without events, patched. */
static void leave_buffer(uint32_t version, uint64_t incompatible, char path[PATH_MAX])
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		rec_process_header()->version = version;
		rec_process_header()->incompatible = incompatible;
		_exit(write(ends[1], rec_process_path(), PATH_MAX) != PATH_MAX);
	}
	cr_assert_eq(read(ends[0], path, PATH_MAX), PATH_MAX);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(ends[0]);
	close(ends[1]);
	cr_assert_eq(access(path, F_OK), 0);
}

/* If a buffer has unknown features, it is not known which process left it, and whether it holds events. */
Test(features, what_is_not_understood_is_not_removed)
{
	char later[PATH_MAX], unknown[PATH_MAX];

	leave_buffer(REC_ABI_VERSION + 1, 0, later);
	leave_buffer(REC_ABI_VERSION, UINT64_C(1) << 63, unknown);
	/* Each sweep looks at two files of three. */
	for (unsigned int i = 0; i < 100; i++)
		rec_sweep();
	cr_expect_neq(access(later, F_OK), 0);
	cr_expect_eq(access(unknown, F_OK), 0);
}
