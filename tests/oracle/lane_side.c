/* SPDX-License-Identifier: MIT */
#include "lane_side.h"

#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "librecorder/view/reader_private.h"

#include <errno.h>
#include <librecorder/buffer.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

static void must(int r, const char *what)
{
	errno = -r;
	side_must(r >= 0, what);
}

static uint32_t subbuf_size(const struct lane_side *side)
{
	return UINT32_C(1) << side->handle->shift;
}

static void open_view(struct lane_side *side)
{
	must(rec_view_open(rec_process_path(), &side->view), "opening this process's own buffer");
}

void lane_open(struct lane_side *side)
{
	struct rec_options options = REC_OPTIONS_INIT;

	/* lane_shape() needs one page more. */
	options.lane_size = (LANE_PAGES_MAX + 1) * 32768;
	options.lane_max = options.lane_size;
	options.subbuf_size = REC_SUBBUF_MIN;
	options.clock = SIDE_CLOCK;
	must(rec_configure(&options), "configuring the buffer");
	must(rec_thread_attach(), "leasing a lane");
	must(rec_thread_lane(&side->lane), "the lane's number");
	side->handle = rec_thread_handle;
	side->lead = REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE;
	side->page = malloc(REC_SUBBUF_MAX);
	open_view(side);
}

void lane_close(struct lane_side *side)
{
	rec_view_close(side->view);
	free(side->page);
}

static size_t ring_bytes(uint32_t pages, uint32_t size)
{
	return (size_t)pages * (size - REC_SUBBUF_HEADER_SIZE);
}

/* Continue in a lane with `pages` sub-buffers of `size` bytes; this is the size that lanes get at present. */
static void go_to(struct lane_side *side, uint32_t pages, uint32_t size)
{
	must(rec_thread_lane(&side->lane), "the lane's number");
	must(rec_lane_resize(side->lane, ring_bytes(pages, size)), "resizing the lane");
	must(rec_thread_lane(&side->lane), "the lane's number");
	side->handle = rec_thread_handle;
	side_must(side->handle->nr_subbufs == pages + 1 && subbuf_size(side) == size, "the lane's shape");
}

uint64_t lane_shape(struct lane_side *side, uint32_t pages, uint32_t capacity)
{
	uint32_t size = REC_SUBBUF_MIN;
	unsigned int lane;
	uint64_t commit;

	while (size - REC_SUBBUF_HEADER_SIZE < capacity)
		size *= 2;
	must(lane_reset(side), "emptying the lane");
	/* A lane must not be read while it is remade. */
	rec_view_close(side->view);
	must(rec_subbuf_resize(size), "reshaping the lane");
	go_to(side, pages + 1, size);
	/* All lanes get another shape than the one needed, so the lane that we get begins anew. */
	for (lane = 0; lane < rec_lanes(); lane++)
		rec_lane_resize(lane, ring_bytes(pages + 1, size));
	go_to(side, pages, size);
	open_view(side);
	side->handle->capacity = capacity / 4;
	rec_gate_open(side->handle);
	must(lane_reset(side), "clearing the lane's counters");
	commit = side->handle->lane->commit;
	return side->handle->subbufs[REC_POS_ID(commit)].first + REC_POS_COUNT(commit);
}

bool lane_write(struct lane_side *side, uint64_t number, uint32_t size)
{
	struct rec_slot slot;
	unsigned char *payload = rec_reserve(side->handle, size, &slot);

	if (!payload)
		return false;
	memset(payload, 0, SIDE_COMMON);
	side_fill(payload, number, size);
	rec_commit(&slot);
	return true;
}

static void see_page(const struct lane_side *side, const struct rec_page *page, struct batch *batch)
{
	side_walk(batch, page->data, page->size, page->from);
	batch->bytes = page->size - (page->from ? page->from : side->lead);
	batch->lost = page->lost;
	batch->first = page->first;
	batch->lost_time = page->lost_time;
	if (batch->nr != page->entries)
		batch->is_damaged = true;
}

/* A page that was handed over counts as read only at the next call, or here. */
static void read_is_done(struct lane_side *side)
{
	struct view_lane *lane = NULL;

	must(rec_view_lane(side->view, side->lane, &lane), "the lane's reader");
	rec_ring_read_done(&lane->ring);
}

int lane_read(struct lane_side *side, struct batch *ret_batch)
{
	struct rec_page page;
	const int r = rec_view_read(side->view, side->lane, 0, &page);

	must(r, "reading the lane");
	if (r == 0)
		return -1;
	see_page(side, &page, ret_batch);
	read_is_done(side);
	return 1;
}

int lane_copy(struct lane_side *side, uint32_t room, struct batch *ret_batch)
{
	struct rec_page page;
	const int r = rec_view_read_page(side->view, side->lane, 0, side->page, REC_SUBBUF_HEADER_SIZE + room, &page);

	if (r == -EMSGSIZE)
		return 0;
	must(r, "copying a page of the lane");
	if (r == 0)
		return -1;
	see_page(side, &page, ret_batch);
	ret_batch->bytes = rec_page_size(side->page);
	ret_batch->lost = rec_page_lost(side->page, room);
	/* The caller gets a number even if the copy has no room for it. */
	if (ret_batch->bytes != page.size || (ret_batch->lost != page.lost && ret_batch->lost != REC_LOST_UNKNOWN))
		ret_batch->is_damaged = true;
	return 1;
}

int lane_consume(struct lane_side *side, struct batch *ret_batch)
{
	struct rec_view_event seen, event;
	int r = rec_view_peek(side->view, side->lane, &seen);

	must(r, "peeking into the lane");
	if (r > 0)
		r = rec_view_consume(side->view, side->lane, &event);
	must(r, "consuming an event of the lane");
	if (r == 0)
		return -1;
	ret_batch->nr = 1;
	ret_batch->bytes = 0;
	ret_batch->first = event.number;
	ret_batch->lost = event.lost;
	ret_batch->lost_time = event.lost_time;
	ret_batch->event[0].time = event.record.time;
	ret_batch->event[0].size = event.record.size;
	ret_batch->is_damaged =
		!side_is_intact(event.record.payload, event.record.size, &ret_batch->event[0].number) ||
		seen.number != event.number || seen.lost != event.lost || seen.record.payload != event.record.payload;
	return 1;
}

int lane_reset(struct lane_side *side)
{
	return rec_view_reset(side->view, side->lane);
}

void lane_set_overwrite(struct lane_side *side, bool on)
{
	side->handle->overwrite = on;
}

void lane_set_on(struct lane_side *side, bool on)
{
	must(on ? rec_lane_enable(side->lane) : rec_lane_disable(side->lane), "switching the lane on or off");
}

void lane_stats(struct lane_side *side, struct side_stats *ret_stats, struct lane_refusals *ret_refusals)
{
	struct rec_lane_stats stats;
	char text[512];

	must(rec_view_stats(side->view, side->lane, &stats), "the lane's statistics");
	must(rec_stats_text(&stats, text, sizeof(text)), "the text of the lane's statistics");
	side_must(side_parse_stats(text, ret_stats) == 0, "our eight lines of statistics");
	*ret_refusals = (struct lane_refusals){ .too_long = stats.too_long, .disabled = stats.disabled };
}
