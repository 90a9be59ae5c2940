/* SPDX-License-Identifier: MIT */
/*
 * See kernel_last.h. The kernel returns the contents of an unfinished sub-buffer as a page of its own, and later
 * contents as another page. So a quiet CPU has many short pages; each takes, and counts as, only the memory of its
 * data.
 */
#include "cli/kernel/kernel_last.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/clock.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel/kernel_clock.h"
#include "cli/kernel/kernel_texts.h"
#include "format/io/out_file.h"

/*
 * The maximum number of pages for all CPUs together, and the minimum for each CPU. In a side file each takes a whole
 * page.
 */
#define PIECES	   4096u
#define PIECES_MIN 64u

/* The bytes at the beginning of a page, including its header; the rest of the page is zeros. */
struct piece {
	unsigned char *bytes;
	size_t size;
};

struct last_ring {
	unsigned int cpu;
	int raw; /* trace_pipe_raw; -1: the CPU is offline */
	struct piece *pieces; /* a circular buffer */
	unsigned int first, nr, room;
	size_t bytes; /* bytes of all pieces */
};

struct kernel_last {
	const struct kernel *kernel;
	struct spool *texts; /* the kernel's entry, and texts that do not change */
	uint32_t clock;
	size_t page_size, bytes;
	unsigned char *page;
	struct last_ring *rings;
	unsigned int nr;
};

struct kernel_last *kernel_last_close(struct kernel_last *last)
{
	if (!last)
		return NULL;
	for (unsigned int i = 0; i < last->nr; i++) {
		struct last_ring *ring = &last->rings[i];

		for (unsigned int j = 0; j < ring->nr; j++)
			free(ring->pieces[(ring->first + j) % ring->room].bytes);
		free(ring->pieces);
		if (ring->raw >= 0)
			close(ring->raw);
	}
	spool_close(last->texts);
	free(last->rings);
	free(last->page);
	free(last);
	return NULL;
}

/* Makes a file for the texts, and removes its name at once, so that no file remains if the process is killed. */
static int make_texts(struct kernel_last *last, const char *path)
{
	const struct spool_head head = { .file_version = 6 };
	const struct spool_process process = {
		.info = { .clock = last->clock, .subbuf_size = (uint32_t)last->page_size, .comm = "kernel" },
	};
	int err = spool_create(path, &head, &last->texts), number;

	if (err)
		return err;
	unlink(path);
	number = spool_add_process(last->texts, &process);
	if (number < 0)
		return number;
	err = kernel_texts_begin(last->kernel, last->texts, 0);
	if (!err)
		err = kernel_texts_some(last->kernel, last->texts, 0);
	return err ? err : kernel_texts_own_threads(last->texts, 0);
}

/* Whether this errno is a failure; others mean that the CPU is offline. */
static bool is_failure(int number)
{
	return number == EMFILE || number == ENFILE || number == EACCES || number == EPERM || number == ENOMEM;
}

static int open_rings(struct kernel_last *last)
{
	const unsigned int *cpus = kernel_cpus(last->kernel, &last->nr);
	char path[PATH_MAX];
	int err = 0;

	last->rings = calloc(last->nr, sizeof(*last->rings));
	last->page = calloc(1, last->page_size);
	if (!last->rings || !last->page) {
		last->nr = 0;
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < last->nr; i++) {
		struct last_ring *ring = &last->rings[i];

		snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", kernel_dir(last->kernel), cpus[i]);
		ring->cpu = cpus[i];
		ring->raw = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		ring->room = PIECES / last->nr > PIECES_MIN ? PIECES / last->nr : PIECES_MIN;
		if (ring->raw < 0 && is_failure(errno))
			err = -errno;
		ring->pieces = calloc(ring->room, sizeof(*ring->pieces));
		err = ring->pieces ? err : -ENOMEM;
	}
	return err;
}

int kernel_last_open(const struct message_sink *sink, const struct kernel *kernel, const char *texts, size_t bytes,
		     struct kernel_last **ret_last)
{
	struct kernel_last *last = calloc(1, sizeof(*last));
	int err = last ? 0 : -ENOMEM;

