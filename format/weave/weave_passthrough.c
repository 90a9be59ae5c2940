/* SPDX-License-Identifier: MIT */
/*
 * Writes the kernel's pages, if nothing is merged into them and the file has the kernel's clock. They are not changed;
 * they are read only to count events, to find names, and to check that they are whole. A page that cannot be kept is
 * copied event by event.
 */
#include "format/weave/weave_private.h"
#include "librecorder/core/page_bytes.h"

struct walk {
	uint64_t events;
	uint64_t first, last; /* times */
	bool whole;	      /* every viewer shows the contents of the page correctly */
};

/* Walk over plain events, whose length is in their word, up to a record of another kind. Their number, or -ENOMEM. */
static int walk_plain(const struct weave_of_kernel *of_kernel, const struct weave_input *input,
		      struct rec_page_iter *iter)
{
	uint32_t at = iter->offset;
	uint64_t clock = iter->time;
	int nr = 0;

	while (iter->size - at >= 8) {
		const unsigned char *event = iter->data + at + 4;
		const uint32_t word = page_get32(event - 4, 0);
		const uint32_t size = page_plain_size(word, iter->size - at);
		const unsigned int id = weave_kernel_id(event, size);
		int err;

		if (!id || weave_leaves_out(of_kernel, input, id, event, size))
			break;
		clock += page_word_delta(word, 0);
		err = kernel_tasks_see(of_kernel->tasks, id, clock, event, size);
		if (err)
			return err;
		at += 4 + size;
		nr++;
	}
	iter->offset = at;
	iter->time = clock;
	return nr;
}

static int walk_page(const struct weave_of_kernel *of_kernel, const struct weave_input *input, struct walk *ret_walk)
{
	struct rec_page_iter iter = input->iter;
	struct walk walk = { .last = input->ns, .whole = true };
	struct rec_record record;
	int got;

	while ((got = page_next(&iter, &record)) > 0) {
		const unsigned int id = weave_kernel_id(record.payload, record.size);
		int more = kernel_tasks_see(of_kernel->tasks, id, record.time, record.payload, record.size);

		if (!walk.events) {
			walk.first = record.time;
			/* libtraceevent reports a loss only if the first record is an event. */
			walk.whole = !record.offset || !input->page.lost;
		}
		if (!more)
			more = walk_plain(of_kernel, input, &iter);
		if (more < 0)
			return more;
		walk.events += 1 + (uint64_t)more;
		/* The sum of all differences on a page wraps at most once. */
		walk.whole &=
			id &&
			!weave_leaves_out(of_kernel, input, id, record.payload, record.size) &&
			record.time >= walk.last && iter.time >= record.time;
		walk.last = iter.time;
	}
	walk.whole &= !got;
	*ret_walk = walk;
	return 0;
}

/*
 * Whether the kernel's pages have the file's page size. All pages of the file have the same size; if it is larger than
 * the kernel's, one page of the file gets several of the kernel's.
 */
static bool is_page_size(const struct weave_out *out, const struct weave_input *input)
{
	return input->subbuf_size == out->page_size;
}

/* Put the unchanged page: from its own file, or through the CPU's page. */
static int put_page(struct weave_out *out, struct weave_cpu *cpu, const struct weave_input *input)
{
	const uint32_t size = out->page_size;
	const struct weave_file *file = input->stream->file;
	int err;

	if (file)
		return dat_write_range(out->writer, cpu->buffer, cpu->number, file->fd,
				       file->offset + (input->pages - 1) * size, size);
	err = weave_cpu_page(out, cpu);
	if (err)
		return err;
	memcpy(cpu->page, input->page.data, REC_SUBBUF_HEADER_SIZE + input->page.size);
	weave_page_seal(out, cpu->page, input->page.size, input->page.lost);
	return dat_write_page(out->writer, cpu->buffer, cpu->number, cpu->page);
}

/* Put the page event by event, in the kernel's own clock. */
static int put_page_events(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input)
{
	int got;

	while ((got = weave_kernel_next_on_page(&weave->of_kernel, input, &weave->maps[REC_CLOCK_MONO])) > 0) {
		const uint64_t ns = weave_input_ns(input, input->record.time);

		got = weave_put_record(&weave->out, cpu, input);
		if (got)
			break;
		weave_out_account(&weave->out, cpu, input->process, 1, ns, ns);
	}
	return got || !is_page_size(&weave->out, input) ? got : weave_out_flush(&weave->out, cpu);
}

static int put_whole(struct weave_out *out, struct weave_cpu *cpu, struct weave_input *input, const struct walk *walk)
{
	if (!input->events)
		input->first_clock = walk->first;
	input->last_clock = walk->last;
	input->ns = walk->last;
	input->events += walk->events;
	input->seen = (uint32_t)walk->events;
	weave_out_account(out, cpu, input->process, walk->events, weave_input_ns(input, walk->first),
			  weave_input_ns(input, walk->last));
	weave_out_lost(out, cpu, input->process, &input->loss, input->lost_since, walk->first);
	input->loss = (struct weave_loss){ 0, false };
	weave_input_page_end(input, false);
	return put_page(out, cpu, input);
}

/* Whether the page's own header reports the events lost before it. */
static bool reports_loss(const struct weave_input *input)
{
	return input->page.lost == rec_page_lost(input->page.data, input->subbuf_size - REC_SUBBUF_HEADER_SIZE);
}

/* Puts the input's next page into the file. 1; 0: the input is at its end; -errno. */
static int take_page(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input)
{
	/* An earlier loss that has not been reported yet is not in the page's own header. */
	const bool after_loss = weave_loss_any(&input->loss);
	struct walk walk;
	int got = weave_input_page(input);
	int err;

	if (got <= 0)
		return got;
	err = walk_page(&weave->of_kernel, input, &walk);
	if (!err && walk.events && walk.whole && reports_loss(input) && !after_loss &&
	    is_page_size(&weave->out, input))
		err = put_whole(&weave->out, cpu, input, &walk);
	else if (!err)
		err = put_page_events(weave, cpu, input);
	return err ? err : 1;
}

bool weave_kernel_as_is(const struct weave *weave, const struct weave_input *input)
{
	return weave->raw_tsc ? !input->time->identity : input->time->identity;
}

int weave_kernel_pages(struct weave *weave, struct weave_input *input)
{
	struct weave_cpu *cpu;
	int got = weave_cpu_get(&weave->out, weave->out.owners[input->process].buffer, input->cpu, &cpu);

	if (!got && weave_kernel_as_is(weave, input)) {
		do
			got = take_page(weave, cpu, input);
		while (got > 0);
		if (!got && input->events && weave_input_ns(input, input->last_clock) > weave->out.last_ns)
			weave->out.last_ns = weave_input_ns(input, input->last_clock);
	} else if (!got) {
		got = weave_kernel_begin(&weave->of_kernel, input);
		if (!got)
			got = weave_kernel_put(&weave->of_kernel, &weave->out, input, UINT64_MAX);
	}
	if (!got)
		got = weave_kernel_end(&weave->out, input, weave_end_time(weave, input->process));
	return got ? got : weave_out_flush(&weave->out, cpu);
}
