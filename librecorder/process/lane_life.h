/* SPDX-License-Identifier: MIT */
/* Called when the process begins, forks, or ends, and when its threads get their names (lane_thread.c). */
#ifndef LANE_LIFE_H
#define LANE_LIFE_H

#include <librecorder/buffer.h>

struct rec_buffer_header;
struct rec_geometry;

/* Bytes of private memory that the lanes of a buffer need. */
size_t rec_pool_private_size(const struct rec_geometry *geometry);

/*
 * This process has a buffer, in which no lane is counted yet. `options` are complete. `memory` is private and zeroed;
 * it stays mapped, and is zeroed in a copy of this process.
 */
void rec_pool_begin(struct rec_buffer_header *header, const struct rec_geometry *geometry,
		    const struct rec_options *options, void *memory);

/* Until the next rec_pool_begin() there are no lanes. */
void rec_pool_end(void);

/* Options for another buffer like the present or last one. There must have been one. */
struct rec_options rec_pool_options(void);

/* Write the thread's name to the log, if the lock is available. */
void rec_lane_note_name(void);

/*
 * Call it in a child, while the pool is still that of its parent's buffer. From then on the thread has no lane. An
 * event that fork interrupted can be finished once the child's own memory has replaced the mapping.
 */
void rec_lane_forked(void);

/* The program ends: repair what this thread left open in its lanes. Later events lease a lane again. */
void rec_lane_exit(void);

/* Wake readers that sleep for events of this process, because there will be none. */
void rec_lane_wake_readers(void);

/* Call it once, at the start: it arranges that the ends of threads are noticed. */
void rec_lane_start(void);

/*
 * Call it at the end: the ends of threads are not noticed any more. If this is a plugin's own copy, its code is about
 * to be unloaded.
 */
void rec_lane_stop(void);

#endif
