/* SPDX-License-Identifier: MIT */
/*
 * The spool's file: appending, and finding out what is in a file that somebody else appended to. Both keep the same
 * model in memory through the same function, note_chunk(), so what a recovery sees is what the recording saw.
 */
#include "cli/spool.h"
#include "cli/read_at.h"
#include "cli/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(struct spool_head) == 8192, "the first chunk's offset");
_Static_assert(sizeof(struct spool_chunk) == 64, "the file's layout");

/* Anchors kept of a clock: at this number every second one is dropped, and half as many are kept from then on. */
#define ANCHORS_MAX 4096u

/* A log is written in pieces of this size at most; no chunk is larger than the largest page. */
#define LOG_PIECE   (256u * 1024u)
#define PAYLOAD_MAX (REC_SUBBUF_MAX + REC_SUBBUF_HEADER_SIZE)

/* More lanes than a process has threads make no sense; bounds the memory that a bad file can ask for. */
#define LANES_MAX (1u << 20)

static uint64_t rounded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

/* ------------------------------------------------------------------------------------------------------- the model */

static struct spool_lane *get_lane(struct spool_entry *entry, unsigned int lane)
{
	struct spool_lane *lanes;
	unsigned int nr;

	if (lane < entry->nr_lanes)
		return &entry->lanes[lane];
	nr = lane + 1 > entry->nr_lanes * 2 ? lane + 1 : entry->nr_lanes * 2;
	lanes = realloc(entry->lanes, nr * sizeof(*lanes));
	if (!lanes)
		return NULL;
	memset(lanes + entry->nr_lanes, 0, (nr - entry->nr_lanes) * sizeof(*lanes));
	entry->lanes = lanes;
	entry->nr_lanes = nr;
	return &lanes[lane];
}

