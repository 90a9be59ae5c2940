/* SPDX-License-Identifier: MIT */
/* One API for two mapped rings: the running kernel's, in an instance of the test's own, and a lane. */
#ifndef MAP_BACK_H
#define MAP_BACK_H

#include "kernel_tracefs.h"

#include <librecorder/map.h>
#include <librecorder/reader.h>
#include <stdbool.h>
#include <stdint.h>

/* Long enough that a full sub-buffer of either ring has room for the number of lost events. */
#define EVENT_SIZE 72u
#define RING_SIZE  (64u * 1024u)

struct back {
	const char *name;
	void (*open)(struct back *back, uint32_t subbuf_size);
	void (*write)(struct back *back);
	void (*clear)(struct back *back);
	int (*resize)(struct back *back); /* while it is mapped */
	void (*close)(struct back *back);
	struct rec_map *map;
	/* the kernel's */
	unsigned int flags;
	struct tracefs fs;
	int cpu, marker;
	/* the lane's */
	struct rec_view *view;
	unsigned int lane;
};

/* Prepare one that is not open yet. The kernel's also needs its instance and a CPU. */
void back_kernel(struct back *back);
void back_lane(struct back *back);

void back_write(struct back *back, unsigned int nr);

/* Print a line of TAP; and the number of these lines so far, and whether all were good. */
void check(bool is, const char *back, const char *what);
extern unsigned int checks;
extern bool good;

/* If it is false the test ends here. */
void must(bool is, const char *what);

#endif
