/* SPDX-License-Identifier: MIT */
/*
 * Checks the parameters of a weave, and passes them to the steps, each of which gets only what it needs (struct
 * weave_in, weave_meta, weave_input, weave_owner).
 */
#include "format/weave/weave_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The limit exists because trace-cmd and KernelShark slow down with each CPU (facts trace-dat 1.8). */
#define RAW_STREAMS_MAX 4096u

/* Whether programs can be on one timeline with the kernel's clock. */
static bool is_shared_clock(const struct weave_process *kernel)
{
	const char *name = kernel->kernel->clock;

	return !name || !strcmp(name, kernel->clock == REC_CLOCK_TSC ? "x86-tsc" : "mono");
}

/*
 * Whether two kernels have the same clock. If a recorder was killed at its start, the name of the clock may be missing.
 */
static bool is_same_clock(const struct weave_process *kernel, const struct weave_process *top)
{
	const char *name = kernel->kernel->clock, *of_top = top->kernel->clock;

	return kernel->clock == top->clock && (!name || !of_top || !strcmp(name, of_top));
}

/* Check that all kernels have one clock: a file has only one, that of the kernel's top buffer. */
static int check_kernels(const struct weave *weave, const struct weave_params *params)
{
	if (weave->nr_kernels > WEAVE_KERNELS_MAX || (weave->nr_kernels && !weave->kernel))
		return -EINVAL;
	for (unsigned int i = 0; i < params->nr_processes; i++) {
		const struct weave_process *process = &params->processes[i];

		if (process->kernel && !is_same_clock(process, weave->kernel))
			return -EINVAL;
	}
	if (weave->kernel && params->nr_processes > weave->nr_kernels && !is_shared_clock(weave->kernel))
		return -EINVAL;
	return 0;
}

static int check_processes(struct weave *weave, const struct weave_params *params)
{
	unsigned int i;

	for (i = 0; i < params->nr_processes; i++) {
		const struct weave_process *process = &params->processes[i];
		const uint32_t size = process->subbuf_size;

		if (process->clock != REC_CLOCK_TSC && process->clock != REC_CLOCK_MONO)
			return -EINVAL;
		if (size > REC_SUBBUF_MAX || (size & (size - 1)))
			return -EINVAL;
		weave->nr_kernels += process->kernel != NULL;
		if (!process->kernel || process->kernel->buffer)
			continue;
		if (weave->kernel)
			return -EINVAL;
		weave->kernel = process;
	}
	return check_kernels(weave, params);
}

static int check_streams(struct weave *weave, const struct weave_params *params)
{
	unsigned int i;

	for (i = 0; i < params->source->nr_streams; i++) {
		const struct weave_stream *stream = &params->streams[i];

		if (stream->process >= params->nr_processes)
			return -EINVAL;
		if (!params->processes[stream->process].kernel)
			weave->nr_lanes++;
		else if (stream->cpu >= WEAVE_CPUS_MAX)
			return -EINVAL;
	}
	if (params->raw && weave->nr_lanes > RAW_STREAMS_MAX)
		return -E2BIG;
	return 0;
}

/*
 * Make the time maps. All processes use one map of the TSC, because the order of events must not depend on the choice
 * of anchors.
 */
