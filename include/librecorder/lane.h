/* SPDX-License-Identifier: MIT */
/*
 * Leases: a lane belongs to one thread at a time. A thread gets its lane with its first event, or earlier by
 * rec_thread_attach(); when it ends, the lane and what it holds wait for a reader and for the next thread.
 */
#ifndef LIBRECORDER_LANE_H
#define LIBRECORDER_LANE_H

#include <librecorder/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The calling thread's handle; never NULL, but its lane may be. Initial-exec, the cheapest access there is: eight bytes
 * of the static TLS block, which matters only to a program that first meets the library through dlopen().
 */
extern __thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec")));

/*
 * A handle with a lane for the calling thread, which has none. NULL: none could be had (cap, memory, or a fork in
 * progress); one lost event is counted. Signal-safe, any thread.
 */
struct rec_handle *rec_lane_lease(void);

/*
 * Lease a lane now, memory populated, so that a real-time thread meets no system call later. 0, or -ENOMEM (no memory or
 * no room in the directory's file system), -EDQUOT (the process is at its cap), -ENXIO (this process has no buffer).
 */
int rec_thread_attach(void);

/*
 * Name the calling thread in recordings; without it the kernel's name of the thread (15 bytes) is used. Copies `name`; up
 * to 255 bytes, control characters become '?'. 0 or -EINVAL (empty), -ENOSPC (the log is full), -ENXIO (no buffer).
 */
int rec_thread_name(const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
