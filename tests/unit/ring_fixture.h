/* SPDX-License-Identifier: MIT */
/* A ring in memory that forked children share; the test sets its CPU number. */
#ifndef RING_FIXTURE_H
#define RING_FIXTURE_H

#include "librecorder/ring/ring_private.h"

#include <stdbool.h>

struct ring {
	struct rec_handle handle;
	struct rec_ring_reader reader;
	uint32_t cpu;
	void *memory;
	size_t size;
};

/* `pages` in the ring; one more is the reader page. The clock is CLOCK_MONOTONIC. */
struct ring *ring_new(uint32_t pages, uint32_t subbuf_size, bool overwrite);

void ring_set_clock(struct ring *ring, uint32_t clock);

void ring_free(struct ring *ring);

/* Losses that no page has reported. */
uint64_t ring_unreported(const struct ring *ring);

/* An event of `size` bytes (8 at least): its number, then bytes made from it. */
bool ring_write(struct ring *ring, uint64_t number, uint32_t size);
void ring_fill(void *payload, uint64_t number, uint32_t size);
bool ring_is_intact(const void *payload, uint32_t size, uint64_t *ret_number);

/*
 * The events of a ring in the order of their positions, without those that were taken back; and the position of a
 * reader, which may miss some but finds none twice.
 */
#define RING_ORDER_MAX 6000

struct ring_order {
	uint64_t numbers[RING_ORDER_MAX];
	unsigned int placed, at;
};

void ring_place(struct ring_order *order, uint64_t number);
void ring_take_back(struct ring_order *order, uint64_t number);

/* Note an event that the reader found; false: it is out of order, was found before, or was never placed. */
bool ring_meet(struct ring_order *order, uint64_t number);

#endif
