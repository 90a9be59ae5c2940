/* SPDX-License-Identifier: MIT */
/*
 * A lane's events one by one, and as copies of pages.
 *
 * Guarantees. When a call returns, the position in the reader words is after the consumed event, so it is never
 * returned twice, to this reader or to its successor. Peeking changes nothing that another process can see, except that
 * it takes another reader page if everything in the present one was read. A loss is reported with the first event after
 * it, until that event is consumed. These calls may be mixed with reading whole pages; no events are lost. The commit
 * position, which is on the writer's hottest line, is read only when everything that it covered at the last reading was
 * consumed.
 */
#include "librecorder/ring/ring_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

#define LOST_COUNT_SIZE 8u

static const struct rec_subbuf *descriptor(const struct rec_ring_reader *reader)
{
	return &reader->subbufs[reader->page];
}

/* The events lost before the next event. */
static struct rec_loss loss_here(const struct rec_ring_reader *reader)
{
	if (REC_POS_COUNT(reader->read))
		return (struct rec_loss){ 0 };
	return rec_reader_loss(reader->lane, reader->words, reader->read, descriptor(reader));
}

static uint64_t next_number(const struct rec_ring_reader *reader)
{
	return rec_load_relaxed(&descriptor(reader)->first) + REC_POS_COUNT(reader->read);
}

void rec_ring_catch_up(struct rec_ring_reader *reader)
{
	const uint32_t offset = REC_POS_OFF(reader->read);
	struct rec_record record;

	/* The page's time is certain to be valid only if the page has events, as it has here. */
	if (reader->iter.offset == 0)
		rec_page_iter_init(&reader->iter, rec_reader_page(reader, reader->page), 0);
	if (reader->iter.offset >= offset)
		return;
	/* Walk over events that were handed over as a page, or read by a former reader, for their times and CPU. */
	reader->iter.size = offset;
	while (rec_page_next(&reader->iter, &record) > 0)
		continue;
	reader->iter.offset = offset;
}

/* Position the iterator before the next event; *ret_next is the iterator after it. 1, 0, -EAGAIN, -EBADMSG. */
static int peek(struct rec_ring_reader *reader, struct rec_ring_event *ret_event, struct rec_page_iter *ret_next)
{
	struct rec_ring_event event;
	struct rec_loss loss;
	uint32_t pages = 0;
	int r = 1;

	rec_ring_read_done(reader);
	if (REC_POS_COUNT(reader->read) >= reader->extent.entries)
		r = rec_ring_turn(reader, false, &pages);
	if (r <= 0)
		return r;
	rec_ring_catch_up(reader);
	*ret_next = reader->iter;
	ret_next->size = reader->extent.size;
	/* If this fails, the sub-buffer has fewer events than its descriptor counts. */
	if (rec_page_next(ret_next, &event.record) <= 0)
		return -EBADMSG;
	loss = loss_here(reader);
	event.number = next_number(reader);
	event.lost = loss.count;
	event.lost_time = loss.time;
	*ret_event = event;
	return 1;
}

int rec_ring_peek(struct rec_ring_reader *reader, struct rec_ring_event *ret_event)
{
	struct rec_page_iter next;

	return peek(reader, ret_event, &next);
}

int rec_ring_consume(struct rec_ring_reader *reader, struct rec_ring_event *ret_event)
{
	struct rec_page_iter next;
	const int r = peek(reader, ret_event, &next);

	if (r > 0) {
		reader->iter = next;
		rec_ring_set_read(reader, REC_POS_COUNT(reader->read) + 1, next.offset);
	}
	return r;
}

/* ------------------------------------------------------------------------------------------------ copying pages */

/* A copy that is being made. */
struct copy {
	unsigned char *data; /* after the header */
	uint32_t room;
	uint32_t used;
	uint32_t events;
	uint32_t read; /* the reader page's position after the copied events */
	uint64_t time; /* time of the page */
};

static void put_restate(struct copy *copy, const struct rec_record *record)
{
	rec_put_restate(copy->data + copy->used, record->cpu, record->time);
	copy->used += REC_RESTATE_SIZE;
}

/*
 * Copy as many events as fit, from the position on. The copy begins with CPU and time. But after a loss it begins with
 * an event, because libtraceevent reports losses only if the first record of a page is an event.
 */
