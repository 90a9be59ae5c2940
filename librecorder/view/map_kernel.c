/* SPDX-License-Identifier: MIT */
/*
 * The kernel's ring of one CPU as a mapped ring: by the kernel's mapping of trace_pipe_raw (facts D1 to D3), or, if
 * the kernel has no such mapping, by copies with read(2).
 *
 * Only the meta page shows which data are new: the bytes from the last value of reader_read (0 if the reader has got
 * another sub-buffer) to the present one. The number of new events is the growth of `read`. Another process that reads
 * the same ring takes events away from us; the kernel permits that.
 */
#include "librecorder/core/stats_text.h"
#include "librecorder/view/map_private.h"
#include "librecorder/os/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/page.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* TRACE_MMAP_IOCTL_GET_READER of today, and of the first kernels with a mapping (facts D1). */
#define GET_READER	 _IO('R', 0x20)
#define GET_READER_FIRST _IO('T', 0x1)

/* Sub-buffers of a copied ring: one that was handed over, one that is being read. */
#define COPIES 2u

struct kernel_map {
	struct rec_map map;
	int dir; /* directory of the instance */
	int fd;	 /* trace_pipe_raw */
	unsigned int cpu;
	unsigned long get_reader; /* the request code of this kernel */
	uint32_t id, read;	  /* the reader page, and the part of it that was handed over */
	uint64_t events;	  /* meta->read at that time */
	uint64_t next;		  /* number of the next event, counted from the first one seen here */
};

static struct kernel_map *kernel_of(struct rec_map *map)
{
	return (struct kernel_map *)map;
}

/* Known losses count as events that we did not get, so that event numbers skip them. */
static uint64_t number_of_first(struct kernel_map *kernel, const struct rec_page *page)
{
	if (page->lost != REC_LOST_UNKNOWN)
		kernel->next += page->lost;
	kernel->next += page->entries;
	return kernel->next - page->entries;
}

static void close_map(struct rec_map *map)
{
	struct kernel_map *kernel = kernel_of(map);

	if (map->base)
		munmap((void *)(uintptr_t)map->base, map->meta_page_size + (size_t)map->nr_subbufs * map->subbuf_size);
	if (kernel->fd >= 0)
		close(kernel->fd);
	if (kernel->dir >= 0)
		close(kernel->dir);
}

/* ------------------------------------------------------------------------------------------------------ waiting */

/* poll() uses the instance's percentage. */
static int set_percent(const struct kernel_map *kernel, unsigned int percent)
{
	uint64_t now = 0;
	char text[16];
	const int r = rec_instance_number(kernel->dir, "buffer_percent", &now);

	/* Before Linux 5.1 there was no percentage, and one event was enough. */
	if (r == -ENOENT || (r == 0 && now == percent))
		return 0;
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%u", percent);
	return rec_instance_write(kernel->dir, "buffer_percent", text);
}

static int wait_for(struct rec_map *map, unsigned int percent, int timeout)
{
	const struct kernel_map *kernel = kernel_of(map);
	struct pollfd poll_fd = { .fd = kernel->fd, .events = POLLIN };
	int r = set_percent(kernel, percent);

	if (r < 0)
		return r;
	r = poll(&poll_fd, 1, timeout < 0 ? -1 : timeout);
	if (r < 0)
		return -errno;
	if (r == 0)
		return 0;
	/* POLLERR or POLLHUP: no data will ever arrive. */
	return poll_fd.revents & POLLIN ? 1 : -ENODEV;
}

/* ------------------------------------------------------------------------------------------------------- mapped */

static int ask_reader(struct kernel_map *kernel)
{
	while (ioctl(kernel->fd, kernel->get_reader) < 0) {
		if (errno == ENOTTY && kernel->get_reader == GET_READER)
			kernel->get_reader = GET_READER_FIRST;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int get_mapped(struct rec_map *map, struct rec_page *ret_page)
{
	struct kernel_map *kernel = kernel_of(map);
	const struct rec_meta *meta = rec_map_meta(map);
	struct rec_page page = { .size = 0 };
	const int r = ask_reader(kernel);

	if (r < 0)
		return r;
	if (meta->reader_id >= map->nr_subbufs || meta->reader_read > map->subbuf_size - REC_SUBBUF_HEADER_SIZE)
		return -EPROTO;
	page.data = map_page(map, meta->reader_id);
	page.size = meta->reader_read;
	/* A reset decreases it. */
	page.entries = (uint32_t)(meta->read < kernel->events ? meta->read : meta->read - kernel->events);
	page.from = meta->reader_id == kernel->id && page.size >= kernel->read ? kernel->read : 0;
	if (page.from == 0)
		page.lost = rec_page_lost(page.data, map->subbuf_size - REC_SUBBUF_HEADER_SIZE);
	kernel->id = meta->reader_id;
	kernel->read = page.size;
	kernel->events = meta->read;
	if (!page.entries)
		return 0;
	page.first = number_of_first(kernel, &page);
	*ret_page = page;
	return 1;
}

static const struct map_kind mapped = { .get_reader = get_mapped, .wait = wait_for, .close = close_map };

/*
 * -ENODEV, -EBUSY, -EINVAL and others: this ring cannot be mapped.
 */
static int map_ring(struct kernel_map *kernel)
{
	const size_t first = (size_t)sysconf(_SC_PAGESIZE);
	struct rec_map *map = &kernel->map;
	struct rec_meta *meta = mmap(NULL, first, PROT_READ, MAP_SHARED, kernel->fd, 0);
	unsigned char *base;
	size_t size;
	int r = 0;

	if (meta == MAP_FAILED)
		return -errno;
	map->meta_page_size = meta->meta_page_size;
	map->subbuf_size = meta->subbuf_size;
	map->nr_subbufs = meta->nr_subbufs;
	kernel->id = meta->reader_id;
	kernel->read = meta->reader_read;
	kernel->events = meta->read;
	if (meta->meta_struct_len < sizeof(*meta) || map->subbuf_size < REC_SUBBUF_MIN || map->meta_page_size < first)
		r = -EPROTO;
	size = map->meta_page_size + (size_t)map->nr_subbufs * map->subbuf_size;
	if (r == 0) {
		base = mmap(NULL, size, PROT_READ, MAP_SHARED, kernel->fd, 0);
		r = base == MAP_FAILED ? -errno : 0;
		map->base = r < 0 ? NULL : base;
	}
	munmap(meta, first);
	return r;
}

/* ------------------------------------------------------------------------------------------------------- copied */

static uint64_t count_events(const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t events = 0;

	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) == 1)
		events++;
	return events;
}

