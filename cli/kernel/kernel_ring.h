/* SPDX-License-Identifier: MIT */
/* The ring of one CPU, and the thread that drains it. Only kernel_drain.c and kernel_grow.c use it. */
#ifndef CLI_KERNEL_RING_H
#define CLI_KERNEL_RING_H

#include <pthread.h>
#include <semaphore.h>
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
	struct kernel_grower *grower; /* NULL: rings stay as they are */
	bool started;
	pthread_t thread;

	/* the thread's */
	sem_t ready; /* from then on tid is known */
	pid_t tid;
	enum kernel_drain_way way;
	struct rec_map *map;
	unsigned char *page; /* one, for read */
	uint64_t offset;     /* in the side file: of the next page */
	size_t pipe_size;    /* bytes that one splice may take */
	bool ring_failed;    /* `err` is the ring's, not the side file's */
	uint64_t unsaved;    /* events that were taken out of the ring, and did not get into the file */

	/* both sides' */
	_Atomic(enum kernel_ring_end) end;
	atomic_int err;		      /* what ended the thread: -errno, for the recorder to take */
	atomic_uint_fast64_t bytes;   /* in the side file */
	atomic_uint_fast64_t turn;    /* most bytes that a turn found in the ring, since it was last looked at */
	atomic_uint_fast64_t busy_ms; /* when the turn began that is going on; 0: none */

	/* the grower's */
	uint64_t kb, max_kb; /* size of the ring, and up to which it may grow; 0: not at all */
	uint64_t looked_ms;  /* when it was last asked how full it is */

	/* the recorder's */
	int failed; /* the `err` that was taken */
};

/* `side`, `stop` and the sizes are the caller's to fill in. 0 or -errno; kernel_ring_close() takes care of all. */
int kernel_ring_open(struct kernel_ring *ring, const char *instance, unsigned int cpu, uint32_t page_size,
		     enum kernel_drain_way way);
void kernel_ring_close(struct kernel_ring *ring);

/* The thread. */
void *kernel_ring_main(void *ring);

/* What is in the ring, in bytes; 0: not known. */
uint64_t kernel_ring_bytes(const struct kernel_ring *ring);

/* Events that are lost, for whatever reason; those that are still in the ring if its drain has failed. */
uint64_t kernel_ring_lost(const struct kernel_ring *ring);

#endif
