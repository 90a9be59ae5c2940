/* SPDX-License-Identifier: MIT */
#include "repeat.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(repeat, the_line)
{
	char line[200];

	cr_assert_str_eq(repeat_line(line, sizeof(line), "RECORDER_SEED=7", "/build", "tests/x", "suite", "test"),
			 "RECORDER_SEED=7 top_builddir=/build tests/x --filter suite/test");
	cr_assert_str_eq(repeat_line(line, sizeof(line), "STEPS=at:9", NULL, "tests/x", "suite", "test"),
			 "STEPS=at:9 tests/x --filter suite/test");
}

Test(repeat, numbers)
{
	unsigned long long numbers[3];

	unsetenv("RECORDER_LIFE");
	cr_assert_eq(repeat_numbers("RECORDER_LIFE", numbers, 3), 0);
	setenv("RECORDER_LIFE", "18446744073709551615,0x10,3", 1);
	cr_assert_eq(repeat_numbers("RECORDER_LIFE", numbers, 3), 3);
	cr_assert_eq(numbers[0], ~0ull);
	cr_assert_eq(numbers[1], 16);
	cr_assert_eq(numbers[2], 3);
}

/* Gets the output of a child that notes variables and then ends by calling `end`. */
static void end_and_say(void (*end)(void), char *said, size_t size)
{
	char path[] = "/tmp/recorder-test.XXXXXX";
	const int fd = mkstemp(path);
	ssize_t n;
	pid_t pid;

	cr_assert_geq(fd, 0);
	setenv("RECORDER_FIGURES", path, 1);
	pid = fork();
	if (pid == 0) {
		repeat_by("RECORDER_SEED=%d", 5);
		end();
		exit(0);
	}
	waitpid(pid, NULL, 0);
	n = read(fd, said, size - 1);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(path);
}

static void fail(void)
{
	exit(1);
}

Test(repeat, printed_when_a_test_fails_or_crashes)
{
	char said[2000];

	end_and_say(fail, said, sizeof(said));
	cr_assert_eq(strncmp(said, "# repeat: RECORDER_SEED=5 ", 26), 0, "%s", said);
	cr_assert_not_null(strstr(said, "test_repeat --filter repeat/printed_when_a_test_fails_or_crashes\n"), "%s",
			   said);
	end_and_say(abort, said, sizeof(said));
	cr_assert_not_null(strstr(said, "# repeat: "), "%s", said);
	end_and_say(repeat_nothing, said, sizeof(said));
	cr_assert_str_eq(said, "");
}

#ifdef PORT_CRITERION_H
/* Criterion's own programs accept it. */
Test(repeat, a_filter_that_matches_no_test_is_an_error)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		execl("/proc/self/exe", "test_repeat", "--filter", "no/such*", NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	cr_assert_eq(WEXITSTATUS(status), 1);
}
#endif

static unsigned int count(struct steps steps, unsigned int instructions)
{
	while (steps_next(&steps, steps.at <= instructions))
		;
	return steps.looks;
}

Test(steps, every_nth_and_all)
{
	unsigned int i, looks = 0;

	setenv("STEPS", "all", 1);
	cr_assert_eq(count(steps_begin(7, 50), 60), 60);
	setenv("STEPS", "10", 1);
	cr_assert_eq(count(steps_begin(7, 50), 60), 6);
	cr_assert_eq(count(steps_begin_all(50), 60), 60);
	unsetenv("STEPS");
	/* Each instruction is chosen once. */
	for (i = 0; i < 1000; i++)
		looks += count(steps_begin(7, 50), 60);
	cr_assert(looks > 8000 && looks < 9000, "%u", looks);
	/* The sample is never empty. */
	setenv("STEPS", "1000", 1);
	cr_assert_eq(count(steps_begin(7, 50), 60), 1);
	setenv("STEPS", "at:61", 1);
	cr_assert_eq(count(steps_begin(7, 50), 60), 0);
	setenv("STEPS", "at:60", 1);
	cr_assert_eq(count(steps_begin(7, 50), 60), 1);
}