/* Give the meta page the contents that it would have in a mapping. */
static void fill_meta(const struct kernel_map *kernel, const struct rec_page *page)
{
	struct rec_meta *meta = (struct rec_meta *)(uintptr_t)kernel->map.base;
	char path[64], stats[512];

	meta->reader_id = kernel->id;
	meta->reader_read = kernel->read;
	if (page->data)
		meta->reader_lost_events = page->lost;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", kernel->cpu);
	if (rec_instance_read(kernel->dir, path, stats, sizeof(stats)) < 0)
		return;
	meta->overrun = rec_stats_figure(stats, "overrun");
	meta->read = rec_stats_figure(stats, "read events");
	meta->entries = rec_stats_figure(stats, "entries") + meta->overrun + meta->read;
}

static int get_copied(struct rec_map *map, struct rec_page *ret_page)
{
	struct kernel_map *kernel = kernel_of(map);
	const uint32_t id = (kernel->id + 1) % COPIES;
	struct rec_page page = { .size = 0 };
	ssize_t n;

	do {
		n = read(kernel->fd, (void *)(uintptr_t)map_page(map, id), map->subbuf_size);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		return -errno;
	if (n > 0) {
		page.data = map_page(map, id);
		page.size = rec_page_size(page.data);
		if ((size_t)n < map->subbuf_size || page.size > map->subbuf_size - REC_SUBBUF_HEADER_SIZE)
			return -EPROTO;
		page.entries = (uint32_t)count_events(&page);
		page.lost = rec_page_lost(page.data, map->subbuf_size - REC_SUBBUF_HEADER_SIZE);
		page.first = number_of_first(kernel, &page);
		kernel->id = id;
		kernel->read = page.size;
	}
	fill_meta(kernel, &page);
	if (n <= 0)
		return 0;
	*ret_page = page;
	return 1;
}

static const struct map_kind copied = {
	.get_reader = get_copied, .wait = wait_for, .close = close_map, .is_copy = true
};

static int make_copies(struct kernel_map *kernel)
{
	struct rec_map *map = &kernel->map;
	struct rec_meta *meta;
	uint64_t kb = 0;

	/* Before Linux 6.8 a sub-buffer was always a page. */
	if (rec_instance_number(kernel->dir, "buffer_subbuf_size_kb", &kb) < 0 || !kb || kb > REC_SUBBUF_MAX / 1024)
		kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	map->subbuf_size = (uint32_t)kb * 1024;
	map->meta_page_size = map->subbuf_size;
	map->nr_subbufs = COPIES;
	meta = mmap(NULL, (COPIES + 1) * (size_t)map->subbuf_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (meta == MAP_FAILED)
		return -errno;
	*meta = (struct rec_meta){ .meta_page_size = map->meta_page_size,
				   .meta_struct_len = sizeof(*meta),
				   .subbuf_size = map->subbuf_size,
				   .nr_subbufs = COPIES };
	map->base = (const unsigned char *)meta;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ opening */

static int open_ring(struct kernel_map *kernel, const char *instance)
{
	char path[64];

	kernel->dir = rec_instance_open(instance);
	if (kernel->dir < 0)
		return kernel->dir;
	snprintf(path, sizeof(path), "per_cpu/cpu%u", kernel->cpu);
	if (faccessat(kernel->dir, path, F_OK, 0) < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", kernel->cpu);
	kernel->fd = openat(kernel->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return kernel->fd < 0 ? -errno : 0;
}

static int fill_map(struct kernel_map *kernel, unsigned int flags)
{
	int r = flags & REC_MAP_COPY ? -ENODEV : map_ring(kernel);

	kernel->map.kind = r < 0 ? &copied : &mapped;
	if (r == -ENODEV || r == -EBUSY || r == -EINVAL)
		r = make_copies(kernel);
	return r;
}

int rec_map_kernel(const char *instance, unsigned int cpu, unsigned int flags, struct rec_map **ret_map)
{
	struct kernel_map *kernel;
	int r;

	if (flags & ~REC_MAP_COPY)
		return -EINVAL;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return -ENOMEM;
	*kernel = (struct kernel_map){ .dir = -1, .fd = -1, .cpu = cpu, .get_reader = GET_READER };
	r = open_ring(kernel, instance);
	if (r == 0)
		r = fill_map(kernel, flags);
	if (r < 0) {
		close_map(&kernel->map);
		free(kernel);
		return r;
	}
	*ret_map = &kernel->map;
	return 0;
}
