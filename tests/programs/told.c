/* SPDX-License-Identifier: MIT */
/*
 * Reads words, one on each line, carries out each, and then prints the word as the answer: "go" writes ten of each
 * event, "vfork" writes one in a child of vfork, which is lost if the program has written none before, "print" calls
 * rec_printf(), "stop" and "start" are rec_stop() and rec_start(), "off" is rec_disable(); "pid" is answered with its
 * pid, "save" with the result of rec_save() to saved.dat.
 */
#include <librecorder/event.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(kv, put, u32(number));
REC_EVENT(kv, get, u32(number));
REC_EVENT(net, idle, u32(number));

static void write_events(void)
{
	for (unsigned int i = 0; i < 10; i++) {
		REC(kv, put, i);
		REC(kv, get, i);
		REC(net, idle, i);
	}
}

static void write_in_child(void)
{
	if (!vfork()) {
		REC(net, idle, 0);
		_exit(0);
	}
	wait(NULL);
}

int main(void)
{
	char word[16];

	while (scanf("%15s", word) == 1) {
		if (!strcmp(word, "go"))
			write_events();
		else if (!strcmp(word, "vfork"))
			write_in_child();
		else if (!strcmp(word, "print"))
			rec_printf("number %d", 1);
		else if (!strcmp(word, "stop"))
			rec_stop();
		else if (!strcmp(word, "start"))
			rec_start();
		else if (!strcmp(word, "off"))
			rec_disable("*");
		if (!strcmp(word, "pid"))
			printf("%d\n", (int)getpid());
		else if (!strcmp(word, "save"))
			printf("saved %d\n", rec_save("saved.dat"));
		else
			puts(word);
		fflush(stdout);
	}
	return 0;
}
