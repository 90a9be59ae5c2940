/* SPDX-License-Identifier: MIT */
/* Events of this program that views switch. For inclusion in one source file. */
#ifndef SWITCHED_EVENTS_H
#define SWITCHED_EVENTS_H

#include "tests/unit/made_event.h"

#include <librecorder/event.h>
#include <stdio.h>
#include <stdlib.h>

#define BOTH (REC_ENABLE_ON | REC_ENABLE_WANTED)
#define EVENTS_MAX 128u

static struct made_event made[EVENTS_MAX];
static unsigned int nr_made;

/* Register system:name. Returns its number. */
static inline unsigned int make(const char *system, const char *name)
{
	char declaration[32];

	if (nr_made == EVENTS_MAX)
		abort();
	snprintf(declaration, sizeof(declaration), "%s, u8(a)", name);
	made_event(&made[nr_made], system, declaration, 9);
	rec_event_register(&made[nr_made].event);
	return nr_made++;
}

static inline uint32_t word_of(unsigned int number)
{
	return __atomic_load_n(made[number].event.enabled, __ATOMIC_SEQ_CST);
}

#endif
