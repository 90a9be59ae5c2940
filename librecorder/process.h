/* SPDX-License-Identifier: MIT */
/*
 * This process's own buffer: where it is mapped, how it was made, and the lane leases. Everything the program later
 * relies on is a private copy here; what a reader may scribble over in the shared file is never read back as an address
 * or a size.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <librecorder/buffer.h>
#include <librecorder/ring.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Where things lie in a buffer file; a pure function of lane size, sub-buffer size and cap. */
struct rec_geometry {
	uint32_t subbuf_size; /* that lanes have now; the one word here that changes */
	uint64_t lane_bytes;  /* of sub-buffers in a new lane's ring, as made */
	uint32_t max_subbufs; /* that a lane has descriptors and links for */
	uint32_t max_lanes;
	uint64_t enable;
	uint64_t rules;
	uint64_t log;
	uint64_t log_size;
	uint64_t lanes;
	uint64_t lane_stride;
	uint64_t lane_reader;
	uint64_t lane_meta;
	uint64_t file_size;
};

struct rec_process {
	struct rec_buffer_header *header; /* NULL: no buffer; then nothing else is valid but error */
	uint32_t *enable;
	struct rec_rules *rules;
	unsigned char *log;
	struct rec_handle *handles; /* one a lane, in memory that a forked child finds zeroed */
	uint32_t *lane_states;	    /* LANE_: beside them */
	struct rec_geometry geometry;
	uint32_t clock;
	uint32_t overwrite;
	bool keep; /* leave the file when the program ends in order */
	pid_t pid;
	int error; /* why there is no buffer: -errno */
	uint32_t leases_ended;
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

/* Fork's child: leave the parent's buffer alone and make an own one, alike. */
void rec_process_forked(void);

/* The program ends in order: mark the buffer, and remove its file unless it is to be kept. */
void rec_process_exit(void);

/*
 * See to it that this part of the mapping has memory, so that writing to it can never fault for want of it. 0, -ENOMEM
 * (the file system or the memory limit has no room), or another -errno. Signal-safe.
 */
int rec_process_populate(void *start, size_t size);

/* The log's first `upto` bytes have memory. 0, -ENOSPC (beyond the log's end), or as rec_process_populate(). */
int rec_process_grow_log(uint64_t upto);

/* Whether sub-buffers may be so big. */
bool rec_is_subbuf_size(uint64_t size);

/* Sub-buffers that hold `size` bytes of events; two at the least, as the kernel counts (facts C18). */
uint64_t rec_lane_pages(uint64_t size, uint64_t subbuf_size);

/* Sub-buffers of this size in the ring of a lane that nobody has resized; less than two: they are too large for it. */
uint32_t rec_geometry_pages(const struct rec_geometry *geometry, uint32_t subbuf_size);

/* Sub-buffers of this size that the memory of a lane holds. */
uint32_t rec_geometry_subbufs(const struct rec_geometry *geometry, uint32_t subbuf_size);

/* Sizes and places from what was asked for; 0 means the default. 0 or -EINVAL. */
int rec_geometry_make(const struct rec_options *options, struct rec_geometry *ret_geometry);

/*
 * Serialises writers of the log and of the table of events. A signal handler may only try. Forked children find it free.
 */
void rec_process_lock(void);
bool rec_process_trylock(void);
void rec_process_unlock(void);

/* Note the thread's name in the log, if the log can be locked now. */
void rec_lane_note_name(void);

/* Fork's child: this thread holds no lane any more. */
void rec_lane_forked(void);

/* Whoever sleeps for events of this process is to see that there will be none. */
void rec_lane_wake_readers(void);

/* Once, at the start: learn of the end of threads. */
void rec_lane_start(void);

#endif
