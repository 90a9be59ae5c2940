/* SPDX-License-Identifier: MIT */
#include "kernel_side.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(const struct kernel_side *kernel, const char *file, const char *value)
{
	const int r = tracefs_set(&kernel->fs, file, value);

	errno = -r;
	side_must(r == 0, file);
}

static int open_raw(const struct kernel_side *kernel)
{
	const int fd = tracefs_cpu_fd(&kernel->fs, kernel->cpu, O_RDONLY | O_NONBLOCK, "trace_pipe_raw");

	errno = -fd;
	side_must(fd >= 0, "trace_pipe_raw");
	return fd;
}

const char *kernel_open(struct kernel_side *kernel, const char *name)
{
	const char *reason = tracefs_open(&kernel->fs, name);

	if (reason)
		return reason;
	kernel->cpu = tracefs_pin();
	if (tracefs_set(&kernel->fs, "trace_clock", SIDE_CLOCK_NAME) < 0) {
		tracefs_close(&kernel->fs);
		return "the kernel has no clock " SIDE_CLOCK_NAME;
	}
	kernel->marker = tracefs_fd(&kernel->fs, O_WRONLY, "trace_marker_raw");
	side_must(kernel->marker >= 0, "trace_marker_raw");
	kernel->raw = open_raw(kernel);
	kernel->page = malloc(REC_SUBBUF_MAX);
	kernel->subbuf_size = REC_SUBBUF_MIN;
	return NULL;
}

bool kernel_close(struct kernel_side *kernel)
{
	close(kernel->marker);
	close(kernel->raw);
	free(kernel->page);
	return tracefs_close(&kernel->fs);
}

int kernel_write(const struct kernel_side *kernel, uint64_t number, uint32_t size)
{
	unsigned char payload[SIDE_SIZE_MAX];
	const size_t count = size - SIDE_COMMON;

	side_fill(payload, number, size);
	return write(kernel->marker, payload + SIDE_COMMON, count) == (ssize_t)count ? 0 : -errno;
}

int kernel_read(const struct kernel_side *kernel, uint32_t room, struct batch *ret_batch)
{
	const uint32_t size = kernel->subbuf_size;
	ssize_t n;

	do
		n = read(kernel->raw, kernel->page, REC_SUBBUF_HEADER_SIZE + room);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		side_must(errno == EAGAIN, "reading trace_pipe_raw");
		return -1;
	}
	if (n == 0)
		return 0;
	/* After a short read, the rest of the page comes with the next read: zeros, or the number of lost events. */
	if ((uint32_t)n < size)
		side_must(read(kernel->raw, kernel->page + n, size - (uint32_t)n) == (ssize_t)size - n,
			  "the rest of a page");
	ret_batch->bytes = rec_page_size(kernel->page);
	ret_batch->lost = rec_page_lost(kernel->page, size - REC_SUBBUF_HEADER_SIZE);
	side_walk(ret_batch, kernel->page, ret_batch->bytes, 0);
	return 1;
}

uint32_t kernel_resize(const struct kernel_side *kernel, uint32_t kilobytes)
{
	const uint32_t capacity = kernel->subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const uint32_t pages = (kilobytes * 1024 + capacity - 1) / capacity;
	char file[64], value[16];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", kernel->cpu);
	snprintf(value, sizeof(value), "%u", kilobytes);
	set(kernel, file, value);
	return pages < 2 ? 2 : pages;
}

void kernel_set_subbuf_size(struct kernel_side *kernel, uint32_t size)
{
	char value[16];

	if (size == kernel->subbuf_size)
		return;
	/* An open file would keep a page of the old size. */
	close(kernel->raw);
	snprintf(value, sizeof(value), "%u", size / 1024);
	set(kernel, "buffer_subbuf_size_kb", value);
	kernel->subbuf_size = size;
	kernel->raw = open_raw(kernel);
}

void kernel_reset(const struct kernel_side *kernel)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", kernel->cpu);
	set(kernel, file, "");
}

void kernel_set_overwrite(const struct kernel_side *kernel, bool on)
{
	set(kernel, "options/overwrite", on ? "1" : "0");
}

void kernel_set_on(const struct kernel_side *kernel, bool on)
{
	set(kernel, "tracing_on", on ? "1" : "0");
}

void kernel_stats(const struct kernel_side *kernel, struct side_stats *ret_stats)
{
	char file[64], text[512];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", kernel->cpu);
	side_must(tracefs_get(&kernel->fs, file, text, sizeof(text)) > 0, file);
	side_must(side_parse_stats(text, ret_stats) == 0, "the kernel's eight lines of statistics");
}
