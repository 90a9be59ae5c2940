/* SPDX-License-Identifier: MIT */
#include "cli/record_kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel_instance.h"

const char *record_kernel_wrong(const struct record_kernel *half, bool command, bool processes)
{
	const struct kernel_request *request = &half->request;
	const bool any = kernel_request_is_any(request);

	if (half->functions.nr && !request->tracer)
		return "-l, -n and -g select functions for a tracer: they need -p";
	if ((request->module || request->graph_depth) && !request->tracer)
		return "--module and --max-graph-depth are for a tracer: they need -p";
	if ((request->stacktrace || request->ignore_missing) && !request->nr_events)
		return "-T and -i are for the kernel's events: they need -e";
	if (!any && (request->only_command || request->follow || request->cpumask || half->options.nr ||
		     half->drain_way != UINT32_MAX || half->keep_own))
		return "-F, -c, -M, -O, --drain and --no-filter are for the kernel's events: they need -e or -p";
	if (request->only_command && !command)
		return "-F needs a COMMAND";
	if (request->follow && !request->only_command && !processes)
		return "-c needs -F or -P";
	return NULL;
}

bool record_kernel_find(const struct message_sink *sink, struct record_kernel *half, const struct programs *which,
			const char *threads, bool programs)
{
	if (!kernel_request_is_any(&half->request) || !which->word)
		return true;
	if (threads)
		return kernel_pids_threads(sink, threads, &half->request, &half->pids);
	return kernel_pids_find(sink, which, programs, &half->request, &half->pids);
}

int record_kernel_open(const struct message_sink *sink, struct record_kernel *half)
{
	const struct kernel_request *request = &half->request;

	instance_sweep(sink, request->quiet);
	if (!kernel_request_is_any(request))
		return 0;
	if ((request->only_command || request->nr_tids) && !kernel_pids_are_ours(sink))
		return -EINVAL;
	return kernel_open(sink, request, &half->kernel);
}

bool record_kernel_drain(const struct message_sink *sink, struct record_kernel *half, struct spool *spool)
{
	const struct kernel_drain_request request = {
		.sink = sink,
		/* The words' places, and one in front of them. */
		.way = half->drain_way + 1,
		.priority = (unsigned int)half->priority,
		.wait_us = half->wait_us,
		/* With -b auto, and without -b. */
		.grow = half->grow,
		.keep_own = half->keep_own,
		.quiet = half->request.quiet,
	};

	if (!half->kernel)
		return true;
	half->spool = spool;
	clock_watch_open(sink, half->kernel, &half->clocks);
	return kernel_drain_open(half->kernel, spool, &request, &half->drain);
}

/* How the clocks agree, as far as it is known; a spool without that is none the worse. */
static int note_clocks(struct record_kernel *half)
{
	char *text = clock_watch_end(&half->clocks);
	int err = 0;

	for (unsigned int i = 0; text && i < half->spool->nr_entries && !err; i++)
		if (spool_is_kernel(&half->spool->entries[i]))
			err = spool_add_text(half->spool, i, SPOOL_TEXT_OFFSETS, "", text, strlen(text));
	free(text);
	return err;
}

bool record_kernel_start(const struct message_sink *sink, struct record_kernel *half, pid_t child)
{
	int err = 0;

	if (!half->kernel)
		return true;
	if (child && half->request.only_command)
		err = kernel_add_pid(half->kernel, child);
	clock_watch_start(&half->clocks);
	if (!err && !kernel_drain_start(half->drain))
		return false;
	clock_watch_begin(&half->clocks);
	if (!err)
		err = kernel_start(half->kernel);
	if (err)
		message(sink, "cannot start the kernel's tracing: %s", strerror(-err));
	return !err;
}

int record_kernel_run(struct record_kernel *half)
{
	return half->drain ? kernel_drain_run(half->drain) : 0;
}

int record_kernel_finish(struct record_kernel *half)
{
	int err, one;

	if (!half->drain)
		return 0;
	err = kernel_stop(half->kernel);
	clock_watch_begin(&half->clocks);
	one = kernel_drain_finish(half->drain);
	err = err ? err : one;
	one = note_clocks(half);
	return err ? err : one;
}

static void *close_all(void *arg)
{
	struct record_kernel *half = arg;

	clock_watch_close(&half->clocks);
	half->drain = kernel_drain_close(half->drain);
	half->kernel = kernel_close(half->kernel);
	return NULL;
}

void record_kernel_leave(struct record_kernel *half)
{
	sigset_t all, before;

	if (!half->kernel)
		return;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	half->leaves = pthread_create(&half->leaver, NULL, close_all, half) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void record_kernel_close(struct record_kernel *half)
{
	if (half->leaves)
		pthread_join(half->leaver, NULL);
	half->leaves = false;
	close_all(half);
	kernel_pids_close(&half->pids);
	kernel_request_free(&half->request);
	opt_list_free(&half->functions);
	opt_list_free(&half->options);
}
