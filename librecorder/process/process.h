/* SPDX-License-Identifier: MIT */
/*
 * This process's own buffer: its mapping and its making. Everything that the program later relies on is a private copy
 * here; memory in the shared file that a reader may overwrite is never used as an address or a size.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "librecorder/process/geometry.h"
#include "librecorder/ring/ring_private.h"

#include <librecorder/buffer.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Other data about a lane that only this process knows. */
struct rec_lane_own {
	uint32_t made;	 /* it has its ring */
	uint32_t shared; /* it is taken for one event at a time: its place among those lanes plus 1; or 0 */
	uint32_t bereft; /* the id of an ended thread whose lane another thread is just taking over (lane.c); or 0 */
};

struct rec_process {
	struct rec_buffer_header *header; /* NULL: no buffer; then only `error` is valid */
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *conditions;
	struct rec_loan *loan; /* has no memory until a recorder attaches */
	unsigned char *log;
	uint32_t *original;	    /* 1; 0 in a copy of this process */
	struct rec_handle *handles; /* one for each lane; zeroed in a copy of this process, too */
	struct rec_lane_own *own;   /* one for each lane; the same */
	struct rec_geometry geometry;
	uint32_t clock;
	uint32_t overwrite;
	bool keep; /* leave the file when the program exits normally */
	bool locked; /* REC_LOCK_PROGRAM shows whether this process has the file mapped */
	pid_t pid;
	uint64_t pid_ns;
	uint64_t start_time;
	pid_t parent_pid; /* when this process began */
	uint64_t parent_start;
	int error; /* why there is no buffer: -errno */
	int32_t free_lanes; /* lanes that have a ring, are not shared, and are not in use */
	uint32_t grown;	    /* lanes that threads took because theirs were full, and that were not given up since */
	uint32_t nr_shared;
	struct rec_handle *shared[REC_SHARED_MAX]; /* handles of the shared lanes */
	char path[PATH_MAX];
};

extern struct rec_process rec_process;

/* Defined in auto.c, to which nothing else refers: this reference from process.c makes a static link include it. */
extern const char rec_auto_linked;

/*
 * Make the buffer unless it exists. Returns 0, or the -errno of this or an earlier attempt. Takes a lock: not
 * signal-safe.
 */
int rec_process_init(void);

/*
 * In a forked child: leave the parent's buffer alone and make a buffer of the child's own, with the same options. With
 * the process lock held. Signal-safe, no allocation.
 */
void rec_process_forked(void);

/*
 * Whether the buffer is this process's own. The child of a raw clone, which runs no fork handlers, gets its buffer
 * here. False also in vfork's child, which runs in its parent's memory. Signal-safe.
 */
bool rec_process_is_own(void);

/*
 * Whether this process made the buffer that rec_process describes. False in a copy of it: rec_process_is_own() would
 * make a buffer for a copy, this function does not. Signal-safe.
 */
bool rec_process_is_maker(void);

/* Whether this is vfork's child: it may write to the lane of the thread for which it runs, and change nothing else. */
bool rec_process_is_guest(void);

/*
 * Make and map the file of rec_process, according to its geometry; path and header are set then. 0 or -errno; then
 * nothing is left.
 */
int rec_process_map_file(void);

/*
 * This process has no buffer. In a session the recorder must report that, because this process cannot. So this function
 * makes a symbolic link with the name that the buffer would have and the error number as its target; such a link needs
 * no room except for its name. If there is no session, or if the link cannot be made, the function notes the error
 * number in the buffer of the process that forked this one; `parent` is that buffer, or NULL. See also debug.h.
 * Signal-safe.
 */
void rec_process_say_why(struct rec_buffer_header *parent);

/* The program exits normally: mark the buffer, and remove its file unless it must be kept. */
void rec_process_exit(void);

/*
 * Make sure that this part of the mapping has memory, so that writing to it never faults for lack of memory. 0,
 * -ENOMEM (the file system or the memory limit has no room), or another -errno. Signal-safe.
 */
int rec_process_populate(void *start, size_t size);

/* Give memory to the log's first `upto` bytes. 0, -ENOSPC (beyond the log's end), or as rec_process_populate(). */
int rec_process_grow_log(uint64_t upto);

/*
 * Serialises writers of the log and of the table of events. The holder is not interrupted by signals and not
 * cancelled; it may be in the middle of fork, or of an allocation that traces. False: the calling thread already holds
 * the lock (it is in such an allocation or fork), or this is vfork's child; then the operation is impossible now.
 * Signal-safe; in forked children the lock is free.
 */
bool rec_process_lock(void);
void rec_process_unlock(void);

/*
 * The same for a caller that must not fail, for example because its memory is about to be unmapped: it also gets the
 * lock if a seccomp filter forbids it to ask for its pid.
 */
bool rec_process_lock_without_pid(void);

/*
 * The same for the paths of events, which wait only a bounded time: the holder may want an allocator's lock that the
 * calling thread has, if a signal handler interrupted the allocator or the allocator itself traces. Also false if the
 * lock is held too long.
 */
bool rec_process_lock_soon(void);

#endif
