/* SPDX-License-Identifier: MIT */
/*
 * The spool: what a recording has drained so far, in one file beside its output.
 *
 * Guarantees. A chunk is in the file, or in the spool's stage, before the next page of its lane is requested, so
 * everything taken out of a lane survives a SIGKILL of the recorder. spool_open() reads a spool that is cut off at any
 * byte, and appends the contents of its stage. The chunks of a lane are linked, so its pages are read in order without
 * an index: memory grows with the number of processes, threads and event definitions, not with the length of the
 * recording. A full disk is an error code, never a signal.
 *
 * The file: struct spool_head, then chunks back to back, each a struct spool_chunk and its payload, rounded up to 8
 * bytes (spool_format.h). Numbers have the machine's byte order: a spool is read on the machine that wrote it. Spools
 * of other versions are read if their incompatible features are known. The contents of chunks are checked for memory
 * safety; readers of pages check the contents of pages.
 *
 * The kernel is one more process of a spool, with pid 0; its lanes are the CPUs, by number. Its pages are not in this
 * file but, back to back, in one file for each CPU beside it: see spool_side_open(). Its log is empty; it has texts
 * instead. If its events are in several buffers of the trace.dat, it is there once for each: see spool_buffer().
 *
 * One thread at a time uses a spool. A process that has a writable spool holds a lock on the file until it closes the
 * spool or ends.
 */
#ifndef CLI_SPOOL_H
#define CLI_SPOOL_H

#include <limits.h>
#include <librecorder/reader.h>
#include <librecorder/source.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/recording/spool_format.h"
#include "format/io/clock_reading.h"

/* A process that wrote events: the data of its buffer that are needed once the buffer is gone. */
struct spool_process {
	struct rec_view_info info;
	uint64_t inode; /* of the buffer file; with the file's name it identifies the buffer */
	bool other_pids; /* its pids are not of the initial pid namespace, whose pids the kernel's events have */
	char file[256]; /* its name in the session's directory */
};

/* ------------------------------------------------------------------------------------------------ what is in it */

struct spool_lane {
	uint64_t head, tail;  /* offsets of its first and last page; 0: none */
	uint64_t next_event;  /* number of the first event that is not in the spool */
	uint64_t pages;
	bool side; /* its pages are in a side file, which the model does not describe */
	bool ended;
	struct rec_lane_stats stats; /* valid once ended */
};

struct spool_text {
	enum spool_text_kind kind;
	char *name;
	char *text; /* ended with a NUL that size does not count */
	size_t size;
	size_t room;
};

/* The rate of an event. */
struct spool_rate {
	uint16_t id;
	struct rec_view_rate rate;
};

struct spool_entry {
	struct spool_process process;
	unsigned char *log; /* all pieces in order */
	size_t log_size, log_room;
	struct spool_lane *lanes; /* by lane number */
	unsigned int nr_lanes;
	uint32_t subbuf_size; /* the size of its largest page: a program may change the size while it runs */
	unsigned int buffer; /* number of the kernel's buffer; 0: the top one, or a program */
	uint64_t events; /* in its pages */
	uint64_t lost;	 /* reported in pages; later losses are in the lanes' stats and in losses */
	bool ended;
	struct rec_view_losses losses; /* valid once ended */
	struct spool_rate *rates;
	unsigned int nr_rates;
	struct spool_text *texts;
	unsigned int nr_texts;
	void *text_places;	     /* index to find the texts */
	size_t rate_room, text_room; /* bytes */
};

/* The anchors of one clock, oldest first. */
struct spool_anchors {
	struct rec_anchor *anchors;
	unsigned int nr;
	unsigned int step, skip; /* one of `step` anchors is kept; the next `skip` of them are not */
};

struct stage;
struct stage_block;

struct spool {
	int fd;
	bool writable;
	char *path;
	uint64_t end; /* offset after the last complete chunk */
	struct spool_head head;
	struct spool_entry *entries;
	unsigned int nr_entries;
	unsigned int nr_found; /* entries that another recorder may have begun: those before this number */
	struct spool_anchors anchors[REC_CLOCK_MONO + 1]; /* by clock */
	struct clock_reading clocks[CLOCK_READINGS];	  /* the first and the last one */
	unsigned int nr_clocks;
	uint64_t nr_lanes; /* number of lanes of all entries */
	unsigned int nr_buffers; /* number of the kernel's buffers, not counting the top one */
	uint64_t events;
	uint64_t cut; /* bytes after `end` that were not a complete chunk when the file was opened */
	struct stage *stage;	   /* chunks go there first; NULL: straight into the file */
	unsigned int priority;	   /* real-time priority of the spool's thread; 0: none */
	struct stage_block *block; /* block that chunks are put into; NULL: none yet */
	uint64_t block_ms;	   /* when the block was taken */
	bool patient;		   /* if the stage is full, adding a page waits */
	bool stage_is_gone; /* a killed recorder left chunks in the stage, which is missing or damaged */
	/*
	 * the missing stage may exist in another mount namespace, because the machine was not restarted since: nothing
	 * may be appended
	 */
	bool stage_is_unseen;
	unsigned char *rest; /* chunks of a stage for which the file has no room */
	uint64_t rest_at;    /* the offset at which they begin */
	size_t rest_size;
};

