/* SPDX-License-Identifier: MIT */
/*
 * Draining one ring: wait until it is half full or a while has passed, take what whole sub-buffers there are, in
 * one of three ways, append them to the side file. At the end the rest, which a sub-buffer that is not full holds,
 * is read.
 *
 * splice moves sub-buffers into a pipe and from there into the file: only whole ones leave the ring. What the file
 * does not take is written from the pipe, so nothing is lost when the way is changed. read gives a sub-buffer that
 * is still being written to as a page of its own, with its own time, and what comes later as another. The mapped
 * ring gives such a one again when more has come to it: its page is written again, in its place.
 */
#include "cli/kernel_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/abi.h>
#include <librecorder/map.h>
#include <librecorder/page.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/now.h"

/* So much may be in the pipe: the most that a user may ask for, and far below what a ring holds. */
#define PIPE_SIZE (1024 * 1024)

/* Whole sub-buffers of a ring that fills slowly are taken this often: a recorder that is killed loses no more. */
#define WAIT_MS 250

/* Where poll() knows no filling (before Linux 5.1), it returns for each event: then so long at least. */
#define PAUSE_MS 5

/* A thread that is at it so long is kept from its ring by the disk or by other programs. */
#define LATE_MS 20u

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void count(struct kernel_ring *ring, uint64_t bytes)
{
	atomic_fetch_add_explicit(&ring->bytes, bytes, memory_order_relaxed);
}

