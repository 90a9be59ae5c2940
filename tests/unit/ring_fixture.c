/* SPDX-License-Identifier: MIT */
#include "ring_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void ring_set_clock(struct ring *ring, uint32_t clock)
{
	ring->handle.clock = clock;
	rec_gate_open(&ring->handle);
}

struct ring *ring_new(uint32_t pages, uint32_t subbuf_size, bool overwrite)
{
	const uint32_t n = pages + 1;
	const size_t head = sizeof(struct rec_lane) + sizeof(struct rec_lane_reader) +
			    n * (sizeof(struct rec_subbuf) + sizeof(struct rec_link));
	const size_t data = (head + 4095) / 4096 * 4096;
	struct ring *ring = calloc(1, sizeof(*ring));
	unsigned char *at =
		mmap(NULL, data + (size_t)n * subbuf_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	ring->memory = at;
	ring->size = data + (size_t)n * subbuf_size;
	ring->handle.lane = (struct rec_lane *)(void *)at;
	at += sizeof(struct rec_lane);
	ring->reader.words = (struct rec_lane_reader *)(void *)at;
	ring->handle.reader = ring->reader.words;
	at += sizeof(struct rec_lane_reader);
	ring->handle.links = (struct rec_link *)(void *)at;
	at += n * sizeof(struct rec_link);
	ring->handle.subbufs = (struct rec_subbuf *)(void *)at;
	ring->handle.data = (unsigned char *)ring->memory + data + REC_SUBBUF_HEADER_SIZE;
	ring->handle.cpu = &ring->cpu;
	ring->handle.shift = (uint32_t)__builtin_ctz(subbuf_size);
	ring->handle.capacity = (subbuf_size - REC_SUBBUF_HEADER_SIZE) / 4;
	ring_set_clock(ring, REC_CLOCK_MONO);
	ring->handle.overwrite = overwrite;
	ring->handle.nr_subbufs = n;
	rec_ring_init(&ring->handle);
	ring->reader.lane = ring->handle.lane;
	ring->reader.subbufs = ring->handle.subbufs;
	ring->reader.pages = (unsigned char *)ring->memory + data;
	ring->reader.links = ring->handle.links;
	ring->reader.nr_subbufs = n;
	ring->reader.subbuf_size = subbuf_size;
	if (rec_ring_reader_init(&ring->reader) < 0)
		abort();
	return ring;
}

void ring_free(struct ring *ring)
{
	munmap(ring->memory, ring->size);
	free(ring);
}

uint64_t ring_unreported(const struct ring *ring)
{
	struct rec_ring_counts counts;

	return rec_ring_count(&ring->reader, false, &counts) < 0 ? UINT64_MAX : counts.lost_unread;
}

static unsigned char byte_of(uint64_t number, uint32_t at)
{
	return (unsigned char)(number * 31 + at * 7 + 1);
}

void ring_fill(void *payload, uint64_t number, uint32_t size)
{
	unsigned char *to = payload;
	uint32_t i;

	memcpy(to, &number, sizeof(number));
	for (i = sizeof(number); i < size; i++)
		to[i] = byte_of(number, i);
}

bool ring_is_intact(const void *payload, uint32_t size, uint64_t *ret_number)
{
	const unsigned char *from = payload;
	uint64_t number;
	uint32_t i;

	if (size < sizeof(number))
		return false;
	memcpy(&number, from, sizeof(number));
	for (i = sizeof(number); i < size; i++)
		if (from[i] != byte_of(number, i))
			return false;
	*ret_number = number;
	return true;
}

bool ring_write(struct ring *ring, uint64_t number, uint32_t size)
{
	struct rec_slot slot;
	void *payload = rec_reserve(&ring->handle, size, &slot);

	if (!payload)
		return false;
	ring_fill(payload, number, size);
	rec_commit(&slot);
	return true;
}

void ring_place(struct ring_order *order, uint64_t number)
{
	if (order->placed == RING_ORDER_MAX)
		abort();
	order->numbers[order->placed++] = number;
}

void ring_take_back(struct ring_order *order, uint64_t number)
{
	unsigned int i = order->placed;

	while (order->numbers[--i] != number)
		;
	memmove(&order->numbers[i], &order->numbers[i + 1], (order->placed - i - 1) * sizeof(order->numbers[0]));
	order->placed--;
}

bool ring_meet(struct ring_order *order, uint64_t number)
{
	while (order->at < order->placed && order->numbers[order->at] != number)
		order->at++;
	return order->at++ < order->placed;
}
