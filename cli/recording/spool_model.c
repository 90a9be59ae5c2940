/* SPDX-License-Identifier: MIT */
/*
 * The contents of a spool, in memory. The process that writes a spool and the one that finds it use the same code:
 * both add each chunk by spool_note_chunk(). A file is not trusted: the memory that it makes us allocate is in
 * proportion to its size, except for a fixed amount.
 */
#include "cli/recording/spool.h"
#include "cli/recording/spool_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most anchors that are kept for a clock. If the number is reached, every second one is dropped, and from then on
 * half as many are taken.
 */
#define ANCHORS_MAX 4096u

/* A buffer has no more lanes than this (librecorder/view/reader.c), and no machine has as many CPUs. */
#define LANES_OF_PROCESS (1u << 16)

/*
 * The most lanes of all processes together, with 128 bytes for each. Lanes with a lower number than one in use count,
 * too; and each process counts as some lanes.
 */
#define LANES_MAX	  (1u << 20)
#define LANES_FOR_PROCESS 64u

static bool may_have_lanes(const struct spool *spool, const struct spool_entry *entry, unsigned int nr)
{
	return nr <= entry->nr_lanes || spool->nr_lanes + (nr - entry->nr_lanes) <=
						LANES_MAX + (uint64_t)LANES_FOR_PROCESS * spool->nr_entries;
}

void *spool_grow(void *bytes, size_t *room, size_t size)
{
	size_t more = *room ? *room : 64;
	void *moved;

	if (bytes && size <= *room)
		return bytes;
	while (more < size)
		more *= 2;
	moved = realloc(bytes, more);
	if (moved)
		*room = more;
	return moved;
}

static struct spool_lane *get_lane(struct spool *spool, struct spool_entry *entry, unsigned int lane)
{
	struct spool_lane *lanes;
	unsigned int nr;

	if (lane < entry->nr_lanes)
		return &entry->lanes[lane];
	nr = lane + 1 > entry->nr_lanes * 2 ? lane + 1 : entry->nr_lanes * 2;
	if (nr > LANES_OF_PROCESS || !may_have_lanes(spool, entry, nr))
		nr = lane + 1;
	lanes = realloc(entry->lanes, nr * sizeof(*lanes));
	if (!lanes)
		return NULL;
	memset(lanes + entry->nr_lanes, 0, (nr - entry->nr_lanes) * sizeof(*lanes));
	spool->nr_lanes += nr - entry->nr_lanes;
	entry->lanes = lanes;
	entry->nr_lanes = nr;
	return &lanes[lane];
}