static int note_process(struct spool *spool, const void *payload)
{
	struct spool_entry *entries, *entry;

	/* Doubled at powers of two. */
	if (!(spool->nr_entries & (spool->nr_entries - 1))) {
		const size_t room = spool->nr_entries ? (size_t)spool->nr_entries * 2 : 1;

		entries = realloc(spool->entries, room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		spool->entries = entries;
	}
	entry = &spool->entries[spool->nr_entries];
	memset(entry, 0, sizeof(*entry));
	memcpy(&entry->process, payload, sizeof(entry->process));
	entry->process.file[sizeof(entry->process.file) - 1] = '\0';
	entry->process.info.comm[sizeof(entry->process.info.comm) - 1] = '\0';
	entry->process.info.exe[sizeof(entry->process.info.exe) - 1] = '\0';
	entry->subbuf_size = REC_SUBBUF_MIN;
	while (entry->subbuf_size < entry->process.info.subbuf_size && entry->subbuf_size < REC_SUBBUF_MAX)
		entry->subbuf_size *= 2;
	spool->nr_entries++;
	return 0;
}

static int note_log(struct spool_entry *entry, const void *payload, size_t size)
{
	unsigned char *log = realloc(entry->log, entry->log_size + size);

	if (!log)
		return -ENOMEM;
	memcpy(log + entry->log_size, payload, size);
	entry->log = log;
	entry->log_size += size;
	return 0;
}

static int note_page(struct spool *spool, struct spool_entry *entry, const struct spool_chunk *chunk, uint64_t offset)
{
	struct spool_lane *lane = get_lane(entry, chunk->lane);

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

static int note_anchor(struct spool *spool, uint32_t clock, const void *payload)
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
	memcpy(&list->anchors[list->nr++], payload, sizeof(struct rec_anchor));
	list->skip = list->step - 1;
	return 0;
}

static int note_rate(struct spool_entry *entry, uint16_t id, const void *payload)
{
	struct spool_rate *rates = realloc(entry->rates, (entry->nr_rates + 1) * sizeof(*rates));

	if (!rates)
		return -ENOMEM;
	entry->rates = rates;
	rates[entry->nr_rates].id = id;
	memcpy(&rates[entry->nr_rates++].rate, payload, sizeof(rates->rate));
	return 0;
}

/* Whether a chunk can be what it says; `left` bytes of payload are in the file. */
static bool chunk_valid(const struct spool *spool, const struct spool_chunk *chunk, uint64_t left)
{
	if (chunk->magic != SPOOL_CHUNK_MAGIC || chunk->size > left || chunk->size > PAYLOAD_MAX)
		return false;
	if (chunk->kind == SPOOL_ANCHOR)
		return chunk->size == sizeof(struct rec_anchor) && chunk->lane <= REC_CLOCK_MONO;
	if (chunk->kind == SPOOL_PROCESS)
		return chunk->size == sizeof(struct spool_process);
	if (chunk->process >= spool->nr_entries || chunk->lane >= LANES_MAX)
		return false;
	switch (chunk->kind) {
	case SPOOL_LOG:
		return true;
	case SPOOL_PAGE:
		return chunk->size >= REC_SUBBUF_HEADER_SIZE && chunk->from <= chunk->size - REC_SUBBUF_HEADER_SIZE;
	case SPOOL_LANE_END:
		return chunk->size == sizeof(struct rec_lane_stats);
	case SPOOL_PROCESS_END:
		return chunk->size == sizeof(struct rec_view_losses);
	case SPOOL_RATE:
		return chunk->size == sizeof(struct rec_view_rate) && chunk->lane <= UINT16_MAX;
	case SPOOL_SIDE:
		return chunk->size == 0;
	case SPOOL_TEXT:
		return chunk->size && chunk->lane && chunk->lane < SPOOL_TEXTS;
	default:
		return false;
	}
}

/* Take a valid chunk that stands at `offset` into the model. A page's payload is not looked at and may be NULL. */
static int note_chunk(struct spool *spool, const struct spool_chunk *chunk, const void *payload, uint64_t offset)
{
	struct spool_entry *entry = spool->entries ? &spool->entries[chunk->process] : NULL;
	struct spool_lane *lane;

	switch (chunk->kind) {
	case SPOOL_PROCESS:
		return note_process(spool, payload);
	case SPOOL_LOG:
		return note_log(entry, payload, chunk->size);
	case SPOOL_PAGE:
		return note_page(spool, entry, chunk, offset);
	case SPOOL_LANE_END:
		lane = get_lane(entry, chunk->lane);
		if (!lane)
			return -ENOMEM;
		memcpy(&lane->stats, payload, sizeof(lane->stats));
		lane->ended = true;
		return 0;
	case SPOOL_PROCESS_END:
		memcpy(&entry->losses, payload, sizeof(entry->losses));
		entry->ended = true;
		return 0;
	case SPOOL_RATE:
		return note_rate(entry, (uint16_t)chunk->lane, payload);
	case SPOOL_SIDE:
		lane = get_lane(entry, chunk->lane);
		if (!lane)
			return -ENOMEM;
		lane->side = true;
		return 0;
	case SPOOL_TEXT:
		return spool_note_text(entry, chunk, payload);
	case SPOOL_ANCHOR:
		return note_anchor(spool, chunk->lane, payload);
	default:
		return -EBADMSG;
	}
}

/* ----------------------------------------------------------------------------------------------------- appending */

/* All of it or an error; a piece that was written before the error lies behind `end` and is nobody's. */
static int write_all(int fd, struct iovec *iov, int nr, uint64_t offset)
{
	while (nr) {
		ssize_t done = pwritev(fd, iov, nr, (off_t)offset);

		if (done < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (!done)
			return -ENOSPC;
		offset += (uint64_t)done;
		while (nr && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			nr--;
		}
		if (nr) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* The link from the lane's page at `from` to the one at `to`, which is in the file. */
static int write_link(struct spool *spool, uint64_t from, uint64_t to)
{
	struct iovec iov = { &to, sizeof(to) };

	return write_all(spool->fd, &iov, 1, from + offsetof(struct spool_chunk, next));
}

int spool_append_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload)
{
	static const unsigned char zeros[8];
	struct iovec iov[3];
	const uint64_t offset = spool->end;
	uint64_t before = 0;
	int err;

	chunk->magic = SPOOL_CHUNK_MAGIC;
	iov[0] = (struct iovec){ chunk, sizeof(*chunk) };
	iov[1] = (struct iovec){ (void *)(uintptr_t)payload, chunk->size };
	iov[2] = (struct iovec){ (void *)(uintptr_t)zeros, (size_t)(rounded(chunk->size) - chunk->size) };
	err = write_all(spool->fd, iov, 3, offset);
	if (err)
		return err;
	if (chunk->kind == SPOOL_PAGE && chunk->lane < spool->entries[chunk->process].nr_lanes)
		before = spool->entries[chunk->process].lanes[chunk->lane].tail;
	/* A recorder killed between the two leaves one page without a link to it, which spool_open() finds. */
	if (before) {
		err = write_link(spool, before, offset);
		if (err)
			return err;
	}
	err = note_chunk(spool, chunk, payload, offset);
	if (err)
		return err;
	spool->end = offset + sizeof(*chunk) + rounded(chunk->size);
	return 0;
}

int spool_add_process(struct spool *spool, const struct spool_process *process)
{
	struct spool_chunk chunk = { .kind = SPOOL_PROCESS, .size = sizeof(*process) };
	int err = spool_append_chunk(spool, &chunk, process);

	return err ? err : (int)spool->nr_entries - 1;
}

int spool_add_log(struct spool *spool, unsigned int process, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	int err = 0;

	while (size && !err) {
		const uint32_t piece = size < LOG_PIECE ? (uint32_t)size : LOG_PIECE;
		struct spool_chunk chunk = { .kind = SPOOL_LOG, .process = process, .size = piece };

		err = spool_append_chunk(spool, &chunk, at);
		at += piece;
		size -= piece;
	}
	return err;
}

int spool_add_page(struct spool *spool, unsigned int process, unsigned int lane, const struct rec_page *page)
{
	struct spool_chunk chunk = {
		.kind = SPOOL_PAGE,
		.process = process,
		.lane = lane,
		.size = page->size + REC_SUBBUF_HEADER_SIZE,
		.from = page->from,
		.entries = page->entries,
		.first = page->first,
		.lost = page->lost,
	};

	return spool_append_chunk(spool, &chunk, page->data);
}

int spool_add_lane_end(struct spool *spool, unsigned int process, unsigned int lane,
		       const struct rec_lane_stats *stats)
{
	struct spool_chunk chunk = {
		.kind = SPOOL_LANE_END, .process = process, .lane = lane, .size = sizeof(*stats)
	};

	return spool_append_chunk(spool, &chunk, stats);
}

int spool_add_process_end(struct spool *spool, unsigned int process, const struct rec_view_losses *losses)
{
	struct spool_chunk chunk = { .kind = SPOOL_PROCESS_END, .process = process, .size = sizeof(*losses) };

	return spool_append_chunk(spool, &chunk, losses);
}

int spool_add_rate(struct spool *spool, unsigned int process, uint16_t id, const struct rec_view_rate *rate)
{
	struct spool_chunk chunk = { .kind = SPOOL_RATE, .process = process, .lane = id, .size = sizeof(*rate) };

	return spool_append_chunk(spool, &chunk, rate);
}

int spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor)
{
	struct spool_chunk chunk = { .kind = SPOOL_ANCHOR, .lane = clock, .size = sizeof(*anchor) };

	return spool_append_chunk(spool, &chunk, anchor);
}

/* The other spool's chunk at `offset`; its processes come behind ours, of which there were `base`. */
static int append_chunk(struct spool *spool, const struct spool *other, uint64_t offset, unsigned int base,
			unsigned char *payload, uint32_t *ret_size)
{
	struct spool_chunk chunk;
	int err = read_exactly(other->fd, &chunk, sizeof(chunk), offset);

	if (!err && !chunk_valid(other, &chunk, other->end - offset - sizeof(chunk)))
		err = -EBADMSG;
	if (!err)
		err = read_exactly(other->fd, payload, chunk.size, offset + sizeof(chunk));
	if (err)
		return err;
	if (chunk.kind != SPOOL_PROCESS && chunk.kind != SPOOL_ANCHOR)
		chunk.process += base;
	chunk.next = 0;
	*ret_size = chunk.size;
	return spool_append_chunk(spool, &chunk, payload);
}

int spool_append(struct spool *spool, const struct spool *other)
{
	const unsigned int base = spool->nr_entries;
	const uint64_t begin = spool->end;
	uint64_t offset = sizeof(struct spool_head);
	unsigned char *payload = malloc(PAYLOAD_MAX);
	int err = payload ? 0 : -ENOMEM;
	uint32_t size = 0;

	while (!err && offset < other->end) {
		err = append_chunk(spool, other, offset, base, payload, &size);
		offset += sizeof(struct spool_chunk) + rounded(size);
	}
	free(payload);
	if (err && ftruncate(spool->fd, (off_t)begin) < 0)
		return -errno;
	return err;
}

uint64_t spool_next_event(const struct spool *spool, unsigned int process, unsigned int lane)
{
	const struct spool_entry *entry = &spool->entries[process];

	return lane < entry->nr_lanes ? entry->lanes[lane].next_event : 0;
}

/* ------------------------------------------------------------------------------------------- opening and closing */

static struct spool *new_spool(const char *path)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return NULL;
	spool->fd = -1;
	spool->path = strdup(path);
	if (!spool->path) {
		free(spool);
		return NULL;
	}
	return spool;
}

struct spool *spool_close(struct spool *spool)
{
	if (!spool)
		return NULL;
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		free(spool->entries[i].log);
		free(spool->entries[i].lanes);
		free(spool->entries[i].rates);
		spool_free_texts(&spool->entries[i]);
	}
	free(spool->entries);
	for (unsigned int clock = 0; clock <= REC_CLOCK_MONO; clock++)
		free(spool->anchors[clock].anchors);
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->path);
	free(spool);
	return NULL;
}

