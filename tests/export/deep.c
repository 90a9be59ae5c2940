/* SPDX-License-Identifier: MIT */
/*
 * Nested spans, each with its number: a thread with more than Perfetto nests on a track, one with more than a reader
 * awaits, and one that ends none of them. Prints a line "CASE TID" for each.
 */
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

REC_SPAN(deep, level, u32(number), end(u32(last)));
REC_SPAN(deep, after, u32(number));

struct nest {
	const char *name;
	uint32_t begins, ends;
};

static void *run(void *arg)
{
	const struct nest *nest = arg;

	printf("%s %d\n", nest->name, (int)gettid());
	for (uint32_t i = 0; i < nest->begins; i++)
		REC_BEGIN(deep, level, i);
	for (uint32_t i = 0; i < nest->ends; i++)
		REC_END(deep, level, nest->begins - 1 - i);
	REC_BEGIN(deep, after, nest->begins);
	REC_END(deep, after);
	return NULL;
}

int main(void)
{
	static struct nest nests[] = { { "deep", 700, 700 }, { "deeper", 1100, 1100 }, { "open", 3000, 0 } };
	pthread_t thread;

	for (unsigned int i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, run, &nests[i]))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}
