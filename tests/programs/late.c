/* SPDX-License-Identifier: MIT */
/*
 * A program whose exit() blocks after all destructors: main() fills a large stdio buffer with text, and the flush
 * blocks if nothing reads the pipe at stdout. Meanwhile a thread writes events.
 *
 *	late WORDS
 *
 * Bytes are read from the fifo WORDS. main() returns after the first one. For each further one the thread writes EVENTS
 * events; it reads them once the flush has begun.
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define EVENTS	    2000u
#define TEXT_SIZE   200000
#define BUFFER_SIZE (1 << 20)

REC_EVENT(late, count, u32(number));

static char buffer[BUFFER_SIZE];
static sem_t begun;
static int words;

static bool read_word(void)
{
	char word;

	return read(words, &word, 1) == 1;
}

static void wait_for_flush(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int size = 0;

	while (!size && !ioctl(STDOUT_FILENO, FIONREAD, &size))
		nanosleep(&pause, NULL);
}

static void *run(void *arg)
{
	uint32_t number = 0;

	REC(late, count, number++);
	sem_post(&begun);
	wait_for_flush();
	while (read_word())
		for (unsigned int i = 0; i < EVENTS; i++)
			REC(late, count, number++);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	words = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (words < 0 || sem_init(&begun, 0, 0) || setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)) ||
	    pthread_create(&thread, NULL, run, NULL))
		return EXIT_FAILURE;
	for (unsigned int i = 0; i < TEXT_SIZE; i++)
		putchar('x');
	while (sem_wait(&begun))
		;
	return read_word() ? EXIT_SUCCESS : EXIT_FAILURE;
}
