/* SPDX-License-Identifier: MIT */
/* The start of most tests of a reader: this process's own buffer with one lane, and a view of it. */
#ifndef LANE_FIXTURE_H
#define LANE_FIXTURE_H

#include "reader_fixture.h"

extern struct rec_handle *lane;
extern struct rec_view *view;

/* Calls reader_begin(), and then sets `lane` and `view`. */
void lane_begin(unsigned int pages, bool discard);

/* The same without a lane: a thread that traces leases its own. */
void view_begin(unsigned int pages);

/* Closes the present `view`, and removes the directory. */
void lane_end(void);

/* Events `from` to `to` - 1, of `size` bytes each; none may be refused. */
void lane_write(uint64_t from, uint64_t to, uint32_t size);

#endif
