/* SPDX-License-Identifier: MIT */
/* The kernel's ring of one CPU of an instance: written through trace_marker_raw, read through trace_pipe_raw. */
#ifndef KERNEL_SIDE_H
#define KERNEL_SIDE_H

#include "kernel_tracefs.h"
#include "side.h"

struct kernel_side {
	struct tracefs fs;
	int cpu;
	int marker;
	int raw;
	uint32_t subbuf_size;
	unsigned char *page;
};

/* Makes the instance, and pins the thread to a CPU. Returns NULL, or why it cannot be done here. */
const char *kernel_open(struct kernel_side *kernel, const char *name);

/* False: the instance could not be removed. */
bool kernel_close(struct kernel_side *kernel);

/* 0 or negative errno. */
int kernel_write(const struct kernel_side *kernel, uint64_t number, uint32_t size);

/*
 * read(2) of a page with room for `room` bytes of records. 1: *ret_batch; 0: there is something, but it needs more; -1:
 * there is nothing.
 */
int kernel_read(const struct kernel_side *kernel, uint32_t room, struct batch *ret_batch);

/* Returns how many pages the ring has then. */
uint32_t kernel_resize(const struct kernel_side *kernel, uint32_t kilobytes);

/* Afterwards the ring is empty. */
void kernel_set_subbuf_size(struct kernel_side *kernel, uint32_t size);

void kernel_reset(const struct kernel_side *kernel);
void kernel_set_overwrite(const struct kernel_side *kernel, bool on);
void kernel_set_on(const struct kernel_side *kernel, bool on);
void kernel_stats(const struct kernel_side *kernel, struct side_stats *ret_stats);

#endif
