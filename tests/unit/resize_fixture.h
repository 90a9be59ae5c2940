/* SPDX-License-Identifier: MIT */
/* Lanes that are resized, and what each of them holds. */
#ifndef RESIZE_FIXTURE_H
#define RESIZE_FIXTURE_H

#include "share_fixture.h"

#include <stdint.h>

/* Sub-buffers in the lane's ring. */
uint32_t lane_pages(unsigned int lane);

/* Like rec_lane_resize(), to this number of sub-buffers. */
int lane_resize(unsigned int lane, uint32_t to);

/* Ask the calling thread for a lane of this many sub-buffers, as another thread does. */
void lane_ask(uint32_t to);

/* The lane that worker i writes to. */
unsigned int worker_lane(unsigned int i);

/* The events of one lane, whose numbers must be `first` and following, in this order. */
void expect_lane(unsigned int lane, uint64_t first, unsigned int events);

#endif
