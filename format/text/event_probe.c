/* SPDX-License-Identifier: MIT */
/* See event_probe.h. */
#include "format/text/event_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_SECONDS 10 /* of all children together */
#define DEATHS_MAX  64 /* a file with more texts that crash the parser is not worth further forks */

enum state { UNTRIED, TRYING, GOOD };

static void be_quiet(unsigned int seconds)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGINT, SIGTERM };
	const struct rlimit cpu = { .rlim_cur = seconds, .rlim_max = seconds };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CPU, &cpu);
}

static void child(void (*attempt)(void *arg, size_t i), void *arg, size_t first, size_t count,
		  volatile unsigned char *states, unsigned int seconds)
{
	be_quiet(seconds);
	for (size_t i = first; i < count; i++) {
		states[i] = TRYING;
		attempt(arg, i);
		states[i] = GOOD;
	}
	_exit(0);
}

/*
 * Waits for the child; returns the first index that is still untried. If this process ignores SIGCHLD, as it may from
 * its parent, the kernel keeps no status of the child: -ECHILD when it has ended. Then the time that it took is
 * unknown, and one second is charged.
 */
static int collect(pid_t pid, volatile unsigned char *states, size_t count, bool *bad, size_t *first, double *seconds)
{
	struct rusage usage = { .ru_utime.tv_sec = 1 };
	int status;

	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno == ECHILD)
			break;
		if (errno != EINTR)
			return -errno;
	}
	*seconds -= (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	while (*first < count && states[*first] == GOOD)
		++*first;
	if (*first < count) {
		bad[*first] = true;
		++*first;
	}
	return 0;
}

int event_probe(void (*attempt)(void *arg, size_t i), void *arg, size_t count, bool *ret_bad)
{
	volatile unsigned char *states;
	double seconds = CPU_SECONDS;
	size_t first = 0;
	int err = 0;

	if (!count)
		return 0;
	states = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (states == MAP_FAILED)
		return -errno;
	for (int deaths = 0; !err && first < count && deaths < DEATHS_MAX && seconds > 0; deaths++) {
		pid_t pid = fork();

		if (!pid)
			child(attempt, arg, first, count, states, 1 + (unsigned int)seconds);
		err = pid < 0 ? -errno : collect(pid, states, count, ret_bad, &first, &seconds);
	}
	for (; !err && first < count; first++)
		ret_bad[first] = true;
	munmap((void *)(uintptr_t)states, count);
	return err;
}