/*
 * Make the spool file at `path`, which must not exist, locked. `head` is copied; magic, version and recorder are
 * filled in. 0; -EEXIST; -ENOMEM; or the errno of open or write. spool_close() takes NULL, too, and returns NULL.
 */
int spool_create(const char *path, const struct spool_head *head, struct spool **ret_spool);

/*
 * Open a spool that its recorder has left, locked, repair a missing link or a torn end, and append the contents of its
 * stage. If the disk has no room for these, they are kept in memory, and in the stage. More may be appended. 0;
 * -EBUSY: its recorder is alive; -ENOENT also: another process has just removed it; -EBADMSG: not a spool; -EPROTO: it
 * has a feature that this version does not know; -ENOMEM; or an errno of open or read.
 */
int spool_open(const char *path, struct spool **ret_spool);

/* Read its head and change nothing. 0 or as spool_open(). */
int spool_look(const char *path, struct spool_head *ret_head);

struct spool *spool_close(struct spool *spool);

/*
 * Append. spool_add_process() returns the number of the process in this spool, which the other functions take; they
 * return 0. -ENOSPC and the other errnos of write: the earlier contents stay readable; -ENOMEM.
 */
int spool_add_process(struct spool *spool, const struct spool_process *process);
int spool_add_log(struct spool *spool, unsigned int process, const void *bytes, size_t size);
/*
 * Append a page. If `stands` is not NULL, it is called with `arg` after the page was copied; if it returns false, the
 * page changed during the copy and is not added: -EFAULT. -EAGAIN: the stage is full (spool_stage()).
 */
int spool_add_page(struct spool *spool, unsigned int process, unsigned int lane, const struct rec_page *page,
		   bool (*stands)(void *arg), void *arg);
int spool_add_lane_end(struct spool *spool, unsigned int process, unsigned int lane,
		       const struct rec_lane_stats *stats);
int spool_add_process_end(struct spool *spool, unsigned int process, const struct rec_view_losses *losses);
int spool_add_rate(struct spool *spool, unsigned int process, uint16_t id, const struct rec_view_rate *rate);
int spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor);

/* Append what the clocks show now. */
int spool_add_clocks(struct spool *spool);

/* Append a whole text, in as many pieces as needed. `name`: "" for kinds of which there is only one. */
int spool_add_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name,
		   const char *text, size_t size);

/*
 * The same, only in memory: for texts that a recovery can determine itself. The spool takes over `text`, which ends
 * with a NUL that size does not count, and frees it. 0 or -ENOMEM.
 */
int spool_keep_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name, char *text,
		    size_t size);

/*
 * Append everything in `other`, which has no side files, and wait until it is on the disk: then `other` may be removed.
 * On failure the appended part is removed from the file again; then this spool can only be removed or closed. Errors as
 * above, and -EBADMSG: the other one was changed meanwhile.
 */
int spool_append(struct spool *spool, const struct spool *other);

/*
 * Fill a spool that was made with head.done = SPOOL_PARTIAL: append everything in `other`, then reset head.done. So if
 * the process is killed, the incomplete copy counts as a spool that is not needed. Otherwise as spool_append().
 */
int spool_copy(struct spool *spool, const struct spool *other);

/*
 * ---------------------------------------------------------------------------------------------------------- staged
 */

/*
 * Give the spool a stage (stage.h): from now on chunks go there, and the stage's thread writes them to the file. Only
 * these calls wait for the disk: spool_settle() and, when the stage is full, those that append something other than
 * pages. `max`: bytes in the stage; 0: derived from the available memory. `priority`: of the thread. 0; on an error of
 * stage_open() the spool stays without a stage.
 */
int spool_stage(struct spool *spool, uint64_t max, unsigned int priority);

/*
 * Call it several times a second: after a while it hands over a block that is not full; while the stage is full, only
 * once nothing else waits for the disk.
 */
void spool_tick(struct spool *spool);

/* Whether pages were refused because the stage was full. *ret_bytes: bytes that wait for the disk. */
bool spool_has_refused(struct spool *spool, uint64_t *ret_bytes);

/*
 * Wait until the file has everything, and remove the stage. 0, or the error of the thread's write: then the rest stays
 * in the stage, and spool_open() finds it.
 */
int spool_settle(struct spool *spool);

/*
 * Pages from other threads. Each thread uses a hand, which begins as zeros; one hand at a time has pages of a lane.
 * The spool's own thread checks first that the lane is ready, and ends the hand last: then the pages are in the spool.
 * Errors are those of spool_add_page().
 */
