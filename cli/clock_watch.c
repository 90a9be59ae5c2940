/* SPDX-License-Identifier: MIT */
#include "cli/clock_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock_offset.h"
#include "cli/opts.h"

/*
 * On each CPU. After two hundred the interval is as narrow as after ten thousand: some hundred nanoseconds, what the
 * write takes (Linux 6.18 in a virtual machine). They take half a millisecond.
 */
#define ROUNDS 300u

/* What was found before holds, too. */
static void add(struct clock_watch *watch, const struct clock_offset *found)
{
	struct clock_offset *offsets;

	for (unsigned int i = 0; i < watch->nr; i++) {
		struct clock_offset *known = &watch->offsets[i];

		if (known->cpu != found->cpu)
			continue;
		clock_offset_join(known, found);
		return;
	}
	offsets = realloc(watch->offsets, (watch->nr + 1) * sizeof(*offsets));
	if (!offsets)
		return;
	watch->offsets = offsets;
	offsets[watch->nr++] = *found;
}

static void *measure(void *arg)
{
	struct clock_watch *watch = arg;
	const struct clock_offset *offsets;
	struct clock_probe *probe;
	unsigned int nr;
	char tid[16];
	int err;

	snprintf(tid, sizeof(tid), "%d", (int)gettid());
	kernel_hide_threads(watch->kernel, tid);
	if (clock_probe_open(watch->command, kernel_clock(watch->kernel), &probe))
		return NULL;
	err = clock_probe_measure(probe, CLOCK_ALL_CPUS, ROUNDS);
	if (err)
		complain(watch->command, "cannot compare the clocks of kernel and programs: %s", strerror(-err));
	offsets = clock_probe_offsets(probe, &nr);
	for (unsigned int i = 0; i < nr && !err; i++)
		if (offsets[i].rounds)
			add(watch, &offsets[i]);
	clock_probe_close(watch->command, probe);
	return NULL;
}

void clock_watch_open(const char *command, struct kernel *kernel, struct clock_watch *ret_watch)
{
	const char *clock = kernel_clock(kernel);
	const bool shared = !strcmp(clock, "x86-tsc") || !strcmp(clock, "mono");

	*ret_watch = (struct clock_watch){ .command = command, .kernel = shared ? kernel : NULL };
}

void clock_watch_begin(struct clock_watch *watch)
{
	sigset_t all, before;

	if (!watch->kernel || watch->runs)
		return;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch->runs = pthread_create(&watch->thread, NULL, measure, watch) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

char *clock_watch_end(struct clock_watch *watch)
{
	if (watch->runs)
		pthread_join(watch->thread, NULL);
	watch->runs = false;
	return watch->nr ? clock_offsets_text(watch->offsets, watch->nr) : NULL;
}

void clock_watch_close(struct clock_watch *watch)
{
	free(clock_watch_end(watch));
	free(watch->offsets);
	watch->offsets = NULL;
	watch->nr = 0;
}
