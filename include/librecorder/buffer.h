/* SPDX-License-Identifier: MIT */
/*
 * Control of this process's own recording. No program has to call these functions: a linked program has its buffer from
 * the start, and all events are off except those that RECORDER_ENABLE names.
 */
#ifndef LIBRECORDER_BUFFER_H
#define LIBRECORDER_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * How the buffer is made. If a member is zero, the value from the environment is used, or else the default. Set size to
 * sizeof(struct rec_options).
 */
struct rec_options {
	size_t size;
	size_t lane_size;   /* bytes of events a lane holds; default 1 MiB */
	size_t subbuf_size; /* a power of two, 4096 to 512 KiB; default 4096, or a larger page of the system */
	size_t memory_max;  /* bytes of all lanes together; default 64 MiB; raise it if you raise lane_size */
	uint32_t clock;	    /* REC_CLOCK_TSC, REC_CLOCK_MONO */
	uint32_t discard;   /* 1: a full lane loses new events; default: it loses the oldest */
	size_t lane_max;    /* bytes of events that rec_lane_resize() may give a lane; default lane_size */
};

#define REC_OPTIONS_INIT { sizeof(struct rec_options), 0, 0, 0, 0, 0, 0 }

/*
 * Replace the process's buffer by a new one with these options, before the first lane is leased. `options` are read
 * during the call only. If the new buffer cannot be made, the process has no buffer and records nothing until a later
 * call succeeds. Returns 0. Nothing has changed: -EBUSY: events were already written, or a reason that rec_enable()
 * names; -EINVAL: `options` is NULL, a value is out of range, or an option is unknown to this version; -EOVERFLOW:
 * the buffer does not fit into the address space. The process has no buffer: -EINVAL: this machine has no such clock,
 * or RECORDER_DIR is not an absolute path; -EOPNOTSUPP: the program has disabled the clock by PR_SET_TSC; -ELOOP: the
 * directory is a symbolic link; -EPERM: it belongs to another user, or others may write to it; -EFBIG (RLIMIT_FSIZE);
 * or the errno of mkdir, open, ftruncate, mmap, madvise or fallocate. Call it while the process has only one thread;
 * not signal-safe.
 */
int rec_configure(const struct rec_options *options);

/*
 * Switch events by pattern: "system:name" with * and ? in both, "system" alone for all of its events, several
 * separated by commas. A rate and a filter may follow (filter.h): "io:* rate 100 if size > 4096". An event that is
 * registered later is switched by the last call that matches it, unless another process has given a pattern that
 * matches it (rec_view_switch()). An event that the filter does not fit is switched off. The selector is copied.
 * Returns the number of the other known events that match; -EINVAL: the selector is malformed or NULL; -ENXIO: no
 * buffer; -ENOMEM; -ENOSPC: the buffer has no room for the rate or the filter of at least one event, which stays as it
 * is, but the other events have been switched, and later ones will be; -EBUSY: called in fork, or by
 * vfork's child. Any thread; not signal-safe. It allocates memory, so an allocator must not call it.
 */
int rec_enable(const char *selector);
int rec_disable(const char *selector);

/*
 * Stop and start all recording, whichever events are enabled. A new process is in the started state. Returns 0, or
 * -ENXIO: no buffer, or this is vfork's child. Any thread; signal-safe.
 */
int rec_start(void);
int rec_stop(void);

/*
 * Move the contents of the lanes to a trace.dat at `path`, version 6, with one stream for each CPU. Saved events are
 * removed from the lanes. Threads can write during the call. An existing file is replaced only when the new one is
 * complete. If the call fails after it has begun to read the lanes (a full disk, a recorder that reads a later lane),
 * the events that it has read are in no file and are gone; rec_snapshot() removes nothing. Returns 0; -ENXIO: no
 * buffer; -EBUSY: a recorder reads the lanes, or another save or snapshot of this process is under way; -EAGAIN: the
 * file was written, and lacks the events of a lane that could not be read for a second, because a thread was stopped in
 * the middle of an event, or a process was about to read the lane or to leave it; they are still in the lane; -EFBIG:
 * RLIMIT_FSIZE, without SIGXFSZ; -ENOMEM; an error of opening the process's own buffer, usually after setuid() or
 * chroot(); or the errno of open, write, fsync or rename. Any thread; not signal-safe. A thread that is cancelled
 * meanwhile completes the call first.
 */
int rec_save(const char *path);

/*
 * Copy the contents of the lanes to a trace.dat at `path`, as rec_save() does, but remove nothing. Writers are not
 * delayed. A recorder may be reading the same lanes; events that it has read are in the file as well, unless they were
 * overwritten. The next rec_snapshot(), and the next 'recorder snapshot --new' by any process, begin where this one
 * ended and report what was overwritten in between. The first one begins with the oldest event in the lanes. Returns
 * the same values as rec_save(), but -EBUSY only while another save or snapshot of this process is under way, and
 * -EAGAIN also if a thread wrote faster than its events could be copied. Any thread; not signal-safe. A thread that is
 * cancelled meanwhile completes the call first.
 */
int rec_snapshot(const char *path);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
