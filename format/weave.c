/* SPDX-License-Identifier: MIT */
/*
 * The merge: a heap of streams by the time of their next event. Each stream's times never go back (weave_stream.c raises
 * what does), so neither do the merged ones, and the pages of each CPU are in order because the whole is. Then what
 * every trace.dat has beside its pages.
 */
#include "format/weave.h"
#include "format/weave_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* trace-cmd and KernelShark slow down with each CPU (facts trace-dat 1.8). */
#define RAW_STREAMS_MAX 4096u

/* -------------------------------------------------------------------------------------------------- the merge */

struct heap {
	struct weave_input **inputs; /* the smallest first */
	unsigned int nr;
};

static bool earlier(const struct weave_input *a, const struct weave_input *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->number < b->number);
}

/* Put the element at `at` in its place, all below it being in order. */
static void sift_down(struct heap *heap, unsigned int at)
{
	struct weave_input *moving = heap->inputs[at];

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= heap->nr)
			break;
		if (child + 1 < heap->nr && earlier(heap->inputs[child + 1], heap->inputs[child]))
			child++;
		if (earlier(moving, heap->inputs[child]))
			break;
		heap->inputs[at] = heap->inputs[child];
		at = child;
	}
	heap->inputs[at] = moving;
}

static void end_input(struct weave *weave, struct weave_input *input)
{
	const struct weave_loss trailing = weave_input_trailing(weave, input);

	weave_loss_join(&weave->owners[input->process].trailing, &trailing);
}

/* Every stream's first event. */
static int fill_heap(struct weave *weave, struct heap *heap)
{
	const unsigned int nr = weave->params->source->nr_streams;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct weave_input *input = &weave->inputs[i];
		const int got = weave_input_next(weave, input);

		if (got < 0)
			return got;
		if (got)
			heap->inputs[heap->nr++] = input;
		else
			end_input(weave, input);
	}
	for (i = heap->nr / 2; i-- > 0;)
		sift_down(heap, i);
	return 0;
}

/* The CPU that an event stands on in the file. */
static unsigned int cpu_of(struct weave *weave, const struct weave_input *input)
{
	if (input->record.cpu < WEAVE_CPUS_MAX)
		return input->record.cpu;
	weave->stats.cpu_unknown++;
	return 0;
}

static int merge(struct weave *weave)
{
	struct heap heap = { NULL, 0 };
	int err;

	heap.inputs = calloc(weave->params->source->nr_streams + 1u, sizeof(struct weave_input *));
	if (!heap.inputs)
		return -ENOMEM;
	err = fill_heap(weave, &heap);
	while (!err && heap.nr) {
		struct weave_input *input = heap.inputs[0];
		int got;

		err = weave_out_event(weave, input, cpu_of(weave, input));
		if (err)
			break;
		got = weave_input_next(weave, input);
		if (got < 0) {
			err = got;
		} else if (!got) {
			end_input(weave, input);
			heap.inputs[0] = heap.inputs[--heap.nr];
		}
		if (!err && heap.nr)
			sift_down(&heap, 0);
	}
	free(heap.inputs);
	return err;
}

/* ----------------------------------------------------------------------------------------- losses at the end */

/* A time, in the file's clock, for an event that stands alone: that of the last event, or of the newest anchor. */
static uint64_t end_time(const struct weave *weave, const struct weave_process *process)
{
	const bool raw = weave->raw_tsc;
	uint64_t time = raw ? 0 : weave->last_ns;
	unsigned int i;

	for (i = 0; raw && i < weave->params->source->nr_streams; i++)
		if (weave->inputs[i].last_clock > time)
			time = weave->inputs[i].last_clock;
	for (i = 0; !weave->stats.events && i < process->nr_anchors; i++) {
		const uint64_t anchor = raw ? process->anchors[i].clock : process->anchors[i].mono;

		time = anchor > time ? anchor : time;
	}
	return time;
}

/* What no event stands behind: an event for each process that lost such; raw has left those without a stream. */
static int end_processes(struct weave *weave)
{
	const struct weave_params *params = weave->params;
	unsigned int i;
	int err = 0;

	for (i = 0; i < params->nr_processes && !err; i++) {
		struct weave_owner *owner = &weave->owners[i];
		const unsigned int cpu = params->raw ? params->source->nr_streams : owner->last_cpu;

		if (weave_loss_any(&owner->trailing))
			err = weave_out_end(weave, cpu, i, end_time(weave, &params->processes[i]), owner->trailing,
					    owner->no_lane);
	}
	for (i = 0; i < weave->max_cpus && !err; i++)
		err = weave_out_flush(weave, i);
	return err;
}

/* ------------------------------------------------------------------------------------------- beside the pages */

static int emit_format(void *arg, const char *system, const char *text, size_t size)
{
	return dat_write_format(arg, system, text, size);
}