static int make_maps(struct weave *weave, const struct weave_params *params)
{
	struct rec_anchor *all;
	size_t nr = params->nr_anchors;
	unsigned int i;
	int err;

	for (i = 0; i < params->nr_processes; i++)
		if (params->processes[i].clock == REC_CLOCK_TSC)
			nr += params->processes[i].nr_anchors;
	all = calloc(nr + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	nr = params->nr_anchors;
	if (nr)
		memcpy(all, params->anchors, nr * sizeof(*all));
	for (i = 0; i < params->nr_processes; i++) {
		const struct weave_process *process = &params->processes[i];

		if (process->clock != REC_CLOCK_TSC || !process->nr_anchors)
			continue;
		memcpy(all + nr, process->anchors, process->nr_anchors * sizeof(*all));
		nr += process->nr_anchors;
	}
	err = time_map_init(&weave->maps[REC_CLOCK_TSC], REC_CLOCK_TSC, all, (unsigned int)nr);
	if (!err)
		err = time_map_init(&weave->maps[REC_CLOCK_MONO], REC_CLOCK_MONO, NULL, 0);
	free(all);
	return err;
}

static void learn_format(struct weave_of_kernel *of_kernel, const struct weave_text *text)
{
	kernel_tasks_format(of_kernel->tasks, text->data, text->size);
	graph_depth_format(&of_kernel->graph, text->data, text->size);
}

/* Read the names of tasks in the kernel's texts, and which of its events the weave has to know. */
static int take_kernel(struct weave *weave)
{
	const struct weave_kernel *kernel = weave->kernel->kernel, *one;
	unsigned int i, j;
	int err = kernel_tasks_new(&weave->of_kernel.tasks);

	if (!err)
		err = hidden_threads_parse(weave->meta.notes->hidden, &weave->of_kernel.hidden);
	for (i = 0; i < weave->meta.nr_processes && !err; i++) {
		one = weave->meta.processes[i].kernel;
		for (j = 0; one && j < one->nr_formats; j++)
			learn_format(&weave->of_kernel, &one->formats[j].text);
	}
	if (!err && kernel->cmdlines.size)
		err = kernel_tasks_saved(weave->of_kernel.tasks, kernel->cmdlines.data, kernel->cmdlines.size);
	if (!err)
		trace_info_set_tasks(weave->in.info, weave->of_kernel.tasks);
	return err;
}

/* Pass each step its part of the parameters, which only this file knows as a whole. */
static void take_params(struct weave *weave, const struct weave_params *params)
{
	weave->in = (struct weave_in){
		.source = params->source,
		.has_wants = params->wants,
		.progress = params->progress,
		.progress_arg = params->arg,
		.refresh = params->refresh,
		.refresh_arg = params->refresh_arg,
		.stats = &weave->stats,
	};
	weave->meta = (struct weave_meta){
		.processes = params->processes,
		.nr_processes = params->nr_processes,
		.notes = &params->notes,
		.maps = params->maps,
		.nr_maps = params->nr_maps,
		.date = params->date,
		.raw = params->raw,
		.split = !params->raw && params->buffers == WEAVE_SPLIT,
	};
}

static int take_processes(struct weave *weave, const struct weave_params *params)
{
	bool all_tsc = params->nr_processes > 0;
	unsigned int i;
	int err;

	weave->out.owners = calloc(params->nr_processes + 1u, sizeof(*weave->out.owners));
	if (!weave->out.owners)
		return -ENOMEM;
	err = trace_info_new(&weave->in.info);
	weave->out.info = weave->in.info;
	weave->out.stats = &weave->stats;
	if (!err)
		trace_info_set_wants(weave->in.info, params->wants, params->wants_arg);
	for (i = 0; i < params->nr_processes && !err; i++) {
		const struct weave_process *process = &params->processes[i];

		if (process->subbuf_size > weave->out.page_size)
			weave->out.page_size = process->subbuf_size;
		all_tsc = all_tsc && process->clock == REC_CLOCK_TSC;
		weave->out.owners[i].pid = process->pid;
		weave->out.owners[i].is_kernel = process->kernel;
		weave_loss_add(&weave->out.owners[i].trailing, process->lost);
		weave->out.owners[i].no_lane = process->lost;
		err = trace_info_add_process(weave->in.info, process->pid, process->comm, process->log,
					     process->log_size);
	}
	weave->raw_tsc = params->raw && all_tsc;
	if (!err && weave->kernel)
		err = take_kernel(weave);
	return err ? err : weave_take_buffers(&weave->out, &weave->meta, weave->kernel);
}

/* Note a stream of the kernel. Two of them cannot use the same CPU of one buffer. */
static int take_kernel_stream(struct weave *weave, struct weave_input *input)
{
	input->cpu = input->stream->cpu;
	input->graph_depth = weave->meta.processes[input->process].kernel->graph_depth;
	if (weave_is_apart(&weave->out, input))
		return 0;
	if (weave->kernel_inputs[input->cpu])
		return -EINVAL;
	weave->kernel_inputs[input->cpu] = input;
	return 0;
}

static int take_streams(struct weave *weave, const struct weave_params *params)
{
	const unsigned int nr = params->source->nr_streams;
	unsigned int lanes = 0;
	unsigned int i;
	int err = 0;

	weave->max_kernel_inputs = weave->kernel ? WEAVE_CPUS_MAX : 0;
	weave->inputs = calloc(nr + 1u, sizeof(*weave->inputs));
	weave->kernel_inputs = calloc(weave->max_kernel_inputs + 1u, sizeof(struct weave_input *));
	if (!weave->inputs || !weave->kernel_inputs)
		return -ENOMEM;
	for (i = 0; i < nr && !err; i++) {
		struct weave_input *input = &weave->inputs[i];

		input->in = &weave->in;
		input->number = i;
		input->stream = &params->streams[i];
		input->process = input->stream->process;
		input->subbuf_size = params->processes[input->process].subbuf_size;
		input->time = &weave->maps[params->processes[input->process].clock];
		input->ids = trace_info_map(weave->in.info, input->process);
		input->is_kernel = weave->out.owners[input->process].is_kernel;
		if (input->is_kernel)
			err = take_kernel_stream(weave, input);
		else
			input->cpu = lanes++;
	}
	return err;
}

int weave_check(struct weave *weave, const struct weave_params *params)
{
	const int err = check_processes(weave, params);

	return err ? err : check_streams(weave, params);
}

int weave_take(struct weave *weave, const struct weave_params *params)
{
	int err;

	take_params(weave, params);
	err = take_processes(weave, params);
	if (!err)
		err = make_maps(weave, params);
	return err ? err : take_streams(weave, params);
}
