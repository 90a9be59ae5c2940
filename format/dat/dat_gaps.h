/* SPDX-License-Identifier: MIT */
/* Counts the events that are missing from a trace, while the trace is read. */
#ifndef FORMAT_DAT_GAPS_H
#define FORMAT_DAT_GAPS_H

#include "format/dat/dat_merge.h"

struct dat_gaps {
	uint64_t places, lost;
	bool is_unknown;  /* true: the number of at least one loss is not known */
	uint64_t damaged; /* pages that could not be read, in whole or in part */
	uint64_t given_up; /* for passes with a model: as in struct model_sink */
};

/* Adds the losses before an event. */
static inline void dat_gaps_note(struct dat_gaps *gaps, const struct dat_event *event)
{
	gaps->places += event->lost != 0;
	gaps->lost += event->lost > 0 ? (uint64_t)event->lost : 0;
	gaps->is_unknown |= event->lost < 0;
}

/* Adds the damage. Call it when all events have been read. */
static inline void dat_gaps_end(struct dat_gaps *gaps, const struct dat_merge *merge)
{
	struct dat_error error;
	uint32_t cpu;

	gaps->damaged = dat_merge_damaged(merge, &error, &cpu);
}

#endif
