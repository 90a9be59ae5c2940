/* SPDX-License-Identifier: MIT */
/*
 * The streams of the kernel: one a CPU, whose events all go to that CPU of the file. So they take no part in the heap of
 * the merge. Before an event of a program is put on a CPU, what the kernel has for it until then is put there: a run of
 * records that are copied as they are, but for the time that each counts from the one before.
 *
 * Where nothing is woven in and the file has the kernel's clock, pages stay as the kernel wrote them, and are only walked
 * over: for the number of events, for names, and to see that they are whole. What is not is taken apart.
 */
#include "format/kernel_page.h"
#include "format/weave_private.h"

#include <stdlib.h>

/* What the kernel has given to an event that is of no program. 0: what stands there cannot be an event. */
static unsigned int id_of(const struct rec_record *record)
{
	uint16_t id;

	if (record->size < sizeof(struct rec_event_common))
		return 0;
	memcpy(&id, record->payload, sizeof(id));
	return id < REC_EVENT_ID_FIRST ? id : 0;
}

/* 1: the page's next event is in the input's fields; 0: the page has ended; -errno. */
static int next_on_page(struct weave *weave, struct weave_input *input, const struct time_map *time)
{
	for (;;) {
		const int got = kernel_page_next(&input->iter, &input->record);
		unsigned int id;
		int err;

		if (got <= 0) {
			weave_input_page_end(weave, input, got < 0);
			return 0;
		}
		input->seen++;
		id = id_of(&input->record);
		if (!id) {
			weave->stats.unknown_events++;
			weave_loss_add(&input->loss, 1);
			continue;
		}
		err = kernel_tasks_see(weave->tasks, id, input->record.payload, input->record.size);
		if (err)
			return err;
		weave_input_time(weave, input, time_map_ns(time, &input->hint, input->record.time));
		return 1;
	}
}

static int next_event(struct weave *weave, struct weave_input *input)
{
	int got = 0;

	while (!got) {
		if (!input->in_page) {
			got = weave_input_page(weave, input);
			if (got < 0)
				return got;
			input->ended = !got;
			if (!got)
				return 0;
		}
		got = next_on_page(weave, input, input->time);
	}
	return got < 0 ? got : 0;
}

int weave_kernel_begin(struct weave *weave, struct weave_input *input)
{
	return next_event(weave, input);
}

/* The record itself with another delta. False: it does not fit so. */
static inline bool copy_record(struct rec_page_writer *writer, const struct weave_input *input)
{
	const unsigned char *from = input->iter.data + input->record.offset;
	const uint32_t size = input->iter.offset - input->record.offset;
	unsigned char *to = writer->page + REC_SUBBUF_HEADER_SIZE + writer->used;
	const uint64_t delta = input->ns - writer->time;
	uint32_t word;

	if (!writer->used || delta > REC_DELTA_MAX || size > writer->capacity - writer->used)
		return false;
	memcpy(to, from, size);
	memcpy(&word, from, sizeof(word));
	word = (word & ((1u << REC_TYPE_BITS) - 1u)) | (uint32_t)delta << REC_TYPE_BITS;
	memcpy(to, &word, sizeof(word));
	writer->time = input->ns;
	writer->used += size;
	writer->entries++;
	return true;
}

static int put_event(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input)
{
	void *payload;
	int err;

	if (cpu->open && !weave_loss_any(&input->loss) && copy_record(&cpu->writer, input))
		return 0;
	err = weave_out_room(weave, cpu, input->ns, input->record.size, &input->loss, &payload);
	if (err)
		return err;
	memcpy(payload, input->record.payload, input->record.size);
	if (weave_loss_any(&input->loss)) {
		weave_out_lost(weave, cpu, input->process, &input->loss);
		input->loss = (struct weave_loss){ 0, false };
	}
	return 0;
}

int weave_kernel_put(struct weave *weave, struct weave_input *input, uint64_t until)
{
	const uint64_t first = input->ns;
	uint64_t last = first;
	uint64_t events = 0;
	struct weave_cpu *cpu;
	int err = weave_cpu_get(weave, weave->owners[input->process].buffer, input->cpu, &cpu);

	while (!err && !input->ended && input->ns <= until) {
		last = input->ns;
		err = put_event(weave, cpu, input);
		if (!err)
			err = next_event(weave, input);
		events++;
	}
	if (err)
		return err;
	weave_out_account(weave, cpu, input->process, events, first, last);
	if (events && last > weave->last_ns)
		weave->last_ns = last;
	return 0;
}

