/* SPDX-License-Identifier: MIT */
#include "share_fixture.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

struct worker workers[WORKERS_MAX];
uint64_t handlers_number;

void share_begin(unsigned int lanes)
{
	numbered_begin(32, lanes);
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = (uint32_t)syscall(SYS_gettid);
	for (;;) {
		sem_wait(&worker->go);
		if (!worker->job)
			return NULL;
		worker->job(worker);
		sem_post(&worker->done);
	}
}

void worker_do(unsigned int i, void (*job)(struct worker *worker), uint64_t number)
{
	workers[i].job = job;
	workers[i].number = number;
	sem_post(&workers[i].go);
	sem_wait(&workers[i].done);
}

void worker_write(struct worker *worker)
{
	numbered_write(worker->number);
}

void worker_start(unsigned int i)
{
	sem_init(&workers[i].go, 0, 0);
	sem_init(&workers[i].done, 0, 0);
	cr_assert_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	worker_do(i, worker_write, i);
}

void worker_stop(unsigned int i)
{
	workers[i].job = NULL;
	sem_post(&workers[i].go);
	pthread_join(workers[i].thread, NULL);
}

static void shares(struct worker *worker)
{
	worker->number = rec_share_is_handle(rec_thread_handle);
}

bool worker_is_sharing(unsigned int i)
{
	worker_do(i, shares, 0);
	return workers[i].number;
}

unsigned int workers_until_one_shares(void)
{
	unsigned int i = 0;

	do {
		cr_assert_lt(i, WORKERS_MAX);
		worker_start(i);
	} while (!worker_is_sharing(i++));
	return i;
}

static void write_in_handler(int signal)
{
	(void)signal;
	numbered_write(handlers_number);
}

void on_signal(int number, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

void handlers_write(int flags)
{
	on_signal(SIGUSR1, write_in_handler, flags);
}

void worker_be_interrupted(struct worker *worker)
{
	struct rec_slot slot;

	cr_assert_not_null(numbered_reserve(worker->number, &slot));
	handlers_number = worker->number + 1;
	raise(SIGUSR1);
	rec_commit(&slot);
}
