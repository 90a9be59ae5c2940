/* SPDX-License-Identifier: MIT */
/* recorder snapshot, if the clock of a program cannot be read: the snapshot fails, and its spool has no time of it. */
#include "cli/cmd.h"
#include "cli/recording/spool.h"
#include "tests/unit/lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer.h>
#include <librecorder/clock.h>
#include <librecorder/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

REC_EVENT(snapshot, one, u64(number));

static bool clock_fails;
static unsigned int anchors;

/* The linker defines these names; no header can declare them. */
int __real_rec_clock_anchor(uint32_t clock, struct rec_anchor *ret_anchor);
int __wrap_rec_clock_anchor(uint32_t clock, struct rec_anchor *ret_anchor);
int __real_spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor);
int __wrap_spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor);

int __wrap_rec_clock_anchor(uint32_t clock, struct rec_anchor *ret_anchor)
{
	return clock_fails ? -EIO : __real_rec_clock_anchor(clock, ret_anchor);
}

int __wrap_spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor)
{
	anchors++;
	return __real_spool_add_anchor(spool, clock, anchor);
}

static void begin(void)
{
	view_begin(4);
	cr_assert_eq(chdir(getenv("RECORDER_DIR")), 0);
	cr_assert_eq(rec_enable("snapshot:*"), 1);
	for (uint64_t i = 0; i < 10; i++)
		REC(snapshot, one, i);
}

TestSuite(snapshot, .init = begin, .fini = lane_end);

/* A snapshot of this process. *ret_text receives the output of the command. */
static int take(char ret_text[4096])
{
	char pid[16];
	char *argv[] = { (char[]){ "snapshot" }, (char[]){ "-P" }, pid, NULL };
	const int saved = dup(STDERR_FILENO), said = open("said", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status;
	ssize_t n;

	snprintf(pid, sizeof(pid), "%d", getpid());
	cr_assert_eq(dup2(said, STDERR_FILENO), STDERR_FILENO);
	status = cmd_snapshot(3, argv);
	fflush(stderr);
	cr_assert_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	n = pread(said, ret_text, 4095, 0);
	cr_assert_geq(n, 0);
	ret_text[n] = '\0';
	close(saved);
	close(said);
	return status;
}

Test(snapshot, the_clock_can_be_read)
{
	char text[4096];

	cr_assert_eq(take(text), EXIT_SUCCESS, "%s", text);
	cr_assert(strstr(text, "copied 10 events from 1 process"), "%s", text);
	cr_assert_geq(anchors, 2u);
	cr_assert_eq(access("trace.dat", F_OK), 0);
}

Test(snapshot, the_clock_cannot_be_read)
{
	char text[4096];

	clock_fails = true;
	cr_assert_eq(take(text), EXIT_FAILURE);
	cr_assert(strstr(text, strerror(EIO)), "%s", text);
	cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1, "one line: %s", text);
	cr_assert_eq(anchors, 0u);
	cr_assert_neq(access("trace.dat", F_OK), 0);
	cr_assert_neq(access("trace.dat.spool", F_OK), 0);
}
