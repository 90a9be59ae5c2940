/* SPDX-License-Identifier: MIT */
/*
 * A track is a list of pieces: slots of the scratch file, which its buffers fill one after the other, and ranges of
 * other files. Slots are allocated at the end of the scratch file; the unused part of a slot is a hole and costs
 * nothing.
 */
#include "format/io/page_store.h"
#include "format/io/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/page.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT	     ((uint64_t)1 << 20)
#define BUFFER_TOTAL ((uint64_t)16 << 20)
#define BUFFER_MAX   ((uint64_t)256 << 10)

struct store_piece {
	int fd; /* the scratch file: at most SLOT bytes */
	uint64_t offset;
	uint64_t size;
};

struct store_track {
	uint64_t written;  /* bytes in all pieces */
	uint32_t buffered; /* bytes in the buffer, which come after the pieces */
	unsigned char *buffer;
	struct store_piece *pieces;
	size_t nr_pieces;
	size_t max_pieces;
	size_t taken; /* number of pieces */
	uint64_t taken_bytes; /* offset of the next byte to copy; beyond the pieces, an offset in the buffer */
};

struct page_store {
	int fd;
	uint32_t page_size;
	uint32_t buffer_size; /* a power of two, at least a page */
	uint64_t end;	      /* end of the last slot */
	int straight;	      /* the file into which pages are written straight; -1: none */
	uint64_t straight_from, straight_end;
	unsigned int straight_track; /* the track whose buffer is being filled */
	struct store_track *tracks;
	unsigned int nr_tracks;
	unsigned int max_tracks;
};

REC_ABI_ASSERT(SLOT % REC_SUBBUF_MAX == 0 && SLOT % BUFFER_MAX == 0, "a buffer never crosses a slot");

int page_store_open(const char *near, uint32_t page_size, unsigned int tracks, struct page_store **ret_store)
{
	struct page_store *store = calloc(1, sizeof(*store));
	uint64_t buffer = BUFFER_MAX;
	int fd;

	if (!store)
		return -ENOMEM;
	while (buffer > page_size && buffer * tracks > BUFFER_TOTAL)
		buffer /= 2;
	store->buffer_size = buffer > page_size ? (uint32_t)buffer : page_size;
	store->page_size = page_size;
	fd = out_file_scratch(near);
	if (fd < 0) {
		free(store);
		return fd;
	}
	store->fd = fd;
	store->straight = -1;
	*ret_store = store;
	return 0;
}

struct page_store *page_store_close(struct page_store *store)
{
	unsigned int i;

	if (!store)
		return NULL;
	for (i = 0; i < store->nr_tracks; i++) {
		free(store->tracks[i].buffer);
		free(store->tracks[i].pieces);
	}
	free(store->tracks);
	close(store->fd);
	free(store);
	return NULL;
}

int page_store_add(struct page_store *store, unsigned int *ret_track)
{
	if (store->nr_tracks == store->max_tracks) {
		const unsigned int max = store->max_tracks ? store->max_tracks * 2 : 16;
		struct store_track *tracks = realloc(store->tracks, max * sizeof(*tracks));

		if (!tracks)
			return -ENOMEM;
		store->tracks = tracks;
		store->max_tracks = max;
	}
	memset(&store->tracks[store->nr_tracks], 0, sizeof(*store->tracks));
	*ret_track = store->nr_tracks++;
	return 0;
}

static int add_piece(struct store_track *track, struct store_piece piece)
{
	if (track->nr_pieces == track->max_pieces) {
		const size_t max = track->max_pieces ? track->max_pieces * 2 : 4;
		struct store_piece *pieces = realloc(track->pieces, max * sizeof(*pieces));

		if (!pieces)
			return -ENOMEM;
		track->pieces = pieces;
		track->max_pieces = max;
	}
	track->pieces[track->nr_pieces++] = piece;
	return 0;
}

static struct store_piece *last_piece(struct store_track *track)
{
	return track->nr_pieces ? &track->pieces[track->nr_pieces - 1] : NULL;
}

/* Append a range of a file to the track. */
static int add_range(struct store_track *track, int fd, uint64_t offset, uint64_t size)
{
	struct store_piece *piece = last_piece(track);
	int err = 0;

	if (piece && piece->fd == fd && piece->offset + piece->size == offset)
		piece->size += size;
	else
		err = add_piece(track, (struct store_piece){ fd, offset, size });
	if (!err)
		track->written += size;
	return err;
}

static int write_straight(struct page_store *store, struct store_track *track, const void *pages, uint32_t size)
{
	int err = out_write_at(store->straight, pages, size, store->straight_end);

	if (!err)
		err = add_range(track, store->straight, store->straight_end, size);
	if (!err)
		store->straight_end += size;
	return err;
}

/* Append pages to the track in the scratch file. */
static int write_pages(struct page_store *store, struct store_track *track, const void *pages, uint32_t size)
{
	struct store_piece *piece = last_piece(track);
	int err = 0;

	if (store->straight >= 0)
		return write_straight(store, track, pages, size);
	if (!piece || piece->fd != store->fd || piece->size + size > SLOT) {
		err = add_piece(track, (struct store_piece){ store->fd, store->end, 0 });
		if (err)
			return err;
		store->end += SLOT;
		piece = last_piece(track);
	}
	err = out_write_at(store->fd, pages, size, piece->offset + piece->size);
	if (!err) {
		piece->size += size;
		track->written += size;
	}
	return err;
}

