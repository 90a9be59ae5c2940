/* SPDX-License-Identifier: MIT */
/*
 * victim_points write|read NOTES
 *
 * A program to be killed at test points. As a writer its threads, one after the other, write events, discard some,
 * are interrupted by handlers that do the same, and now and then end in the middle of an event. As a reader it takes
 * pages out of the buffer that NOTES names until the writer is done and nothing is left. Each step is noted before
 * and after; see points_notes.h. All that it draws comes from the seed in NOTES.
 */
#include "points_notes.h"
#include "librecorder/core/testpoint.h"

#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/reader.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A deeper handler returns at once. */
#define DEEPEST 6u

static struct notes *notes;
static uint64_t drawn;

/* A number below `n`; of the same sequence in every run with this seed, because only one thing happens at a time. */
static uint32_t draw(uint32_t n)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((drawn >> 33) % n);
}

static void interrupt(void)
{
	raise(SIGUSR1);
}

/*
 * This thread ends inside the event, which is torn with all that was committed inside it. The lane counts the torn
 * events when it is repaired, so only then is their number certain (write_all()).
 */
static void leave(struct note *note)
{
	const uint64_t order = note_order(note->end);

	for (; note < &notes->made[notes->next]; note++)
		if ((note->state == NOTE_COMMITTED || note->state == NOTE_RESERVED) && note_order(note->end) >= order)
			note->state = NOTE_TORN;
	notes->level = 0;
	pthread_exit(NULL);
}

/* The test makes a thread jump here. The thread has nothing reserved, but may be in the middle of a reservation. */
static void way_out(void)
{
	uint32_t i;

	for (i = notes->next; notes->level && i-- > 0;)
		if (notes->made[i].state == NOTE_ASKED)
			notes->made[i].state = NOTE_NONE;
	notes->level = 0;
	pthread_exit(NULL);
}

static uint32_t draw_size(void)
{
	const uint32_t kind = draw(64);

	if (kind == 0)
		return 1u << 20; /* longer than any sub-buffer */
	if (kind < 24)
		return 8 + draw(24);
	return 8 + draw(notes->longest - 8);
}

static void write_one(bool nest)
{
	const uint32_t number = notes->next++;
	struct note *note = &notes->made[number];
	struct rec_slot slot;
	unsigned char *payload;

	notes->level++;
	note->size = draw_size();
	note->state = NOTE_ASKED;
	payload = rec_reserve(rec_thread_handle, note->size, &slot);
	if (payload) {
		note->end = slot.end;
		note->state = NOTE_RESERVED;
		/* Leave an event that crossed into the next sub-buffer and has no event after it. */
		if (nest && notes->leave && notes->level == 1 &&
		    REC_POS_SEQ(slot.old) != REC_POS_SEQ(slot.end) && draw(4) == 0)
			leave(note);
		if (nest && draw(notes->filter ? 100 : 3) == 0)
			interrupt();
		note_fill(payload, number, note->size);
		if (nest && notes->leave && notes->level == 1 && draw(30) == 0) {
			/* Leave an event after which handlers have written others. */
			interrupt();
			interrupt();
			leave(note);
		}
		if (notes->filter ? nest && draw(4) : !notes->plain && draw(6) == 0) {
			note->state = NOTE_DISCARDING;
			rec_discard(&slot, payload);
			note->state = NOTE_DISCARDED;
		} else {
			note->state = NOTE_COMMITTING;
			rec_commit(&slot);
			note->state = NOTE_COMMITTED;
		}
	} else {
		note->state = NOTE_REFUSED;
	}
	if (--notes->level == 0)
		notes->sure = notes->next;
}

/*
 * Makes the clock appear to step back, by moving the last event's time to the future, if nothing is reserved.
 */
static void step_clock(void)
{
	struct rec_lane *lane = rec_thread_handle->lane;

	lane->before += 50000000;
	lane->after = lane->before;
}

/*
 * Calls that other processes may make for a lane while it is written. Here its own thread makes them, between two
 * events.
 */
static void control(void)
{
	unsigned int lane;

	if (rec_thread_lane(&lane) < 0)
		_exit(3);
	rec_lane_disable(lane);
	write_one(true);
	write_one(false);
	rec_lane_enable(lane);
}