struct spool_hand {
	struct stage_block *first, *last;
};

bool spool_is_ready(struct spool *spool, unsigned int process, unsigned int lane);
int spool_hand_page(struct spool *spool, struct spool_hand *hand, unsigned int process, unsigned int lane,
		    const struct rec_page *page, bool (*stands)(void *arg), void *arg);
int spool_end_hand(struct spool *spool, struct spool_hand *hand);

/* A process's text. NULL: the process has no text of this kind and name. */
const struct spool_text *spool_text(const struct spool_entry *entry, enum spool_text_kind kind, const char *name);

/*
 * Why a CPU lost events: they were overwritten; interrupts had filled its ring; it was full and may not be
 * overwritten; its drain ended before it was empty.
 */
struct spool_losses {
	uint64_t overrun, commit_overrun, dropped, left;
};

/* Parse the text of per_cpu/cpuN/stats. */
void spool_losses_parse(const char *stats, struct spool_losses *ret_losses);

uint64_t spool_losses_sum(const struct spool_losses *losses);

/* For the kernel, from the CPU's statistics at the end; false: the recorder was killed before it read them. */
bool spool_kernel_losses(const struct spool_entry *entry, unsigned int cpu, struct spool_losses *ret_losses);

/* Whether the process is the kernel; whether the spool contains the kernel. */
static inline bool spool_is_kernel(const struct spool_entry *entry)
{
	return !entry->process.info.pid && !entry->process.file[0];
}

bool spool_has_kernel(const struct spool *spool);

/*
 * Of the kernel: the name of its buffer in the trace.dat, which is in the place of the executable's. NULL: the top
 * buffer.
 */
const char *spool_buffer(const struct spool_entry *entry);

/* The first event of a lane that the spool lacks: earlier ones were drained before. */
uint64_t spool_next_event(const struct spool *spool, unsigned int process, unsigned int lane);

/* ----------------------------------------------------------------------------------------------------- side files */

/*
 * The file with the pages of the kernel's lane `cpu`. Its name is the spool's name plus ".cpuN"; or plus
 * ".bufferB.cpuN" for another buffer of the kernel than the top one, with number B. It has whole pages, each
 * subbuf_size bytes, as the kernel returned them; an incomplete page at the end is ignored.
 */
int spool_side_path(const struct spool *spool, unsigned int process, unsigned int cpu, char *path, size_t size);

/*
 * Make it, empty. The chunk that names it is in the spool before the file exists. Returns a descriptor; -EEXIST:
 * another file has its name; -ENAMETOOLONG; or as spool_add_page() and the errno of open.
 */
int spool_side_create(struct spool *spool, unsigned int process, unsigned int cpu);

/* The places of pages in a side file. */
struct spool_side {
	uint64_t pages;	      /* number of whole pages */
	uint64_t offset;      /* offset of the first page */
	/* after the page that ends at `end` comes the one at `begin`; end 0: pages are in their order in the file */
	uint64_t begin, end;
	uint64_t events;      /* events that were before the first page, and are not in the file any more (-m) */
	uint64_t lost;	      /* losses that were reported by the pages of these events */
};

/* Open it for reading. Returns a descriptor, or the errno of open or read, -EBADMSG: its head is not valid. */
int spool_side_open(const struct spool *spool, unsigned int process, unsigned int cpu, struct spool_side *ret_side);

/* Bytes in all of them. */
uint64_t spool_side_bytes(const struct spool *spool);

/*
 * Remove the side files, then the spool's file, which stays open. 0 or the first errno of write or of unlink other than
 * ENOENT. If the process is killed in between, a spool with head.done set stays.
 */
int spool_remove(struct spool *spool);

/* --------------------------------------------------------------------------------------------------- reading back */

/* The lane that a stream reads. */
struct spool_stream {
	unsigned int process;
	unsigned int lane;
	int side;	/* the side file that the pages come from, one after the other; -1: none */
	uint64_t pages; /* number of pages in the side file */
	uint64_t not_kept; /* number of events before those of the side file (-m) */
	bool goes_round;   /* the pages are used in a circle, so they are not in their order in the file */
	uint64_t reported;	/* losses that the pages of a side file reported so far */
	uint64_t gaps;	/* number of gaps without a count so far */
	uint64_t *lost; /* if set: where to store the other losses of the CPU at the end of a side file's stream */
};

/*
 * A source of the lanes that have pages or ended with losses, a stream each; for the kernel, all lanes have streams.
 * Nothing may be appended while it is in use, and the spool must outlive it. 0, -ENOMEM, or the reason why an existing
 * side file cannot be opened; a missing one is empty. The source frees the memory of a stream with the stream's last
 * page.
 */
int spool_source_open(struct spool *spool, struct rec_source **ret_source, struct spool_stream **ret_streams);
struct rec_source *spool_source_close(struct rec_source *source);

#endif
