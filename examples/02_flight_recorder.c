/* SPDX-License-Identifier: MIT */
/*
 * A flight recorder: the program keeps its own last events in memory and saves them when something goes wrong. No other
 * process takes part, and overwriting costs only the oldest events.
 *
 *	./02_flight_recorder slow.dat
 *	recorder report slow.dat
 *
 * If a recorder records the program, it has the events, and nothing is saved.
 */
#include <errno.h>
#include <librecorder/buffer.h>
#include <librecorder/event.h>
#include <stdio.h>
#include <string.h>

REC_EVENT(server, request, u64(id), u32(bytes));
REC_EVENT(server, reply, u64(id), u32(steps));

/* The work of a server: how many steps the number takes to reach 1 by the rule of Collatz. */
static uint32_t serve(uint64_t id)
{
	uint32_t steps = 0;

	for (uint64_t n = id + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2)
		steps++;
	return steps;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "slow.dat";
	int err = rec_enable("server:*");

	if (err < 0) {
		fprintf(stderr, "cannot record: %s\n", strerror(-err));
		return 1;
	}
	for (uint64_t id = 0;; id++) {
		uint32_t steps;

		REC(server, request, id, 16);
		steps = serve(id);
		REC(server, reply, id, steps);
		if (steps < 440)
			continue;

		/* Something is wrong: save the events that led to it. */
		err = rec_save(path);
		if (err == -EBUSY) {
			printf("request %llu took %u steps: the recorder has its events\n", (unsigned long long)id,
			       steps);
			return 0;
		}
		/* -EAGAIN: the file was written, but one thread was stopped in the middle of an event. */
		if (err < 0 && err != -EAGAIN) {
			fprintf(stderr, "cannot save %s: %s\n", path, strerror(-err));
			return 1;
		}
		printf("request %llu took %u steps: see %s%s\n", (unsigned long long)id, steps, path,
		       err ? " (without the events of one thread)" : "");
		return 0;
	}
}
