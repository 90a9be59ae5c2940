/* SPDX-License-Identifier: MIT */
/* A program that starts while the session of its recording is removed: its buffer is found afterwards. */
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/recording/survivors.h"

#define PAGES 16u

static struct session session = SESSION_INIT;
static pid_t program;
static int pipe_end;

/* The buffer's path in the user's directory and in the session; and where it is kept until the program makes it. */
static char above[PATH_MAX], inside[PATH_MAX + 256], kept[PATH_MAX + 16];

/* When the program makes its buffer: before the session's directory is removed; while the recorder waits. */
static bool appears_before_rmdir, appears_while_waiting;

static unsigned int lines;
static char last_line[512];

static void appear(bool *when)
{
	if (*when)
		cr_assert_eq(rename(kept, inside), 0);
	*when = false;
}

int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);
int __wrap_rmdir(const char *path)
{
	appear(&appears_before_rmdir);
	return __real_rmdir(path);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_rest)
{
	(void)time;
	(void)ret_rest;
	appear(&appears_while_waiting);
	return 0;
}

static void note_line(const void *arg, const char *line)
{
	(void)arg;
	lines++;
	snprintf(last_line, sizeof(last_line), "%s", line);
}

static const struct message_sink sink = { .message = note_line };
static const struct selections none;

static void idle(struct rec_handle *lane, int pipe)
{
	(void)lane;
	(void)pipe;
	for (;;)
		pause();
}

static void begin(void)
{
	reader_begin(PAGES, true);
	program = reader_child(idle, above, &pipe_end);
	cr_assert(session_create(&sink, &session), "%s", last_line);
	snprintf(inside, sizeof(inside), "%.4000s/%s", session.path, strrchr(above, '/') + 1);
	snprintf(kept, sizeof(kept), "%s.kept", above);
	cr_assert_eq(rename(above, kept), 0);
}

static void kill_program(void)
{
	kill(program, SIGKILL);
	cr_assert_eq(waitpid(program, NULL, 0), program);
	program = 0;
}

static void end(void)
{
	if (program)
		kill_program();
	session_close(&session);
	close(pipe_end);
	reader_end();
}

TestSuite(survivors, .init = begin, .fini = end, .timeout = 60);

static void make_unfinished(void)
{
	const int fd = open(inside, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0);
	close(fd);
}

static void expect_moved(void)
{
	cr_expect_eq(access(above, F_OK), 0, "its buffer is gone");
	cr_expect_neq(access(session.path, F_OK), 0, "the session is still there");
	cr_expect_eq(lines, 0, "%s", last_line);
}

/* The pass over the directory is over, and the directory is about to be removed: the program makes its buffer. */
Test(survivors, a_program_that_starts_after_the_look)
{
	appears_before_rmdir = true;
	survivors_release(&sink, &session, &none);
	cr_assert_not(appears_before_rmdir);
	expect_moved();
}

/* The program has made the file, and has not set its size yet. */
Test(survivors, a_program_that_has_not_finished_its_buffer)
{
	make_unfinished();
	appears_while_waiting = true;
	survivors_release(&sink, &session, &none);
	cr_assert_not(appears_while_waiting, "the recorder did not wait");
	expect_moved();
}

/* The program is stopped at that point. */
Test(survivors, a_program_that_does_not_finish_its_buffer)
{
	make_unfinished();
	survivors_release(&sink, &session, &none);
	cr_assert_eq(access(inside, F_OK), 0);
	cr_assert_eq(lines, 1, "%u lines", lines);
	cr_assert_not_null(strstr(last_line, "' stays: programs may be running with a buffer in it"), "%s", last_line);
	kill_program();
	cr_assert(session_remove(&session));
	cr_assert_neq(access(session.path, F_OK), 0);
}

/* 'recorder recover' removes sessions like this one; a program may have started in it. */
Test(survivors, a_session_with_a_running_program_is_not_removed)
{
	cr_assert_eq(rename(kept, inside), 0);
	cr_assert_not(session_remove(&session));
	cr_assert_eq(access(inside, F_OK), 0);
	kill_program();
	cr_assert(session_remove(&session));
	cr_assert_neq(access(session.path, F_OK), 0);
}