static int put_text(struct weave *weave, enum dat_id id, int (*make)(const struct trace_info *, struct blob *))
{
	struct blob text = BLOB_INIT;
	int err = make(weave->info, &text);

	if (!err && text.size)
		err = dat_write_text(weave->writer, id, text.data, text.size);
	blob_free(&text);
	return err;
}

/* An option that is a string. */
static int put_string(struct weave *weave, enum dat_id id, struct blob *text)
{
	int err;

	blob_put(text, "", 1);
	err = text->error ? text->error : dat_write_option(weave->writer, id, text->data, text->size);
	text->size = 0;
	return err;
}

static int put_system(struct weave *weave)
{
	struct blob text = BLOB_INIT;
	struct utsname name;
	int err = 0;

	if (!uname(&name)) {
		blob_printf(&text, "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
		err = put_string(weave, DAT_UNAME, &text);
	}
	if (!err) {
		blob_printf(&text, "%s", weave->params->writer ? weave->params->writer : "librecorder");
		if (weave->stats.time_error != UINT64_MAX)
			blob_printf(&text, "; time error at most %" PRIu64 " ns", weave->stats.time_error);
		err = put_string(weave, DAT_VERSION, &text);
	}
	blob_free(&text);
	return err;
}

/* The kernel's statistics of each CPU, under its names; nothing was left unread. */
static int put_cpu_stats(struct weave *weave, unsigned int nr)
{
	struct blob text = BLOB_INIT;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		static const struct weave_cpu none;
		const struct weave_cpu *cpu = i < weave->max_cpus ? &weave->cpus[i] : &none;

		blob_printf(&text, "CPU: %u\nentries: 0\noverrun: %" PRIu64 "\ncommit overrun: 0\nbytes: %" PRIu64 "\n", i,
			    cpu->loss.known, dat_write_size(weave->writer, i));
		blob_printf(&text, "oldest event ts: %5" PRIu64 ".%06" PRIu64 "\nnow ts: %5" PRIu64 ".%06" PRIu64 "\n",
			    cpu->first_ns / 1000000000, cpu->first_ns / 1000 % 1000000, cpu->last_ns / 1000000000,
			    cpu->last_ns / 1000 % 1000000);
		blob_printf(&text, "dropped events: 0\nread events: %" PRIu64 "\n", cpu->events);
		err = put_string(weave, DAT_CPUSTAT, &text);
	}
	blob_free(&text);
	return err;
}

/* What makes nanoseconds of raw TSC times; measured between the first and the last event. */
static int put_tsc_line(struct weave *weave, uint64_t from, uint64_t to)
{
	struct time_line line;
	struct blob data = BLOB_INIT;
	int err;

	time_map_line(&weave->maps[REC_CLOCK_TSC], from, to, &line);
	blob_u32(&data, line.mult);
	blob_u32(&data, line.shift);
	blob_u64(&data, 0); /* trace-cmd 3.1.6 ignores this offset; the option below is what counts */
	err = data.error ? data.error : dat_write_option(weave->writer, DAT_TSC2NSEC, data.data, data.size);
	data.size = 0;
	if (!err) {
		blob_printf(&data, "%" PRId64, line.offset);
		err = put_string(weave, DAT_OFFSET, &data);
	}
	blob_free(&data);
	return err;
}

/* Sum up the streams. ret_from and ret_to: first and last TSC time, 0 without. */
static void sum_up(struct weave *weave, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct weave_params *params = weave->params;
	struct weave_stats *stats = &weave->stats;
	uint64_t from = UINT64_MAX;
	uint64_t to = 0;
	unsigned int i;

	for (i = 0; i < params->source->nr_streams; i++) {
		const struct weave_input *input = &weave->inputs[i];

		if (!input->events || input->time->identity)
			continue;
		from = input->first_clock < from ? input->first_clock : from;
		to = input->last_clock > to ? input->last_clock : to;
	}
	if (to >= from) {
		const uint64_t first = time_map_error(&weave->maps[REC_CLOCK_TSC], from);
		const uint64_t last = time_map_error(&weave->maps[REC_CLOCK_TSC], to);

		stats->time_error = first > last ? first : last;
	}
	for (i = 0; i < params->nr_processes; i++)
		stats->processes += weave->owners[i].events > 0;
	for (i = 0; i < weave->max_cpus; i++)
		stats->cpus += weave->cpus[i].events > 0;
	stats->threads = trace_info_threads(weave->info);
	*ret_from = to >= from ? from : 0;
	*ret_to = to;
}

