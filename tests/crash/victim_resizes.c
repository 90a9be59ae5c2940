/* SPDX-License-Identifier: MIT */
/*
 * victim_resizes NOTES
 *
 * Writes numbered events and has its lane resized in every way that exists, until it ends or is killed. The number of
 * events that were certainly committed is in NOTES, which is 8 bytes long.
 */
#include <librecorder/event.h>
#include <librecorder/lane.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 12u

static uint64_t *committed;

struct event {
	struct rec_event_common common;
	uint64_t number;
};

static void write_one(void)
{
	const struct event event = { .number = *committed };

	if (rec_write(rec_handle_get(), &event, sizeof(event)) < 0)
		_exit(3);
	__atomic_store_n(committed, event.number + 1, __ATOMIC_RELEASE);
}

static unsigned int own_lane(void)
{
	unsigned int lane = 0;

	if (rec_thread_lane(&lane) < 0)
		_exit(4);
	return lane;
}

/* A resize that is requested in the middle of an event has to wait, like one requested by another thread. */
static void want_pages(unsigned int pages)
{
	const struct event event = { .number = *committed };
	struct rec_slot slot;
	void *payload = rec_reserve(rec_handle_get(), sizeof(event), &slot);

	if (!payload || rec_lane_resize(own_lane(), pages * 4080ul) < 0)
		_exit(5);
	memcpy(payload, &event, sizeof(event));
	rec_commit(&slot);
	__atomic_store_n(committed, event.number + 1, __ATOMIC_RELEASE);
}

static void change(unsigned int round)
{
	unsigned int lane;

	switch (round % 4) {
	case 0:
		if (rec_lane_resize(own_lane(), (2 + round) * 4080ul) < 0)
			_exit(6);
		break;
	case 1:
		want_pages(3 + round);
		break;
	case 2:
		/* The lane that was prepared has another shape by then. */
		want_pages(4 + round);
		if (rec_subbuf_resize((size_t)8192 >> round / 4 % 2) < 0)
			_exit(7);
		break;
	default:
		for (lane = 0; lane < 64; lane++) {
			const int r = lane == own_lane() ? 0 : rec_lane_resize(lane, (1 + round) * 4080ul);

			if (r < 0 && r != -EBUSY && r != -ENOENT && r != -EINVAL)
				_exit(8);
		}
	}
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;

	if (fd < 0)
		return 2;
	committed = mmap(NULL, sizeof(*committed), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (committed == MAP_FAILED)
		return 2;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		write_one();
		change(round);
		write_one();
		write_one();
	}
	return 0;
}