	if (last) {
		last->kernel = kernel;
		last->clock = kernel_clock_program(kernel_clock(kernel));
		last->page_size = kernel_page_size(kernel);
		last->bytes = bytes;
		err = open_rings(last);
	}
	if (!err)
		err = make_texts(last, texts);
	if (err) {
		message(sink, "cannot read the kernel's events: %s", strerror(-err));
		kernel_last_close(last);
	} else {
		*ret_last = last;
	}
	return err;
}

/* ----------------------------------------------------------------------------------------------------- the rings */

static void forget_first(struct last_ring *ring)
{
	struct piece *first = &ring->pieces[ring->first];

	ring->bytes -= first->size;
	free(first->bytes);
	ring->first = (ring->first + 1) % ring->room;
	ring->nr--;
}

static int keep_page(struct kernel_last *last, struct last_ring *ring, size_t size)
{
	unsigned char *bytes = malloc(size);

	if (!bytes)
		return -ENOMEM;
	while (ring->nr && (ring->nr == ring->room || ring->bytes + size > last->bytes))
		forget_first(ring);
	ring->pieces[(ring->first + ring->nr++) % ring->room] =
		(struct piece){ .bytes = memcpy(bytes, last->page, size), .size = size };
	ring->bytes += size;
	return 0;
}

/* The number of bytes of the page that are used: its data, and the number of lost events after them. */
static size_t size_of(const struct kernel_last *last)
{
	const size_t size = REC_SUBBUF_HEADER_SIZE + rec_page_size(last->page) + sizeof(uint64_t);

	return size < last->page_size ? size : last->page_size;
}

/*
 * Take the pages that are there now. A page that is less than half full is the writer's present one. The loop then
 * ends, because the writer may be this thread, if it is traced.
 */
static int take_ring(struct kernel_last *last, struct last_ring *ring)
{
	ssize_t n;
	int err = 0;

	do {
		n = ring->raw < 0 ? 0 : read(ring->raw, last->page, last->page_size);
		if (n <= 0)
			break;
		memset(last->page + n, 0, last->page_size - (size_t)n);
		err = keep_page(last, ring, size_of(last));
	} while (!err && rec_page_size(last->page) >= last->page_size / 2);
	return err;
}

/* --------------------------------------------------------------------------------------------------- into a spool */

/* Write a page to the spool. Events before the first page do not count as missing. */
static void write_page(struct kernel_last *last, const struct piece *piece, bool is_first)
{
	uint64_t commit;

	memcpy(last->page, piece->bytes, piece->size);
	memset(last->page + piece->size, 0, last->page_size - piece->size);
	memcpy(&commit, last->page + sizeof(uint64_t), sizeof(commit));
	if (is_first)
		commit &= ~(uint64_t)(REC_COMMIT_LOST | REC_COMMIT_LOST_STORED);
	memcpy(last->page + sizeof(uint64_t), &commit, sizeof(commit));
}

static int add_ring(struct kernel_last *last, struct spool *spool, unsigned int process, struct last_ring *ring)
{
	const int side = spool_side_create(spool, process, ring->cpu);
	int err = side < 0 ? side : 0;

	for (unsigned int i = 0; !err && i < ring->nr; i++) {
		write_page(last, &ring->pieces[(ring->first + i) % ring->room], !i);
		err = out_write_at(side, last->page, last->page_size, i * (uint64_t)last->page_size);
	}
	if (side >= 0)
		close(side);
	return err;
}

int kernel_last_add(struct kernel_last *last, struct spool *spool)
{
	const unsigned int process = spool->nr_entries;
	struct rec_anchor anchor;
	int err = 0;

	for (unsigned int i = 0; !err && i < last->nr; i++)
		err = take_ring(last, &last->rings[i]);
	if (!err)
		err = spool_append(spool, last->texts);
	if (!err)
		err = kernel_texts_names(spool, process);
	if (!err && last->clock == REC_CLOCK_TSC && !rec_clock_anchor(last->clock, &anchor))
		err = spool_add_anchor(spool, last->clock, &anchor);
	for (unsigned int i = 0; !err && i < last->nr; i++)
		err = add_ring(last, spool, process, &last->rings[i]);
	return err;
}
