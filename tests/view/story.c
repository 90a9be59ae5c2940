/* SPDX-License-Identifier: MIT */
/*
 * story [TEXT]: two threads that write known events and spans, and take turns so that they wake each other. TEXT, or
 * one that could be mistaken for a script, is in the fields and in the name of a thread.
 */
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <semaphore.h>

#define STEPS 2000u

REC_EVENT(story, step, u32(number), string(text));
REC_EVENT(story, turn, u32(number));
REC_EVENT(story, work_begin, u32(number));
REC_EVENT(story, work_end, s32(result));
REC_EVENT(story, part_begin, u32(number));
REC_EVENT(story, part_end, s32(result));
REC_EVENT(story, rare, u32(number), string(text));

static sem_t turns[2];
static const char *text = "</script><script>window.hacked=1;alert(1)</script><img src=x onerror=\"window.hacked=2\">";

static void *play(void *arg)
{
	const unsigned int me = arg ? 1 : 0;

	pthread_setname_np(pthread_self(), me ? "<b>beta" : "alpha&amp;");
	for (uint32_t i = 0; i < STEPS; i++) {
		if (i % 20 == 0)
			REC(story, work_begin, i);
		REC(story, part_begin, i);
		REC(story, step, i, i % 100 ? "plain" : text);
		REC(story, part_end, (int32_t)(i % 7));
		if (i % 20 != 19)
			continue;
		REC(story, work_end, (int32_t)i);
		REC(story, turn, i);
		sem_post(&turns[!me]);
		while (sem_wait(&turns[me]))
			;
	}
	if (me)
		for (uint32_t i = 0; i < 7; i++)
			REC(story, rare, i, i == 4 ? "needle in the hay" : "hay");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1)
		text = argv[1];
	sem_init(&turns[0], 0, 0);
	sem_init(&turns[1], 0, 0);
	if (pthread_create(&other, NULL, play, (void *)1))
		return 1;
	play(NULL);
	pthread_join(other, NULL);
	return 0;
}