static int note_process(struct spool *spool, const void *payload, size_t size)
{
	struct spool_entry *entries, *entry;

	/* The array doubles when the number is a power of two. */
	if (!(spool->nr_entries & (spool->nr_entries - 1))) {
		const size_t room = spool->nr_entries ? (size_t)spool->nr_entries * 2 : 1;

		entries = realloc(spool->entries, room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		spool->entries = entries;
	}
	entry = &spool->entries[spool->nr_entries];
	memset(entry, 0, sizeof(*entry));
	spool_get_process(payload, size, &entry->process);
	if (spool_is_kernel(entry) && entry->process.info.exe[0])
		entry->buffer = ++spool->nr_buffers;
	entry->subbuf_size = REC_SUBBUF_MIN;
	while (entry->subbuf_size < entry->process.info.subbuf_size && entry->subbuf_size < REC_SUBBUF_MAX)
		entry->subbuf_size *= 2;
	spool->nr_entries++;
	return 0;
}

static int note_log(struct spool_entry *entry, const void *payload, size_t size)
{
	unsigned char *log = spool_grow(entry->log, &entry->log_room, entry->log_size + size);

	if (!log)
		return -ENOMEM;
	entry->log = log;
	memcpy(log + entry->log_size, payload, size);
	entry->log_size += size;
	return 0;
}

static int note_page(struct spool *spool, struct spool_entry *entry, const struct spool_chunk *chunk, uint64_t offset)
{
	struct spool_lane *lane = get_lane(spool, entry, chunk->lane);

	if (!lane)
		return -ENOMEM;
	if (!lane->head)
		lane->head = offset;
	lane->tail = offset;
	lane->next_event = chunk->first + chunk->entries;
	lane->pages++;
	while (entry->subbuf_size < chunk->size && entry->subbuf_size < REC_SUBBUF_MAX)
		entry->subbuf_size *= 2;
	entry->events += chunk->entries;
	spool->events += chunk->entries;
	if (chunk->lost != REC_LOST_UNKNOWN)
		entry->lost += chunk->lost;
	return 0;
}

static int note_anchor(struct spool *spool, uint32_t clock, const void *payload, size_t size)
{
	struct spool_anchors *list = &spool->anchors[clock];
	struct rec_anchor *anchors;

	if (list->skip) {
		list->skip--;
		return 0;
	}
	if (list->nr == ANCHORS_MAX) {
		for (unsigned int i = 0; i < ANCHORS_MAX / 2; i++)
			list->anchors[i] = list->anchors[2 * i];
		list->nr = ANCHORS_MAX / 2;
		list->step *= 2;
	}
	if (!list->anchors) {
		anchors = malloc(ANCHORS_MAX * sizeof(*anchors));
		if (!anchors)
			return -ENOMEM;
		list->anchors = anchors;
		list->step = 1;
	}
	spool_get_anchor(payload, size, &list->anchors[list->nr++]);
	list->skip = list->step - 1;
	return 0;
}

/* Note a reading of the clocks: the first and the last one are kept. */
static void note_clocks(struct spool *spool, const void *payload, size_t size)
{
	struct clock_reading *readings = spool->clocks, reading;

	spool_get_clocks(payload, size, &reading);
	if (!spool->nr_clocks) {
		readings[spool->nr_clocks++] = reading;
	} else if (reading.mono > readings[spool->nr_clocks - 1].mono) {
		readings[1] = reading;
		spool->nr_clocks = 2;
	} else if (reading.mono < readings[0].mono) {
		if (spool->nr_clocks == 1)
			readings[1] = readings[0];
		readings[0] = reading;
		spool->nr_clocks = 2;
	}
}

static int note_rate(struct spool_entry *entry, uint16_t id, const void *payload, size_t size)
{
	struct spool_rate *rates;

	/* A buffer that is drained again states its counts again, which include the former ones. */
	for (unsigned int i = 0; i < entry->nr_rates; i++)
		if (entry->rates[i].id == id) {
			spool_get_rate(payload, size, &entry->rates[i].rate);
			return 0;
		}
	rates = spool_grow(entry->rates, &entry->rate_room, (entry->nr_rates + 1) * sizeof(*rates));
	if (!rates)
		return -ENOMEM;
	entry->rates = rates;
	rates[entry->nr_rates].id = id;
	spool_get_rate(payload, size, &rates[entry->nr_rates++].rate);
	return 0;
}

static bool has_valid_lane(const struct spool *spool, const struct spool_chunk *chunk)
{
	return chunk->lane < LANES_OF_PROCESS &&
	       may_have_lanes(spool, &spool->entries[chunk->process], chunk->lane + 1);
}

bool spool_chunk_valid(const struct spool *spool, const struct spool_chunk *chunk, uint64_t left)
{
	if (chunk->magic != SPOOL_CHUNK_MAGIC || !chunk->kind || chunk->size > left ||
	    chunk->size > SPOOL_PAYLOAD_MAX || chunk->size < spool_least_payload(chunk))
		return false;
	if (chunk->kind == SPOOL_PROCESS || chunk->kind == SPOOL_ANCHOR || chunk->kind == SPOOL_CLOCKS ||
	    !spool_is_known(chunk))
		return true;
	if (chunk->process >= spool->nr_entries)
		return false;
	switch (chunk->kind) {
	case SPOOL_PAGE:
		return has_valid_lane(spool, chunk) && chunk->from <= chunk->size - REC_SUBBUF_HEADER_SIZE;
	case SPOOL_LANE_END:
	case SPOOL_SIDE:
		return has_valid_lane(spool, chunk);
	case SPOOL_RATE:
		return chunk->lane <= UINT16_MAX;
	case SPOOL_TEXT:
		return chunk->lane;
	default:
		return true;
	}
}

int spool_note_chunk(struct spool *spool, const struct spool_chunk *chunk, const void *payload, uint64_t offset)
{
	struct spool_entry *entry = chunk->process < spool->nr_entries ? &spool->entries[chunk->process] : NULL;
	struct spool_lane *lane;

	if (!spool_is_known(chunk))
		return 0;
	switch (chunk->kind) {
	case SPOOL_PROCESS:
		return note_process(spool, payload, chunk->size);
	case SPOOL_LOG:
		return note_log(entry, payload, chunk->size);
	case SPOOL_PAGE:
		return note_page(spool, entry, chunk, offset);
	case SPOOL_LANE_END:
		lane = get_lane(spool, entry, chunk->lane);
		if (!lane)
			return -ENOMEM;
		spool_get_lane_end(payload, chunk->size, &lane->stats);
		lane->ended = true;
		return 0;
	case SPOOL_PROCESS_END:
		spool_get_process_end(payload, chunk->size, &entry->losses);
		entry->ended = true;
		return 0;
	case SPOOL_RATE:
		return note_rate(entry, (uint16_t)chunk->lane, payload, chunk->size);
	case SPOOL_SIDE:
		lane = get_lane(spool, entry, chunk->lane);
		if (!lane)
			return -ENOMEM;
		lane->side = true;
		return 0;
	case SPOOL_TEXT:
		return spool_note_text(entry, chunk, payload);
	case SPOOL_ANCHOR:
		return note_anchor(spool, chunk->lane, payload, chunk->size);
	case SPOOL_CLOCKS:
		note_clocks(spool, payload, chunk->size);
		return 0;
	default:
		return -EBADMSG;
	}
}

uint64_t spool_next_event(const struct spool *spool, unsigned int process, unsigned int lane)
{
	const struct spool_entry *entry = &spool->entries[process];

	return lane < entry->nr_lanes ? entry->lanes[lane].next_event : 0;
}

void spool_free_model(struct spool *spool)
{
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		free(spool->entries[i].log);
		free(spool->entries[i].lanes);
		free(spool->entries[i].rates);
		spool_free_texts(&spool->entries[i]);
	}
	free(spool->entries);
	for (unsigned int clock = 0; clock <= REC_CLOCK_MONO; clock++)
		free(spool->anchors[clock].anchors);
}
