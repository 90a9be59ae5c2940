/* SPDX-License-Identifier: MIT */
/*
 * The spool: what a recording has drained so far, in one file beside its output.
 *
 * What it guarantees. A chunk is in the file before the next page of its lane is asked for, so whatever was taken out
 * of a lane survives a SIGKILL of the recorder: spool_open() reads a spool that is cut off at any byte. The chunks of a
 * lane are linked, so its pages are read in order without an index: memory grows with the number of processes, threads
 * and event definitions, not with the length of the recording. A full disk is an error code, never a signal.
 *
 * The file: struct spool_head, then chunks back to back, each a struct spool_chunk and its payload, rounded up to 8
 * bytes. The numbers are the machine's: a spool is read where it was written. What stands in the chunks is checked as
 * far as memory safety goes; what stands in the pages is checked by who reads pages.
 *
 * One thread at a time. The holder of a writable spool has a lock on the file that ends with it.
 */
#ifndef CLI_SPOOL_H
#define CLI_SPOOL_H

#include <limits.h>
#include <librecorder/reader.h>
#include <librecorder/source.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_MAGIC   UINT64_C(0x4c4f4f5053434552) /* "RECSPOOL" in little-endian order */
#define SPOOL_VERSION 1u

/* The start of the file, 8 KiB with the reserve. */
struct spool_head {
	uint64_t magic;
	uint32_t version;
	uint32_t file_version; /* of the trace.dat that was asked for */
	uint32_t raw;
	uint32_t recorder; /* pid, for messages; the lock says whether it lives */
	char session[PATH_MAX]; /* directory with the buffers; "" for none */
	char command[256];	/* the command's first word */
	unsigned char reserved[8192 - 24 - PATH_MAX - 256];
};

enum spool_kind {
	SPOOL_PROCESS = 1, /* struct spool_process; its place among these chunks is the number others refer to */
	SPOOL_LOG,	   /* the next piece of a process's log */
	SPOOL_PAGE,	   /* a page of a lane as taken: header and data */
	SPOOL_LANE_END,	   /* struct rec_lane_stats: nothing of this lane follows */
	SPOOL_PROCESS_END, /* struct rec_view_losses: nothing of this process follows */
	SPOOL_ANCHOR,	   /* struct rec_anchor; `lane` is the clock */
	SPOOL_RATE,	   /* struct rec_view_rate of the event with the id `lane`, at the end of the process */
};

#define SPOOL_CHUNK_MAGIC UINT32_C(0x4b4e4843) /* "CHNK" */

struct spool_chunk {
	uint32_t magic;
	uint16_t kind;
	uint16_t reserved;
	uint32_t process;
	uint32_t lane;
	uint32_t size; /* of the payload */
	uint32_t from;	  /* of a page: as in struct rec_page */
	uint32_t entries; /* of a page */
	uint32_t reserved2;
	uint64_t first; /* of a page */
	uint64_t lost;	/* of a page */
	uint64_t next;	/* offset of the lane's next chunk, written when that one is in the file; 0 before */
	uint64_t reserved3;
};

/* Who wrote: what is needed of a buffer when it is gone. */
struct spool_process {
	struct rec_view_info info;
	uint64_t inode; /* of the buffer file: with its name the buffer for good */
	char file[256]; /* its name in the session's directory */
};

/* ------------------------------------------------------------------------------------------------ what is in it */

struct spool_lane {
	uint64_t head, tail;  /* offsets of its first and last page; 0: none */
	uint64_t next_event;  /* number of the first event that is not in the spool */
	uint64_t pages;
	bool ended;
	struct rec_lane_stats stats; /* valid once ended */
};

/* The rate of an event. */
struct spool_rate {
	uint16_t id;
	struct rec_view_rate rate;
};

struct spool_entry {
	struct spool_process process;
	unsigned char *log; /* all pieces in order */
	size_t log_size;
	struct spool_lane *lanes; /* by lane number */
	unsigned int nr_lanes;
	uint32_t subbuf_size; /* large enough for each of its pages: a program may change the size while it runs */
	uint64_t events; /* in its pages */
	uint64_t lost;	 /* that the pages tell of; what came behind them is in the lanes' stats and in losses */
	bool ended;
	struct rec_view_losses losses; /* valid once ended */
	struct spool_rate *rates;
	unsigned int nr_rates;
};

/* The anchors of one clock, oldest first. */
struct spool_anchors {
	struct rec_anchor *anchors;
	unsigned int nr;
	unsigned int step, skip; /* every step-th is kept, skip more are to be passed over */
};

struct spool {
	int fd;
	bool writable;
	char *path;
	uint64_t end; /* offset behind the last whole chunk */
	struct spool_head head;
	struct spool_entry *entries;
	unsigned int nr_entries;
	struct spool_anchors anchors[REC_CLOCK_MONO + 1]; /* by clock */
	uint64_t events;
	uint64_t cut; /* bytes behind `end` that were no whole chunk when the file was opened */
};

/*
 * Make the spool file at `path`, which must not exist, locked. `head` is copied; magic, version and recorder are filled in.
 * 0; -EEXIST; -ENOMEM; or what open or write met. spool_close() takes NULL too and returns NULL.
 */
int spool_create(const char *path, const struct spool_head *head, struct spool **ret_spool);

/*
 * Open a spool that its recorder has left, locked, and put a lost link or a torn end right; more may be appended.
 * 0; -EBUSY: its recorder lives; -EBADMSG: no spool; -EPROTO: of another version; -ENOMEM; or what open or read met.
 */
int spool_open(const char *path, struct spool **ret_spool);

struct spool *spool_close(struct spool *spool);

/*
 * Append. Returned numbers are those of the process. 0 or positive; -ENOSPC and the other errnos of write: what was
 * there before stays readable; -ENOMEM.
 */
int spool_add_process(struct spool *spool, const struct spool_process *process);
int spool_add_log(struct spool *spool, unsigned int process, const void *bytes, size_t size);
int spool_add_page(struct spool *spool, unsigned int process, unsigned int lane, const struct rec_page *page);
int spool_add_lane_end(struct spool *spool, unsigned int process, unsigned int lane,
		       const struct rec_lane_stats *stats);
int spool_add_process_end(struct spool *spool, unsigned int process, const struct rec_view_losses *losses);
int spool_add_rate(struct spool *spool, unsigned int process, uint16_t id, const struct rec_view_rate *rate);
int spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor);

/*
 * Append all that is in `other`, behind which a failure takes it out of the file again; then this spool is only good for
 * being closed. Errors as above, and -EBADMSG: the other one was changed meanwhile.
 */
int spool_append(struct spool *spool, const struct spool *other);

/* The next event that the spool lacks of a lane: what is below was drained before. */
uint64_t spool_next_event(const struct spool *spool, unsigned int process, unsigned int lane);

/* ---------------------------------------------------------------------------------------------------- reading back */

/* The lane that a stream is made of. */
struct spool_stream {
	unsigned int process;
	unsigned int lane;
};

/*
 * A source of the lanes that have pages or ended with losses, a stream each. Nothing may be appended while it is in
 * use, and the spool outlives it. 0 or -ENOMEM. The source's memory for a stream is given back with the stream's last page.
 */
int spool_source_open(struct spool *spool, struct rec_source **ret_source, const struct spool_stream **ret_streams);
struct rec_source *spool_source_close(struct rec_source *source);

#endif
