/* SPDX-License-Identifier: MIT */
/* This process's own buffer: its making, its memory, and the process lock. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rec_buffer_header;

/* Defined in auto.c, to which nothing else refers: this reference from process.c makes a static link include it. */
extern const char rec_auto_linked;

/*
 * Make the buffer unless it exists. Returns 0, or the -errno of this or an earlier attempt. Takes a lock: not
 * signal-safe.
 */
int rec_process_init(void);

/* The mapped buffer, or NULL if the process has none. Signal-safe, and so are the next two functions. */
struct rec_buffer_header *rec_process_header(void);

/*
 * The file's present name; if there is no buffer, that of the file or directory which could not be used. errno may
 * change.
 */
const char *rec_process_path(void);

/* The pid of the process that made the buffer. */
pid_t rec_process_pid(void);

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
 * Whether this process made the buffer. False in a copy of it: rec_process_is_own() would
 * make a buffer for a copy, this function does not. Signal-safe.
 */
bool rec_process_is_maker(void);

/* Whether this is vfork's child: it may write to the lane of the thread for which it runs, and change nothing else. */
bool rec_process_is_guest(void);

/* The program exits normally: mark the buffer, and remove its file unless it must be kept. */
void rec_process_exit(void);

/*
 * Make sure that this part of the mapping has memory, so that writing to it never faults for lack of memory. 0,
 * -ENOMEM (the file system or the memory limit has no room), or another -errno. Signal-safe.
 */
int rec_process_populate(void *start, size_t size);

/*
 * Serialises writers of the log and of the table of events. The holder is not interrupted by signals and not
 * cancelled; it may be in the middle of fork. False: the calling thread already holds the lock (it is in fork), or this
 * is vfork's child; then the operation is impossible now. Signal-safe; in forked children the lock is free.
 *
 * A holder neither allocates nor frees. Our fork handler waits for the lock, and an allocator's fork handler that ran
 * before it holds the allocator's locks meanwhile: then neither could continue. The start of the program is an
 * exception, because the fork handler does not exist yet.
 */
bool rec_process_lock(void);
void rec_process_unlock(void);

/*
 * The same for a caller that must not fail, for example because its memory is about to be unmapped: it also gets the
 * lock if a seccomp filter forbids it to ask for its pid.
 */
bool rec_process_lock_without_pid(void);

/*
 * The same for the paths of events, which wait only a bounded time: the holder may be in fork and want an allocator's
 * lock that the calling thread has, if a signal handler interrupted the allocator or the allocator itself traces. Also
 * false if the lock is held too long.
 */
bool rec_process_lock_soon(void);

/*
 * A number for the calling thread, if it may not ask for its id: no other thread of the process has the same, and it is
 * neither a thread id nor REC_OWNER_HELD. It never changes. Signal-safe.
 */
uint32_t rec_thread_without_id(void);

#endif
