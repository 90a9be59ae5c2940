/* SPDX-License-Identifier: MIT */
/*
 * The queue of packer. Its events are recorded while the lock is held. So their times have the order in which the queue
 * changed, and the depths form one curve. An event takes so little time that the lock may be held for it.
 */
#include "packer_queue.h"

#include "packer_events.h"

void queue_init(struct queue *queue, uint32_t limit)
{
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	pthread_cond_init(&queue->not_full, NULL);
	queue->first = NULL;
	queue->last = &queue->first;
	queue->depth = 0;
	queue->limit = limit;
	queue->closed = false;
}

void queue_destroy(struct queue *queue)
{
	pthread_cond_destroy(&queue->not_full);
	pthread_cond_destroy(&queue->not_empty);
	pthread_mutex_destroy(&queue->lock);
}

void queue_put(struct queue *queue, struct job *job)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->depth == queue->limit)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	job->next = NULL;
	*queue->last = job;
	queue->last = &job->next;
	queue->depth++;
	REC(packer, queue, QUEUE_PUT, job->file, queue->depth);
	tally(TALLY_QUEUE);
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

struct job *queue_take(struct queue *queue)
{
	struct job *job;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	job = queue->first;
	if (job) {
		queue->first = job->next;
		if (!queue->first)
			queue->last = &queue->first;
		queue->depth--;
		REC(packer, queue, QUEUE_TAKE, job->file, queue->depth);
		tally(TALLY_QUEUE);
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return job;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}
