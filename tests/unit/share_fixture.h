/* SPDX-License-Identifier: MIT */
/* Threads that do a job when the test gives it to them: more threads than lanes. */
#ifndef SHARE_FIXTURE_H
#define SHARE_FIXTURE_H

#include "numbered.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>

#define WORKERS_MAX 64

struct worker {
	pthread_t thread;
	sem_t go, done;
	void (*job)(struct worker *worker);
	uint64_t number;
	uint32_t tid;
	sigjmp_buf back;
};

extern struct worker workers[WORKERS_MAX];

/* Begin a process that may have this number of lanes. */
void share_begin(unsigned int lanes);

/* Start thread i, which writes event i. */
void worker_start(unsigned int i);
void worker_stop(unsigned int i);

/* Give a thread a job. Returns when the job is done. */
void worker_do(unsigned int i, void (*job)(struct worker *worker), uint64_t number);

/* A job: writes event `number`. */
void worker_write(struct worker *worker);

/* A job: reserves event `number`, gets SIGUSR1, whose handler writes the next one, and commits. */
void worker_be_interrupted(struct worker *worker);

/* Whether its last event was written to a lane that is shared. */
bool worker_is_sharing(unsigned int i);

/* Starts threads until one has to share; returns their number. */
unsigned int workers_until_one_shares(void);

/* Handlers of SIGUSR1 write this event. */
extern uint64_t handlers_number;
void handlers_write(int flags);

void on_signal(int number, void (*handler)(int), int flags);

#endif
