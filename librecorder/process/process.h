/* SPDX-License-Identifier: MIT */
/*
 * This process's own buffer: where it is mapped, how it was made, and the lane leases. Everything the program later
 * relies on is a private copy here; what a reader may scribble over in the shared file is never read back as an address
 * or a size.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "librecorder/process/geometry.h"
#include "librecorder/ring/ring_private.h"

#include <librecorder/buffer.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* What else this process alone knows of a lane. */
struct rec_lane_own {
	uint32_t made;	 /* it has its ring */
	uint32_t shared; /* it is taken for one event at a time */
};

struct rec_process {
	struct rec_buffer_header *header; /* NULL: no buffer; then nothing else is valid but error */
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *conditions;
	struct rec_loan *loan; /* has no memory as long as nobody has attached */
	unsigned char *log;
	uint32_t *mark;		    /* 1; 0 in a copy of this process */
	struct rec_handle *handles; /* one a lane; zeroed there, too */
	struct rec_lane_own *own;   /* one a lane; zeroed there, too */
	struct rec_geometry geometry;
	uint32_t clock;
	uint32_t overwrite;
	bool keep; /* leave the file when the program ends in order */
	bool locked; /* REC_LOCK_PROGRAM tells whether this process has the file mapped */
	pid_t pid;
	uint64_t pid_ns;
	uint64_t start_time;
	pid_t parent_pid; /* when this process began */
	uint64_t parent_start;
	int error; /* why there is no buffer: -errno */
	int32_t free_lanes; /* made, not shared, and nobody's */
	uint32_t nr_shared;
	struct rec_handle *shared[REC_SHARED_MAX]; /* of the lanes that are shared */
	char path[PATH_MAX];
};

extern struct rec_process rec_process;

/*
 * In auto.c, which nothing else names: a static link takes it along because process.c refers to this.
 */
extern const char rec_auto_linked;

/*
 * Make the buffer unless there is one. 0 or -errno, also of an earlier try. Takes a lock: not from signal handlers.
 */
int rec_process_init(void);

/*
 * In a child: leave the parent's buffer alone and make an own one, alike. With the process lock held. Signal-safe, no
 * allocation.
 */
void rec_process_forked(void);

/*
 * Whether the buffer is this process's own. The child of a raw clone, which comes past none of fork's handlers,
 * gets its buffer here. False also in vfork's child, which runs in its parent's memory. Signal-safe.
 */
bool rec_process_is_own(void);

/* Whether this is vfork's child: it may write to the lane of the thread for which it runs, and change nothing else. */
bool rec_process_is_guest(void);

/*
 * Make and map the file of rec_process, as its geometry says; path and header
 * are set then. 0 or -errno, nothing is left.
 */
int rec_process_map_file(void);

/*
 * There is no buffer. In a session its recorder is to say what this process cannot: it gets a
 * link, of the name that the buffer would have, to the number of the error, which needs no room
 * but for the name. And see debug.h. Signal-safe.
 */
void rec_process_say_why(void);

/* The program ends in order: mark the buffer, and remove its file unless it is to be kept. */
void rec_process_exit(void);

/*
 * See to it that this part of the mapping has memory, so that writing to it can never fault for want of it. 0, -ENOMEM
 * (the file system or the memory limit has no room), or another -errno. Signal-safe.
 */
int rec_process_populate(void *start, size_t size);

/* The log's first `upto` bytes have memory. 0, -ENOSPC (beyond the log's end), or as rec_process_populate(). */
int rec_process_grow_log(uint64_t upto);

/*
 * Serialises writers of the log and of the table of events. The holder is not interrupted by signals and not
 * cancelled; it may be in the middle of an allocation that traces, or of fork. False: this very thread holds
 * it, in one of these two, or this is vfork's child; then what was to be done cannot be done now.
 * Signal-safe; forked children find it free.
 */
bool rec_process_lock(void);
void rec_process_unlock(void);

/*
 * The same for the paths of events, which do not wait for ever: the holder may want an allocator's
 * lock that the calling thread has, where a signal handler interrupted it or the allocator itself
 * traces. False, too, if somebody keeps it.
 */
bool rec_process_lock_soon(void);

/* Note the thread's name in the log, if that can be locked. */
void rec_lane_note_name(void);

/*
 * In a child, while rec_process still describes its parent's buffer: this thread holds no lane any more; an event
 * that fork interrupted can be finished, once the mapping has given way to the child's own memory.
 */
void rec_lane_forked(void);

/* The program ends: what this thread left open in its lanes is put right. Later events lease a lane again. */
void rec_lane_exit(void);

/* Whoever sleeps for events of this process is to see that there will be none. */
void rec_lane_wake_readers(void);

/* Once, at the start: learn of the end of threads. */
void rec_lane_start(void);

/* At the end: no thread's end is learnt of any more. If this is a plugin's own copy, its code is about to go. */
void rec_lane_stop(void);

#endif
