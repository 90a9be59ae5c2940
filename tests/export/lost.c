/* SPDX-License-Identifier: MIT */
/*
 * Spans whose begins and ends are lost in some lanes. Each span has its own number in its begin and in its end, so a
 * reader can see which of them belong together. The keys are used again and again, and any thread may end a span of any
 * other.
 *
 * lost handover: two threads. One begins span 1; the other ends it, begins span 2 with the same key, and loses both
 *	events, which its next event reports; before that, the first thread ends span 2. Spans 7 and 8 are before and
 *	after that.
 * lost tail: a thread begins a span; if the lane discards, it loses the end, and has no event after that.
 * lost storm: four threads that write at random.
 *
 * A key is used again only 10 us after its span has ended, which is more than the clocks of two CPUs differ.
 */
#include <librecorder/clock.h>
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

REC_SPAN_KEYED(lost, rpc, key(u32(slot)), u64(begun), end(u64(ended)));
REC_SPAN(lost, work, u64(begun), end(u64(ended)));
REC_EVENT(lost, note, u64(n));

#define NR_THREADS 4
#define NR_SLOTS   8
#define PAUSE_NS   10000u
/* More notes than a lane of 64 KiB holds. */
#define NR_NOTES   20000u

/* For a key: the number of the span with it, if one is open, and the time from which its next event may follow. */
struct slot {
	pthread_mutex_t lock;
	uint64_t open;
	uint64_t after;
};

static struct slot slots[NR_SLOTS];
static atomic_uint_fast64_t next_number = 1;
static pthread_barrier_t turn;

static void write_notes(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		REC(lost, note, i);
}

static void use(uint32_t key)
{
	struct slot *slot = &slots[key];

	pthread_mutex_lock(&slot->lock);
	if (rec_clock_mono() >= slot->after) {
		if (slot->open) {
			REC_END(lost, rpc, key, slot->open);
			slot->open = 0;
		} else {
			slot->open = next_number++;
			REC_BEGIN(lost, rpc, key, slot->open);
		}
		slot->after = rec_clock_mono() + PAUSE_NS;
	}
	pthread_mutex_unlock(&slot->lock);
}

static void work(bool nests)
{
	const uint64_t number = next_number++;

	REC_BEGIN(lost, work, number);
	if (nests)
		work(false);
	REC_END(lost, work, number);
}

static uint32_t random_of(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

static void *storm(void *seed)
{
	uint32_t state = *(uint32_t *)seed;

	for (unsigned int round = 0; round < 6000; round++) {
		use(random_of(&state) % NR_SLOTS);
		if (random_of(&state) % 4 == 0)
			work(random_of(&state) % 2);
		if (random_of(&state) % 64 == 0)
			write_notes(random_of(&state) % 1000);
		if (random_of(&state) % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void *lose(void *none)
{
	/* Discard mode loses what comes after the first notes, overwrite mode what comes before the second ones. */
	write_notes(NR_NOTES);
	REC_END(lost, rpc, 1, 1);
	REC_BEGIN(lost, rpc, 1, 2);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	write_notes(NR_NOTES);
	return none;
}

static int hand_over(void)
{
	pthread_t thread;
	int err;

	REC_BEGIN(lost, rpc, 0, 7);
	REC_END(lost, rpc, 0, 7);
	REC_BEGIN(lost, rpc, 1, 1);
	err = pthread_barrier_init(&turn, NULL, 2) || pthread_create(&thread, NULL, lose, NULL);
	if (err)
		return err;
	pthread_barrier_wait(&turn);
	REC_END(lost, rpc, 1, 2);
	pthread_barrier_wait(&turn);
	err = pthread_join(thread, NULL);
	REC_BEGIN(lost, rpc, 0, 8);
	REC_END(lost, rpc, 0, 8);
	return err;
}

static void *lose_tail(void *none)
{
	REC_BEGIN(lost, work, 5);
	write_notes(NR_NOTES);
	REC_END(lost, work, 5);
	return none;
}

static int tail(void)
{
	pthread_t thread;

	REC(lost, note, 0);
	return pthread_create(&thread, NULL, lose_tail, NULL) || pthread_join(thread, NULL);
}

static int storm_all(void)
{
	uint32_t seeds[NR_THREADS];
	pthread_t threads[NR_THREADS];
	int err = 0;

	for (unsigned int i = 0; i < NR_SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	for (unsigned int i = 0; i < NR_THREADS && !err; i++) {
		seeds[i] = i + 1;
		err = pthread_create(&threads[i], NULL, storm, &seeds[i]);
	}
	for (unsigned int i = 0; i < NR_THREADS && !err; i++)
		err = pthread_join(threads[i], NULL);
	return err;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	return !strcmp(how, "storm") ? storm_all() : !strcmp(how, "tail") ? tail() : hand_over();
}
