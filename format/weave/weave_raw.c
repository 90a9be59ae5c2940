/* SPDX-License-Identifier: MIT */
/*
 * Raw: each stream is one "CPU" of the file. Its pages are byte for byte as they left the ring, except for event ids
 * (on which several processes must agree), call sites of rec_printf, and the loss bits and count. Four kinds of page
 * are made anew: a page whose first events were handed over before, one with events that were not selected, one that is
 * damaged after some event, and one with a loss before it. The last kind has to begin with an event, because
 * libtraceevent's kbuffer reports a loss only if the first record is an event. So the CPU marker of such a page follows
 * the first event, or is left out if the count of lost events needs its place.
 */
#include "format/weave/weave_private.h"
#include "librecorder/core/page_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A page that is being made, and its state. */
struct raw_page {
	unsigned char *bytes; /* weave->out.page_size */
	uint32_t size;	      /* bytes of data */
	uint32_t events;
	uint32_t left_out; /* number of events that were left out of it */
	uint64_t first_clock;
	uint64_t last_clock;
	int32_t pid;
};

struct raw {
	struct weave *weave;
	struct weave_input *input;
	struct weave_cpu *cpu;
	struct raw_page page;
	unsigned char *other; /* weave->out.page_size, if a page is made anew */
};

/*
 * Copy the header and the data from offset `from` on. The new page states the same time and, if the old page stated it
 * and there is room, the same CPU. Before `from` there is at least one event, and in our own lanes a marker, too, so
 * there is room for the marker. Returns the size of the data.
 */
static uint32_t copy_tail(unsigned char *to, const unsigned char *page, uint32_t size, uint32_t from)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t used = 0;

	rec_page_iter_init(&iter, page, from);
	while (rec_page_next(&iter, &record) > 0)
		;
	memcpy(to, &iter.time, sizeof(iter.time));
	if (iter.cpu != REC_CPU_UNKNOWN && from >= PAGE_RESTATE_SIZE) {
		page_put_restate(to + REC_SUBBUF_HEADER_SIZE, iter.cpu, iter.time);
		used = PAGE_RESTATE_SIZE;
	}
	memcpy(to + REC_SUBBUF_HEADER_SIZE + used, page + REC_SUBBUF_HEADER_SIZE + from, size - from);
	return used + size - from;
}

/* Replace an event by a time extend, which is shorter than any event, so that the events after it keep their times. */
static void leave_out(struct raw_page *page, const struct rec_record *record, uint32_t end)
{
	unsigned char *at = page->bytes + REC_SUBBUF_HEADER_SIZE + record->offset;
	const uint32_t size = end - record->offset;

	page_put32(at, page_word(REC_TYPE_TIME_EXTEND, page_word_delta(page_get32(at, 0), 0)));
	page_put32(at + 4, 0);
	memmove(at + REC_TIME_EXTEND_SIZE, at + size, page->size - end);
	page->size -= size - REC_TIME_EXTEND_SIZE;
	page->left_out++;
}

/* Remove the events that were not selected from the copy. 0 or -ENOMEM. */
static int leave_out_all(struct raw *raw)
{
	struct raw_page *page = &raw->page;
	struct trace_event_map to;
	struct rec_page_iter iter;
	struct rec_record record;
	uint16_t id;
	int err = 0;

	page->left_out = 0;
	if (!raw->weave->in.has_wants)
		return 0;
	rec_page_iter_init(&iter, page->bytes, page->size);
	while (!err && rec_page_next(&iter, &record) > 0) {
		if (record.size < sizeof(struct rec_event_common))
			continue;
		memcpy(&id, record.payload, sizeof(id));
		err = weave_input_map(raw->input, id, &to);
		if (err || !to.is_left_out)
			continue;
		leave_out(page, &record, iter.offset);
		iter.offset = record.offset + REC_TIME_EXTEND_SIZE;
		iter.size = page->size;
	}
	return err;
}

/* Handle ids, threads and times of the events on the copy; if the page is damaged, the copy ends at the damage. */
static int walk(struct raw *raw)
{
	struct weave *weave = raw->weave;
	struct weave_input *input = raw->input;
	struct raw_page *page = &raw->page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t before = 0;
	int got;
	int err = 0;

	page->events = 0;
	rec_page_iter_init(&iter, page->bytes, page->size);
	while ((got = rec_page_next(&iter, &record)) > 0 && !err) {
		struct rec_event_common common = { 0, 0, 0, 0 };
		unsigned char *payload = page->bytes + ((const unsigned char *)record.payload - page->bytes);
		struct trace_event_map to = { 0, false, false };

		if (!page->events++)
			page->first_clock = record.time;
		page->last_clock = record.time;
		before = iter.offset;
		if (record.size < sizeof(common)) {
			weave->stats.unknown_events++;
			continue;
		}
		memcpy(&common, payload, sizeof(common));
		err = weave_input_map(input, common.type, &to);
		if (err)
			break;
		weave->stats.unknown_events += !to.id;
		err = weave_input_patch(input, to, payload, record.size);
		if (!err)
			err = trace_info_seen(weave->in.info, input->process, common.pid);
	}
	input->seen = page->events + page->left_out;
	if (got < 0)
		page->size = before;
	weave_input_page_end(input, got < 0);
	return err;
}

