/* SPDX-License-Identifier: MIT */
/*
 * Replacements for what reader_lane.c and reader_wait.c need of the file and of other processes. This file is compiled
 * as they are.
 */
#include "lanes.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void view_begin(void)
{
	m.view = (struct rec_view){
		.map = (const unsigned char *)&header,
		.info = { .max_lanes = config->max_lanes },
		.who = { .pid = PID, .start_time = START_TIME },
		.self = (uint64_t)START_TIME << 32 | (PID + 1),
		.lanes = rec_pool.geometry.lanes,
		.lane_stride = sizeof(struct lane_file),
		.lane_reader = offsetof(struct lane_file, words),
		.lane_meta = offsetof(struct lane_file, meta),
		.max_subbufs = SUBBUFS,
		.opened = m.opened,
	};
	memset(m.opened, 0, sizeof(m.opened));
}

/* As rec_view_close() in the process that opened the view. */
void view_end(void)
{
	uint32_t i;

	for (i = 0; i < config->max_lanes; i++) {
		struct view_lane *lane = &m.opened[i];

		if (!lane->shared.at)
			continue;
		if (!lane->damaged)
			rec_ring_read_done(&lane->ring);
		rec_view_leave_words(&m.view, i, &lane->shared);
	}
	view_begin();
}

int rec_view_map(struct rec_view *view, struct view_map *map, int prot, uint64_t offset, size_t size)
{
	(void)prot;
	*map = (struct view_map){ .at = (unsigned char *)(uintptr_t)view->map + offset, .size = size };
	return 0;
}

void rec_view_unmap(struct view_map *map)
{
	map->at = NULL;
}

unsigned int rec_view_lanes(const struct rec_view *view)
{
	const uint32_t lanes = rec_load_acquire(&rec_view_header(view)->nr_lanes);

	return lanes < view->info.max_lanes ? lanes : view->info.max_lanes;
}

bool rec_view_writers_are_gone(const struct rec_view *view)
{
	(void)view;
	return false;
}

/* There is one reader, so it always gets the lock. */
int rec_lock_take(int fd, unsigned int byte)
{
	(void)fd;
	(void)byte;
	return 0;
}

void rec_lock_give(int fd, unsigned int byte)
{
	(void)fd;
	(void)byte;
}

int rec_process_start_time(pid_t pid, uint64_t *ret_start_time)
{
	*ret_start_time = START_TIME;
	return pid == PID ? 0 : -ESRCH;
}

int model_clock_gettime(clockid_t clock, struct timespec *ret_time);
int model_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	(void)clock;
	*ret_time = (struct timespec){ .tv_nsec = NOW };
	return 0;
}
