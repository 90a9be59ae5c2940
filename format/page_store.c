/* SPDX-License-Identifier: MIT */
/*
 * A CPU's pages fill its buffer, its buffers fill its slots, in order; so the position of byte n of a CPU is slot n / SLOT
 * of its list, and what is written is always below `size`. Slots are taken from the end of the scratch file; a slot that
 * is not full is a hole and costs nothing.
 */
#include "format/page_store.h"
#include "format/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/abi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT	     ((uint64_t)1 << 20)
#define BUFFER_TOTAL ((uint64_t)16 << 20)
#define BUFFER_MAX   ((uint64_t)256 << 10)

struct store_cpu {
	uint64_t written;  /* bytes in the scratch file */
	uint32_t buffered; /* bytes behind them, in the buffer */
	unsigned char *buffer;
	uint64_t *slots; /* offsets in the scratch file */
	size_t nr_slots;
	size_t max_slots;
};

struct page_store {
	int fd;
	uint32_t page_size;
	uint32_t buffer_size; /* a power of two, at least a page */
	uint64_t end;	      /* of the last slot */
	struct store_cpu *cpus;
	unsigned int nr_cpus;
	unsigned int max_cpus;
};

REC_ABI_ASSERT(SLOT % REC_SUBBUF_MAX == 0 && SLOT % BUFFER_MAX == 0, "a buffer never crosses a slot");

int page_store_open(const char *near, uint32_t page_size, unsigned int cpus, struct page_store **ret_store)
{
	struct page_store *store = calloc(1, sizeof(*store));
	uint64_t buffer = BUFFER_MAX;
	int fd;

	if (!store)
		return -ENOMEM;
	while (buffer > page_size && buffer * cpus > BUFFER_TOTAL)
		buffer /= 2;
	store->buffer_size = buffer > page_size ? (uint32_t)buffer : page_size;
	store->page_size = page_size;
	fd = out_file_scratch(near);
	if (fd < 0) {
		free(store);
		return fd;
	}
	store->fd = fd;
	*ret_store = store;
	return 0;
}

struct page_store *page_store_close(struct page_store *store)
{
	unsigned int i;

	if (!store)
		return NULL;
	for (i = 0; i < store->nr_cpus; i++) {
		free(store->cpus[i].buffer);
		free(store->cpus[i].slots);
	}
	free(store->cpus);
	close(store->fd);
	free(store);
	return NULL;
}

static int add_cpus(struct page_store *store, unsigned int cpu)
{
	unsigned int max = store->max_cpus ? store->max_cpus : 16;
	struct store_cpu *cpus;

	if (cpu >= store->max_cpus) {
		while (max <= cpu)
			max *= 2;
		cpus = realloc(store->cpus, max * sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		memset(cpus + store->max_cpus, 0, (max - store->max_cpus) * sizeof(*cpus));
		store->cpus = cpus;
		store->max_cpus = max;
	}
	if (cpu >= store->nr_cpus)
		store->nr_cpus = cpu + 1;
	return 0;
}

static int add_slot(struct page_store *store, struct store_cpu *cpu)
{
	if (cpu->nr_slots == cpu->max_slots) {
		const size_t max = cpu->max_slots ? cpu->max_slots * 2 : 4;
		uint64_t *slots = realloc(cpu->slots, max * sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		cpu->slots = slots;
		cpu->max_slots = max;
	}
	cpu->slots[cpu->nr_slots++] = store->end;
	store->end += SLOT;
	return 0;
}

/* Write out what is in the buffer. */
static int flush(struct page_store *store, struct store_cpu *cpu)
{
	int err = 0;

	if (!cpu->buffered)
		return 0;
	if (cpu->written == cpu->nr_slots * SLOT)
		err = add_slot(store, cpu);
	if (!err)
		err = out_write_at(store->fd, cpu->buffer, cpu->buffered,
				   cpu->slots[cpu->written / SLOT] + cpu->written % SLOT);
	if (!err) {
		cpu->written += cpu->buffered;
		cpu->buffered = 0;
	}
	return err;
}

int page_store_put(struct page_store *store, unsigned int cpu_number, const void *page)
{
	struct store_cpu *cpu;
	int err;

	if (cpu_number >= store->nr_cpus) {
		err = add_cpus(store, cpu_number);
		if (err)
			return err;
	}
	cpu = &store->cpus[cpu_number];
	if (!cpu->buffer) {
		cpu->buffer = malloc(store->buffer_size);
		if (!cpu->buffer)
			return -ENOMEM;
	}
	/* Full from last time: writing late keeps a page that could not be written out of the size. */
	if (cpu->buffered == store->buffer_size) {
		err = flush(store, cpu);
		if (err)
			return err;
	}
	memcpy(cpu->buffer + cpu->buffered, page, store->page_size);
	cpu->buffered += store->page_size;
	return 0;
}

unsigned int page_store_cpus(const struct page_store *store)
{
	return store->nr_cpus;
}

uint64_t page_store_size(const struct page_store *store, unsigned int cpu)
{
	return cpu < store->nr_cpus ? store->cpus[cpu].written + store->cpus[cpu].buffered : 0;
}

int page_store_copy(struct page_store *store, unsigned int cpu_number, int fd, uint64_t offset)
{
	struct store_cpu *cpu;
	uint64_t left;
	size_t i;
	int err;

	if (cpu_number >= store->nr_cpus)
		return 0;
	cpu = &store->cpus[cpu_number];
	left = cpu->written;
	for (i = 0; i < cpu->nr_slots; i++) {
		const uint64_t size = left < SLOT ? left : SLOT;

		err = out_copy(store->fd, cpu->slots[i], fd, offset, size);
		if (err)
			return err;
		/* Where holes cannot be punched the space is kept until the end; nothing else depends on it. */
		(void)fallocate(store->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)cpu->slots[i],
				(off_t)size);
		offset += size;
		left -= size;
	}
	/* What never left the buffer need not go through the scratch file. */
	return out_write_at(fd, cpu->buffer, cpu->buffered, offset);
}
