/* SPDX-License-Identifier: MIT */
/* Shared by the tests of threads' lives. For inclusion in one source file. */
#ifndef THREAD_LIVES_H
#define THREAD_LIVES_H

#include "numbered.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

static inline void run(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, function, arg), 0);
	pthread_join(thread, NULL);
}

static inline void on_signal(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

/* Frames far below those of the caller. */
static __attribute__((noinline, unused)) unsigned char *reserve_deeper(uint64_t number, struct rec_slot *slot)
{
	volatile char room[4096];
	unsigned char *payload;

	room[0] = 0;
	payload = numbered_reserve(number, slot);
	(void)room[0];
	return payload;
}

static inline void *write_number(void *arg)
{
	numbered_write((uintptr_t)arg);
	return NULL;
}

#endif
