/* SPDX-License-Identifier: MIT */
#include "cli/record/record_kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel_instance.h"

/* Check the options of one buffer. NULL: they are valid; otherwise the message. */
static const char *buffer_wrong(const struct record_buffer *buffer)
{
	const struct kernel_request *request = &buffer->request;

	if (buffer->functions.nr && !request->tracer)
		return "-l, -n and -g select functions for a tracer: they need -p";
	if ((request->module || request->graph_depth) && !request->tracer)
		return "--module and --max-graph-depth are for a tracer: they need -p";
	if (request->stacktrace && !request->nr_events)
		return "-T and -i are for the kernel's events: they need -e";
	return NULL;
}

/* Whether an option sets something of the kernel's tracing. */
static bool is_set(const struct record_buffer *buffer)
{
	const struct kernel_request *request = &buffer->request;

	return request->only_command || request->follow || request->cpumask || buffer->options.nr;
}

const char *record_kernel_wrong(struct record_kernel *half, bool command, bool processes)
{
	struct record_buffers *buffers = &half->buffers;
	const struct record_buffer *buffer;
	bool set = half->drain_way != UINT32_MAX || half->keep_own, follow = false, events = false;
	const char *wrong = NULL;

	for (unsigned int i = 0; (buffer = record_buffers_get(buffers, i)); i++) {
		wrong = wrong ? wrong : buffer_wrong(buffer);
		set |= is_set(buffer);
		follow |= buffer->request.follow;
		events |= buffer->request.nr_events;
	}
	buffer = &buffers->now;
	if (wrong)
		return wrong;
	if (buffer->request.ignore_missing && !events)
		return "-T and -i are for the kernel's events: they need -e";
	if (half->limit_kb && !record_buffers_any(buffers))
		return "-m limits what is kept of the kernel's events: it needs -e or -p";
	if (buffers->nr && !record_buffers_any(buffers))
		return "-B is for the kernel's events: it needs -e or -p";
	if (!record_buffers_any(buffers) && set)
		return "-F, -c, -M, -O, --drain and --no-filter are for the kernel's events: they need -e or -p";
	if (buffer->request.only_command && !command)
		return "-F needs a COMMAND";
	if (follow && !buffer->request.only_command && !processes)
		return "-c needs -F or -P";
	return NULL;
}

/* The buffer that records the processes of -P alone. */
static struct kernel_request *restricted(struct record_kernel *half)
{
	for (unsigned int i = 1; i <= half->buffers.nr; i++)
		if (record_buffers_get(&half->buffers, i)->has_pids)
			return &record_buffers_get(&half->buffers, i)->request;
	return &half->buffers.now.request;
}

bool record_kernel_find(const struct message_sink *sink, struct record_kernel *half, const struct programs *which,
			const char *threads, bool programs)
{
	if (!record_buffers_any(&half->buffers) || !which->word)
		return true;
	if (threads)
		return kernel_pids_threads(sink, threads, restricted(half), &half->pids);
	return kernel_pids_find(sink, which, programs, restricted(half), &half->pids);
}

int record_kernel_open(const struct message_sink *sink, struct record_kernel *half)
{
	struct record_buffer *buffer;
	char suffix[16] = "";
	int err = 0;

	instance_sweep(sink, half->buffers.now.request.quiet);
	if (!record_buffers_any(&half->buffers))
		return 0;
	if ((half->buffers.now.request.only_command || restricted(half)->nr_tids) && !kernel_pids_are_ours(sink))
		return -EINVAL;
	/* The top buffer is included even if no events go there, because it has the kernel's texts. */
	for (unsigned int i = 0; !err && (buffer = record_buffers_get(&half->buffers, i)); i++) {
		if (i)
			snprintf(suffix, sizeof(suffix), "-buffer%c%c", 'a' + (char)((i - 1) / 26),
				 'a' + (char)((i - 1) % 26));
		err = kernel_open(sink, &buffer->request, suffix, &buffer->kernel);
		if (!err && buffer->request.follow && &buffer->request == restricted(half) &&
		    !kernel_pids_catch_up(sink, &half->pids, &buffer->request, buffer->kernel))
			err = -EINVAL;
	}
	/* The kernel's events are recorded in all of their buffers, or not at all. */
	for (unsigned int i = 0; err && (buffer = record_buffers_get(&half->buffers, i)); i++)
		buffer->kernel = kernel_close(buffer->kernel);
	return err;
}

bool record_kernel_drain(const struct message_sink *sink, struct record_kernel *half, struct spool *spool)
{
	struct kernel_drain_request request = {
		.sink = sink,
		/* The constant that follows from the index of the word; UINT32_MAX, no word was given, becomes 0. */
		.way = half->drain_way + 1,
		.priority = (unsigned int)half->priority,
		.wait_us = half->wait_us,
		.buffers = half->buffers.nr + 1,
		.limit_kb = half->limit_kb,
		.keep_own = half->keep_own,
	};
	struct record_buffer *buffer;
	bool good = true;

	if (!half->buffers.now.kernel)
		return true;
	half->spool = spool;
	clock_watch_open(sink, half->buffers.now.kernel, &half->clocks);
	for (unsigned int i = 0; good && (buffer = record_buffers_get(&half->buffers, i)); i++) {
		request.buffer = buffer->name;
		/* Rings grow with -b auto, and without -b. */
		request.grow = buffer->grow;
		/* If one buffer is refused for lack of rights, the others are, too. */
		request.quiet = buffer->request.quiet || i;
		good = kernel_drain_open(buffer->kernel, spool, &request, &buffer->drain);
	}
	return good;
}

