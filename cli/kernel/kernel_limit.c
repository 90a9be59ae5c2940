/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_limit.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel_ring.h"
#include "format/io/out_file.h"
#include "format/io/read_at.h"

static int write_head(const struct kernel_ring *ring)
{
	return out_write_at(ring->side, &ring->head, sizeof(ring->head), 0);
}

int kernel_limit_begin(struct kernel_ring *ring, uint64_t kb)
{
	const uint64_t places = kb * 1024 / ring->page_size;

	ring->overwritten = calloc(1, ring->page_size);
	if (!ring->overwritten)
		return -ENOMEM;
	ring->head = (struct spool_side_head){ .magic = SPOOL_SIDE_MAGIC, .places = places ? places : 1 };
	/* The head takes the place of a page, so that pages stay aligned in the file. */
	ring->offset = ring->page_size;
	return write_head(ring);
}

static uint64_t end_of(const struct kernel_ring *ring)
{
	return (ring->head.places + 1) * ring->page_size;
}

uint64_t kernel_limit_run(const struct kernel_ring *ring, uint64_t bytes)
{
	/* If the recorder is killed while it overwrites pages, at least half of the places still have theirs. */
	const uint64_t half = ring->head.places > 1 ? ring->head.places / 2 * ring->page_size : ring->page_size;
	const uint64_t rest = end_of(ring) - ring->offset;
	const uint64_t most = half < rest ? half : rest;

	return !ring->head.places || bytes < most ? bytes : most;
}

/* The page at this offset is about to be overwritten: count its events, and those that it reports as lost before it. */
static int count_page(struct kernel_ring *ring, uint64_t offset)
{
	const uint32_t capacity = ring->page_size - REC_SUBBUF_HEADER_SIZE;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t lost;
	const int err = read_exactly(ring->side, ring->overwritten, ring->page_size, offset);

	if (err)
		return err;
	ring->head.first++;
	memcpy(&ring->head.time, ring->overwritten, sizeof(ring->head.time));
	if (rec_page_size(ring->overwritten) > capacity)
		return 0;
	rec_page_iter_init(&iter, ring->overwritten, rec_page_size(ring->overwritten));
	while (rec_page_next(&iter, &record) == 1)
		ring->head.events++;
	lost = rec_page_lost(ring->overwritten, capacity);
	ring->head.lost += lost != REC_LOST_UNKNOWN ? lost : 0;
	return 0;
}

int kernel_limit_make_room(struct kernel_ring *ring, uint64_t bytes)
{
	const uint64_t first = ring->head.first;
	int err = 0;

	if (!ring->head.places)
		return 0;
	for (uint64_t at = 0; at < bytes && !err; at += ring->page_size)
		if (ring->pages + at / ring->page_size >= ring->head.places)
			err = count_page(ring, ring->offset + at);
	return err || ring->head.first == first ? err : write_head(ring);
}

void kernel_limit_written(struct kernel_ring *ring, uint64_t bytes)
{
	if (!ring->head.places)
		return;
	ring->pages += bytes / ring->page_size;
	if (ring->offset == end_of(ring))
		ring->offset = ring->page_size;
}

void kernel_limit_back(struct kernel_ring *ring)
{
	if (!ring->head.places)
		return;
	ring->pages--;
	if (ring->offset == ring->page_size)
		ring->offset = end_of(ring);
}

int kernel_limit_end(struct kernel_ring *ring)
{
	if (!ring->head.places)
		return 0;
	ring->head.end = ring->pages;
	return write_head(ring);
}
