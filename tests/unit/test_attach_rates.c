/* SPDX-License-Identifier: MIT */
/* The end of a recording of two running programs with a rate: how many events it counts as suppressed. */
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recording/attach_private.h"

#define PAGES	 16u
#define PROGRAMS 2u

/*
 * The time, which advances with each program that is switched off. Each program has suppressed as many events as time
 * has passed.
 */
static uint64_t passed;

bool __wrap_rec_view_rate(const struct rec_view *view, unsigned int id, struct rec_view_rate *ret_rate);
bool __wrap_rec_view_rate(const struct rec_view *view, unsigned int id, struct rec_view_rate *ret_rate)
{
	(void)view;
	(void)id;
	*ret_rate = (struct rec_view_rate){ .rate = 1, .suppressed = passed };
	return true;
}

int __wrap_rec_view_switch(struct rec_view *view, const char *selector, bool on);
int __wrap_rec_view_switch(struct rec_view *view, const char *selector, bool on)
{
	(void)view;
	cr_assert_str_eq(selector, "a:b");
	cr_assert_not(on);
	passed++;
	return 0;
}

static void idle(struct rec_handle *lane, int pipe)
{
	(void)lane;
	(void)pipe;
	for (;;)
		pause();
}

/* Start a program, and attach to its buffer as attach_begin() does. */
static pid_t attach_to_one(struct watched_dir *watched)
{
	const struct rec_view_losses none = { 0, 0, 0 };
	char path[PATH_MAX];
	struct rec_view *view;
	struct buffer *buffer;
	struct stat st;
	int pipe_end;
	const pid_t pid = reader_child(idle, path, &pipe_end);

	close(pipe_end);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(rec_view_open(path, &view), 0);
	buffer = watched_dir_add(watched, strrchr(path, '/') + 1, st.st_ino, view);
	cr_assert_not_null(buffer);
	buffer->view = view;
	buffer->taken = true;
	cr_assert_eq(drain_add(watched->drain, buffer->name, &none), 0);
	return pid;
}

TestSuite(attach_rates, .fini = reader_end, .timeout = 60);

/*
 * While one program is switched off, the other one still suppresses events: they are counted, because the count of a
 * program is read when it is its turn.
 */
Test(attach_rates, a_program_counts_until_it_is_switched_off)
{
	const struct spool_head head = { .file_version = 6 };
	struct selection selection = { .patterns = (char[]){ "a:b" }, .selector = (char[]){ "a:b rate" } };
	const struct selections selections = { .list = &selection, .nr = 1 };
	struct watched_dir watched = { .fd = -1 };
	struct attach attach = { .selections = &selections, .watched_dirs = &watched, .nr = 1 };
	pid_t pids[PROGRAMS];
	struct spool *spool;
	char path[PATH_MAX];

	reader_begin(PAGES, true);
	snprintf(path, sizeof(path), "%s/t.spool", getenv("RECORDER_DIR"));
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	watched.fd = open(getenv("RECORDER_DIR"), O_RDONLY | O_DIRECTORY);
	cr_assert_geq(watched.fd, 0);
	dir_watch_open(&watched.watch, watched.fd);
	cr_assert_eq(drain_open(spool, watched.fd, DRAIN_NAMED | DRAIN_OWNED, NULL, &watched.drain), 0);
	for (unsigned int i = 0; i < PROGRAMS; i++)
		pids[i] = attach_to_one(&watched);
	cr_assert_geq(attach_finish(&attach), 0);
	cr_assert_eq(spool->nr_entries, PROGRAMS);
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		cr_assert_eq(spool->entries[i].nr_rates, 1);
		cr_expect_eq(spool->entries[i].rates[0].rate.suppressed, i);
		kill(pids[i], SIGKILL);
		cr_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
	watched_dir_close(&watched);
	spool_close(spool);
}
