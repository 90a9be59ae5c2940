/* SPDX-License-Identifier: MIT */
/*
 * victim FILE EVENTS
 *
 * Writes numbered events until it has written EVENTS, and then waits to be killed. FILE has the number committed at all
 * times, in a mapping that outlives the program: 8 bytes, stored immediately after each event. Every thousand events it
 * pauses, so that a recorder keeps up with it: it writes some 5 MB a second at most.
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(test, seq, u64(number));

int main(int argc, char **argv)
{
	const uint64_t events = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	const struct timespec pause_time = { 0, 5000000 };
	volatile uint64_t *count;
	int fd;

	if (!events)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*count)))
		return 1;
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return 1;
	for (uint64_t i = 0; i < events; i++) {
		REC(test, seq, i);
		*count = i + 1;
		if (i % 1024 == 1023)
			nanosleep(&pause_time, NULL);
	}
	for (;;)
		pause();
}
