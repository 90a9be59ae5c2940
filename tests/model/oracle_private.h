/* SPDX-License-Identifier: MIT */
/* The list of events, for the files of the oracle. */
#ifndef ORACLE_PRIVATE_H
#define ORACLE_PRIVATE_H

#include "model.h"

#define o m.oracle

/* Sequence and offset of a position; the number of events in it changes with discards. */
static inline uint32_t place_of(uint64_t position)
{
	return REC_POS_SEQ(position) << 16 | REC_POS_OFF(position);
}

/* The event with this id on the list. NULL: the list does not have it. */
struct event *oracle_find(uint32_t id);

/* The same for an event that must be there. */
struct event *oracle_known(uint32_t id);

/* Remove the event from the list. */
void oracle_forget(struct event *event);

#endif
