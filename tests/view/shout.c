/* SPDX-License-Identifier: MIT */
/*
 * shout: writes each text of its standard input, ended by a NUL, as a field, as a thread's name, and by rec_printf().
 */
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

REC_EVENT(shout, text, u32(number), string(text));

struct shout {
	uint32_t number;
	const char *text;
};

static void *write_events(void *arg)
{
	const struct shout *shout = arg;
	char name[16];

	snprintf(name, sizeof(name), "%s", shout->text);
	pthread_setname_np(pthread_self(), name);
	REC(shout, text, shout->number, shout->text);
	rec_printf("%u says %s", shout->number, shout->text);
	return NULL;
}

int main(void)
{
	struct shout shout = { .number = 0 };
	char *text = NULL;
	size_t room = 0;
	pthread_t thread;

	for (; getdelim(&text, &room, '\0', stdin) > 0; shout.number++) {
		shout.text = text;
		if (pthread_create(&thread, NULL, write_events, &shout) || pthread_join(thread, NULL))
			return 1;
	}
	free(text);
	return 0;
}
