/* SPDX-License-Identifier: MIT */
/*
 * Control of this process's own recording. Nothing here needs to be called: a linked program has its buffer from the
 * start, all events off unless RECORDER_ENABLE names them.
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
 * How the buffer is made. Zero means: as the environment says, else the
 * default. Set size to sizeof(struct rec_options).
 */
struct rec_options {
	size_t size;
	size_t lane_size;   /* bytes of events a lane holds; default 1 MiB */
	size_t subbuf_size; /* a power of two, 4096 to 512 KiB; default 4096 */
	size_t memory_max;  /* bytes of all lanes together; default 64 MiB */
	uint32_t clock;	    /* REC_CLOCK_TSC, REC_CLOCK_MONO */
	uint32_t discard;   /* 1: when a lane is full the newest are lost; default the oldest */
	size_t lane_max;    /* bytes of events that rec_lane_resize() may give a lane; default lane_size */
};

#define REC_OPTIONS_INIT { sizeof(struct rec_options), 0, 0, 0, 0, 0, 0 }

/*
 * Replace the process's buffer by one made as `options` say. Possible until the first lane is leased. 0, -EBUSY
 * (events were already written, or as rec_enable()), -EINVAL (a value out of range), -EOPNOTSUPP (the program has
 * given up the clock by PR_SET_TSC), or what making the file met: -EACCES, -ENOMEM, -ENOSPC, -ENOENT, -ELOOP,
 * -EFBIG (RLIMIT_FSIZE), -EPERM (the directory belongs to somebody else). Not signal-safe.
 */
int rec_configure(const struct rec_options *options);

/*
 * Switch events by pattern: "system:name" with * and ? in both, "system" alone for all of its events, several
 * separated by commas; a rate and a filter may follow (filter.h): "io:* rate 100 if size > 4096". Events registered
 * later follow what was said last. Returns the number of events that match now, without those that the filter does
 * not fit; or -EINVAL (malformed), -ENXIO (no buffer), -ENOMEM, -EBUSY (called from within the library, by an
 * allocator or in fork, or by vfork's child). Any thread; not signal-safe.
 */
int rec_enable(const char *wish);
int rec_disable(const char *wish);

/*
 * Stop and start all recording, whatever is enabled. A started process is started. 0 or -ENXIO (no buffer, or this is
 * vfork's child). Any thread; signal-safe.
 */
int rec_start(void);
int rec_stop(void);

/*
 * Take what the lanes hold and write it to a trace.dat at `path`, woven, as version 6. What was saved is gone from the
 * lanes. Writers go on meanwhile. Replaces an existing file only once the new one is complete.
 * 0, -ENXIO (no buffer), -EBUSY (a recorder reads the lanes), -ENOMEM, or the errno of open, write or rename. Not
 * signal-safe.
 */
int rec_save(const char *path);

/*
 * Copy what the lanes hold to a trace.dat at `path`, as rec_save() does, but take nothing away: writers are not
 * delayed, a recorder may be reading the same lanes, and also what it has read is in the file, as long as it was
 * not written over. The next snapshot, by whomever, begins where this one ended, and says what was overwritten in
 * between; the first one begins with the oldest event there is. Returns as rec_save(), -EBUSY only while another
 * save or snapshot of this process is under way. Not signal-safe.
 */
int rec_snapshot(const char *path);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
