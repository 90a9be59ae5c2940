/* SPDX-License-Identifier: MIT */
/* What the files of the reader's side have in common: an open buffer and its lanes. */
#ifndef READER_PRIVATE_H
#define READER_PRIVATE_H

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/reader.h>

#include "librecorder/os/identity.h"
#include "librecorder/ring/ring_private.h"

/* A mapping of a view's file; in view_guard.c's list while it is there. */
struct view_map {
	unsigned char *at; /* NULL: none */
	size_t size;
	int prot;
	bool *cut; /* the view's */
	struct view_map *next, **back;
};

struct view_lane {
	struct rec_ring_reader ring;
	struct view_map shared; /* reader words and links; none: not opened */
	bool damaged;
	bool promised;	      /* a wait said that there is an event, */
	uint64_t promised_at; /* when the reader stood here */
};

/* A lane of the merge of all. */
struct merge_lane {
	uint64_t time; /* of its next event */
	uint64_t read; /* position of the lane's reader when that was looked up */
	bool queued;
};

struct merge {
	struct merge_lane *lanes;
	uint32_t *heap; /* lanes that have an event, the earliest on top */
	uint32_t nr_lanes;
	uint32_t nr_heap;
	uint64_t looked_at; /* the buffer's clock when the other lanes were last looked at */
};

struct rec_view {
	struct rec_view_info info;
	const unsigned char *map; /* file.at */
	size_t size;
	struct view_map file;
	bool cut; /* the file was cut short, and zeros stand in its place: nothing more comes of it */
	int fd;
	bool read_only; /* the file system is: what is written to lanes is our own copy */
	struct rec_identity who; /* whose buffer it is */
	bool gone;		 /* he is: once and for all */
	bool asked;		 /* whether he is, and he was not: who asks again will ask often */
	int pidfd;		 /* his; -1: none */
	uint64_t self;		 /* this process, as lanes name their reader */
	uint64_t enable;
	uint64_t rules;
	uint64_t conditions;
	uint64_t loan;
	uint64_t log;
	uint64_t log_size;
	uint64_t lanes;
	uint64_t lane_stride;
	uint64_t lane_reader;
	uint64_t lane_meta;
	uint32_t max_subbufs;
	struct view_lane *opened; /* max_lanes of them */
	struct merge merge;
	uint32_t wake;	/* futex; counts calls of rec_view_wake() */
	uint32_t woken; /* of them that a wait has ended by */
};

static inline const struct rec_buffer_header *rec_view_header(const struct rec_view *view)
{
	return (const struct rec_buffer_header *)(const void *)view->map;
}

/*
 * Map a part of the view's file, so that rec_view_fault() knows it. `map` stays where it is until rec_view_unmap(),
 * which does nothing where there is none. 0 or -errno of mmap.
 */
int rec_view_map(struct rec_view *view, struct view_map *map, int prot, uint64_t offset, size_t size);
void rec_view_unmap(struct view_map *map);

/* The same for reading alone: what is made writable and written to is this process's own copy. */
int rec_view_map_private(struct rec_view *view, struct view_map *map, uint64_t offset, size_t size);

/*
 * A part of the file has memory then, for to touch a hole in a file system that is full
 * would be a signal. 0 or -errno of fallocate.
 */
int rec_view_populate(const struct rec_view *view, uint64_t offset, uint64_t size);

/* Whether the file was cut short, asked behind the last look at it. */
static inline bool rec_view_is_cut(const struct rec_view *view)
{
	rec_signal_fence();
	return __atomic_load_n(&view->cut, __ATOMIC_RELAXED);
}

/* Whether a lane can have sub-buffers of this size, and so many. */
bool rec_view_shape_is_sane(uint64_t subbuf_size, uint64_t nr_subbufs, uint64_t max_subbufs);

/*
 * A reader of a lane as far as it can look without owning it: read-only, the shape checked, no position of its own.
 * 0; -EINVAL: no such lane; -ENODATA: it is not made yet, or is being made anew; -EAGAIN: it was just made anew; -EBADMSG.
 */
int rec_view_look(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring);

/* Behind an acquire fence: until the fence the lane had the shape that was looked at. */
bool rec_view_still(const struct rec_ring_reader *ring);

/*
 * The lane, opened, ours and not damaged. 0; -ENODATA: it has nothing yet; or -errno as rec_view_read().
 */
int rec_view_lane(struct rec_view *view, uint32_t index, struct view_lane **ret_lane);

/*
 * What a call on the lane's ring returned, on its way to the user: damage is remembered. True: call again, for the
 * marks of a writer that is gone were settled; *tries counts these.
 */
bool rec_view_again(struct rec_view *view, struct view_lane *lane, int r, unsigned int *tries);

/* What the user is told where the last of these calls returned `r`. */
static inline int rec_view_result(const struct rec_view *view, const struct view_lane *lane, int r)
{
	return rec_view_is_cut(view) ? -EFAULT : lane->damaged ? -EBADMSG : r;
}

/* A copy of the log, for the caller to free; what stands in the file may change under who walks it. NULL: no memory. */
unsigned char *rec_view_copy_log(const struct rec_view *view, size_t *ret_size);

/*
 * The lock of those who switch events from outside. 0; -EBUSY: somebody has held it for a second; or the errno of
 * flock. rec_view_unlock() ends it however often it was taken.
 */
int rec_view_lock(const struct rec_view *view);
void rec_view_unlock(const struct rec_view *view);

/* The part of a buffer file from header to conditions, to be written, by whoever has the lock. */
struct view_control {
	struct rec_view *view;
	struct rec_buffer_header *header;
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *conditions;
	struct view_map map;
};

/* Locks. `control` stays where it is until rec_control_close(). 0, or -errno as rec_view_switch(). */
int rec_control_open(struct rec_view *view, struct view_control *control);

/* Returns `r`, unless the file was cut short meanwhile. */
int rec_control_close(struct view_control *control, int r);

/* The event of rec_printf has no record in the log. */
extern const struct rec_words rec_control_printf_system, rec_control_printf_name;

/* Whether it is an event that has an enable word. */
static inline bool rec_control_is_event(const struct rec_log_record *record)
{
	return record->kind == REC_LOG_EVENT && record->id >= REC_EVENT_ID_FIRST &&
	       record->id - REC_EVENT_ID_FIRST < REC_EVENTS_MAX;
}

/* A copy of the log. */
struct control_log {
	unsigned char *bytes; /* for the caller to free */
	size_t size;
	uint32_t nr_words; /* enable words that its events have, rec_printf's included; there is memory for them */
};

/* 0, -ENOMEM, or as rec_view_populate(). */
int rec_control_log(const struct view_control *control, struct control_log *ret_log);

/* Nobody writes any more. */
bool rec_view_writers_are_gone(const struct rec_view *view);

/* ns after which a sleeper looks whether the program lives. A test makes it long: then nothing hides a lost wake-up. */
extern uint64_t rec_wait_life_slice;

void rec_merge_free(struct merge *merge);

#endif
