/* SPDX-License-Identifier: MIT */
/*
 * Weaves the programs' events into the kernel's. The merge of the programs leaves the pages of each CPU in a store of
 * the weave's own. Then one CPU after the other is completed: runs of the kernel's records alternate with runs of
 * those pages' records, and the result is written directly to its place in the file. So the kernel's pages, which are
 * most of the data, are written only once, and both sides are copied in runs.
 */
#include "format/weave/weave_private.h"

#include <errno.h>
#include <stdlib.h>

/* The programs' pages are read in pieces of this size. */
#define BLOCK (256u * 1024u)

/* Room for data that are known only after the last page: names of tasks (ten thousand), and numbers. */
#define ROOM_NAMES (256u * 1024u)
#define ROOM_CPU   1024u

/* The pages of the programs on a CPU. */
struct staged {
	struct weave_input input; /* the record that was taken from the pages and not yet put */
	unsigned int track;
	bool has_track;
	unsigned char *block;
	uint32_t size, taken; /* bytes in the block, and those of them that were taken */
};

int weave_stage_begin(struct weave *weave)
{
	const unsigned int cpus = weave->nr_cpus;
	struct weave_out *out = &weave->out;
	const int err = page_store_open(dat_write_target(out->writer), out->page_size, cpus, &out->stage);

	out->is_staging = !err;
	return err;
}

int weave_stage_page(struct weave_out *out, struct weave_cpu *cpu)
{
	if (!cpu->has_stage) {
		const int err = page_store_add(out->stage, &cpu->stage);

		if (err)
			return err;
		cpu->has_stage = true;
	}
	return page_store_put(out->stage, cpu->stage, cpu->page);
}

/* Takes the input's next page. 1; 0: the input is at its end; -errno. */
static int next_page(struct weave *weave, struct staged *staged)
{
	const uint32_t page_size = weave->out.page_size;
	struct weave_input *input = &staged->input;
	const unsigned char *page;
	int err;

	if (staged->taken == staged->size) {
		staged->taken = 0;
		staged->size = 0;
		err = staged->has_track ? page_store_take(weave->out.stage, staged->track, staged->block,
							  page_size > BLOCK ? page_size : BLOCK, &staged->size) : 0;
		if (err || !staged->size)
			return err;
	}
	page = staged->block + staged->taken;
	staged->taken += page_size;
	rec_page_iter_init(&input->iter, page, rec_page_size(page));
	weave_loss_add(&input->loss, rec_page_lost(page, page_size - REC_SUBBUF_HEADER_SIZE));
	return 1;
}

/* The next event of the programs. 0, -errno. */
static int next_event(struct weave *weave, struct staged *staged)
{
	struct weave_input *input = &staged->input;
	int got = 1;

	/* Before the first page the iterator is empty. */
	while (!input->iter.data || rec_page_next(&input->iter, &input->record) <= 0) {
		got = next_page(weave, staged);
		if (got <= 0)
			break;
	}
	input->ended = got <= 0;
	input->ns = input->record.time;
	return got < 0 ? got : 0;
}

/* Put the programs' events up to and including `until`. */
static int put_programs(struct weave *weave, struct staged *staged, unsigned int number, uint64_t until)
{
	struct weave_input *input = &staged->input;
	struct weave_cpu *cpu;
	int err = weave_cpu_get(&weave->out, 0, number, &cpu);

	while (!err && !input->ended && input->ns <= until) {
		err = weave_put_record(&weave->out, cpu, input);
		if (!err)
			err = weave_put_run(&weave->of_kernel, cpu, input, until);
		if (err >= 0)
			err = next_event(weave, staged);
	}
	return err;
}

/* Put both sides in the order of time; `kernel` may be NULL. At equal times the kernel's event comes first. */
static int join(struct weave *weave, struct staged *staged, struct weave_input *kernel, unsigned int number)
{
	int err = kernel ? weave_kernel_begin(&weave->of_kernel, kernel) : 0;

	if (!err)
		err = next_event(weave, staged);
	while (!err && !staged->input.ended) {
		if (kernel && !kernel->ended && kernel->ns <= staged->input.ns)
			err = weave_kernel_put(&weave->of_kernel, &weave->out, kernel, staged->input.ns);
		if (!err)
			err = put_programs(weave, staged, number,
					   kernel && !kernel->ended ? kernel->ns - 1 : UINT64_MAX);
	}
	if (!err && kernel)
		err = weave_kernel_put(&weave->of_kernel, &weave->out, kernel, UINT64_MAX);
	if (!err && kernel)
		err = weave_kernel_end(&weave->out, kernel, weave_end_time(weave, kernel->process));
	return err;
}

static int join_cpu(struct weave *weave, struct staged *staged, unsigned int number)
{
	const struct weave_buffer *top = &weave->out.buffers[0];
	struct weave_input *kernel = number < weave->max_kernel_inputs ? weave->kernel_inputs[number] : NULL;
	struct weave_cpu *cpu;
	int err;

	staged->has_track = number < top->max_cpus && top->cpus[number].has_stage;
	if (!kernel && !staged->has_track)
		return 0;
	if (staged->has_track)
		staged->track = top->cpus[number].stage;
	staged->input = (struct weave_input){ .staged = true, .time = &weave->maps[REC_CLOCK_MONO] };
	err = join(weave, staged, kernel, number);
	if (!err)
		err = weave_cpu_get(&weave->out, 0, number, &cpu);
	return err ? err : weave_out_flush(&weave->out, cpu);
}

int weave_straight(struct weave *weave)
{
	const int err = weave_texts(weave);

	return err ? err : dat_write_straight(weave->out.writer, weave->nr_cpus,
					      ROOM_NAMES + (uint64_t)weave->nr_cpus * ROOM_CPU);
}

int weave_join(struct weave *weave)
{
	const uint32_t page_size = weave->out.page_size;
	struct staged staged = { .block = malloc(page_size > BLOCK ? page_size : BLOCK) };
	unsigned int i;
	int err = staged.block ? 0 : -ENOMEM;

	weave->out.is_staging = false;
	if (!err)
		err = weave_straight(weave);
	for (i = 0; !err && (i < weave->max_kernel_inputs || i < weave->out.buffers[0].max_cpus); i++)
		err = join_cpu(weave, &staged, i);
	free(staged.block);
	return err ? err : dat_write_scratch(weave->out.writer);
}
