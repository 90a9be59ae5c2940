/* SPDX-License-Identifier: MIT */
/*
 * Runs the tests of a program, each in a process of its own and for a bounded time, and prints TAP.
 *
 *	tests/unit/test_ring				all
 *	tests/unit/test_ring --filter 'ring/nested*'	those that match
 *	tests/unit/test_ring --here ring/x		one, in this process: for a debugger
 *
 * PORT_EXCEPT in the environment names tests that this build does not run, separated by blanks: a comment states that
 * they are left out, and PORT_EXCEPT_WHY why. A filter that matches no test is an error, except if it matches these.
 */
#include "tests/port/criterion/criterion.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* An emulated CPU is some twenty times slower than the real one. */
#define TIMEOUT_SECONDS 200

/* The exit statuses of failed and skipped tests, which no test uses for anything else. */
#define STATUS_FAILED 98
#define STATUS_SKIPPED 99

static struct port_test *first;
static struct port_test **last = &first;

/* What a test reports to the harness across processes: shared memory. */
static struct said {
	bool failed; /* an expectation */
	char reason[200];
} *said;

static struct port_named current_suite, current_test;
const struct port_named *criterion_current_suite = &current_suite, *criterion_current_test = &current_test;

void port_add(struct port_test *test)
{
	*last = test;
	last = &test->next;
}

static void complain(const char *file, int line, const char *what, const char *format, va_list args)
{
	printf("# %s:%d: not so: %s", file, line, what);
	if (format) {
		printf("\n#   ");
		vprintf(format, args);
	}
	printf("\n");
	fflush(stdout);
}

void port_fail(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(file, line, what, format, args);
	va_end(args);
	_exit(STATUS_FAILED);
}

void port_expect(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(file, line, what, format, args);
	va_end(args);
	said->failed = true;
}

void port_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said->reason, sizeof(said->reason), format, args);
	va_end(args);
	_exit(STATUS_SKIPPED);
}

void port_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static const struct port_options *suite_of(const struct port_test *test)
{
	static const struct port_options none;
	const struct port_test *at;

	for (at = first; at; at = at->next)
		if (!at->name && strcmp(at->suite, test->suite) == 0)
			return &at->options;
	return &none;
}

static void run(const struct port_test *test)
{
	const struct port_options *suite = suite_of(test);

	current_suite.name = test->suite;
	current_test.name = test->name;
	if (suite->init)
		suite->init();
	if (test->options.init)
		test->options.init();
	test->run();
	if (test->options.fini)
		test->options.fini();
	if (suite->fini)
		suite->fini();
	/* This runs all that belongs to an exit: destructors, and a sanitizer's report. */
	exit(said->failed ? STATUS_FAILED : test->options.exit_code);
}

/* The child's status, or -1: it had to be killed. */
static int wait_for(pid_t pid, const sigset_t *signals, time_t seconds)
{
	const struct timespec limit = { .tv_sec = seconds };
	int status = 0;

	if (sigtimedwait(signals, NULL, &limit) < 0 && waitpid(pid, &status, WNOHANG) == 0) {
		kill(-pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -1;
	}
	waitpid(pid, &status, 0);
	/* A process that it left running would hold our output open. */
	kill(-pid, SIGKILL);
	return status;
}

/* Checks that the test ended as it should; if not, prints a line with the reason. */
static bool has_passed(const struct port_test *test, int status)
{
	if (status == -1) {
		printf("# killed: it takes too long\n");
		return false;
	}
	if (WIFSIGNALED(status)) {
		if (WTERMSIG(status) != test->options.signal)
			printf("# ended by signal %d\n", WTERMSIG(status));
		return WTERMSIG(status) == test->options.signal;
	}
	if (WEXITSTATUS(status) != test->options.exit_code && WEXITSTATUS(status) != STATUS_FAILED)
		printf("# ended with status %d\n", WEXITSTATUS(status));
	return WEXITSTATUS(status) == test->options.exit_code && !test->options.signal;
}

static bool run_apart(const struct port_test *test, int number)
{
	const double own = test->options.timeout > 0 ? test->options.timeout : suite_of(test)->timeout;
	sigset_t signals, before;
	bool skipped, passed;
	int status;
	pid_t pid;

	*said = (struct said){ .reason = "" };
	fflush(stdout);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		run(test);
	}
	status = pid < 0 ? -1 : wait_for(pid, &signals, own > TIMEOUT_SECONDS ? (time_t)own : TIMEOUT_SECONDS);
	sigprocmask(SIG_SETMASK, &before, NULL);
	skipped = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED;
	passed = skipped || has_passed(test, status);
	printf("%s %d - %s::%s", passed ? "ok" : "not ok", number, test->suite, test->name);
	printf(skipped ? " # SKIP %s\n" : "\n", said->reason);
	return passed;
}

static bool is_excepted(const struct port_test *test)
{
	const char *at = getenv("PORT_EXCEPT");
	char name[300];
	size_t length;

	snprintf(name, sizeof(name), "%s/%s", test->suite, test->name);
	length = strlen(name);
	for (; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

static bool is_matched(const struct port_test *test, const char *pattern)
{
	char name[300];

	if (!test->name || test->options.disabled)
		return false;
	snprintf(name, sizeof(name), "%s/%s", test->suite, test->name);
	return fnmatch(pattern, name, 0) == 0;
}

static bool is_chosen(const struct port_test *test, const char *pattern)
{
	return is_matched(test, pattern) && !is_excepted(test);
}

/* Weak, because a program with a main() of its own may use fixtures that check. */
__attribute__((weak)) int main(int argc, char **argv)
{
	const bool here = argc > 1 && strcmp(argv[1], "--here") == 0;
	const char *pattern = argc > 2 ? argv[2] : "*";
	const struct port_test *test;
	int tests = 0, matched = 0, number = 0, failed = 0;

	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 2;
	for (test = first; test; test = test->next) {
		tests += is_chosen(test, pattern);
		matched += is_matched(test, pattern);
		if (test->name && is_excepted(test))
			printf("# %s::%s is left out: %s\n", test->suite, test->name, getenv("PORT_EXCEPT_WHY"));
	}
	if (argc > 2 && !matched) {
		fprintf(stderr, "%s: no test matches '%s'\n", argv[0], pattern);
		return 1;
	}
	printf("1..%d\n", tests);
	for (test = first; test; test = test->next) {
		if (!is_chosen(test, pattern))
			continue;
		number++;
		if (here)
			run(test);
		else
			failed += !run_apart(test, number);
	}
	return failed > 0;
}
