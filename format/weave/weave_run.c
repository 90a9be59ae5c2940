/* SPDX-License-Identifier: MIT */
/*
 * Records that are copied to a page unchanged, except for the time difference to the previous one. Runs of them are
 * copied in one loop, which handles only plain records: the length is in the event word, the time is on the same line
 * of the time map, and the page already has a record. Any other record ends the run and is copied by itself.
 */
#include "format/weave/kernel_tasks.h"
#include "format/weave/weave_private.h"
#include "librecorder/core/page_bytes.h"

#include <string.h>

/* A record that can be copied in a run is at most this long, its word included. */
#define RECORD_MAX (4u + REC_EVENT_SMALL_MAX)

/* Copying may write this many bytes beyond a record, so it needs no check for each piece. */
#define PIECE 32u

static inline void set_delta(unsigned char *at, uint32_t word, uint64_t delta)
{
	page_put32(at, page_word(page_word_type(word, 0), (uint32_t)delta));
}

/* Copies the current record with another delta. False: this is not possible. */
static bool copy_record(struct rec_page_writer *writer, const struct weave_input *input)
{
	const unsigned char *from = input->iter.data + input->record.offset;
	const uint32_t size = input->iter.offset - input->record.offset;
	unsigned char *to = writer->page + REC_SUBBUF_HEADER_SIZE + writer->used;
	const uint64_t delta = input->ns - writer->time;

	/* The page's size cuts a record only in a damaged page; the next record must be aligned. */
	if (!writer->used || delta > REC_DELTA_MAX || size > writer->capacity - writer->used || size % 4)
		return false;
	memcpy(to, from, size);
	set_delta(to, page_get32(from, 0), delta);
	writer->time = input->ns;
	writer->used += size;
	writer->entries++;
	return true;
}

int weave_put_record(struct weave_out *out, struct weave_cpu *cpu, struct weave_input *input)
{
	void *payload;
	int err;

	if (cpu->open && !weave_loss_any(&input->loss) && copy_record(&cpu->writer, input))
		return 0;
	err = weave_out_room(out, cpu, input->ns, input->record.size, &input->loss, &payload);
	if (err)
		return err;
	memcpy(payload, input->record.payload, input->record.size);
	if (!input->staged)
		weave_out_lost(out, cpu, input->process, &input->loss, input->lost_since, input->ns);
	input->loss = (struct weave_loss){ 0, false };
	return 0;
}

/*
 * The last time of the clock that is certainly before the stretch's end and, in the file's time, not later than
 * `until`, which lies in the stretch.
 */
static uint64_t last_clock(const struct time_stretch *stretch, uint64_t until)
{
	/* The value is limited, so that no sum wraps. */
	const uint64_t end = stretch->end - 1 < INT64_MAX ? stretch->end - 1 : INT64_MAX;
	unsigned __int128 ticks;

	if (until == UINT64_MAX)
		return end;
	ticks = ((unsigned __int128)(until - stretch->ns) << TIME_MAP_SHIFT) / stretch->mult;
	return stretch->clock + ticks < end ? stretch->clock + (uint64_t)ticks : end;
}

/* The state of a run. */
struct run {
	const unsigned char *from;
	unsigned char *to;
	uint32_t size; /* bytes of records that the input has and that fit the output page */
	uint32_t used; /* number of these bytes that were used */
	uint64_t clock, last; /* time of the last record that was put; and the latest time that may be put */
};

/* Copy a record; up to `room` bytes may be read and written. */
static inline void copy_bytes(unsigned char *to, const unsigned char *from, uint32_t size, uint32_t room)
{
	const unsigned char *end = from + size;

	if (room < RECORD_MAX + PIECE) {
		memcpy(to, from, size);
		return;
	}
	for (; from < end; from += PIECE, to += PIECE)
		memcpy(to, from, PIECE);
}

/* Put records; for those of programs `kernel` and `of_kernel` are NULL. Returns their number, or -ENOMEM. */
static inline __attribute__((always_inline)) int copy_run(struct run *run, const struct time_stretch *stretch,
							  const struct weave_input *kernel,
							  const struct weave_of_kernel *of_kernel)
{
	const uint64_t mult = stretch->mult;
	const uint64_t last = run->last - stretch->clock;
	uint64_t clock = run->clock - stretch->clock;
	uint64_t time = time_map_scale(clock, mult);
	uint32_t at = 0;
	int nr = 0;

	while (run->size - at >= 8) {
		const unsigned char *from = run->from + at;
		const uint32_t word = page_get32(from, 0);
		const uint32_t payload = page_plain_size(word, run->size - at);
		const uint64_t next = clock + page_word_delta(word, 0);
		const uint64_t next_time = time_map_scale(next, mult);
		const uint32_t size = 4 + payload;

		if (!payload || next > last)
			break;
		if (kernel) {
			const unsigned int id = weave_kernel_id(from + 4, payload);
			int err;

			if (!id || weave_leaves_out(of_kernel, kernel, id, from + 4, payload))
				break;
			err = kernel_tasks_see(of_kernel->tasks, id, stretch->clock + next, from + 4, payload);
			if (err)
				return err;
		}
		copy_bytes(run->to + at, from, size, run->size - at);
		set_delta(run->to + at, word, next_time - time);
		clock = next;
		time = next_time;
		at += size;
		nr++;
	}
	run->used = at;
	run->clock = clock + stretch->clock;
	return nr;
}

int weave_put_run(const struct weave_of_kernel *of_kernel, struct weave_cpu *cpu, struct weave_input *input,
		  uint64_t until)
{
	struct rec_page_writer *writer = &cpu->writer;
	struct rec_page_iter *iter = &input->iter;
	const uint32_t room = writer->capacity - writer->used;
	const uint32_t left = iter->size - iter->offset;
	struct time_stretch stretch;
	struct run run = {
		.from = iter->data + iter->offset,
		.to = writer->page + REC_SUBBUF_HEADER_SIZE + writer->used,
		.size = left < room ? left : room,
		.clock = iter->time,
	};
	int nr;

	/*
	 * Three cases permit no run: a time was raised, because the next one may have to be raised, too; a tick is
	 * longer than a nanosecond, because time differences may then not fit; and the anchors give values for which a
	 * sum would wrap.
	 */
	if (!time_map_stretch(input->time, input->hint, iter->time, &stretch) || !stretch.mult ||
	    stretch.mult > UINT64_C(1) << TIME_MAP_SHIFT || stretch.clock > INT64_MAX || stretch.ns > INT64_MAX ||
	    stretch.ns + time_map_scale(iter->time - stretch.clock, stretch.mult) != writer->time)
		return 0;
	run.last = last_clock(&stretch, until);
	if (input->staged)
		nr = copy_run(&run, &stretch, NULL, NULL);
	else
		nr = copy_run(&run, &stretch, input, of_kernel);
	if (nr <= 0)
		return nr;
	iter->offset += run.used;
	iter->time = run.clock;
	writer->used += run.used;
	writer->time = stretch.ns + time_map_scale(run.clock - stretch.clock, stretch.mult);
	writer->entries += (uint32_t)nr;
	input->seen += (uint32_t)nr;
	input->events += (uint32_t)nr;
	input->ns = writer->time;
	if (run.clock > input->last_clock)
		input->last_clock = run.clock;
	return nr;
}
