/* SPDX-License-Identifier: MIT */
/* Opening and closing one ring of the kernel's. */
#include "cli/kernel/kernel_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/map.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The capacity of the pipe: the most that a user may request, and far less than a ring holds. */
#define PIPE_SIZE (1024 * 1024)

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void kernel_ring_close(struct kernel_ring *ring)
{
	rec_map_close(ring->map);
	close_fd(ring->pipe[0]);
	close_fd(ring->pipe[1]);
	close_fd(ring->side);
	close_fd(ring->raw);
	close_fd(ring->dir);
	free(ring->page);
	free(ring->overwritten);
}

static int open_pipe(struct kernel_ring *ring)
{
	int size;

	if (pipe2(ring->pipe, O_CLOEXEC) < 0)
		return -errno;
	size = fcntl(ring->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
	if (size <= 0)
		size = fcntl(ring->pipe[1], F_GETPIPE_SZ);
	/*
	 * A slot of the pipe takes a sub-buffer of any size; the bytes requested at a time are limited to the size of
	 * the pipe.
	 */
	ring->pipe_size = size > (int)ring->page_size ? (size_t)size / ring->page_size * ring->page_size
						      : ring->page_size;
	return 0;
}

/* Whether the CPU has a ring. A CPU that has never been online gets one when it comes online. */
static bool has_ring(const struct kernel_ring *ring)
{
	struct pollfd fd = { .fd = ring->raw, .events = POLLIN };

	return poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLERR);
}

static int open_way(struct kernel_ring *ring, const char *instance)
{
	int err = 0;

	/* A ring that does not exist cannot be mapped. */
	if (ring->way == KERNEL_DRAIN_BEST || (ring->way == KERNEL_DRAIN_MMAP && !has_ring(ring)))
		ring->way = KERNEL_DRAIN_SPLICE;
	if (ring->way == KERNEL_DRAIN_SPLICE)
		return open_pipe(ring);
	if (ring->way == KERNEL_DRAIN_MMAP) {
		err = rec_map_kernel(instance, ring->cpu, 0, &ring->map);
		if (!err && rec_map_is_copy(ring->map))
			err = -ENODEV;
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
