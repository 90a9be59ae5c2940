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
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A kernel's format takes 50 microseconds of CPU time, 5 ms under valgrind (2026-11, 2323 formats). The limit for all
 * grows with their number up to a maximum, so that only texts made to be slow reach it.
 */
#define SECONDS_EACH	1
#define SECONDS_ALL	10
#define SECONDS_A_TEXT	0.05
#define SECONDS_MAX	120
/* If more texts crash the parser, or reach their limit, the other texts are not tried any more. */
#define DEATHS_MAX	64
#define TIMEOUTS_MAX	10

enum state { UNTRIED, TRYING, GOOD };

/* The state of the trials: their texts, and the rest of their limits. */
struct probe {
	void (*attempt)(void *arg, size_t i);
	void *arg;
	size_t count;
	volatile unsigned char *states; /* shared with the children */
	double seconds;
	unsigned int deaths, timeouts;
};

static void be_quiet(unsigned int seconds)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF, SIGINT, SIGTERM };
	const struct rlimit cpu = { .rlim_cur = seconds, .rlim_max = seconds };
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CPU, &cpu);
}

static void child(const struct probe *p, size_t first)
{
	const struct itimerval limit = { .it_value.tv_sec = SECONDS_EACH };

	be_quiet(1 + (unsigned int)p->seconds);
	for (size_t i = first; i < p->count; i++) {
		p->states[i] = TRYING;
		setitimer(ITIMER_PROF, &limit, NULL);
		p->attempt(p->arg, i);
		p->states[i] = GOOD;
	}
	_exit(0);
}

/*
 * Waits for the child, and charges the time that it took. If this process ignores SIGCHLD, which it may have inherited,
 * the kernel keeps no status of the child, and the wait ends with -ECHILD. Then the time is unknown and is charged as a
 * timeout.
 */
static int collect(struct probe *p, pid_t pid)
{
	struct rusage usage = { .ru_utime.tv_sec = SECONDS_EACH };
	int status = SIGPROF;

	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno == ECHILD)
			break;
		if (errno != EINTR)
			return -errno;
	}
	p->deaths++;
	p->timeouts += WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
	p->seconds -= (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	return 0;
}

static int try_all(struct probe *p, bool *bad)
{
	size_t first = 0;

	while (first < p->count && p->deaths < DEATHS_MAX && p->timeouts < TIMEOUTS_MAX && p->seconds > 0) {
		pid_t pid = fork();
		int err;

		if (!pid)
			child(p, first);
		err = pid < 0 ? -errno : collect(p, pid);
		if (err)
			return err;
		while (first < p->count && p->states[first] == GOOD)
			first++;
		if (first < p->count)
			bad[first++] = true;
	}
	for (; first < p->count; first++)
		bad[first] = true;
	return 0;
}

int event_probe(void (*attempt)(void *arg, size_t i), void *arg, size_t count, bool *ret_bad)
{
	struct probe p = { .attempt = attempt, .arg = arg, .count = count };
	int err;

	if (!count)
		return 0;
	p.seconds = SECONDS_ALL + SECONDS_A_TEXT * (double)count;
	if (p.seconds > SECONDS_MAX)
		p.seconds = SECONDS_MAX;
	p.states = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p.states == MAP_FAILED)
		return -errno;
	err = try_all(&p, ret_bad);
	munmap((void *)(uintptr_t)p.states, count);
	return err;
}
