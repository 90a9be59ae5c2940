/* SPDX-License-Identifier: MIT */
/*
 * Appends to a spool: a chunk, then the link to it, then the model. Bytes past `end` after a failed write are ignored.
 */
#include "cli/recording/spool.h"
#include "cli/recording/spool_private.h"

#include <errno.h>
#include <librecorder/clock.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* A log is written in pieces of at most this size, each of which fits into a block of the stage. */
#define LOG_PIECE (128u * 1024u)

int spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset)
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

int spool_write_link(struct spool *spool, uint64_t from, uint64_t to)
{
	const uint64_t offset = from + offsetof(struct spool_chunk, next);
	struct iovec iov = { &to, sizeof(to) };

	return spool_set_rest(spool, &to, sizeof(to), offset) ? 0 : spool_write_at(spool->fd, &iov, 1, offset);
}

/*
 * Write directly into the file. The kernel copies the page, and fails if the page's file was truncated meanwhile.
 */
static int write_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload)
{
	static const unsigned char zeros[8];
	struct iovec iov[3];
	const uint64_t offset = spool->end;
	uint64_t before = 0;
	int err;

	iov[0] = (struct iovec){ chunk, sizeof(*chunk) };
	iov[1] = (struct iovec){ (void *)(uintptr_t)payload, chunk->size };
	iov[2] = (struct iovec){ (void *)(uintptr_t)zeros, (size_t)(spool_rounded(chunk->size) - chunk->size) };
	err = spool_write_at(spool->fd, iov, 3, offset);
	if (err)
		return err;
	if (chunk->kind == SPOOL_PAGE && chunk->lane < spool->entries[chunk->process].nr_lanes)
		before = spool->entries[chunk->process].lanes[chunk->lane].tail;
	/* If the recorder is killed between the two writes, one page has no link to it; spool_open() repairs that. */
	if (before) {
		err = spool_write_link(spool, before, offset);
		if (err)
			return err;
	}
	err = spool_note_chunk(spool, chunk, payload, offset);
	if (err)
		return err;
	spool->end = offset + sizeof(*chunk) + spool_rounded(chunk->size);
	return 0;
}

int spool_append_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload)
{
	chunk->magic = SPOOL_CHUNK_MAGIC;
	if (!spool_chunk_valid(spool, chunk, chunk->size) || !spool_is_known(chunk))
		return -EINVAL;
	return spool->stage ? spool_stage_chunk(spool, chunk, payload, NULL, NULL) : write_chunk(spool, chunk, payload);
}

int spool_add_process(struct spool *spool, const struct spool_process *process)
{
	struct spool_chunk chunk = { .kind = SPOOL_PROCESS, .size = sizeof(struct spool_disk_process) };
	struct spool_disk_process disk;
	int err;

	spool_put_process(process, &disk);
	err = spool_append_chunk(spool, &chunk, &disk);
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

int spool_add_page(struct spool *spool, unsigned int process, unsigned int lane, const struct rec_page *page,
		   bool (*stands)(void *arg), void *arg)
{
	struct spool_chunk chunk = spool_page_chunk(process, lane, page);

	if (!spool_chunk_valid(spool, &chunk, chunk.size))
		return -EINVAL;
	return spool->stage ? spool_stage_chunk(spool, &chunk, page->data, stands, arg) :
			      write_chunk(spool, &chunk, page->data);
}

int spool_add_lane_end(struct spool *spool, unsigned int process, unsigned int lane,
		       const struct rec_lane_stats *stats)
{
	struct spool_disk_lane_end disk;
	struct spool_chunk chunk = {
		.kind = SPOOL_LANE_END, .process = process, .lane = lane, .size = sizeof(disk)
	};

	spool_put_lane_end(stats, &disk);
	return spool_append_chunk(spool, &chunk, &disk);
}

int spool_add_process_end(struct spool *spool, unsigned int process, const struct rec_view_losses *losses)
{
	struct spool_disk_process_end disk;
	struct spool_chunk chunk = { .kind = SPOOL_PROCESS_END, .process = process, .size = sizeof(disk) };

	spool_put_process_end(losses, &disk);
	return spool_append_chunk(spool, &chunk, &disk);
}

int spool_add_rate(struct spool *spool, unsigned int process, uint16_t id, const struct rec_view_rate *rate)
{
	struct spool_disk_rate disk;
	struct spool_chunk chunk = { .kind = SPOOL_RATE, .process = process, .lane = id, .size = sizeof(disk) };

	spool_put_rate(rate, &disk);
	return spool_append_chunk(spool, &chunk, &disk);
}

int spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor)
{
	struct spool_disk_anchor disk;
	struct spool_chunk chunk = { .kind = SPOOL_ANCHOR, .lane = clock, .size = sizeof(disk) };

	spool_put_anchor(anchor, &disk);
	return spool_append_chunk(spool, &chunk, &disk);
}

int spool_add_clocks(struct spool *spool)
{
	const struct clock_reading reading = clock_reading_take();
	struct spool_disk_clocks disk;
	struct spool_chunk chunk = { .kind = SPOOL_CLOCKS, .size = sizeof(disk) };

	spool_put_clocks(&reading, &disk);
	return spool_append_chunk(spool, &chunk, &disk);
}

/*
 * Append the other spool's chunk at `offset`. Its process number is raised by `base`, the number of processes that our
 * spool had before. A chunk of an unknown kind may refer to anything, so it is left out.
 */
static int append_chunk(struct spool *spool, const struct spool *other, uint64_t offset, unsigned int base,
			unsigned char *payload, uint32_t *ret_size)
{
	struct spool_chunk chunk;
	int err = spool_read(other, &chunk, sizeof(chunk), offset);

	if (!err && !spool_chunk_valid(other, &chunk, other->end - offset - sizeof(chunk)))
		err = -EBADMSG;
	if (!err)
		err = spool_read(other, payload, chunk.size, offset + sizeof(chunk));
	if (err)
		return err;
	*ret_size = chunk.size;
	if (!spool_is_known(&chunk))
		return 0;
	if (chunk.kind != SPOOL_PROCESS && chunk.kind != SPOOL_ANCHOR && chunk.kind != SPOOL_CLOCKS)
		chunk.process += base;
	chunk.next = chunk.prev = 0;
	return spool_append_chunk(spool, &chunk, payload);
}

int spool_append(struct spool *spool, const struct spool *other)
{
	const unsigned int base = spool->nr_entries;
	const uint64_t begin = spool->end;
	uint64_t offset = sizeof(struct spool_head);
	unsigned char *payload = malloc(SPOOL_PAYLOAD_MAX);
	int err = payload ? 0 : -ENOMEM;
	uint32_t size = 0;

	while (!err && offset < other->end) {
		err = append_chunk(spool, other, offset, base, payload, &size);
		offset += sizeof(struct spool_chunk) + spool_rounded(size);
	}
	free(payload);
	if (!err && fdatasync(spool->fd) < 0)
		err = -errno;
	if (err) {
		spool->end = begin;
		return ftruncate(spool->fd, (off_t)begin) < 0 ? -errno : err;
	}
	spool->nr_found = spool->nr_entries;
	return 0;
}

int spool_copy(struct spool *spool, const struct spool *other)
{
	struct iovec iov = { &spool->head.done, sizeof(spool->head.done) };
	int err = spool_append(spool, other);

	if (err)
		return err;
	spool->head.done = 0;
	err = spool_write_at(spool->fd, &iov, 1, offsetof(struct spool_head, done));
	return !err && fdatasync(spool->fd) < 0 ? -errno : err;
}
