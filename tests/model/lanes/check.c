/* SPDX-License-Identifier: MIT */
/* Conditions that must hold in every state, and at the end. */
#include "lanes.h"
#include "small.h"

#include <errno.h>
#include <string.h>

static bool is_in_pool(const struct rec_handle *handle)
{
	return (uintptr_t)handle - (uintptr_t)inside.handles < sizeof(inside.handles);
}

void check_owners(void)
{
	const struct rec_handle *handles[THREADS];
	unsigned int i, j;
	uint32_t owner;

	for (i = 0; i < THREADS; i++) {
		handles[i] = actor_handle(i);
		if (!is_in_pool(handles[i]))
			continue;
		owner = file[handles[i] - rec_pool.handles].lane.owner;
		if (owner != m.actors[i].tid)
			fail("actor %u uses lane %u, whose owner is %u", i, (uint32_t)(handles[i] - rec_pool.handles),
			     owner);
		for (j = 0; j < i; j++)
			if (handles[i] == handles[j])
				fail("actors %u and %u have lane %u", i, j, (uint32_t)(handles[i] - rec_pool.handles));
	}
}

/* A sleeper that was not woken must have no reason to be awake. */
static void check_sleeper(void)
{
	uint32_t i;

	for (i = 0; i < config->max_lanes && inside.kernel.asleep; i++) {
		const struct rec_ring_reader *ring = &m.opened[i].ring;

		if (m.opened[i].shared.at && REC_POS_ID(ring->lane->commit) != ring->page &&
		    rec_ring_is_hit(ring->lane, ring->words, 100))
			fail("the reader sleeps, and lane %u is full", i);
	}
	inside.kernel.asleep = 0;
}

static bool ends_without_notice(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (strchr(actor_program(i), 'X'))
			return true;
	return m.oracle.died;
}

/* All threads have ended. */
static void check_pool(void)
{
	int32_t nr_free = 0;
	uint32_t i;

	for (i = 0; i < config->max_lanes; i++) {
		const uint32_t owner = file[i].lane.owner;

		if (owner && owner != REC_OWNER_HELD && !ends_without_notice())
			fail("lane %u is not given back", i);
		if (file[i].lane.broken)
			fail("lane %u is broken at line %u", i, file[i].lane.broken);
		/* A shared lane must be complete, because threads that take it do not check it. */
		if (inside.own[i].shared && (!inside.own[i].made || rec_pool.handles[i].lane != &file[i].lane))
			fail("lane %u is shared, and not complete", i);
		nr_free += inside.own[i].made && !inside.own[i].shared && !owner;
	}
	if (!ends_without_notice() && nr_free != rec_pool.free_lanes)
		fail("%d lanes are free, %d are counted", nr_free, rec_pool.free_lanes);
}

static void each_thread(char action, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		actor_begin_thread(i);
		actor_become(i);
		act(action);
	}
}

/* Let a living thread hold a lane from now on. Returns the lane; NULL: there are too few lanes for that. */
static struct rec_lane *hold_one(void)
{
	struct rec_lane *lane = rec_pool.shared[0]->lane;

	if (config->shared_max < LANES_MAX)
		return NULL;
	/* A thread that is gone may hold the first or the second one. */
	lane = lane->owner ? rec_pool.shared[1]->lane : lane;
	actor_begin_thread(1);
	lane->owner = m.actors[1].tid;
	return lane;
}

/* If all lanes are shared, a new thread gets one of them, and soon repairs one whose holder is gone. */
static void check_sharing(void)
{
	const uint64_t lost = header.lost_no_lane;
	struct rec_lane *held;
	uint32_t i;

	if (config->shared_max < config->max_lanes)
		return;
	held = hold_one();
	for (i = 0; i < SHARE_PATIENCE; i++)
		each_thread('s', 1);
	if (header.lost_no_lane != lost)
		fail("a new thread gets no shared lane");
	if (held && held->owner != m.actors[1].tid)
		fail("a shared lane is taken away from a living thread");
	if (held)
		held->owner = 0;
	/* The thread's search begins at these lanes, so it has repaired them. */
	if (rec_pool.shared[0]->lane->owner || (held && rec_pool.shared[1]->lane->owner))
		fail("a shared lane is held by a thread that is gone");
	each_thread('x', 1);
}

