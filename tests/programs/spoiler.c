/* SPDX-License-Identifier: MIT */
/*
 * spoiler FILE
 *
 * Writes 100 events in one thread, and breaks its own lane: it overwrites the links of the ring while an event is being
 * written. Then 1000 events more, which that lane refuses; 200 in a thread that existed before; 300 in one that starts
 * later. Makes FILE, waits until that is removed, and ends.
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(spoiler, number, u64(number));

static pthread_barrier_t spoilt;

static void trace(unsigned int events)
{
	for (unsigned int i = 0; i < events; i++)
		REC(spoiler, number, i);
}

static void *trace_beside(void *arg)
{
	rec_thread_attach();
	pthread_barrier_wait(&spoilt);
	pthread_barrier_wait(&spoilt);
	trace(200);
	return arg;
}

static void *trace_later(void *arg)
{
	trace(300);
	return arg;
}

/*
 * Changes the lane as if signal handlers had interrupted the event and had written into the next sub-buffer. So the
 * event's commit must follow the damaged links.
 */
static void spoil(void)
{
	static const char text[100] = "interrupts";
	struct rec_handle *handle = rec_thread_handle;
	struct rec_slot slot;
	void *payload = rec_reserve(handle, sizeof(text), &slot);

	if (!payload)
		return;
	memset(payload, 0, sizeof(text));
	for (unsigned int i = 0; i < 45; i++)
		rec_write(handle, text, sizeof(text));
	for (uint32_t i = 0; i < handle->nr_subbufs; i++)
		handle->links[i].next = REC_LINK(1, REC_LINK_NORMAL, 77);
	rec_commit(&slot);
}

int main(int argc, char **argv)
{
	const struct timespec moment = { 0, 10000000 };
	pthread_t beside, later;

	if (argc != 2)
		return 2;
	pthread_barrier_init(&spoilt, NULL, 2);
	if (pthread_create(&beside, NULL, trace_beside, NULL))
		return 1;
	pthread_barrier_wait(&spoilt);
	trace(100);
	spoil();
	trace(1000);
	pthread_barrier_wait(&spoilt);
	pthread_join(beside, NULL);
	if (pthread_create(&later, NULL, trace_later, NULL))
		return 1;
	pthread_join(later, NULL);
	close(open(argv[1], O_CREAT | O_WRONLY, 0600));
	while (access(argv[1], F_OK) == 0)
		nanosleep(&moment, NULL);
	return 0;
}
