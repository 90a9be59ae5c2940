/* SPDX-License-Identifier: MIT */
/*
 * Leases: a lane belongs to one thread at a time. A thread gets its lane with its first event, or earlier by
 * rec_thread_attach(). When it ends, the lane keeps its events for a reader, and the next thread can lease it. If the
 * process has reached its limit of lanes, further threads share lanes, one event at a time. If the limit allows only
 * one lane, that lane is not shared, and the events of other threads are lost and counted.
 */
#ifndef LIBRECORDER_LANE_H
#define LIBRECORDER_LANE_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/ring.h>
#pragma pop_macro("REC__DETAIL")

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The calling thread's handle; never NULL, but its lane may be NULL. It uses the initial-exec model, the cheapest
 * access. All of the library's thread-local data take about three hundred bytes of the static TLS block, which matters
 * only to a program that loads the library by dlopen().
 */
extern __thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec")));

/*
 * Lease a lane for the calling thread, which must not have one. Returns a handle with a lane of its own; or, at the
 * limit of lanes or without memory, a handle whose reservations each take a shared lane, and are counted as lost if
 * none is free. Returns NULL if this process has no buffer; if it is vfork's child and its parent's thread has no lane;
 * or while another thread takes over the lane of an ended thread with the same id. If it returns NULL although there is
 * a buffer, one lost event is counted. Signal-safe, any thread.
 */
struct rec_handle *rec_lane_lease(void);

/*
 * Lease a lane now and populate its memory, so that a real-time thread has no system call and no page fault later. The
 * thread keeps this lane, even if a reader permits growth (rec_view_grow()).
 * Returns 0; -ENOMEM: no memory, or no room in the directory's file system; -EDQUOT: the process has reached its limit
 * of lanes, and the thread's events go to shared lanes; -ENXIO: this process has no buffer, or is vfork's child;
 * -EPERM: a seccomp filter forbids the system call that returns the thread's id, and did so before the thread had a
 * lane; its events go to shared lanes, or are lost while there are none; -EINPROGRESS: another thread is just taking
 * over the lane of an ended thread with the same id: try again; or another errno of madvise; before Linux 5.14 also of
 * open and fallocate, or -EFBIG (RLIMIT_FSIZE). Any thread; not signal-safe.
 */
int rec_thread_attach(void);

/*
 * The number of the calling thread's lane, as readers count them; it changes when the thread continues in another lane.
 * Returns 0, or -ENOENT: no buffer, the thread has no lane or shares lanes, or this is vfork's child. Any thread;
 * signal-safe.
 */
int rec_thread_lane(unsigned int *ret_lane);

/*
 * Disable a lane: its events are refused and counted (disabled), until the lane has been enabled as often as it was
 * disabled, even if other threads lease it in the meantime. Takes effect with the thread's next event; an event that is
 * being reserved at that moment is still written. Returns 0; -ENOENT: no such lane; -EINVAL: rec_lane_enable() of a
 * lane that is not disabled. Any thread; signal-safe once the process has a buffer.
 */
int rec_lane_disable(unsigned int lane);
int rec_lane_enable(unsigned int lane);

/*
 * Let the thread that has this lane continue in another one, which holds `size` bytes of events, in whole sub-buffers,
 * at least two. The thread's lane then has another number; the events in the old lane can still be read. If the lane is
 * the caller's own and nothing is reserved on it, this happens at once. Otherwise it happens with the thread's next
 * event; if no other lane is available by then, the thread keeps its lane. The old lane goes back to the pool, at the
 * latest when the thread ends. A lane that is not in use is changed in place. Returns 0; -ENOENT: no such lane;
 * -EINVAL: more than lane_max of struct rec_options; -EDQUOT: no other lane is available; -EBUSY: the lane is not in
 * use or is shared, and it has unread events, or a reader has it open; or the lane is just being changed; or the caller
 * has no lane, and another thread is just taking over a lane of a former thread with the same id; -EPERM: as
 * rec_thread_attach(); -ENOMEM: no memory; or another error of rec_thread_attach(). Any thread; not signal-safe.
 */
int rec_lane_resize(unsigned int lane, size_t size);

/*
 * From now on lanes have sub-buffers of `size` bytes, a power of two, and hold about as much as before. Threads that
 * have a lane continue in another one, as in rec_lane_resize(). If none is available for a thread, it keeps its lane. A
 * lane that has unread events, or that a reader has open, keeps its size and its events until it is leased again when
 * neither is the case. Returns 0; -EINVAL: the size is invalid, or fewer than two sub-buffers would fit; -ENXIO: no
 * buffer. Any thread; not signal-safe.
 */
int rec_subbuf_resize(size_t size);

/*
 * A snapshot of the calling thread's lane, without copying: the thread continues in another lane, and the old one,
 * *ret_lane, does not change until rec_lane_release() gives it back to the pool. Returns 0; -ENOENT: the thread has no
 * lane of its own, or this is vfork's child; -EBUSY: an event is reserved and not committed; -EDQUOT, -ENOMEM or
 * another error of rec_thread_attach(): no other lane is available, and nothing was changed. Any thread; not
 * signal-safe.
 */
int rec_lane_swap(unsigned int *ret_lane);

/*
 * Give back a lane that rec_lane_swap() holds in reserve. Returns 0; -ENOENT: no such lane, or it is not held; -EBUSY:
 * the caller has no lane, and another thread is just taking over a lane of a former thread with the same id; -EPERM: as
 * rec_thread_attach(). Any thread; not signal-safe.
 */
int rec_lane_release(unsigned int lane);

/*
 * Name the calling thread in recordings; by default the kernel's name of the thread (15 bytes) is used. Copies up to
 * 255 bytes of `name`; control characters become '?'. Returns 0; -EINVAL: `name` is empty or NULL; -ENOSPC: the log is
 * full, or names of threads fill half of it; -ENOMEM: no memory for more of it; -ENXIO: no buffer; -EBUSY: as
 * rec_enable(). Any thread; not signal-safe.
 */
int rec_thread_name(const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
