/* SPDX-License-Identifier: MIT */
/* Threads that grow into further lanes, because theirs are full of unread events. */
#ifndef GROW_FIXTURE_H
#define GROW_FIXTURE_H

#include "share_fixture.h"

#define PAGES 16u
#define LANE  NUMBERED_IN(PAGES)

/* Begin a process that may have this number of lanes, of this many sub-buffers; a reader permits growth. */
void grow_begin(unsigned int pages, unsigned int lanes);

/* Lanes that have a ring. */
unsigned int grow_made_lanes(void);

/* Read this number of events; none was lost. */
void grow_expect_all(unsigned int events);

/* A thread writes the first events to lanes that it takes because it grows, and ends. */
void grow_let_worker(unsigned int events);

#endif
