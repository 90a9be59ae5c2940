/* SPDX-License-Identifier: MIT */
/*
 * Leases: a lane belongs to one thread at a time. A thread gets its lane with its first event, or earlier by
 * rec_thread_attach(); when it ends, the lane and what it holds wait for a reader and for the next thread. At the
 * process's cap further threads share lanes, one event at a time.
 */
#ifndef LIBRECORDER_LANE_H
#define LIBRECORDER_LANE_H

#include <librecorder/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The calling thread's handle; never NULL, but its lane may be. Initial-exec, the cheapest access there is. With
 * what else the library keeps there it takes some four hundred bytes of the static TLS block, which matters only to
 * a program that first meets the library through dlopen().
 */
extern __thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec")));

/*
 * A handle for the calling thread, which has none: with a lane of its own, or, at the cap or without
 * memory, one whose reservations take a shared lane each; those that find none are counted as lost.
 * NULL: this process has no buffer, or it is vfork's child and its parent's thread has no lane; one
 * lost event is counted. Signal-safe, any thread.
 */
struct rec_handle *rec_lane_lease(void);

/*
 * Lease a lane now, memory populated, so that a real-time thread meets no system call and no page fault later. 0,
 * or -ENOMEM (no memory or no room in the directory's file system), -EDQUOT (the process is at its cap: the
 * thread's events go to shared lanes), -ENXIO (this process has no buffer, or is vfork's child), -EPERM (it has
 * forbidden itself to ask for the thread's id), or another errno of madvise; before Linux 5.14 also of open and
 * fallocate, or -EFBIG (RLIMIT_FSIZE). Any thread; not signal-safe.
 */
int rec_thread_attach(void);

/*
 * The number of the calling thread's lane, as readers count them. 0, or -ENOENT: it has none, or shares. Signal-safe.
 */
int rec_thread_lane(unsigned int *ret_lane);

/*
 * Disable a lane: its events are refused and counted (disabled), until it was enabled as often. Takes effect with the
 * thread's next event; one that is being reserved at that moment is still written. 0; -ENOENT: no such lane; -EINVAL:
 * rec_lane_enable() of a lane that is not disabled. Any thread; signal-safe once the process has a buffer.
 */
int rec_lane_disable(unsigned int lane);
int rec_lane_enable(unsigned int lane);

/*
 * The thread that has this lane continues in another one, which holds `size` bytes of events, in whole sub-buffers, two at
 * the least. So its lane has another number then; what the old lane holds can still be read there. At once if the lane is
 * the caller's own and nothing is reserved on it, else with the next event of its thread, which keeps its lane if there is
 * no other one by then. The old lane goes back to the pool, at the latest when the thread ends. A lane that no thread has
 * is changed in place. 0; -ENOENT: no such lane; -EINVAL: more than lane_max of struct rec_options; -EDQUOT: there is no
 * other lane; -EBUSY: no thread has the lane, or several share it, and it holds events that nobody has read, or a reader
 * has it open; -ENOMEM: no memory for it, or what else rec_thread_attach() meets making memory. Any thread; not
 * signal-safe.
 */
int rec_lane_resize(unsigned int lane, size_t size);

/*
 * From now on lanes have sub-buffers of `size` bytes, a power of two, and hold about as much as before. Threads that have a
 * lane continue in another one, as in rec_lane_resize(). If there is none for a thread, it keeps its lane. A lane that holds
 * events which nobody has read, or that a reader has open, keeps its size, and its events, until it is leased again without
 * either. 0; -EINVAL: no such size, or fewer than two of them would fit; -ENXIO: no buffer. Any thread; not signal-safe.
 */
int rec_subbuf_resize(size_t size);

/*
 * A snapshot of the calling thread's lane, without copying: the thread goes on in another lane, and the old
 * one, *ret_lane, stands still for readers until rec_lane_release() gives it back to the pool. 0; -ENOENT: the
 * thread has no lane of its own, or this is vfork's child; -EBUSY: an event is reserved and not committed;
 * -EDQUOT, -ENOMEM or what else rec_thread_attach() meets: no other lane could be had, nothing changed. The
 * calling thread alone, not from signal handlers.
 */
int rec_lane_swap(unsigned int *ret_lane);

/* Give a lane that rec_lane_swap() set aside back. 0; -ENOENT: no such lane. Any thread; not signal-safe. */
int rec_lane_release(unsigned int lane);

/*
 * Name the calling thread in recordings; without it the kernel's name of the thread (15 bytes) is used. Copies
 * `name`; up to 255 bytes, control characters become '?'. 0 or -EINVAL (empty), -ENOSPC (the log is full), -ENOMEM
 * (no memory for it), -ENXIO (no buffer), -EBUSY (as rec_enable()).
 */
int rec_thread_name(const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
