/* SPDX-License-Identifier: MIT */
/*
 * The merge: a heap of the programs' streams by the time of their next event. Each stream's times never go back
 * (weave_stream.c raises earlier ones), so neither do the merged times, and the pages of each CPU are in order. The
 * kernel's streams, each of which is one CPU's, are merged in a second step (weave_join.c).
 */
#include "format/weave/weave.h"
#include "format/weave/weave_private.h"

#include <errno.h>
#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------- the merge */

struct heap {
	struct weave_input **inputs; /* the smallest first */
	unsigned int nr;
};

static bool earlier(const struct weave_input *a, const struct weave_input *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->number < b->number);
}

/* Restore the heap below `at`, where only the element at `at` may be out of order. */
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
	const struct weave_loss trailing = weave_input_trailing(input);
	struct weave_owner *owner = &weave->out.owners[input->process];

	if (!weave_loss_any(&trailing))
		return;
	if (!weave_loss_any(&owner->trailing) || input->lost_since < owner->trailing_since)
		owner->trailing_since = input->lost_since;
	weave_loss_join(&owner->trailing, &trailing);
}

/* Fill the heap with the first event of each stream of the programs. */
static int fill_heap(struct weave *weave, struct heap *heap)
{
	const unsigned int nr = weave->in.source->nr_streams;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct weave_input *input = &weave->inputs[i];
		int got;

		if (input->is_kernel)
			continue;
		got = weave_input_next(input);
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

/* The CPU of the file on which an event is put. */
static unsigned int cpu_of(struct weave *weave, const struct weave_input *input)
{
	if (input->record.cpu < WEAVE_CPUS_MAX)
		return input->record.cpu;
	weave->stats.cpu_unknown++;
	return 0;
}

/* Write the events in order until the heap is empty. */
static int merge_heap(struct weave *weave, struct heap *heap)
{
	int err = 0;

	while (!err && heap->nr) {
		struct weave_input *input = heap->inputs[0];
		int got;

		err = weave_out_event(&weave->out, input, cpu_of(weave, input));
		if (err)
			break;
		got = weave_input_next(input);
		if (got < 0) {
			err = got;
		} else if (!got) {
			end_input(weave, input);
			heap->inputs[0] = heap->inputs[--heap->nr];
		}
		if (!err && heap->nr)
			sift_down(heap, 0);
	}
	return err;
}

/* ----------------------------------------------------------------------------------------- losses at the end */

uint64_t weave_end_time(const struct weave *weave, unsigned int number)
{
	const struct weave_process *process = &weave->meta.processes[number];
	const bool raw = weave->raw_tsc;
	uint64_t time = raw ? 0 : weave->out.last_ns;
	unsigned int i;

	for (i = 0; raw && i < weave->in.source->nr_streams; i++)
		if (weave->inputs[i].last_clock > time)
			time = weave->inputs[i].last_clock;
	for (i = 0; !weave->stats.events && i < process->nr_anchors; i++) {
		const uint64_t anchor = raw ? process->anchors[i].clock : process->anchors[i].mono;

		time = anchor > time ? anchor : time;
	}
	return time;
}

/*
 * Writes one synthetic event for each process with losses that no event follows; for --raw, only for losses without a
 * stream.
 */
static int end_processes(struct weave *weave)
{
	const struct weave_meta *meta = &weave->meta;
	unsigned int i;
	int err = 0;

	for (i = 0; i < meta->nr_processes && !err; i++) {
		struct weave_owner *owner = &weave->out.owners[i];
		const bool of_lane = meta->raw && !owner->is_kernel;

		if (weave_loss_any(&owner->trailing))
			err = weave_out_end(&weave->out, of_lane ? weave->nr_lanes : owner->last_cpu, i,
					    weave_end_time(weave, i), owner->trailing, owner->trailing_since,
					    owner->no_lane);
		owner->trailing = (struct weave_loss){ 0, false };
	}
	return err ? err : weave_out_flush_all(&weave->out);
}

/* Write the kernel's streams of other buffers than the top one: nothing is woven into these. */
static int put_apart(struct weave *weave)
{
	int err = 0;

	for (unsigned int i = 0; i < weave->in.source->nr_streams && !err; i++)
		if (weave_is_apart(&weave->out, &weave->inputs[i]))
			err = weave_kernel_pages(weave, &weave->inputs[i]);
	return err;
}

/* Write the kernel's streams of the top buffer, if nothing is woven into them. */
static int put_kernel(struct weave *weave)
{
	bool is_straight = false;
	unsigned int i;
	int err = 0;

	for (i = 0; i < weave->max_kernel_inputs && !err; i++) {
		struct weave_input *input = weave->kernel_inputs[i];

		if (!input)
			continue;
		/*
		 * If the kernel's pages stay unchanged, they are not written straight to their place, so no space is
		 * reserved before them.
		 */
		if (!is_straight && !weave_kernel_as_is(weave, input)) {
			is_straight = true;
			err = weave_straight(weave);
		}
		if (!err)
			err = weave_kernel_pages(weave, input);
	}
	return err || !is_straight ? err : dat_write_scratch(weave->out.writer);
}

static int merge(struct weave *weave)
{
	const bool has_kernel = weave->in.source->nr_streams > weave->nr_lanes;
	struct heap heap = { NULL, 0 };
	bool joins;
	int err;

	heap.inputs = calloc(weave->nr_lanes + 1u, sizeof(struct weave_input *));
	if (!heap.inputs)
		return -ENOMEM;
	err = fill_heap(weave, &heap);
	/* If nothing is merged, the file has the kernel's clock, and the kernel's pages unchanged. */
	if (!heap.nr && weave->kernel)
		weave->raw_tsc = weave->kernel->clock == REC_CLOCK_TSC;
	joins = has_kernel && heap.nr && !weave->meta.split;
	if (!err && joins)
		err = weave_stage_begin(weave);
	if (!err)
		err = merge_heap(weave, &heap);
	/* Called before the CPUs are joined, because a CPU that was joined is complete. */
	if (!err && joins)
		err = end_processes(weave);
	if (!err)
		err = joins ? weave_join(weave) : put_kernel(weave);
	/* Pages that go directly to their place are the top buffer's, so the other buffers come after it. */
	if (!err)
		err = put_apart(weave);
	free(heap.inputs);
	return err;
}

/* ------------------------------------------------------------------------------------------------- the whole */

static void clean_up(struct weave *weave)
{
	unsigned int i, j;

	dat_write_close(weave->out.writer);
	page_store_close(weave->out.stage);
	for (i = 0; weave->out.buffers && i < weave->out.nr_buffers; i++) {
		for (j = 0; j < weave->out.buffers[i].max_cpus; j++)
			free(weave->out.buffers[i].cpus[j].page);
		free(weave->out.buffers[i].cpus);
	}
	free(weave->out.buffers);
	dat_losses_free(&weave->out.kernel_losses);
	dat_losses_free(&weave->out.program_losses);
	kernel_tasks_free(weave->of_kernel.tasks);
	hidden_threads_free(&weave->of_kernel.hidden);
	free(weave->kernel_inputs);
	free(weave->inputs);
	free(weave->out.owners);
	trace_info_free(weave->in.info);
	time_map_free(&weave->maps[REC_CLOCK_TSC]);
}

int weave_to_dat(const struct weave_params *params, struct weave_stats *ret_stats)
{
	struct weave weave = {
		.out.page_size = params->page_size ? params->page_size : REC_SUBBUF_MIN,
	};
	int err = weave_check(&weave, params);

	if (err)
		return err;
	weave.nr_cpus = params->raw && !weave.kernel ? weave.nr_lanes : params->nr_cpus;
	if (!weave.nr_cpus)
		weave.nr_cpus = 1;
	err = weave_take(&weave, params);
	if (!err)
		err = dat_write_open(params->output, params->version ? params->version : 6, weave.out.page_size,
				     weave.nr_cpus * weave.out.nr_buffers, &weave.out.writer);
	if (!err && params->packing)
		err = dat_write_pack(weave.out.writer, params->packing, weave.nr_cpus * weave.out.nr_buffers);
	if (!err)
		err = weave_name_buffers(&weave.out, &weave.meta);
	if (!err)
		err = params->raw ? weave_raw(&weave) : merge(&weave);
	if (!err)
		err = end_processes(&weave);
	if (!err && params->refuse_empty && !weave.stats.events)
		err = -ENODATA;
	else if (!err)
		err = weave_finish(&weave);
	clean_up(&weave);
	if (!err || err == -ENODATA)
		*ret_stats = weave.stats;
	return err;
}