int spool_create(const char *path, const struct spool_head *head, struct spool **ret_spool)
{
	struct spool *spool = new_spool(path);
	struct iovec iov;
	int err;

	if (!spool)
		return -ENOMEM;
	spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (spool->fd < 0) {
		err = -errno;
		goto close_spool;
	}
	/* Nobody else has seen the file; a file system without locks only loses the message that another recorder is on. */
	flock(spool->fd, LOCK_EX | LOCK_NB);
	spool->head = *head;
	spool->head.magic = SPOOL_MAGIC;
	spool->head.version = SPOOL_VERSION;
	spool->head.recorder = (uint32_t)getpid();
	iov = (struct iovec){ &spool->head, sizeof(spool->head) };
	err = write_all(spool->fd, &iov, 1, 0);
	if (err) {
		unlink(path);
		goto close_spool;
	}
	spool->end = sizeof(spool->head);
	*ret_spool = spool;
	return 0;

close_spool:
	spool_close(spool);
	return err;
}

/* Take the chunk at spool->end into the model and mend the link to it. 1; 0: there is no whole valid chunk; -errno. */
static int scan_chunk(struct spool *spool, uint64_t file_size, unsigned char *payload)
{
	const uint64_t offset = spool->end;
	struct spool_chunk chunk, before;
	const struct spool_entry *entry;
	uint64_t tail = 0;
	ssize_t got;
	int err;

	got = read_at(spool->fd, &chunk, sizeof(chunk), offset);
	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof(chunk) || !chunk_valid(spool, &chunk, file_size - offset - sizeof(chunk)))
		return 0;
	if (chunk.kind == SPOOL_PAGE) {
		entry = &spool->entries[chunk.process];
		if (chunk.lane < entry->nr_lanes)
			tail = entry->lanes[chunk.lane].tail;
	} else {
		got = read_at(spool->fd, payload, chunk.size, offset + sizeof(chunk));
		if (got < 0)
			return (int)got;
		if ((size_t)got < chunk.size)
			return 0;
	}
	if (tail) {
		got = read_at(spool->fd, &before, sizeof(before), tail);
		if (got < 0)
			return (int)got;
		if ((size_t)got < sizeof(before))
			return -EBADMSG;
		if (before.next != offset) {
			err = write_link(spool, tail, offset);
			if (err)
				return err;
		}
	}
	err = note_chunk(spool, &chunk, payload, offset);
	if (err)
		return err;
	spool->end = offset + sizeof(chunk) + rounded(chunk.size);
	return 1;
}