static int finish(struct weave *weave)
{
	unsigned int nr_cpus = dat_write_cpus(weave->writer);
	uint64_t from, to;
	int err;

	if (nr_cpus < weave->nr_cpus)
		nr_cpus = weave->nr_cpus;
	sum_up(weave, &from, &to);
	err = trace_info_formats(weave->info, weave->stats.synthetic > 0, emit_format, weave->writer);
	if (!err)
		err = put_text(weave, DAT_KALLSYMS, trace_info_kallsyms);
	if (!err)
		err = put_text(weave, DAT_PRINTK, trace_info_printk);
	if (!err)
		err = put_text(weave, DAT_CMDLINES, trace_info_cmdlines);
	if (!err)
		err = put_system(weave);
	if (!err)
		err = put_cpu_stats(weave, nr_cpus);
	if (!err && weave->raw_tsc)
		err = put_tsc_line(weave, from, to);
	if (!err)
		err = dat_write_finish(weave->writer, weave->raw_tsc ? "x86-tsc" : "mono", nr_cpus,
				       &weave->stats.file_size);
	return err;
}

/* ------------------------------------------------------------------------------------------------- the whole */

static int check_params(const struct weave_params *params)
{
	unsigned int i;

	for (i = 0; i < params->nr_processes; i++) {
		const struct weave_process *process = &params->processes[i];
		const uint32_t size = process->subbuf_size;

		if (process->clock != REC_CLOCK_TSC && process->clock != REC_CLOCK_MONO)
			return -EINVAL;
		if (size > REC_SUBBUF_MAX || (size & (size - 1)))
			return -EINVAL;
	}
	for (i = 0; i < params->source->nr_streams; i++)
		if (params->streams[i].process >= params->nr_processes)
			return -EINVAL;
	if (params->raw && params->source->nr_streams > RAW_STREAMS_MAX)
		return -E2BIG;
	return 0;
}

/* One map of the TSC for all processes: their order among each other must not depend on whose anchors were taken. */
static int make_maps(struct weave *weave)
{
	const struct weave_params *params = weave->params;
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

static int take_processes(struct weave *weave)
{
	const struct weave_params *params = weave->params;
	bool all_tsc = params->nr_processes > 0;
	unsigned int i;
	int err;

	weave->owners = calloc(params->nr_processes + 1u, sizeof(*weave->owners));
	if (!weave->owners)
		return -ENOMEM;
	err = trace_info_new(&weave->info);
	for (i = 0; i < params->nr_processes && !err; i++) {
		const struct weave_process *process = &params->processes[i];

		if (process->subbuf_size > weave->page_size)
			weave->page_size = process->subbuf_size;
		all_tsc = all_tsc && process->clock == REC_CLOCK_TSC;
		weave_loss_add(&weave->owners[i].trailing, process->lost);
		weave->owners[i].no_lane = process->lost;
		err = trace_info_add_process(weave->info, process->pid, process->comm, process->log,
					     process->log_size);
	}
	weave->raw_tsc = params->raw && all_tsc;
	return err;
}

static int take_streams(struct weave *weave)
{
	const struct weave_params *params = weave->params;
	const unsigned int nr = params->source->nr_streams;
	unsigned int i;

	weave->inputs = calloc(nr + 1u, sizeof(*weave->inputs));
	if (!weave->inputs)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct weave_input *input = &weave->inputs[i];

		input->number = i;
		input->process = params->streams[i].process;
		input->time = &weave->maps[params->processes[input->process].clock];
		input->ids = trace_info_map(weave->info, input->process);
	}
	return 0;
}

static void clean_up(struct weave *weave)
{
	unsigned int i;

	dat_write_close(weave->writer);
	for (i = 0; i < weave->max_cpus; i++)
		free(weave->cpus[i].page);
	free(weave->cpus);
	free(weave->inputs);
	free(weave->owners);
	trace_info_free(weave->info);
	time_map_free(&weave->maps[REC_CLOCK_TSC]);
}

int weave_to_dat(const struct weave_params *params, struct weave_stats *ret_stats)
{
	struct weave weave = {
		.params = params,
		.page_size = params->page_size ? params->page_size : REC_SUBBUF_MIN,
	};
	int err = check_params(params);

	if (err)
		return err;
	weave.nr_cpus = params->raw ? params->source->nr_streams : params->nr_cpus;
	if (!weave.nr_cpus)
		weave.nr_cpus = 1;
	err = take_processes(&weave);
	if (!err)
		err = make_maps(&weave);
	if (!err)
		err = take_streams(&weave);
	if (!err)
		err = dat_write_open(params->output, params->version ? params->version : 6, weave.page_size,
				     weave.nr_cpus, &weave.writer);
	if (!err)
		err = params->raw ? weave_raw(&weave) : merge(&weave);
	if (!err)
		err = end_processes(&weave);
	if (!err)
		err = finish(&weave);
	clean_up(&weave);
	if (!err)
		*ret_stats = weave.stats;
	return err;
}
