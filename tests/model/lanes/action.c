/* SPDX-License-Identifier: MIT */
/*
 * The actions of threads and of the reader. This file is compiled as the lanes are, so that the ring's inline part is
 * checked here.
 *
 *  s  an event of one word; leases a lane, if the thread has none
 *  l  the same, of the longest that fits
 *  a  attach: lease a lane without an event
 *  x  the thread ends; what follows is another one
 *  X  it ends without notice, by a raw system call
 *  c  set the lane aside as a snapshot	    C  give that one back
 *  R  give back lane 0, whoever has set it aside
 *  z  a lane of three pages in place of the own one, Z  in place of lane 0, whoever has it
 *  d  disable lane 0, m  lane 1		    D  enable the lane that the thread has disabled
 *  g  growth is permitted		    G  it is not any more
 *  r  the reader reads all there is	    e  the reader ends, and another one begins
 *  w  sleep until a lane is full, and read
 */
#include "lanes.h"

#include <errno.h>

#define LONG_SIZE (SUBBUF - REC_SUBBUF_HEADER_SIZE - REC_RESTATE_SIZE - 4u)

static void write_event(uint32_t size)
{
	struct rec_handle *handle = rec_thread_handle;
	const uint32_t id = oracle_tries();
	struct rec_slot slot;
	uint32_t *payload;

	/* Lease a lane as the macro of an event does. */
	if (!handle->lane)
		handle = rec_lane_lease();
	/* While a lane is taken over from a former thread with the same id, it gets none; that may be over now. */
	if (!handle && !m.actors[current].bereft)
		fail("a thread gets no handle");
	if (!handle)
		return;
	payload = rec_reserve(handle, size, &slot);
	if (!payload)
		return;
	oracle_enters(slot.lane);
	*payload = id;
	oracle_commits(slot.lane, id);
	rec_commit(&slot);
	oracle_leaves(slot.lane);
}

static void read_lane(uint32_t index)
{
	struct view_lane *lane = NULL;
	struct rec_ring_event event;
	unsigned int tries = 0;
	int r;

	r = rec_view_lane(&m.view, index, &lane);
	if (r == -ENODATA || r == -EAGAIN)
		return;
	if (r < 0)
		fail("lane %u cannot be read: %d", index, r);
	do {
		r = rec_ring_consume(&lane->ring, &event);
		if (r > 0)
			oracle_reads(index, &event);
	} while (r > 0 || rec_view_again(&m.view, lane, r, &tries));
	if (r < 0 && r != -EAGAIN)
		fail("lane %u is damaged: %d", index, r);
}

static void read_all(void)
{
	const uint32_t lanes = rec_view_lanes(&m.view);
	uint32_t index;

	for (index = 0; index < lanes; index++)
		read_lane(index);
}

static void wait_and_read(void)
{
	const int r = rec_view_wait(&m.view, REC_ALL_LANES, 100, -1);

	if (r < 0)
		fail("a wait ends with %d", r);
	read_all();
}

static void set_aside(void)
{
	unsigned int lane = 0;
	const int r = rec_lane_swap(&lane);

	if (r == 0)
		m.actors[current].held = lane + 1;
	else if (r != -ENOENT && r != -EDQUOT)
		fail("a lane cannot be set aside: %d", r);
}

static void take_back(void)
{
	struct actor *self = &m.actors[current];

	if (self->held && rec_lane_release(self->held - 1) < 0)
		fail("a lane was set aside, and cannot be given back");
	self->held = 0;
}

static void take_back_first(void)
{
	unsigned int i;

	if (rec_lane_release(0) < 0)
		return;
	for (i = 0; i < THREADS; i++)
		m.actors[i].held = m.actors[i].held == 1 ? 0 : m.actors[i].held;
}

static void resize(unsigned int lane)
{
	const int r = rec_lane_resize(lane, 3 * (SUBBUF - REC_SUBBUF_HEADER_SIZE));

	if (r < 0 && r != -ENOENT && r != -EBUSY && r != -EDQUOT)
		fail("a lane cannot be resized: %d", r);
}

static void resize_own(void)
{
	unsigned int lane = 0;

	if (rec_thread_lane(&lane) == 0)
		resize(lane);
}

static void disable(unsigned int lane)
{
	const int r = rec_lane_disable(lane);

	if (r == 0)
		m.actors[current].disabled = lane + 1;
	else if (r != -ENOENT)
		fail("a lane cannot be disabled: %d", r);
}

static void enable(void)
{
	struct actor *self = &m.actors[current];

	if (self->disabled && rec_lane_enable(self->disabled - 1) < 0)
		fail("a lane was disabled, and cannot be enabled");
	self->disabled = 0;
}

void act(char action)
{
	switch (action) {
	case 's':
		write_event(4);
		break;
	case 'l':
		write_event(LONG_SIZE);
		break;
	case 'a':
		rec_thread_attach();
		break;
	case 'x':
		rec_lane_exit();
		actor_end_thread();
		break;
	case 'X':
		actor_end_thread();
		break;
	case 'c':
		set_aside();
		break;
	case 'C':
		take_back();
		break;
	case 'R':
		take_back_first();
		break;
	case 'z':
		resize_own();
		break;
	case 'Z':
		resize(0);
		break;
	case 'd':
		disable(0);
		break;
	case 'm':
		disable(1);
		break;
	case 'D':
		enable();
		break;
	case 'g':
	case 'G':
		rec_store_relaxed(&header.grow_until, action == 'g' ? NOW + 1 : 0);
		break;
	case 'r':
		read_all();
		break;
	case 'e':
		view_end();
		break;
	case 'w':
		wait_and_read();
		break;
	default:
		fail("no such action: %c", action);
	}
}
