/* SPDX-License-Identifier: MIT */
/*
 * See report_follow.h. The reader waits for the pages that it needs; before that it flushes its output. A signal ends
 * the report before its next event.
 */
#include "cli/report/report_follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/report.h"
#include "format/dat/dat_compress.h"

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Set the handler of signals. The second signal ends the process, because it may be blocked in a write to a pipe. */
static void take_signals(sigset_t *signals)
{
	const int numbers[] = { SIGINT, SIGTERM };
	const struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESTART | (int)SA_RESETHAND };

	sigemptyset(signals);
	stopped = 0;
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(signals, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
}

static int wait_for_more(void *arg)
{
	struct report *r = arg;
	int ret = -EPIPE;

	fflush(stdout);
	if (report_written(r))
		ret = file_watch_wait(&r->follow.watch, STDOUT_FILENO, &r->follow.signals, &stopped);
	if (ret < 0) {
		r->follow.ended = true;
		stopped = 1;
	}
	return ret;
}

int report_follow_open(struct report *r)
{
	struct report_follow *follow = &r->follow;
	struct dat_error error = { 0 };
	char path[48];
	int err;

	r->select.grows = true;
	take_signals(&follow->signals);
	err = file_watch_open(&follow->watch, r->path);
	if (err) {
		snprintf(error.text, sizeof(error.text), "cannot follow: %s", strerror(-err));
		return report_fail_open(r, err, &error);
	}
	follow->growth.wait = wait_for_more;
	follow->growth.arg = r;
	/* Open the watched file itself, even if its name leads to another file now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", follow->watch.file);
	err = dat_open_growing(path, dat_compress_zstd(), &follow->growth, &r->file, &error);
	if (err && follow->ended)
		return EXIT_FAILURE;
	r->select.stopped = &stopped;
	return err ? report_fail(r, &error) : 0;
}

void report_follow_close(struct report_follow *follow)
{
	file_watch_close(&follow->watch);
}
