/* SPDX-License-Identifier: MIT */
/*
 * Enlarges rings, in a separate thread: a disk that accepts no data may block the recorder's own thread as well as a
 * ring's. The thread sleeps while no ring fills. Only kernel_drain.c and kernel_ring.c use it.
 */
#ifndef CLI_KERNEL_GROW_H
#define CLI_KERNEL_GROW_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct kernel_ring;

struct kernel_grower {
	struct kernel_ring *rings;
	unsigned int nr;
	int stop; /* eventfd */

	/* the thread's */
	pthread_t thread;
	bool started;
	sem_t wake;
	atomic_bool sleeps; /* the thread sleeps, and must be woken */
};

/* The main function of the thread. */
void *kernel_grower_main(void *grower);

/*
 * Wake the thread, because a ring may need to grow: a ring's thread calls it at the beginning of a turn if it found its
 * ring half full. The drain calls it to end the thread. Any thread may call it.
 */
void kernel_grower_wake(struct kernel_grower *grower);

#endif