static bool have_room_for(uint32_t events)
{
	return notes->next + events < NOTES_EVENTS;
}

static void on_signal(int signal)
{
	const int saved = errno;
	static unsigned int depth;
	uint32_t kind = draw(10), n;

	(void)signal;
	if (depth < DEEPEST && have_room_for(400)) {
		depth++;
		if (notes->filter) {
			write_one(false);
		} else if (notes->plain) {
			do
				write_one(false);
			while (notes->made[notes->next - 1].state == NOTE_REFUSED && have_room_for(400));
		} else {
			/* Mostly one event; sometimes enough for a page, or to wrap a small ring. */
			n = kind < 4 ? 1 : kind < 6 ? 2 : kind < 8 ? 12 : kind == 8 ? 40 : 90;
			while (n--)
				write_one(depth < 3 && n < 3);
		}
		depth--;
	}
	errno = saved;
}

static void *run(void *arg)
{
	const uint32_t from = notes->next;

	(void)arg;
	if (rec_thread_attach() < 0)
		_exit(3);
	/* The account covers one lane, so this thread keeps its lane however long a reservation is open. */
	rec_thread_handle->on_stuck = NULL;
	while (notes->next < notes->events && (!notes->leave || notes->next - from < 400)) {
		write_one(true);
		if (!notes->plain && draw(50) == 0)
			step_clock();
		if (notes->control && draw(12) == 0)
			control();
	}
	return NULL;
}

static int write_all(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };

	drawn = notes->seed;
	notes->way_out = (uint64_t)(uintptr_t)way_out;
	sigaction(SIGUSR1, &action, NULL);
	while (notes->next < notes->events) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL))
			return 3;
		pthread_join(thread, NULL);
		notes->sure = notes->next;
	}
	__atomic_store_n(&notes->done, 1, __ATOMIC_RELEASE);
	return 0;
}

/* The event is peeked at, noted, and only then consumed, so that each consumed event was noted. */
static int take_event(struct rec_view *view)
{
	struct rec_view_event event;
	int r = rec_view_peek(view, 0, &event);

	if (r <= 0)
		return r;
	note_event(notes, &event);
	REC_TESTPOINT(own_event);
	r = rec_view_consume(view, 0, &event);
	if (r <= 0 || event.number != notes->last_first)
		notes->complaint = __LINE__;
	return r;
}

/* Reads through a mapping of the lane, which disappears with a reader that dies. */
static int take_mapped(struct rec_view *view, struct rec_page *page)
{
	static struct rec_map *map;
	const int r = map ? 0 : rec_map_lane(view, 0, &map);

	return r == -ENODATA ? 0 : r < 0 ? r : rec_map_get_reader(map, page);
}

static int read_all(void)
{
	struct rec_view *view;
	struct rec_page page;
	bool done;
	int r;

	drawn = notes->seed;
	notes->taking_over = 1;
	if (rec_view_open(notes->buffer, &view) < 0)
		return 4;
	for (;;) {
		done = __atomic_load_n(&notes->done, __ATOMIC_ACQUIRE);
		if (notes->by_event)
			r = take_event(view);
		else if (notes->by_map)
			r = take_mapped(view, &page);
		else
			r = rec_view_read(view, 0, !done && draw(2) ? REC_READ_WHOLE : 0, &page);
		notes->said = r;
		if (r > 0 && !notes->by_event)
			note_page(notes, &page);
		else if (r < 0 && r != -EAGAIN)
			notes->complaint = __LINE__;
		if (notes->complaint || (done && r <= 0))
			break;
		/*
		 * The page was handed over and is not finished: if the reader is killed here, the next reader gets the
		 * page again.
		 */
		if (r > 0)
			REC_TESTPOINT(own_page);
		/* The test lets the writer continue here. */
		if (r <= 0)
			REC_TESTPOINT(own_wait);
	}
	rec_view_close(view);
	return notes->complaint ? 5 : 0;
}

int main(int argc, char **argv)
{
	const int fd = argc == 3 ? open(argv[2], O_RDWR) : -1;

	if (fd < 0)
		return 2;
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (notes == MAP_FAILED)
		return 2;
	return strcmp(argv[1], "read") ? write_all() : read_all();
}
