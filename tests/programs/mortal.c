/* SPDX-License-Identifier: MIT */
/*
 * mortal EVENTS IMAGES wait|segv|abort|eat
 *
 * Writes EVENTS numbered events, executes itself until it has been IMAGES program images, each of which continues to
 * count, prints "ready", and then waits to be killed, dies inside an event, aborts, or allocates memory until it is
 * killed.
 */
#include <librecorder/event.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

REC_EVENT(test, seq, u64(number));
REC_EVENT(test, blob, bytes(content));

static void become_next(char **argv, uint64_t next, long images)
{
	char number[32], left[32];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)next);
	snprintf(left, sizeof(left), "%ld", images);
	setenv("MORTAL_NEXT", number, 1);
	execl("/proc/self/exe", argv[0], argv[1], left, argv[3], (char *)NULL);
	_exit(1);
}

/* Memory is taken page by page, so that the limit is reached exactly and the kernel kills this process. */
static void eat(void)
{
	for (;;) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page != MAP_FAILED)
			*page = 1;
	}
}

int main(int argc, char **argv)
{
	const char *text = getenv("MORTAL_NEXT");
	uint64_t next = text ? strtoull(text, NULL, 10) : 0, end;
	long images;
	void *trap;

	if (argc != 4)
		return 2;
	end = next + strtoull(argv[1], NULL, 10);
	images = strtol(argv[2], NULL, 10);
	for (; next < end; next++)
		REC(test, seq, next);
	if (images > 1)
		become_next(argv, next, images - 1);
	puts("ready");
	fflush(stdout);
	if (!strcmp(argv[3], "segv")) {
		/* The reservation exists when the contents are copied, so the fault occurs inside the event. */
		trap = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		REC(test, blob, trap, 64);
	} else if (!strcmp(argv[3], "abort")) {
		abort();
	} else if (!strcmp(argv[3], "eat")) {
		eat();
	}
	for (;;)
		pause();
}
