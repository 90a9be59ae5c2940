/* SPDX-License-Identifier: MIT */
#include "enable.h"

#include <librecorder/atomic.h>

void rec_enable_word(const uint32_t *stopped, uint32_t *word, bool wanted)
{
	if (!wanted) {
		__atomic_fetch_and(word, ~(REC_ENABLE_ON | REC_ENABLE_WANTED), __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_fetch_or(word, REC_ENABLE_WANTED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(stopped, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_or(word, REC_ENABLE_ON, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(stopped, __ATOMIC_SEQ_CST))
		__atomic_fetch_and(word, ~REC_ENABLE_ON, __ATOMIC_SEQ_CST);
}

void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop)
{
	uint32_t i;

	__atomic_store_n(stopped, stop, __ATOMIC_SEQ_CST);
	for (i = 0; i < nr; i++) {
		/* Looked at first: a word that was never used has no memory, and needs none. */
		const uint32_t word = __atomic_load_n(&words[i], __ATOMIC_SEQ_CST);

		if (stop && (word & REC_ENABLE_ON))
			__atomic_fetch_and(&words[i], ~REC_ENABLE_ON, __ATOMIC_SEQ_CST);
		else if (!stop && (word & REC_ENABLE_WANTED))
			rec_enable_word(stopped, &words[i], true);
	}
}
