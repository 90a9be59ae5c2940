/* SPDX-License-Identifier: MIT */
/* Numbered events of this program's threads, and what became of them: each is read once, or counted. */
#ifndef NUMBERED_H
#define NUMBERED_H

#include <librecorder/lane.h>
#include <stdint.h>

#define NUMBERED_MAX 2000000u

struct sums {
	uint64_t events, lost, torn, no_lane;
};

/* Of each number: how often it was read, and of which thread it said to be. */
extern unsigned char *seen;
extern uint32_t *seen_tids;

/* Lanes of so many sub-buffers of 4096, so many of them (0: as many as there is room for); the events on. */
void numbered_begin(unsigned int subbufs, unsigned int lanes);

void numbered_write(uint64_t number);

/* One that the caller finishes, or does not. NULL: refused. */
unsigned char *numbered_reserve(uint64_t number, struct rec_slot *slot);

/* Read what is new in this process's buffer, or another; `torn` and `no_lane` are those of all time. */
struct sums numbered_read(void);
struct sums numbered_read_of(const char *path);

/* All threads are gone, or between two events: no lane is anybody's. */
void numbered_expect_no_owner(void);

#endif