/* Put the measured clock offsets into the spool, which is valid without them. */
static int note_clocks(struct record_kernel *half)
{
	char *text = clock_watch_end(&half->clocks);
	int err = 0;

	for (unsigned int i = 0; text && i < half->spool->nr_entries && !err; i++)
		if (spool_is_kernel(&half->spool->entries[i]) && !spool_buffer(&half->spool->entries[i]))
			err = spool_add_text(half->spool, i, SPOOL_TEXT_OFFSETS, "", text, strlen(text));
	free(text);
	return err;
}

/* Start the drains. They print errors themselves. */
static bool start_drains(struct record_kernel *half)
{
	const struct record_buffer *buffer;

	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++)
		if (!kernel_drain_start(buffer->drain))
			return false;
	return true;
}

/* As start_drains(). */
static bool start_tracing(struct record_kernel *half)
{
	const struct record_buffer *buffer;

	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++)
		if (kernel_start(buffer->kernel))
			return false;
	return true;
}

bool record_kernel_start(const struct message_sink *sink, struct record_kernel *half, pid_t child)
{
	const struct record_buffer *buffer;
	int err = 0;

	if (!record_kernel_is_on(half))
		return true;
	for (unsigned int i = 0; !err && (buffer = record_buffers_get(&half->buffers, i)); i++)
		if (child && buffer->request.only_command)
			err = kernel_add_tids(buffer->kernel, &child, 1);
	if (err) {
		message(sink, "cannot start the kernel's tracing: %s", strerror(-err));
		return false;
	}
	clock_watch_start(&half->clocks);
	if (!start_drains(half))
		return false;
	clock_watch_begin(&half->clocks);
	return start_tracing(half);
}

int record_kernel_run(struct record_kernel *half)
{
	const struct record_buffer *buffer;
	int err = 0, one;

	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)) && buffer->drain; i++) {
		one = kernel_drain_run(buffer->drain);
		err = err ? err : one;
	}
	return err;
}

int record_kernel_finish(struct record_kernel *half)
{
	const struct record_buffer *buffer;
	int err = 0, one;

	if (!record_kernel_is_on(half))
		return 0;
	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++) {
		one = kernel_stop(buffer->kernel);
		err = err ? err : one;
	}
	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++) {
		one = kernel_settle(buffer->kernel);
		err = err ? err : one;
	}
	half->stop_err = err;
	clock_watch_begin(&half->clocks);
	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++) {
		one = kernel_drain_finish(buffer->drain);
		err = err ? err : one;
	}
	one = note_clocks(half);
	return err ? err : one;
}

/* ---------------------------------------------------------------------------------------------- what they have done */

bool record_kernel_is_on(const struct record_kernel *half)
{
	return half->buffers.now.drain;
}

uint64_t record_kernel_bytes(const struct record_kernel *half)
{
	uint64_t bytes = kernel_drain_bytes(half->buffers.now.drain);

	for (unsigned int i = 0; i < half->buffers.nr; i++)
		bytes += kernel_drain_bytes(half->buffers.before[i].drain);
	return bytes;
}

uint64_t record_kernel_lost(const struct record_kernel *half)
{
	uint64_t lost = kernel_drain_lost(half->buffers.now.drain);

	for (unsigned int i = 0; i < half->buffers.nr; i++)
		lost += kernel_drain_lost(half->buffers.before[i].drain);
	return lost;
}

int record_kernel_failed(const struct record_kernel *half, char *text, size_t size)
{
	int err = kernel_drain_failed(half->buffers.now.drain, text, size);

	for (unsigned int i = 0; !err && i < half->buffers.nr; i++)
		err = kernel_drain_failed(half->buffers.before[i].drain, text, size);
	if (err || !half->stop_err)
		return err;
	snprintf(text, size, "switch the kernel's tracing off");
	return half->stop_err;
}

void record_kernel_about(const struct record_kernel *half, char *text, size_t size)
{
	kernel_drain_about(half->buffers.now.drain, text, size);
}

/* -------------------------------------------------------------------------------------------------------- the end */

static void *close_all(void *arg)
{
	struct record_kernel *half = arg;
	struct record_buffer *buffer;

	clock_watch_close(&half->clocks);
	for (unsigned int i = 0; (buffer = record_buffers_get(&half->buffers, i)); i++) {
		buffer->drain = kernel_drain_close(buffer->drain);
		buffer->kernel = kernel_close(buffer->kernel);
	}
	return NULL;
}

void record_kernel_leave(struct record_kernel *half)
{
	sigset_t all, before;

	if (!half->buffers.now.kernel)
		return;
	/* The main thread handles signals. */
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
	record_buffers_free(&half->buffers);
}
