/* SPDX-License-Identifier: MIT */
/*
 * Rings that are made larger, by a thread of its own: what keeps a ring's thread from its ring, a disk that takes
 * nothing, may keep the recorder's own thread, too. It sleeps while no ring fills. Only kernel_drain.c and
 * kernel_ring.c use it.
 */
#ifndef CLI_KERNEL_GROW_H
#define CLI_KERNEL_GROW_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct kernel_ring;

struct kernel_grower {
	struct kernel_ring *rings;
	unsigned int nr;
	int stop; /* eventfd */

	/* the thread's */
	pthread_t thread;
	bool started;
	sem_t ready; /* from then on tid is known */
	pid_t tid;
	sem_t wake;
	atomic_bool sleeps; /* and is to be woken */
};

/* The thread. */
void *kernel_grower_main(void *grower);

/* A ring is gone to that was half full, or it is over; any thread. */
void kernel_grower_wake(struct kernel_grower *grower);

#endif