/* New threads get all lanes that are not to be shared, each one of its own. */
static void check_leases(void)
{
	const uint32_t own = (uint32_t)config->max_lanes - config->shared_max, nr = own < THREADS ? own : THREADS;
	unsigned int i, lane = 0;

	each_thread('a', nr);
	check_owners();
	for (i = 0; i < nr; i++) {
		actor_become(i);
		if (rec_thread_lane(&lane) < 0)
			fail("a new thread gets no lane, though only %u others have one", i);
	}
	/* The events go through all pages. */
	for (i = 0; i < 3; i++) {
		each_thread('l', nr);
		each_thread('s', nr);
		act('r');
	}
	for (i = 0; i < 4; i++)
		each_thread('l', nr);
	check_owners();
	each_thread('x', nr);
	check_pool();
}

static bool look(uint32_t lane, struct rec_ring_counts *ret_counts)
{
	struct rec_ring_reader ring;
	int r = rec_view_look(&m.view, lane, &ring);

	if (r == -ENODATA)
		r = rec_view_look_without_ring(&m.view, lane, &ring);
	/* No event was ever written to a lane that has no memory yet, or that nr_lanes does not count. */
	if (r == -ENODATA || r == -EINVAL)
		return false;
	if (r == 0)
		r = ring.subbuf_size ? rec_ring_count(&ring, true, ret_counts)
				     : rec_ring_count_empty(&ring, ret_counts);
	if (r < 0)
		fail("lane %u has no statistics: %d", lane, r);
	return true;
}

/* What rec_view_stats() returns, also for lanes that were given up. */
static void check_counts(void)
{
	uint32_t i;

	for (i = 0; i < config->max_lanes; i++) {
		const struct list *list = &m.oracle.lists[i];
		struct rec_ring_counts counts = { 0 };

		if (!look(i, &counts) && list->nr)
			fail("lane %u has events, and no statistics", i);
		if (counts.committed != list->nr || counts.read > list->next ||
		    counts.entries + counts.read + counts.overrun != list->nr)
			fail("of %u events of lane %u, %u are counted: %u read, %u lost, %u unread", list->nr, i,
			     (uint32_t)counts.committed, (uint32_t)counts.read, (uint32_t)counts.overrun,
			     (uint32_t)counts.entries);
	}
}

/* Every event is in a lane, read or reported as lost, or is counted where it was refused. */
static void check_account(void)
{
	uint64_t known = header.lost_no_lane;
	uint32_t i;

	for (i = 0; i < config->max_lanes; i++) {
		const struct lane_file *lane = &file[i];
		const struct list *list = &m.oracle.lists[i];
		struct rec_ring_counts counts = { 0 };

		known += list->nr + rec_lane_refusals(&lane->lane) + lane->lane.disabled;
		if (m.opened[i].shared.at && rec_ring_count(&m.opened[i].ring, false, &counts) < 0)
			fail("lane %u cannot be counted", i);
		if (counts.committed != list->nr)
			fail("%u events were committed to lane %u, it has counted %u", list->nr, i,
			     (uint32_t)counts.committed);
		if (counts.entries || counts.read + counts.overrun != list->nr)
			fail("of %u events of lane %u, %u were read, %u lost, and %u remain", list->nr, i,
			     (uint32_t)counts.read, (uint32_t)counts.overrun, (uint32_t)counts.entries);
	}
	if (known > m.oracle.tried || known + m.oracle.unknown < m.oracle.tried)
		fail("%u events were written, and %u are accounted for", m.oracle.tried, (uint32_t)known);
}

/* No thread takes a lane over any more, so no thread id is refused. */
static void check_ids(void)
{
	uint32_t i;

	for (i = 0; i < config->max_lanes; i++)
		if (rec_pool.own[i].bereft)
			fail("threads with id %u never get a lane", rec_pool.own[i].bereft);
	for (i = 0; i < THREADS; i++)
		m.actors[i].bereft = false;
}

void check_end(void)
{
	quiet = true;
	quiet_begin();
	check_owners();
	check_ids();
	check_sleeper();
	each_thread('x', THREADS);
	each_thread('C', THREADS);
	check_pool();
	check_counts();
	check_leases();
	check_sharing();
	act('r');
	check_account();
	quiet = false;
}