/* All of it at `offset`. 0 or -errno. */
static int write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const char *at = bytes;

	while (size) {
		const ssize_t n = pwrite(fd, at, size, (off_t)offset);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -ENOSPC;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
			offset += (uint64_t)n;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------- the three ways */

/* Each returns the bytes that it found, 0: none that it takes; -errno of the ring or the side file. */
static ssize_t take_read(struct kernel_ring *ring)
{
	ssize_t n;
	int err;

	do {
		n = read(ring->raw, ring->page, ring->page_size);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno != EAGAIN ? -errno : 0;
	/* Behind the data, a page as read may be short. */
	memset(ring->page + n, 0, ring->page_size - (size_t)n);
	err = write_at(ring->side, ring->page, ring->page_size, ring->offset);
	if (err)
		return err;
	ring->offset += ring->page_size;
	count(ring, ring->page_size);
	return REC_SUBBUF_HEADER_SIZE + (ssize_t)rec_page_size(ring->page);
}

/* A file that takes no splice: out of the pipe by hand. */
static int empty_pipe(struct kernel_ring *ring, size_t left)
{
	int err = 0;

	while (left && !err) {
		const ssize_t n = read(ring->pipe[0], ring->page, left < ring->page_size ? left : ring->page_size);

		if (n <= 0 && errno == EINTR)
			continue;
		err = n <= 0 ? -EIO : write_at(ring->side, ring->page, (size_t)n, ring->offset);
		if (err)
			return err;
		ring->offset += (uint64_t)n;
		left -= (size_t)n;
	}
	return 0;
}

static ssize_t take_splice(struct kernel_ring *ring)
{
	loff_t offset = (loff_t)ring->offset;
	ssize_t taken, n;
	size_t left;
	int err = 0;

	do {
		taken = splice(ring->raw, NULL, ring->pipe[1], NULL, ring->pipe_size,
			       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	} while (taken < 0 && errno == EINTR);
	if (taken < 0 && errno == EINVAL) {
		ring->way = KERNEL_DRAIN_READ;
		return take_read(ring);
	}
	if (taken <= 0)
		return taken < 0 && errno != EAGAIN ? -errno : 0;
	left = (size_t)taken;
	while (left && !err) {
		n = splice(ring->pipe[0], NULL, ring->side, &offset, left, SPLICE_F_MOVE);
		ring->offset = (uint64_t)offset;
		if (n < 0 && errno == EINVAL) {
			ring->way = KERNEL_DRAIN_READ;
			err = empty_pipe(ring, left);
			left = 0;
		} else if (n <= 0 && errno != EINTR) {
			err = n ? -errno : -ENOSPC;
		} else if (n > 0) {
			left -= (size_t)n;
		}
	}
	count(ring, (uint64_t)taken - left);
	return err ? err : taken;
}

/*
 * A page as it was read so far: the header tells that, and not what has been written meanwhile. Written again, data
 * goes first: however far it came, the page is one that was.
 */
static ssize_t take_mapped(struct kernel_ring *ring)
{
	struct rec_page page;
	uint64_t head[2];
	const int got = rec_map_get_reader(ring->map, &page);
	const unsigned char *data = page.data;
	int err = 0;

	if (got != 1)
		return got;
	memcpy(head, data, sizeof(head));
	head[1] = (head[1] & (REC_COMMIT_LOST | REC_COMMIT_LOST_STORED)) | page.size;
	if (page.from)
		ring->offset -= ring->page_size;
	else
		count(ring, ring->page_size);
	memcpy(ring->page, head, sizeof(head));
	memcpy(ring->page + sizeof(head), data + sizeof(head), ring->page_size - sizeof(head));
	if (page.from)
		err = write_at(ring->side, ring->page + sizeof(head), ring->page_size - sizeof(head),
			       ring->offset + sizeof(head));
	if (!err)
		err = write_at(ring->side, ring->page, page.from ? sizeof(head) : ring->page_size, ring->offset);
	ring->offset += ring->page_size;
	return err ? err : REC_SUBBUF_HEADER_SIZE + (ssize_t)(page.size - page.from);
}

static ssize_t take(struct kernel_ring *ring)
{
	if (ring->way == KERNEL_DRAIN_MMAP)
		return take_mapped(ring);
	return ring->way == KERNEL_DRAIN_READ ? take_read(ring) : take_splice(ring);
}

/* ----------------------------------------------------------------------------------------------------- the thread */

/* Until there is something, or for a while, or until it is over. */
static void wait_for_pages(const struct kernel_ring *ring, int found)
{
	struct pollfd fds[2] = { { .fd = ring->stop, .events = POLLIN }, { .fd = ring->raw, .events = POLLIN } };

	if (!found)
		poll(fds, 1, PAUSE_MS);
	poll(fds, 2, WAIT_MS);
	/* A CPU that is off, and may come, has no ring to wait for. */
	if (fds[1].revents & POLLERR)
		poll(fds, 1, WAIT_MS);
}

/*
 * What is there now, without running after the writer, which may be this thread, traced. Unless it is the end, what
 * is less than the way can take is the last: the ring is empty, or this was the writer's own sub-buffer. So the
 * bytes tell how full the ring was. Returns whether there were any, or what the side file met.
 */
static int take_turn(struct kernel_ring *ring, bool end)
{
	const ssize_t full = (ssize_t)(ring->way == KERNEL_DRAIN_SPLICE ? ring->pipe_size : ring->page_size / 2);
	uint64_t bytes = 0;
	ssize_t n;

	atomic_store_explicit(&ring->busy_ms, now_ms(), memory_order_relaxed);
	do {
		n = take(ring);
		bytes += n > 0 ? (uint64_t)n : 0;
	} while (n >= full || (n > 0 && end));
	atomic_store_explicit(&ring->busy_ms, 0, memory_order_relaxed);
	if (bytes > atomic_load_explicit(&ring->turn, memory_order_relaxed))
		atomic_store_explicit(&ring->turn, bytes, memory_order_relaxed);
	return n < 0 ? (int)n : bytes > 0;
}

/* What splice leaves: a sub-buffer that is not full. */
static int take_rest(struct kernel_ring *ring)
{
	ssize_t n;

	do {
		n = take_read(ring);
	} while (n > 0);
	return (int)n;
}

void *kernel_ring_main(void *arg)
{
	struct kernel_ring *ring = arg;
	enum kernel_ring_end end;
	cpu_set_t cpus;
	int found = 0;

	ring->tid = gettid();
	sem_post(&ring->ready);
	/* Where the ring's pages are in the caches. A CPU that goes away takes the thread along to another. */
	CPU_ZERO(&cpus);
	CPU_SET(ring->cpu, &cpus);
	if (ring->cpu < CPU_SETSIZE)
		pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	do {
		wait_for_pages(ring, found);
		/* Asked before taking: what was written until it was said is there. */
		end = atomic_load(&ring->end);
		if (end != KERNEL_RING_LEAVE)
			found = take_turn(ring, end == KERNEL_RING_FINISH);
	} while (found >= 0 && end == KERNEL_RING_GO_ON);
	if (found >= 0 && end == KERNEL_RING_FINISH && ring->way == KERNEL_DRAIN_SPLICE)
		found = take_rest(ring);
	atomic_store(&ring->err, found < 0 ? found : 0);
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- from the recorder */

/* A text file of the CPU's directory. 0 or -errno. */
static int read_text(const struct kernel_ring *ring, const char *file, char *text, size_t size)
{
	const int fd = openat(ring->dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return n < 0 ? -EIO : 0;
}

uint64_t kernel_ring_lost(const struct kernel_ring *ring)
{
	struct spool_losses losses = { 0, 0, 0, 0 };
	char text[1024];

	if (!read_text(ring, "stats", text, sizeof(text)))
		spool_losses_parse(text, &losses);
	return losses.overrun + losses.commit_overrun + losses.dropped;
}

/* Whether the ring is more than half full although the thread is at it. */
static bool falls_behind(const struct kernel_ring *ring)
{
	char text[1024];
	const char *bytes;

	if (read_text(ring, "stats", text, sizeof(text)))
		return false;
	bytes = strstr(text, "\nbytes: ");
	return bytes && strtoull(bytes + strlen("\nbytes: "), NULL, 10) > ring->kb * 1024 / 2;
}

void kernel_ring_grow(struct kernel_ring *ring, uint64_t now)
{
	const uint64_t busy = atomic_load_explicit(&ring->busy_ms, memory_order_relaxed);
	const uint64_t kb = ring->kb * 2;
	const bool late = busy && now > busy + LATE_MS && now > ring->looked_ms + LATE_MS;
	char text[24];
	int fd, size;

	if (kb > ring->max_kb)
		return;
	if (late)
		ring->looked_ms = now;
	if (atomic_exchange_explicit(&ring->turn, 0, memory_order_relaxed) < ring->kb * 1024 / 4 * 3 &&
	    !(late && falls_behind(ring)))
		return;
	fd = openat(ring->dir, "buffer_size_kb", O_WRONLY | O_CLOEXEC);
	size = snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	/* What cannot grow is not asked again. */
	if (fd >= 0 && write(fd, text, (size_t)size) == size)
		ring->kb = kb;
	else
		ring->max_kb = 0;
	close_fd(fd);
}

/* ------------------------------------------------------------------------------------------- opening and closing */

void kernel_ring_close(struct kernel_ring *ring)
{
	rec_map_close(ring->map);
	close_fd(ring->pipe[0]);
	close_fd(ring->pipe[1]);
	close_fd(ring->side);
	close_fd(ring->raw);
	close_fd(ring->dir);
	free(ring->page);
}

static int open_way(struct kernel_ring *ring, const char *instance)
{
	int size, err = 0;

	if (ring->way == KERNEL_DRAIN_MMAP) {
		err = rec_map_kernel(instance, ring->cpu, 0, &ring->map);
		if (!err && rec_map_is_copy(ring->map))
			err = -ENODEV;
	} else if (ring->way != KERNEL_DRAIN_READ) {
		ring->way = KERNEL_DRAIN_SPLICE;
		err = pipe2(ring->pipe, O_CLOEXEC) < 0 ? -errno : 0;
		size = err ? 0 : fcntl(ring->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
		if (size <= 0 && !err)
			size = fcntl(ring->pipe[1], F_GETPIPE_SZ);
		/* A slot of the pipe takes a sub-buffer of any size, but fewer bytes are asked for than it has. */
		ring->pipe_size = size > (int)ring->page_size ? (size_t)size / ring->page_size * ring->page_size
							      : ring->page_size;
	}
	return err;
}

int kernel_ring_open(struct kernel_ring *ring, const char *instance, unsigned int cpu, uint32_t page_size,
		     enum kernel_drain_way way)
{
	char path[PATH_MAX];
	int err;

	*ring = (struct kernel_ring){ .cpu = cpu,
				      .page_size = page_size,
				      .way = way,
				      .dir = -1,
				      .raw = -1,
				      .side = -1,
				      .pipe = { -1, -1 },
				      .stop = -1 };
	sem_init(&ring->ready, 0, 0);
	ring->page = malloc(page_size);
	if (!ring->page)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u", instance, cpu);
	ring->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ring->raw = ring->dir < 0 ? -1 : openat(ring->dir, "trace_pipe_raw", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	err = ring->raw < 0 ? -errno : open_way(ring, instance);
	if (err)
		kernel_ring_close(ring);
	return err;
}
