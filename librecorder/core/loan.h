/* SPDX-License-Identifier: MIT */
/* Which part of a loan has memory. */
#ifndef LOAN_H
#define LOAN_H

#include "librecorder/core/atomic.h"

#include <librecorder/detail/abi.h>
#include <stddef.h>

/* Number of valid bytes of a loan; never more than exist, whatever the fields contain. */
static inline size_t rec_loan_size(const struct rec_loan *loan)
{
	const uint32_t nr = rec_load_relaxed(&loan->nr_words);

	return offsetof(struct rec_loan, words) + (nr < REC_EVENTS_MAX ? nr : REC_EVENTS_MAX) * sizeof(loan->words[0]);
}

#endif