/* Write the buffer. */
static int flush(struct page_store *store, struct store_track *track)
{
	const int err = track->buffered ? write_pages(store, track, track->buffer, track->buffered) : 0;

	if (!err)
		track->buffered = 0;
	return err;
}

/* End the track that was written directly into the file until now. */
static int end_straight(struct page_store *store)
{
	struct store_track *track = store->straight_track < store->nr_tracks ? &store->tracks[store->straight_track]
									     : NULL;
	int err;

	if (!track)
		return 0;
	err = flush(store, track);
	if (!err) {
		free(track->buffer);
		track->buffer = NULL;
	}
	return err;
}

void page_store_straight(struct page_store *store, int fd, uint64_t offset)
{
	store->straight = fd;
	store->straight_from = offset;
	store->straight_end = offset;
	store->straight_track = UINT_MAX;
}

int page_store_scratch(struct page_store *store)
{
	const int err = store->straight < 0 ? 0 : end_straight(store);

	store->straight = -1;
	return err;
}

int page_store_put(struct page_store *store, unsigned int number, const void *page)
{
	struct store_track *track = &store->tracks[number];
	int err;

	if (store->straight >= 0 && number != store->straight_track) {
		err = end_straight(store);
		if (err)
			return err;
		store->straight_track = number;
	}
	/* A buffer of one page would save no write. */
	if (store->buffer_size == store->page_size)
		return write_pages(store, track, page, store->page_size);
	if (!track->buffer) {
		track->buffer = malloc(store->buffer_size);
		if (!track->buffer)
			return -ENOMEM;
	}
	/*
	 * Write a full buffer only when the next page arrives: if the write fails, the size then does not include the
	 * page that was not stored.
	 */
	if (track->buffered == store->buffer_size) {
		err = flush(store, track);
		if (err)
			return err;
	}
	memcpy(track->buffer + track->buffered, page, store->page_size);
	track->buffered += store->page_size;
	return 0;
}

int page_store_put_range(struct page_store *store, unsigned int number, int fd, uint64_t offset, uint64_t size)
{
	struct store_track *track = &store->tracks[number];
	const int err = flush(store, track);

	return err ? err : add_range(track, fd, offset, size);
}

int page_store_move(struct page_store *store, int fd, uint64_t offset)
{
	const uint64_t by = offset - store->straight_from;
	uint64_t left = store->straight_end - store->straight_from;
	unsigned int i;
	size_t j;
	int err = 0;

	/* Begin at the end, so that each part is moved away before the next one needs its place. */
	while (left && !err) {
		const uint64_t size = left < BUFFER_MAX ? left : BUFFER_MAX;

		left -= size;
		err = out_copy(fd, store->straight_from + left, fd, offset + left, size);
	}
	for (i = 0; i < store->nr_tracks; i++)
		for (j = 0; j < store->tracks[i].nr_pieces; j++)
			if (store->tracks[i].pieces[j].fd == fd)
				store->tracks[i].pieces[j].offset += by;
	return err;
}

uint64_t page_store_size(const struct page_store *store, unsigned int number)
{
	return store->tracks[number].written + store->tracks[number].buffered;
}

/* If holes cannot be punched, the space stays in use until the end; nothing else depends on it. */
static void give_back(const struct page_store *store, const struct store_piece *piece)
{
	if (piece->fd == store->fd)
		(void)fallocate(store->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)piece->offset,
				(off_t)piece->size);
}

int page_store_take(struct page_store *store, unsigned int number, void *pages, uint32_t size, uint32_t *ret_size)
{
	struct store_track *track = &store->tracks[number];
	const struct store_piece *piece = track->taken < track->nr_pieces ? &track->pieces[track->taken] : NULL;
	const uint64_t left = (piece ? piece->size : track->buffered) - track->taken_bytes;
	int err = 0;

	if (size > left)
		size = (uint32_t)left;
	if (piece)
		err = out_read_at(piece->fd, pages, size, piece->offset + track->taken_bytes);
	else if (size)
		memcpy(pages, track->buffer + track->taken_bytes, size);
	if (err)
		return err;
	track->taken_bytes += size;
	if (piece && track->taken_bytes == piece->size) {
		give_back(store, piece);
		track->taken++;
		track->taken_bytes = 0;
	}
	*ret_size = size;
	return 0;
}

int page_store_copy(struct page_store *store, unsigned int number, int fd, uint64_t offset)
{
	struct store_track *track = &store->tracks[number];
	size_t i;
	int err;

	for (i = 0; i < track->nr_pieces; i++) {
		const struct store_piece *piece = &track->pieces[i];

		/* The track is in place already; -EINVAL if the tracks were written in another order. */
		if (piece->fd == fd)
			err = piece->offset == offset ? 0 : -EINVAL;
		else
			err = out_copy(piece->fd, piece->offset, fd, offset, piece->size);
		if (err)
			return err;
		give_back(store, piece);
		offset += piece->size;
	}
	/* Pages that never left the buffer need not go through the scratch file. */
	return out_write_at(fd, track->buffer, track->buffered, offset);
}
