/* SPDX-License-Identifier: MIT */
/*
 * victim_kills NOTES
 *
 * A program to be killed at any time. Its threads write numbered events, all together or in waves of threads,
 * interrupted by signals if NOTES requests it (kills_notes.h).
 */
#include "kills_notes.h"

#include <librecorder/event.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16u
#define STRIKES_US  150

REC_EVENT(kill, seq, u64(number), u32(source), bytes(fill));

static struct kills_notes *notes;

/* The thread's own source; that of its handlers is the next one. */
static __thread uint32_t mine = UINT32_MAX;

/* Between `asked` and `done` it is not known whether the event is committed, or refused, or neither yet. */
static void write_one(uint32_t source)
{
	struct kills_source *said = &notes->source[source];
	const uint64_t number = said->done;
	const uint32_t size = kills_fill_size(number, source, notes->longest);
	unsigned char fill[KILLS_FILL];
	uint32_t i;

	for (i = 0; i < size; i++)
		fill[i] = kills_fill_byte(number, source, i);
	/* If a handler interrupts here, the number is too small: then more events than necessary count as uncertain. */
	if (source == mine)
		__atomic_store_n(&said->sure, __atomic_load_n(&said[1].done, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&said->asked, number + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	REC(kill, seq, number, source, fill, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&said->done, number + 1, __ATOMIC_RELAXED);
}

static void on_signal(int signal)
{
	const int saved = errno;
	const uint32_t source = mine == UINT32_MAX ? mine : mine + 1;
	unsigned int i;

	(void)signal;
	for (i = 0; i < 3 && source < KILLS_SOURCES && notes->source[source].done < notes->each; i++)
		write_one(source);
	errno = saved;
}

static void *write_all(void *arg)
{
	mine = (uint32_t)(uintptr_t)arg;
	while (notes->source[mine].done < notes->each) {
		write_one(mine);
		__atomic_store_n(&notes->started, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void begin(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const struct itimerval every = { { 0, STRIKES_US }, { 0, STRIKES_US } };
	const struct timespec nap = { 0, 100000 };

	while (__atomic_load_n(&notes->gate, __ATOMIC_ACQUIRE))
		nanosleep(&nap, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (notes->nested)
		setitimer(ITIMER_REAL, &every, NULL);
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
	pthread_t threads[THREADS_MAX];
	uint32_t wave, i, source = 0;

	if (fd < 0)
		return 2;
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (notes == MAP_FAILED || notes->threads > THREADS_MAX)
		return 2;
	close(fd);
	begin();
	for (wave = 0; wave < notes->waves; wave++) {
		for (i = 0; i < notes->threads; i++, source += 2)
			if (pthread_create(&threads[i], NULL, write_all, (void *)(uintptr_t)source))
				return 3;
		for (i = 0; i < notes->threads; i++)
			pthread_join(threads[i], NULL);
	}
	__atomic_store_n(&notes->finished, 1, __ATOMIC_RELEASE);
	while (!notes->ends)
		pause();
	return 0;
}
