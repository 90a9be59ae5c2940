/* SPDX-License-Identifier: MIT */
#include "librecorder/core/enable.h"
#include "librecorder/core/atomic.h"


/* Switch the event on if it is wanted and the buffer is not stopped. */
static void switch_on(const uint32_t *stopped, uint32_t *word)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	do {
		if (!(old & REC_ENABLE_WANTED) || __atomic_load_n(stopped, __ATOMIC_SEQ_CST))
			return;
	} while (!__atomic_compare_exchange_n(word, &old, old | REC_ENABLE_ON, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	if (__atomic_load_n(stopped, __ATOMIC_SEQ_CST))
		__atomic_fetch_and(word, ~REC_ENABLE_ON, __ATOMIC_SEQ_CST);
}

void rec_enable_word(const uint32_t *stopped, uint32_t *word, uint32_t wanted)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	if (!(wanted & REC_ENABLE_WANTED)) {
		__atomic_fetch_and(word, ~(REC_ENABLE_ON | REC_ENABLE_WANTED), __ATOMIC_SEQ_CST);
		return;
	}
	/*
	 * An event that is on changes to another condition without being off in between. Release: the condition is
	 * complete (edge F1).
	 */
	while (!__atomic_compare_exchange_n(word, &old, wanted | (old & REC_ENABLE_ON), false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
	switch_on(stopped, word);
}

void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop)
{
	uint32_t i;

	__atomic_store_n(stopped, stop, __ATOMIC_SEQ_CST);
	for (i = 0; i < nr; i++) {
		/* Read first: a word that was never used has no memory, and needs none. */
		const uint32_t word = __atomic_load_n(&words[i], __ATOMIC_SEQ_CST);

		if (stop && (word & REC_ENABLE_ON))
			__atomic_fetch_and(&words[i], ~REC_ENABLE_ON, __ATOMIC_SEQ_CST);
		else if (!stop)
			switch_on(stopped, &words[i]);
	}
}
