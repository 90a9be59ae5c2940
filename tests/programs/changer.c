/* SPDX-License-Identifier: MIT */
/*
 * changer THREADS EVENTS
 *
 * Writes events as producer does, and meanwhile changes the threads' lanes again and again: their sizes, the size of
 * their sub-buffers, and by swaps. The pauses let some events come between two changes; the number of these events does
 * not matter. Sizes go up to 512 KiB. Prints how many events were produced.
 */
#include <librecorder/event.h>

#include <librecorder/lane.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

REC_EVENT(test, count, u32(thread), u64(number));

static unsigned long events;
static unsigned int running, lanes[64];

static void *produce(void *arg)
{
	const unsigned int thread = (unsigned int)(size_t)arg;
	unsigned int held;

	for (unsigned long i = 0; i < events; i++) {
		REC(test, count, thread, i);
		if (i % 4096 == 4095 && rec_lane_swap(&held) == 0)
			rec_lane_release(held);
		if (i % 64 == 0 && rec_thread_lane(&held) == 0)
			__atomic_store_n(&lanes[thread], held, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct timespec pause_time = { 0, 200000 };
	const unsigned int threads = argc == 3 ? (unsigned int)atoi(argv[1]) : 0;
	pthread_t ids[64];

	if (!threads || threads > 64)
		return 2;
	events = strtoul(argv[2], NULL, 10);
	running = threads;
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, produce, (void *)(size_t)i))
			return 1;
	for (unsigned int i = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE); i++) {
		rec_lane_resize(__atomic_load_n(&lanes[i % threads], __ATOMIC_RELAXED),
				(size_t)65536 << i / threads % 4);
		if (i % 16 == 5)
			rec_subbuf_resize((size_t)4096 << i / 16 % 5);
		nanosleep(&pause_time, NULL);
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("produced %lu\n", events * threads);
	return 0;
}
