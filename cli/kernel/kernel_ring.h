/* SPDX-License-Identifier: MIT */
/*
 * The ring of one CPU, and the thread that drains it: kernel_ring.c and kernel_ring_open.c. Only kernel_drain.c,
 * kernel_grow.c and kernel_limit.c use it.
 */
#ifndef CLI_KERNEL_RING_H
#define CLI_KERNEL_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/kernel/kernel_drain.h"
#include "cli/kernel/kernel_grow.h"

struct rec_map;

enum kernel_ring_end {
	KERNEL_RING_GO_ON,
	KERNEL_RING_FINISH, /* nothing more is written: take the rest */
	KERNEL_RING_LEAVE,  /* leave the rest */
};

struct kernel_ring {
	/* set before the thread starts */
	unsigned int cpu;
	uint32_t page_size;
	int dir;  /* per_cpu/cpuN */
	int raw;  /* trace_pipe_raw */
	int side; /* the side file */
	int pipe[2];
	int stop; /* eventfd: look at `end` */
	uint64_t wait_us; /* the longest time between two checks of the ring; 0: chosen by the drain */
	/* head of the side file (kernel_limit.h); if it has no places, the file may have any length */
	struct spool_side_head head;
	struct kernel_grower *grower; /* NULL: rings stay as they are */
	bool started;
	pthread_t thread;

	/* for the ring's thread */
	enum kernel_drain_way way;
	struct rec_map *map;
	unsigned char *page; /* one page, for read(2) */
	uint64_t offset;     /* offset of the next page in the side file */
	uint64_t pages;	     /* with a limit: number of pages written so far */
	unsigned char *overwritten; /* with a limit: room for the page whose events are counted */
	size_t pipe_size;    /* bytes that one splice may take */
	bool ring_failed;    /* `err` comes from the ring, not from the side file */
	uint64_t rest;	     /* at the end: the pages that may still be in the ring */
	unsigned int memory_tries; /* at the end: how often the kernel had no memory */
	uint64_t unsaved;    /* events that were taken out of the ring and did not reach the file */

	/* for both threads */
	_Atomic(enum kernel_ring_end) end;
	atomic_int err;		      /* error that ended the thread: -errno, for the recorder */
	atomic_uint_fast64_t bytes;   /* in the side file */
	atomic_uint_fast64_t turn;    /* the most bytes that a turn found in the ring since the last check */
	atomic_uint_fast64_t busy_ms; /* when the current turn began; 0: none */
	atomic_uint turns;	      /* the number of turns, which may wrap */

	/* for the grower's thread */
	uint64_t kb, max_kb; /* size of the ring, and the size to which it may grow; 0: fixed */
	uint64_t looked_ms;  /* when its fill was last checked */

	/* for the recorder's thread */
	int failed; /* the error that was reported */
	unsigned int turns_seen; /* `turns` and `bytes` at the last check */
	uint64_t bytes_seen;
};

/* The caller fills in `side`, `stop` and the sizes. 0 or -errno; kernel_ring_close() releases everything. */
int kernel_ring_open(struct kernel_ring *ring, const char *instance, unsigned int cpu, uint32_t page_size,
		     enum kernel_drain_way way);
void kernel_ring_close(struct kernel_ring *ring);

/* The main function of the thread. */
void *kernel_ring_main(void *ring);

/* Bytes in the ring; 0: unknown. */
uint64_t kernel_ring_bytes(const struct kernel_ring *ring);

/* Lost events, for any reason; including those still in the ring if its drain has failed. */
uint64_t kernel_ring_lost(const struct kernel_ring *ring);

#endif