/* Read the head and all whole chunks. A link that leads behind the end is never followed: see spool_source.c. */
static int scan(struct spool *spool)
{
	unsigned char *payload = NULL;
	struct stat st;
	ssize_t got;
	int err;

	got = read_at(spool->fd, &spool->head, sizeof(spool->head), 0);
	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof(spool->head) || spool->head.magic != SPOOL_MAGIC)
		return -EBADMSG;
	if (spool->head.version != SPOOL_VERSION)
		return -EPROTO;
	spool->head.session[sizeof(spool->head.session) - 1] = '\0';
	spool->head.command[sizeof(spool->head.command) - 1] = '\0';
	if (fstat(spool->fd, &st) < 0)
		return -errno;
	payload = malloc(PAYLOAD_MAX);
	if (!payload)
		return -ENOMEM;
	spool->end = sizeof(spool->head);
	do
		err = spool->end + sizeof(struct spool_chunk) <= (uint64_t)st.st_size ?
			      scan_chunk(spool, (uint64_t)st.st_size, payload) :
			      0;
	while (err > 0);
	if (!err && (uint64_t)st.st_size > spool->end)
		spool->cut = (uint64_t)st.st_size - spool->end;
	free(payload);
	return err;
}

int spool_open(const char *path, struct spool **ret_spool)
{
	struct spool *spool = new_spool(path);
	int err = 0;

	if (!spool)
		return -ENOMEM;
	spool->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (spool->fd < 0)
		err = -errno;
	else if (flock(spool->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		err = -EBUSY;
	else
		err = scan(spool);
	if (err)
		spool_close(spool);
	else
		*ret_spool = spool;
	return err;
}