static int copy_events(const struct rec_ring_reader *reader, bool lost, struct copy *copy)
{
	struct rec_page_iter iter = reader->iter;
	struct rec_record record;
	uint32_t length, end, word;
	bool restate;

	iter.size = reader->extent.size;
	if (rec_page_next(&iter, &record) <= 0)
		return -EBADMSG;
	length = iter.offset - record.offset;
	if (length > copy->room)
		return -EMSGSIZE;
	restate = record.cpu != REC_CPU_UNKNOWN && REC_RESTATE_SIZE <= copy->room - length;
	copy->time = record.time;
	if (restate && !lost)
		put_restate(copy, &record);
	/* This event has no delta, because the page's time is its time. */
	memcpy(&word, iter.data + record.offset, sizeof(word));
	word &= (1u << REC_TYPE_BITS) - 1u;
	memcpy(copy->data + copy->used, iter.data + record.offset, length);
	memcpy(copy->data + copy->used, &word, sizeof(word));
	copy->used += length;
	if (restate && lost)
		put_restate(copy, &record);
	copy->events = 1;
	copy->read = end = iter.offset;
	while (rec_page_next(&iter, &record) > 0 && iter.offset - end <= copy->room - copy->used) {
		copy->read = iter.offset;
		copy->events++;
	}
	memcpy(copy->data + copy->used, iter.data + end, copy->read - end);
	copy->used += copy->read - end;
	return 0;
}

/* Complete the copy: store the header, and the number of lost events if there is room for it; clear the rest. */
static void end_page(struct copy *copy, uint64_t lost)
{
	struct rec_subbuf_header header = { copy->time, copy->used };
	uint32_t end = copy->used;

	if (lost) {
		header.commit |= REC_COMMIT_LOST;
		if (copy->room - end >= LOST_COUNT_SIZE) {
			header.commit |= REC_COMMIT_LOST_STORED;
			memcpy(copy->data + end, &lost, LOST_COUNT_SIZE);
			end += LOST_COUNT_SIZE;
		}
	}
	memcpy(copy->data - REC_SUBBUF_HEADER_SIZE, &header, sizeof(header));
	memset(copy->data + end, 0, copy->room - end);
}

/* Fill the empty copy. Returns 0, or -errno; then nothing counts as read. */
static int fill(struct rec_ring_reader *reader, bool whole_only, bool lost, struct copy *copy)
{
	const uint32_t left = reader->extent.entries - REC_POS_COUNT(reader->read);
	int r;

	if (REC_POS_OFF(reader->read) == 0 && !lost && reader->extent.size <= copy->room) {
		/*
		 * The size in the page's header is not copied, because a writer that leaves the sub-buffer may be
		 * writing it.
		 */
		memcpy(&copy->time, rec_reader_page(reader, reader->page), sizeof(copy->time));
		memcpy(copy->data, rec_reader_page(reader, reader->page) + REC_SUBBUF_HEADER_SIZE, reader->extent.size);
		copy->used = copy->read = reader->extent.size;
		copy->events = left;
		return 0;
	}
	rec_ring_catch_up(reader);
	r = copy_events(reader, lost, copy);
	if (r == 0 && whole_only && copy->events < left)
		r = -EMSGSIZE;
	return r;
}

int rec_ring_copy(struct rec_ring_reader *reader, bool whole_only, void *page, size_t size, struct rec_page *ret_page)
{
	struct copy copy = { .data = (unsigned char *)page + REC_SUBBUF_HEADER_SIZE };
	struct rec_loss loss;
	uint32_t pages = 0;
	uint64_t number;
	int r;

	if (size <= REC_SUBBUF_HEADER_SIZE)
		return -EMSGSIZE;
	rec_ring_read_done(reader);
	r = rec_ring_turn(reader, whole_only, &pages);
	if (r <= 0)
		return r;
	size -= REC_SUBBUF_HEADER_SIZE;
	copy.room = (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX);
	loss = loss_here(reader);
	number = next_number(reader);
	r = fill(reader, whole_only, loss.count, &copy);
	if (r < 0)
		return r;
	end_page(&copy, loss.count);
	rec_ring_set_read(reader, REC_POS_COUNT(reader->read) + copy.events, copy.read);
	*ret_page = (struct rec_page){ .data = page,
				       .size = copy.used,
				       .entries = copy.events,
				       .first = number,
				       .lost = loss.count,
				       .lost_time = loss.time };
	return 1;
}
