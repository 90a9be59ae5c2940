/* SPDX-License-Identifier: MIT */
/*
 * Draining one ring: wait until it is half full or some time has passed, take the whole sub-buffers, in one of three
 * ways, and append them to the side file. At the end the rest, in a sub-buffer that is not full, is read.
 *
 * splice moves sub-buffers into a pipe and from there into the file: only whole ones leave the ring. If the file does
 * not accept all of it, the rest is written from the pipe, so nothing is lost when another way is chosen. read returns
 * a sub-buffer that is still being written to as a page of its own, with its own time, and later events as another.
 * The mapped ring returns such a sub-buffer again when it has more: its page is written again, in its place.
 */
#include "cli/kernel/kernel_ring.h"
#include "librecorder/core/stats_text.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/map.h>
#include <librecorder/page.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/now.h"
#include "cli/kernel/kernel_limit.h"
#include "cli/base/read_text.h"
#include "format/io/out_file.h"
#include "format/io/read_at.h"

/*
 * How often whole sub-buffers of a ring that fills slowly are taken: a recorder that is killed loses no more than
 * this.
 */
#define WAIT_US 250000u

/*
 * If poll() ignores the fill level (before Linux 5.1, or with -s 0), it returns for each event: then wait at least
 * this long.
 */
#define PAUSE_US 5000u

/* How often, at the end, a ring is tried again for which the kernel has no memory, and the pause between: a second. */
#define MEMORY_TRIES   100u
#define MEMORY_WAIT_NS 10000000

static void count(struct kernel_ring *ring, uint64_t bytes)
{
	atomic_fetch_add_explicit(&ring->bytes, bytes, memory_order_relaxed);
}

/* Note that an error came from the ring itself; all other errors come from the side file. */
static ssize_t ring_failed(struct kernel_ring *ring, int err)
{
	ring->ring_failed = true;
	return err;
}

/*
 * Whether to try at once what failed. To return a sub-buffer, the kernel allocates another one. If there is no memory
 * for it, nothing is lost, and the next turn tries again; at the end there is no other turn.
 */
static bool try_again(struct kernel_ring *ring)
{
	if (errno != ENOMEM || !ring->rest || ring->memory_tries == MEMORY_TRIES)
		return errno == EINTR;
	ring->memory_tries++;
	nanosleep(&(struct timespec){ .tv_nsec = MEMORY_WAIT_NS }, NULL);
	return true;
}

/* The ring returned no data, but an error. */
static ssize_t nothing_taken(struct kernel_ring *ring, int err)
{
	return err == -EAGAIN || (err == -ENOMEM && !ring->rest) ? 0 : ring_failed(ring, err);
}

/* Count the events of a page that the side file did not accept. */
static void count_unsaved(struct kernel_ring *ring)
{
	const uint32_t size = rec_page_size(ring->page);
	struct rec_page_iter iter;
	struct rec_record record;

	if (size > ring->page_size - REC_SUBBUF_HEADER_SIZE)
		return;
	rec_page_iter_init(&iter, ring->page, size);
	while (rec_page_next(&iter, &record) == 1)
		ring->unsaved++;
}

/* ------------------------------------------------------------------------------------------------- the three ways */

/*
 * Each way returns the number of bytes that it took; 0: there were no bytes that it can take; -errno of the ring or the
 * side file.
 */
static ssize_t take_read(struct kernel_ring *ring)
{
	ssize_t n;
	int err;

	do {
		n = read(ring->raw, ring->page, ring->page_size);
	} while (n < 0 && try_again(ring));
	/* ENODEV: a CPU that is offline has no ring. */
	if (n < 0 && errno != ENODEV)
		return nothing_taken(ring, -errno);
	if (n <= 0)
		return 0;
	/* A page that was read may be short: clear the bytes after its data. */
	memset(ring->page + n, 0, ring->page_size - (size_t)n);
	err = kernel_limit_make_room(ring, ring->page_size);
	if (!err)
		err = out_write_at(ring->side, ring->page, ring->page_size, ring->offset);
	if (err) {
		count_unsaved(ring);
		return err;
	}
	ring->offset += ring->page_size;
	kernel_limit_written(ring, ring->page_size);
	count(ring, ring->page_size);
	return REC_SUBBUF_HEADER_SIZE + (ssize_t)rec_page_size(ring->page);
}

/*
 * Read from the pipe until ring->page is full; `have` bytes are there already. Returns the number of bytes, or -errno.
 */