/* Make the page begin with its first event; keep its times and, if there is room, its CPU. */
static void begin_with_event(struct raw *raw)
{
	const uint32_t capacity = raw->weave->out.page_size - REC_SUBBUF_HEADER_SIZE;
	struct raw_page *page = &raw->page;
	unsigned char *other = raw->other;
	unsigned char *data = other + REC_SUBBUF_HEADER_SIZE;
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t used, rest;

	rec_page_iter_init(&iter, page->bytes, page->size);
	if (rec_page_next(&iter, &record) <= 0 || record.offset == 0)
		return;
	used = iter.offset - record.offset;
	rest = page->size - iter.offset;
	memcpy(other, &record.time, sizeof(record.time));
	memcpy(data, page->bytes + REC_SUBBUF_HEADER_SIZE + record.offset, used);
	/* The page's time becomes that of the event. */
	page_put32(data, page_word(page_word_type(page_get32(data, 0), 0), 0));
	if (record.cpu != REC_CPU_UNKNOWN && used + rest + PAGE_RESTATE_SIZE + PAGE_LOST_SIZE <= capacity) {
		page_put_restate(data + used, record.cpu, record.time);
		used += PAGE_RESTATE_SIZE;
	}
	memcpy(data + used, page->bytes + REC_SUBBUF_HEADER_SIZE + iter.offset, rest);
	raw->other = page->bytes;
	page->bytes = other;
	page->size = used + rest;
}

/* Write the page with the loss before it. */
static int put_page(struct raw *raw, uint64_t lost)
{
	struct raw_page *page = &raw->page;

	if (lost)
		begin_with_event(raw);
	weave_page_seal(&raw->weave->out, page->bytes, page->size, lost);
	return dat_write_page(raw->weave->out.writer, raw->cpu->buffer, raw->cpu->number, page->bytes);
}

static int take_page(struct raw *raw)
{
	struct weave *weave = raw->weave;
	struct weave_input *input = raw->input;
	struct raw_page *page = &raw->page;
	struct weave_loss loss = input->loss; /* the loss before this page; walk() adds losses within it */
	const uint32_t capacity = weave->out.page_size - REC_SUBBUF_HEADER_SIZE;
	uint64_t since;
	int err;

	input->loss = (struct weave_loss){ 0, false };
	page->size = input->page.size < capacity ? input->page.size : capacity;
	if (input->page.from && input->page.from <= page->size)
		page->size = copy_tail(page->bytes, input->page.data, page->size, input->page.from);
	else
		memcpy(page->bytes, input->page.data, REC_SUBBUF_HEADER_SIZE + page->size);
	err = leave_out_all(raw);
	if (!err)
		err = walk(raw);
	if (err)
		return err;
	if (!page->events) {
		weave_loss_join(&input->loss, &loss);
		return 0;
	}
	if (!input->events)
		input->first_clock = page->first_clock;
	since = input->last_clock;
	input->last_clock = page->last_clock;
	input->events += page->events;
	weave_out_account(&weave->out, raw->cpu, input->process, page->events, weave_input_ns(input, page->first_clock),
			  weave_input_ns(input, page->last_clock));
	weave_out_lost(&weave->out, raw->cpu, input->process, &loss, since, page->first_clock);
	return put_page(raw, loss.unknown ? REC_LOST_UNKNOWN : loss.known);
}

/* Write a stream whose pages stay unchanged. */
static int copy_stream(struct raw *raw)
{
	int got;

	while ((got = weave_input_page(raw->input)) > 0) {
		got = take_page(raw);
		if (got < 0)
			break;
	}
	return got;
}

/* Write a stream whose times are converted. */
static int convert_stream(struct raw *raw)
{
	int got;

	while ((got = weave_input_next(raw->input)) > 0) {
		got = weave_out_event(&raw->weave->out, raw->input, raw->input->cpu);
		if (got < 0)
			break;
	}
	return got;
}

static int take_stream(struct raw *raw, unsigned int number, bool last_of_process)
{
	struct weave *weave = raw->weave;
	struct weave_input *input = &weave->inputs[number];
	struct weave_owner *owner = &weave->out.owners[input->process];
	const bool convert = !weave->raw_tsc && !input->time->identity;
	struct weave_loss trailing;
	uint64_t no_lane = 0, end, since;
	int err;

	err = weave_cpu_get(&weave->out, owner->buffer, input->cpu, &raw->cpu);
	if (err)
		return err;
	raw->input = input;
	err = convert ? convert_stream(raw) : copy_stream(raw);
	if (err)
		return err;
	trailing = weave_input_trailing(input);
	end = convert ? input->ns : input->last_clock;
	since = last_of_process && weave_loss_any(&owner->trailing) ? 0 : end;
	if (last_of_process) {
		weave_loss_join(&trailing, &owner->trailing);
		no_lane = owner->no_lane;
		owner->trailing = (struct weave_loss){ 0, false };
	}
	if (weave_loss_any(&trailing))
		err = weave_out_end(&weave->out, input->cpu, input->process, end, trailing, since, no_lane);
	return err ? err : weave_out_flush(&weave->out, raw->cpu);
}

int weave_raw(struct weave *weave)
{
	const unsigned int nr = weave->in.source->nr_streams;
	struct raw raw = { .weave = weave };
	unsigned int i, j;
	int err = 0;

	raw.page.bytes = malloc(weave->out.page_size);
	raw.other = malloc(weave->out.page_size);
	if (!raw.page.bytes || !raw.other)
		err = -ENOMEM;
	for (i = 0; i < nr && !err; i++) {
		if (weave->inputs[i].is_kernel) {
			err = weave_kernel_pages(weave, &weave->inputs[i]);
			continue;
		}
		/* Losses that belong to no lane are reported after the last stream of their process. */
		for (j = i + 1; j < nr && weave->inputs[j].process != weave->inputs[i].process; j++)
			;
		err = take_stream(&raw, i, j == nr);
	}
	free(raw.other);
	free(raw.page.bytes);
	return err;
}