int weave_kernel_end(struct weave *weave, struct weave_input *input)
{
	const struct weave_loss trailing = weave_input_trailing(weave, input);

	if (!weave_loss_any(&trailing))
		return 0;
	return weave_out_end(weave, input->cpu, input->process, weave_end_time(weave, input->process), trailing, 0);
}

/* ------------------------------------------------------------------------------------------------- whole pages */

struct walk {
	uint64_t events;
	uint64_t first, last; /* times */
	bool whole;	      /* every viewer makes of it what is in it */
};

static int walk_page(struct weave *weave, struct weave_input *input, struct walk *ret_walk)
{
	struct rec_page_iter iter = input->iter;
	struct walk walk = { .last = input->ns, .whole = true };
	struct rec_record record;
	int got;

	while ((got = kernel_page_next(&iter, &record)) > 0) {
		const unsigned int id = id_of(&record);
		const int err = kernel_tasks_see(weave->tasks, id, record.payload, record.size);

		if (err)
			return err;
		if (!walk.events++) {
			walk.first = record.time;
			/* libtraceevent tells of a loss only where the first record is an event. */
			walk.whole = !record.offset || !input->page.lost;
		}
		walk.whole &= id && record.time >= walk.last;
		walk.last = record.time;
	}
	walk.whole &= !got;
	*ret_walk = walk;
	return 0;
}

/* The page as it is, out of the file that it stands in or by way of the CPU's page. */
static int put_page(struct weave *weave, struct weave_cpu *cpu, const struct weave_input *input)
{
	const uint32_t size = weave->kernel->subbuf_size;
	const struct weave_file *file = weave->params->streams[input->number].file;
	int err;

	if (file && size == weave->page_size)
		return dat_write_range(weave->writer, cpu->buffer, cpu->number, file->fd,
				       file->offset + (input->pages - 1) * size, size);
	err = weave_cpu_page(weave, cpu);
	if (err)
		return err;
	memcpy(cpu->page, input->page.data, REC_SUBBUF_HEADER_SIZE + input->page.size);
	weave_page_seal(weave, cpu->page, input->page.size, input->page.lost);
	return dat_write_page(weave->writer, cpu->buffer, cpu->number, cpu->page);
}

/* The page event by event, in the kernel's own clock. */
static int put_page_events(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input)
{
	int err = 0;
	int got;

	while (!err && (got = next_on_page(weave, input, &weave->maps[REC_CLOCK_MONO]))) {
		err = got < 0 ? got : put_event(weave, cpu, input);
		if (err)
			break;
		weave_out_account(weave, cpu, input->process, 1, weave_input_ns(input, input->record.time),
				  weave_input_ns(input, input->record.time));
	}
	return err ? err : weave_out_flush(weave, cpu);
}

static int put_whole(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input, const struct walk *walk)
{
	if (!input->events)
		input->first_clock = walk->first;
	input->last_clock = walk->last;
	input->ns = walk->last;
	input->events += walk->events;
	input->seen = (uint32_t)walk->events;
	weave_out_account(weave, cpu, input->process, walk->events, weave_input_ns(input, walk->first),
			  weave_input_ns(input, walk->last));
	weave_out_lost(weave, cpu, input->process, &input->loss);
	input->loss = (struct weave_loss){ 0, false };
	weave_input_page_end(weave, input, false);
	return put_page(weave, cpu, input);
}

/* 1: a page was put; 0: there is none; -errno. */
static int take_page(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input)
{
	/* Of what an earlier page has left, this one does not tell. */
	const bool behind_loss = weave_loss_any(&input->loss);
	struct walk walk;
	int got = weave_input_page(weave, input);
	int err;

	if (got <= 0)
		return got;
	err = walk_page(weave, input, &walk);
	if (!err && walk.events && walk.whole && !behind_loss)
		err = put_whole(weave, cpu, input, &walk);
	else if (!err)
		err = put_page_events(weave, cpu, input);
	return err ? err : 1;
}

int weave_kernel_pages(struct weave *weave, struct weave_input *input)
{
	const bool as_is = weave->raw_tsc ? !input->time->identity : input->time->identity;
	struct weave_cpu *cpu;
	int got = weave_cpu_get(weave, weave->owners[input->process].buffer, input->cpu, &cpu);

	if (!got && as_is) {
		do
			got = take_page(weave, cpu, input);
		while (got > 0);
		if (!got && input->events && weave_input_ns(input, input->last_clock) > weave->last_ns)
			weave->last_ns = weave_input_ns(input, input->last_clock);
	} else if (!got) {
		got = weave_kernel_begin(weave, input);
		if (!got)
			got = weave_kernel_put(weave, input, UINT64_MAX);
	}
	return got ? got : weave_kernel_end(weave, input);
}
