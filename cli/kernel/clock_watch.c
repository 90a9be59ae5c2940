/* SPDX-License-Identifier: MIT */
#include "cli/kernel/clock_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel/clock_offset.h"
#include "cli/kernel/kernel_clock.h"
#include "cli/base/message.h"

/*
 * Rounds on each CPU. After two hundred the interval is as narrow as after ten thousand: some hundred nanoseconds, the
 * time that the write takes (Linux 6.18 in a virtual machine). They take a third of a millisecond.
 */
#define ROUNDS 200u

/* Copy the results of the probe so far. */
static void take_offsets(struct clock_watch *watch, const struct clock_probe *probe)
{
	unsigned int nr;
	const struct clock_offset *offsets = clock_probe_offsets(probe, &nr);

	if (!watch->offsets)
		watch->offsets = malloc(nr * sizeof(*offsets));
	watch->nr = 0;
	for (unsigned int i = 0; i < nr && watch->offsets; i++)
		if (offsets[i].rounds)
			watch->offsets[watch->nr++] = offsets[i];
}

static void measure(struct clock_watch *watch, struct clock_probe *probe)
{
	const int err = clock_probe_measure(probe, CLOCK_ALL_CPUS, ROUNDS);

	if (err)
		message(watch->sink, "cannot compare the clocks of kernel and programs: %s", strerror(-err));
	else
		take_offsets(watch, probe);
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		;
}

static void *watch_clocks(void *arg)
{
	struct clock_watch *watch = arg;
	struct clock_probe *probe = NULL;
	bool good = true;

	for (wait_for(&watch->ask); !watch->over; wait_for(&watch->ask)) {
		if (good && !probe)
			good = !clock_probe_open(watch->sink, watch->clock, &probe);
		if (good)
			measure(watch, probe);
		sem_post(&watch->measured);
	}
	clock_probe_close(watch->sink, probe);
	return NULL;
}

void clock_watch_open(const struct message_sink *sink, const struct kernel *kernel, struct clock_watch *ret_watch)
{
	const char *clock = kernel_clock(kernel);

	*ret_watch = (struct clock_watch){ .sink = sink, .clock = kernel_clock_is_shared(clock) ? clock : NULL };
	sem_init(&ret_watch->ask, 0, 0);
	sem_init(&ret_watch->measured, 0, 0);
}

void clock_watch_start(struct clock_watch *watch)
{
	sigset_t all, before;

	if (!watch->clock)
		return;
	/* All signals are blocked, because the main thread handles them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch->runs = pthread_create(&watch->thread, NULL, watch_clocks, watch) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void clock_watch_begin(struct clock_watch *watch)
{
	if (!watch->runs)
		return;
	watch->asked++;
	sem_post(&watch->ask);
}

char *clock_watch_end(struct clock_watch *watch)
{
	for (; watch->asked; watch->asked--)
		wait_for(&watch->measured);
	return watch->nr ? clock_offsets_text(watch->offsets, watch->nr) : NULL;
}

void clock_watch_close(struct clock_watch *watch)
{
	if (watch->runs) {
		watch->over = true;
		sem_post(&watch->ask);
		pthread_join(watch->thread, NULL);
	}
	watch->runs = false;
	free(watch->offsets);
	watch->offsets = NULL;
	watch->nr = 0;
}
