/* SPDX-License-Identifier: MIT */
/* Lanes that are resized, and the events in each of them. */
#ifndef RESIZE_FIXTURE_H
#define RESIZE_FIXTURE_H

#include "share_fixture.h"

#include <stdint.h>

/* Sub-buffers in the lane's ring. */
uint32_t lane_pages(unsigned int lane);

/* Like rec_lane_resize(), to this number of sub-buffers. */
int lane_resize(unsigned int lane, uint32_t to);

/* Request that the calling thread continue in a lane of this number of sub-buffers, as another thread would. */
void lane_ask(uint32_t to);

/* The lane that worker i writes to. */
unsigned int worker_lane(unsigned int i);

/* The events of one lane, whose numbers must be `first` and following, in this order. */
void expect_lane(unsigned int lane, uint64_t first, unsigned int events);

#endif
