/* SPDX-License-Identifier: MIT */
/* Shared by the files of the reader's side: an open buffer and its lanes. */
#ifndef READER_PRIVATE_H
#define READER_PRIVATE_H

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/reader.h>

#include "librecorder/os/identity.h"
#include "librecorder/ring/ring_private.h"

#define NS_PER_S UINT64_C(1000000000)

/* A mapping of a view's file. */
struct view_map {
	unsigned char *at; /* NULL: none */
	size_t size;
	struct guarded_map *guard; /* its entry in view_guard.c's list */
};

struct view_lane {
	struct rec_ring_reader ring;
	struct view_map shared; /* reader words and links; empty: not opened */
	bool damaged;
	bool promised;	      /* a wait has reported that the lane has an event */
	uint64_t promised_at; /* the reader's position at the last such report */
};

/* A lane in the merge of all lanes. */
struct merge_lane {
	uint64_t time; /* time of its next event */
	uint64_t read; /* position of the lane's reader when `time` was read */
	bool queued;
};

struct merge {
	struct merge_lane *lanes;
	uint32_t *heap; /* lanes that have an event, the earliest on top */
	uint32_t nr_lanes;
	uint32_t nr_heap;
	uint64_t looked_at; /* the buffer's clock when the other lanes were last examined */
};

struct rec_view {
	struct rec_view_info info;
	const unsigned char *map; /* file.at */
	size_t size;
	struct view_map file;
	bool cut; /* the file was truncated, and zeros replace it: no more events come from it */
	int fd;
	bool read_only; /* the file system is read-only: writes to lanes go to a private copy */
	struct rec_identity who; /* the process that owns the buffer */
	bool gone;		 /* that process is gone; this never changes back */
	/* an earlier check found the process alive: a caller that checks again will check often */
	bool asked;
	int pidfd;		 /* pidfd of that process; -1: none */
	uint64_t self;		 /* this process, in the form in which lanes name their reader */
	uint64_t features;	 /* the compatible ones */
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
	uint32_t woken; /* number of these calls that have ended a wait */
};

static inline const struct rec_buffer_header *rec_view_header(const struct rec_view *view)
{
	return (const struct rec_buffer_header *)(const void *)view->map;
}

/*
 * Map a part of the view's file, and register it for rec_view_fault(). rec_view_unmap() does nothing if there is no
 * mapping. 0, -ENOMEM or -errno of mmap.
 */
int rec_view_map(struct rec_view *view, struct view_map *map, int prot, uint64_t offset, size_t size);
void rec_view_unmap(struct view_map *map);

/*
 * As rec_view_map(), for reading only. If a part is made writable and written, that is a private copy of this process.
 */
int rec_view_map_private(struct rec_view *view, struct view_map *map, uint64_t offset, size_t size);

/*
 * Give memory to a part of the file, because touching a hole raises a signal if the file system is full. 0, -ENOMEM: it
 * is full; or another -errno of fallocate.
 */
int rec_view_populate(const struct rec_view *view, uint64_t offset, uint64_t size);

/* Whether the file was truncated; asked after the last access to it. */
static inline bool rec_view_is_cut(const struct rec_view *view)
{
	rec_signal_fence();
	return __atomic_load_n(&view->cut, __ATOMIC_RELAXED);
}

/* Whether a lane can have sub-buffers of this size and number. */
bool rec_view_shape_is_sane(uint64_t subbuf_size, uint64_t nr_subbufs, uint64_t max_subbufs);

/*
 * A reader for a lane that does not own it: read-only, with a checked shape, without a position of its own. 0;
 * -EINVAL: no such lane; -ENODATA: it is not made yet, or is being remade; -EAGAIN: it was just remade; -EBADMSG.
 */
int rec_view_look(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring);

/*
 * As rec_view_look(), for a lane that has no ring now, because it was given up or is being remade:
 * ret_ring->subbuf_size is 0. 0; -ENODATA: it has never had one; -EAGAIN: it is just changing.
 */
int rec_view_look_without_ring(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring);

/*
 * Become the reader of a lane, whether it has a ring or not, and map its reader words, which rec_view_leave_words()
 * unmaps. The view must not have the lane open. 0; -EROFS; -EBUSY; -EAGAIN; or as rec_view_map().
 */
int rec_view_own_words(struct rec_view *view, uint32_t index, struct view_map *ret_words);
void rec_view_leave_words(const struct rec_view *view, uint32_t index, struct view_map *words);

/* Call it after an acquire fence. True: up to the fence, the lane had the shape that was read. */
bool rec_view_still(const struct rec_ring_reader *ring);

/* The lane, opened, owned by us and not damaged. 0; -ENODATA: it has no data yet; or an error of rec_view_read(). */
int rec_view_lane(struct rec_view *view, uint32_t index, struct view_lane **ret_lane);

/*
 * Handles the result `r` of a call on the lane's ring, and remembers damage. True: call again, because the marks of a
 * writer that is gone were settled; *tries counts these calls.
 */
bool rec_view_again(struct rec_view *view, struct view_lane *lane, int r, unsigned int *tries);

/* The error to return to the user if the last of these calls returned `r`. */
static inline int rec_view_result(const struct rec_view *view, const struct view_lane *lane, int r)
{
	return rec_view_is_cut(view) ? -EFAULT : lane->damaged ? -EBADMSG : r;
}

/* A copy of the log, which the caller frees, because the file may change during a walk. NULL: no memory. */
unsigned char *rec_view_copy_log(const struct rec_view *view, size_t *ret_size);

/*
 * The lock of processes that switch events from outside. 0; -EBUSY: it was not free at any try for a second; or the
 * errno of flock. One rec_view_unlock() releases it, even if it was taken several times.
 */
int rec_view_lock(const struct rec_view *view);
void rec_view_unlock(const struct rec_view *view);

/* The part of a buffer file from header to conditions, writable, for the process that has the lock. */
struct view_control {
	struct rec_view *view;
	struct rec_buffer_header *header;
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *conditions;
	struct view_map map;
	int cancel; /* whether the thread could be cancelled before */
};

/*
 * Takes the lock. The thread is not cancelled until rec_control_close(). Returns 0 or an error of rec_view_switch().
 */
int rec_control_open(struct rec_view *view, struct view_control *control);

/* Returns `r`; or -EFAULT if the file was truncated in the meantime. */
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
	uint32_t nr_words; /* number of enable words of its events, including rec_printf's; they have memory */
	bool prints;	   /* the program has used rec_printf */
};

/* 0, -ENOMEM, or as rec_view_populate(). */
int rec_control_log(const struct view_control *control, struct control_log *ret_log);

/* Whether nothing writes to the buffer any more. */
bool rec_view_writers_are_gone(const struct rec_view *view);

/*
 * Nanoseconds after which a sleeper checks whether the program lives. A test makes it long, so that nothing hides a
 * lost wake-up.
 */
extern uint64_t rec_wait_life_slice;

void rec_merge_free(struct merge *merge);

#endif