static ssize_t read_pipe(struct kernel_ring *ring, size_t have, size_t left)
{
	const size_t room = ring->page_size - have;
	ssize_t n;

	do {
		n = read(ring->pipe[0], ring->page + have, left < room ? left : room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? n : -EIO;
}

/* Count the events in the pipe, which the file did not accept. It may have accepted a part of the first page. */
static void count_pipe(struct kernel_ring *ring, size_t left)
{
	size_t have = ring->offset % ring->page_size;
	ssize_t n = read_exactly(ring->side, ring->page, have, ring->offset - have);

	while (n >= 0 && left) {
		n = read_pipe(ring, have, left);
		if (n < 0)
			break;
		left -= (size_t)n;
		have = (have + (size_t)n) % ring->page_size;
		if (!have)
			count_unsaved(ring);
	}
}

/* Fallback for files that splice(2) refuses. Returns the bytes left in the pipe; *ret_err is the write error. */
static size_t empty_pipe(struct kernel_ring *ring, size_t left, int *ret_err)
{
	while (left && !*ret_err) {
		const ssize_t n = read_pipe(ring, 0, left);

		*ret_err = n < 0 ? (int)n : out_write_at(ring->side, ring->page, (size_t)n, ring->offset);
		if (n < 0)
			break;
		left -= (size_t)n;
		if (!*ret_err)
			ring->offset += (uint64_t)n;
		else
			count_unsaved(ring);
	}
	return left;
}

/* Move bytes from the pipe to the file. Returns the bytes left in the pipe; *ret_err is the write error. */
static size_t fill_file(struct kernel_ring *ring, size_t left, int *ret_err)
{
	loff_t offset = (loff_t)ring->offset;

	while (left) {
		const ssize_t n = splice(ring->pipe[0], NULL, ring->side, &offset, left, SPLICE_F_MOVE);

		ring->offset = (uint64_t)offset;
		if (n > 0) {
			left -= (size_t)n;
		} else if (n < 0 && errno == EINVAL) {
			ring->way = KERNEL_DRAIN_READ;
			return empty_pipe(ring, left, ret_err);
		} else if (!n || errno != EINTR) {
			*ret_err = n ? -errno : -ENOSPC;
			break;
		}
	}
	return left;
}

static ssize_t take_splice(struct kernel_ring *ring)
{
	ssize_t taken;
	size_t left;
	int err = 0;

	do {
		taken = splice(ring->raw, NULL, ring->pipe[1], NULL, kernel_limit_run(ring, ring->pipe_size),
			       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	} while (taken < 0 && try_again(ring));
	if (taken < 0 && errno == EINVAL) {
		ring->way = KERNEL_DRAIN_READ;
		return take_read(ring);
	}
	if (taken < 0)
		return nothing_taken(ring, -errno);
	if (!taken)
		return 0;
	left = (size_t)taken;
	err = kernel_limit_make_room(ring, left);
	if (!err)
		left = fill_file(ring, left, &err);
	kernel_limit_written(ring, (uint64_t)taken - left);
	count(ring, (uint64_t)taken - left);
	if (err)
		count_pipe(ring, left);
	return err ? err : taken;
}

/*
 * Put the part of a page that was read. Its header gets the size of this part, without data added meanwhile. If the
 * page is written again, the data are written before the header, so the page is valid wherever the write ends.
 */
static ssize_t take_mapped(struct kernel_ring *ring)
{
	struct rec_page page;
	uint64_t head[2];
	const int got = rec_map_get_reader(ring->map, &page);
	const unsigned char *data = page.data;
	int err = 0;

	if (got != 1)
		return got < 0 ? ring_failed(ring, got) : 0;
	memcpy(head, data, sizeof(head));
	head[1] = (head[1] & (REC_COMMIT_LOST | REC_COMMIT_LOST_STORED)) | page.size;
	if (page.from) {
		kernel_limit_back(ring);
		ring->offset -= ring->page_size;
	} else {
		err = kernel_limit_make_room(ring, ring->page_size);
		count(ring, ring->page_size);
	}
	memcpy(ring->page, head, sizeof(head));
	memcpy(ring->page + sizeof(head), data + sizeof(head), ring->page_size - sizeof(head));
	if (page.from && !err)
		err = out_write_at(ring->side, ring->page + sizeof(head), ring->page_size - sizeof(head),
			       ring->offset + sizeof(head));
	if (!err)
		err = out_write_at(ring->side, ring->page, page.from ? sizeof(head) : ring->page_size, ring->offset);
	ring->offset += ring->page_size;
	kernel_limit_written(ring, ring->page_size);
	if (err)
		ring->unsaved += page.entries;
	return err ? err : REC_SUBBUF_HEADER_SIZE + (ssize_t)(page.size - page.from);
}

static ssize_t take(struct kernel_ring *ring)
{
	if (ring->way == KERNEL_DRAIN_MMAP)
		return take_mapped(ring);
	return ring->way == KERNEL_DRAIN_READ ? take_read(ring) : take_splice(ring);
}

/* ----------------------------------------------------------------------------------------------------- the thread */

static void wait_for(struct pollfd *fds, nfds_t nr, uint64_t us)
{
	const struct timespec timeout = { (time_t)(us / 1000000u), (long)(us % 1000000u) * 1000 };

	ppoll(fds, nr, &timeout, NULL);
}

/* Wait until data arrive, or for some time, or until the end. Returns whether the ring is half full. */
static bool wait_for_pages(const struct kernel_ring *ring, int found)
{
	struct pollfd fds[2] = { { .fd = ring->stop, .events = POLLIN }, { .fd = ring->raw, .events = POLLIN } };
	const uint64_t wait = ring->wait_us ? ring->wait_us : WAIT_US;

	if (!found)
		wait_for(fds, 1, wait < PAUSE_US ? wait : PAUSE_US);
	wait_for(fds, 2, wait);
	/* A CPU that is offline, and may come online, has no ring to wait for. */
	if (fds[1].revents & POLLERR)
		wait_for(fds, 1, wait);
	return fds[1].revents & POLLIN;
}

/*
 * The most pages that a ring can hold at the end: twice its size, because it may be enlarged at the moment, the
 * reader's page, and pages that are taken in parts. If there are more, tracing was switched on again, and each system
 * call of this thread may write another event.
 */
static uint64_t pages_max(const struct kernel_ring *ring)
{
	char text[32];

	if (read_text_at(ring->dir, "buffer_size_kb", text, sizeof(text)))
		return UINT64_MAX;
	return 2 * strtoull(text, NULL, 10) * 1024 / (ring->page_size - REC_SUBBUF_HEADER_SIZE) + 4;
}

/* Whether the ring may hold more, now that `n` bytes of it were taken at the end. */
static bool may_hold_more(struct kernel_ring *ring, ssize_t n)
{
	const uint64_t pages = (size_t)n > ring->page_size ? (size_t)n / ring->page_size : 1;

	ring->rest -= pages < ring->rest ? pages : ring->rest;
	return ring->rest;
}

/*
 * Takes the data that are there now, and does not follow the writer, which may be this thread if it is traced. Except
 * at the end, a result smaller than the request is the last one: the ring is empty, or this was the writer's own
 * sub-buffer. So the bytes show how full the ring was. Returns whether there were any, or the error of the side file.
 */
static int take_turn(struct kernel_ring *ring, bool fills, bool end)
{
	uint64_t bytes = 0;
	ssize_t n, full;

	atomic_store(&ring->busy_ms, now_ms());
	if (fills && ring->grower)
		kernel_grower_wake(ring->grower);
	do {
		full = (ssize_t)(ring->way == KERNEL_DRAIN_SPLICE ? kernel_limit_run(ring, ring->pipe_size)
								  : ring->page_size / 2);
		n = take(ring);
		bytes += n > 0 ? (uint64_t)n : 0;
	} while (end ? n > 0 && may_hold_more(ring, n) : n >= full);
	atomic_store_explicit(&ring->busy_ms, 0, memory_order_relaxed);
	if (bytes > atomic_load_explicit(&ring->turn, memory_order_relaxed))
		atomic_store_explicit(&ring->turn, bytes, memory_order_relaxed);
	return n < 0 ? (int)n : bytes > 0;
}

/* Take the rest that splice leaves: a sub-buffer that is not full. */
static int take_rest(struct kernel_ring *ring)
{
	ssize_t n;

	do {
		n = take_read(ring);
	} while (n > 0 && may_hold_more(ring, n));
	return (int)n;
}

void *kernel_ring_main(void *arg)
{
	struct kernel_ring *ring = arg;
	enum kernel_ring_end end;
	cpu_set_t cpus;
	bool fills;
	int found = 0;

	/*
	 * The thread runs on the CPU whose caches have the ring's pages. If that CPU goes offline, or a real-time
	 * thread occupies it (leave_cpu() of the drain), the thread moves to another.
	 */
	CPU_ZERO(&cpus);
	CPU_SET(ring->cpu, &cpus);
	if (ring->cpu < CPU_SETSIZE)
		pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	do {
		fills = wait_for_pages(ring, found);
		atomic_fetch_add_explicit(&ring->turns, 1, memory_order_relaxed);
		/* Read `end` before taking data, so that all data written before the request are taken. */
		end = atomic_load(&ring->end);
		ring->rest = end == KERNEL_RING_FINISH ? pages_max(ring) : 0;
		if (end != KERNEL_RING_LEAVE)
			found = take_turn(ring, fills, end == KERNEL_RING_FINISH);
	} while (found >= 0 && end == KERNEL_RING_GO_ON);
	if (found >= 0 && end == KERNEL_RING_FINISH && ring->way == KERNEL_DRAIN_SPLICE)
		found = take_rest(ring);
	if (found >= 0)
		found = kernel_limit_end(ring);
	atomic_store(&ring->err, found < 0 ? found : 0);
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- from the recorder */

/* Read the kernel's counts of the ring. */
static int read_stats(const struct kernel_ring *ring, char *text, size_t size)
{
	return read_text_at(ring->dir, "stats", text, size);
}

uint64_t kernel_ring_lost(const struct kernel_ring *ring)
{
	struct spool_losses losses = { 0, 0, 0, 0 };
	char text[1024];

	if (!read_stats(ring, text, sizeof(text)))
		spool_losses_parse(text, &losses);
	/* If the drain of the ring has failed, the events left in the ring are lost, too. */
	if (ring->failed)
		return spool_losses_sum(&losses) + ring->unsaved;
	return spool_losses_sum(&losses) - losses.left;
}

uint64_t kernel_ring_bytes(const struct kernel_ring *ring)
{
	char text[1024];

	return read_stats(ring, text, sizeof(text)) ? 0 : rec_stats_figure(text, "bytes");
}
