/* SPDX-License-Identifier: MIT */
/*
 * A bounded queue of files between the thread that reads them and the threads that compress them. Every put and every
 * take is recorded with the depth after it.
 */
#ifndef PACKER_QUEUE_H
#define PACKER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One file on its way through the program; the holder owns it. */
struct job {
	struct job *next;
	uint32_t file;	/* its number, in the order of the walk */
	size_t size;	/* size of its content */
	char content[]; /* what is to be compressed */
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t not_full;
	struct job *first;
	struct job **last;
	uint32_t depth;
	uint32_t limit;
	bool closed;
};

void queue_init(struct queue *queue, uint32_t limit);
void queue_destroy(struct queue *queue);

/* Waits while the queue is full. The queue then owns the job. */
void queue_put(struct queue *queue, struct job *job);

/* Waits while the queue is empty. NULL: it is empty and closed. The caller then owns the job. */
struct job *queue_take(struct queue *queue);

/* No more jobs are put: queue_take() returns the remaining ones, then NULL. */
void queue_close(struct queue *queue);

#endif
