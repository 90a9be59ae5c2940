/* SPDX-License-Identifier: MIT */
#include "librecorder/core/enable.h"
#include "librecorder/core/atomic.h"

/* The number of rounds for one word. More are needed only if others switch the event all the time. */
#define FOLLOW_TRIES 100u

/*
 * Switch the event on if it is wanted and the buffer is not stopped, otherwise off. Between the caller's change of the
 * word or of `stopped` and this call there is a full fence. A word that is right already is not written: it may have no
 * memory.
 */
static void follow_stopped(const uint32_t *stopped, uint32_t *word)
{
	unsigned int tries;

	for (tries = 0; tries < FOLLOW_TRIES; tries++) {
		uint32_t old = rec_load_acquire(word);
		const bool on = (old & REC_ENABLE_WANTED) && !rec_load_acquire(stopped);

		if (on == ((old & REC_ENABLE_ON) != 0))
			return;
		rec_cmpxchg32(word, &old, on ? old | REC_ENABLE_ON : old & ~REC_ENABLE_ON);
		rec_fence_full();
	}
}

void rec_enable_word(const uint32_t *stopped, uint32_t *word, uint32_t wanted)
{
	uint32_t old = rec_load_acquire(word);

	if (!(wanted & REC_ENABLE_WANTED)) {
		__atomic_fetch_and(word, ~(REC_ENABLE_ON | REC_ENABLE_WANTED), __ATOMIC_ACQ_REL);
		return;
	}
	/*
	 * An event that is on changes to another condition without being off in between. Release: the condition is
	 * complete (edge F1).
	 */
	while (!rec_cmpxchg32(word, &old, wanted | (old & REC_ENABLE_ON)))
		;
	rec_fence_full();
	follow_stopped(stopped, word);
}

void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop)
{
	uint32_t i;

	rec_store_release(stopped, stop);
	rec_fence_full();
	for (i = 0; i < nr; i++)
		follow_stopped(stopped, &words[i]);
}
