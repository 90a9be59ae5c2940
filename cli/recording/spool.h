/* SPDX-License-Identifier: MIT */
/*
 * The spool: what a recording has drained so far, in one file beside its output.
 *
 * What it guarantees. A chunk is in the file, or in the spool's stage, before the next page of its lane is asked
 * for, so whatever was taken out of a lane survives a SIGKILL of the recorder: spool_open() reads a spool that is
 * cut off at any byte, and appends the contents of its stage. The chunks of a lane are linked, so its pages are
 * read in order without an index: memory grows with the number of processes, threads and event definitions, not with
 * the length of the recording. A full disk is an error code, never a signal.
 *
 * The file: struct spool_head, then chunks back to back, each a struct spool_chunk and its payload, rounded up to 8
 * bytes. The numbers are the machine's: a spool is read where it was written. What stands in the chunks is checked as
 * far as memory safety goes; what stands in the pages is checked by who reads pages.
 *
 * The kernel is one more process of a spool, the one with pid 0; its lanes are the CPUs, by number. Its pages are
 * not in this file but, back to back, in one file a CPU beside it: see spool_side_open(). Its log is empty, it has
 * texts instead.
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
#define SPOOL_VERSION 3u
#define SPOOL_VERSION_LEAST 2u /* had no stages; such a spool is read, too */

/* The start of the file, 8 KiB with the reserve. */
struct spool_head {
	uint64_t magic;
	uint32_t version;
	uint32_t file_version; /* of the trace.dat that was asked for */
	uint32_t raw;
	uint32_t recorder; /* pid, for messages; the lock says whether it lives */
	char session[PATH_MAX]; /* directory with the buffers; "" for none */
	char command[256];	/* the command's first word */
	uint32_t split;		/* a buffer for each process, beside the kernel's */
	uint32_t done;		/* its file was made: all that is to be done is spool_remove() */
	char stage[1024];	/* path of the file with the chunks that come next (stage.h); "": there is none */
	unsigned char reserved[8192 - 32 - PATH_MAX - 256 - 1024];
};

enum spool_kind {
	SPOOL_PROCESS = 1, /* struct spool_process; its place among these chunks is the number others refer to */
	SPOOL_LOG,	   /* the next piece of a process's log */
	SPOOL_PAGE,	   /* a page of a lane as taken: header and data */
	SPOOL_LANE_END,	   /* struct rec_lane_stats: nothing of this lane follows */
	SPOOL_PROCESS_END, /* struct rec_view_losses: nothing of this process follows */
	SPOOL_ANCHOR,	   /* struct rec_anchor; `lane` is the clock */
	SPOOL_RATE,	   /* struct rec_view_rate of the event with the id `lane`, at the end of the process */
	SPOOL_SIDE,	   /* nothing: this lane's pages are in a side file */
	SPOOL_TEXT,	   /* a piece of a text: kind in `lane`, place in `from`; behind its name and a NUL */
};

/* What the kernel says of itself. Of the same kind and name the last one counts. */
enum spool_text_kind {
	SPOOL_TEXT_HEADER_PAGE = 1, /* events/header_page */
	SPOOL_TEXT_HEADER_EVENT,
	SPOOL_TEXT_FORMAT,   /* of an event: "system/event" */
	SPOOL_TEXT_KALLSYMS,
	SPOOL_TEXT_PRINTK,   /* printk_formats */
	SPOOL_TEXT_CMDLINES, /* saved_cmdlines */
	SPOOL_TEXT_STATS,    /* per_cpu/cpuN/stats at the end: "N" */
	SPOOL_TEXT_UNAME,    /* as trace-cmd has it: system, host, release, machine */
	SPOOL_TEXT_CLOCK,    /* the clock's name, as in trace_clock */
	SPOOL_TEXT_BOOT,     /* random/boot_id: kernels with the same one are one kernel */
	SPOOL_TEXT_OFFSETS,  /* its clock against that of programs: clock_offsets_text() */
	SPOOL_TEXT_HIDDEN,   /* set_event_notrace_pid */
	SPOOL_TEXT_SOME,     /* what leaves switches out: "pids", set_event_pid; "filter", that of sched_switch */
	SPOOL_TEXTS	     /* their number, and one */
};

#define SPOOL_CHUNK_MAGIC UINT32_C(0x4b4e4843) /* "CHNK" */

struct spool_chunk {
	uint32_t magic;
	uint16_t kind;
	uint16_t reserved;
	uint32_t process;
	uint32_t lane;
	uint32_t size; /* of the payload */
	uint32_t from;	  /* of a page: as in struct rec_page; of a text's piece: its place */
	uint32_t entries; /* of a page */
	uint32_t reserved2;
	uint64_t first; /* of a page */
	uint64_t lost;	/* of a page */
	uint64_t next;	/* offset of the lane's next chunk, written when that one is in the file; 0 before */
	uint64_t prev;	/* the chunk whose `next` is to be written when this one is in the file; 0: none, or it has that */
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
	bool side; /* its pages are in a side file, of which the model knows nothing more */
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
	uint32_t subbuf_size; /* large enough for each of its pages: a program may change the size while it runs */
	uint64_t events; /* in its pages */
	uint64_t lost;	 /* that the pages tell of; what came behind them is in the lanes' stats and in losses */
	bool ended;
	struct rec_view_losses losses; /* valid once ended */
	struct spool_rate *rates;
	unsigned int nr_rates;
	struct spool_text *texts;
	unsigned int nr_texts;
	void *text_places;	     /* to find them */
	size_t rate_room, text_room; /* bytes */
};

/* The anchors of one clock, oldest first. */
struct spool_anchors {
	struct rec_anchor *anchors;
	unsigned int nr;
	unsigned int step, skip; /* every step-th is kept, skip more are to be passed over */
};

struct stage;
struct stage_block;

struct spool {
	int fd;
	bool writable;
	char *path;
	uint64_t end; /* offset behind the last whole chunk */
	struct spool_head head;
	struct spool_entry *entries;
	unsigned int nr_entries;
	struct spool_anchors anchors[REC_CLOCK_MONO + 1]; /* by clock */
	uint64_t nr_lanes; /* of all entries */
	uint64_t events;
	uint64_t cut; /* bytes behind `end` that were no whole chunk when the file was opened */
	struct stage *stage;	   /* chunks go there first; NULL: straight into the file */
	unsigned int priority;	   /* real-time, of its thread; 0: none */
	struct stage_block *block; /* that chunks are put into; NULL: none yet */
	uint64_t block_ms;	   /* when it was taken */
	bool patient;		   /* if the stage is full, adding a page waits */
	bool stage_is_gone;	   /* and with it the chunks that a killed recorder had not written */
	unsigned char *rest; /* chunks of a stage for which the file has no room, */
	uint64_t rest_at;    /* from this offset on */
	size_t rest_size;
};

/*
 * Make the spool file at `path`, which must not exist, locked. `head` is copied; magic, version and recorder are
 * filled in. 0; -EEXIST; -ENOMEM; or what open or write met. spool_close() takes NULL too and returns NULL.
 */
int spool_create(const char *path, const struct spool_head *head, struct spool **ret_spool);

/*
 * Open a spool that its recorder has left, locked, repair a missing link or a torn end, and append the contents of its
 * stage. If the disk has no room for these, they are kept in memory, and in the stage. More may be appended. 0;
 * -EBUSY: its recorder is alive; -ENOENT also: another process has just removed it; -EBADMSG: not a spool; -EPROTO: of
 * another version; -ENOMEM; or an errno of open or read.
 */
int spool_open(const char *path, struct spool **ret_spool);

/* Read its head and change nothing. 0 or as spool_open(). */
int spool_look(const char *path, struct spool_head *ret_head);

struct spool *spool_close(struct spool *spool);

/*
 * Append. Returned numbers are those of the process. 0 or positive; -ENOSPC and the other errnos of write: what was
 * there before stays readable; -ENOMEM.
 */
int spool_add_process(struct spool *spool, const struct spool_process *process);
int spool_add_log(struct spool *spool, unsigned int process, const void *bytes, size_t size);
/*
 * A page. `stands`, if it is not NULL, is asked with `arg` when the page has been copied: false, it did not stand
 * still for that, and it is not added: -EFAULT. -EAGAIN: the stage is full (spool_stage()).
 */
int spool_add_page(struct spool *spool, unsigned int process, unsigned int lane, const struct rec_page *page,
		   bool (*stands)(void *arg), void *arg);
int spool_add_lane_end(struct spool *spool, unsigned int process, unsigned int lane,
		       const struct rec_lane_stats *stats);
int spool_add_process_end(struct spool *spool, unsigned int process, const struct rec_view_losses *losses);
int spool_add_rate(struct spool *spool, unsigned int process, uint16_t id, const struct rec_view_rate *rate);
int spool_add_anchor(struct spool *spool, uint32_t clock, const struct rec_anchor *anchor);

/* The whole text, in as many pieces as it takes. `name`: "" for kinds of which there is one. */
int spool_add_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name,
		   const char *text, size_t size);

/*
 * The same, in memory alone: for what who recovers the spool can find out himself. `text`, ended with a NUL that size
 * does not count, is the spool's from then on, to be freed. 0 or -ENOMEM.
 */
int spool_keep_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name, char *text,
		    size_t size);

/*
 * Append all that is in `other`, which has no side files, behind which a failure takes it out of the file again;
 * then this spool is only good for being closed. Errors as above, and -EBADMSG: the other one was changed
 * meanwhile.
 */
int spool_append(struct spool *spool, const struct spool *other);

/*
 * ---------------------------------------------------------------------------------------------------------- staged
 */

/*
 * Give the spool a stage (stage.h): from now on chunks go there, and the stage's thread writes them to the file. Only
 * spool_settle() waits for the disk, and, when the stage is full, calls that append something other than pages. `max`:
 * bytes in the stage; 0: derived from the available memory. `priority`: of the thread. 0; on an error of stage_open()
 * the spool stays without a stage.
 */
int spool_stage(struct spool *spool, uint64_t max, unsigned int priority);

/* Call it some times a second: it hands over a block that is not full after a while. */
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

/* A process's text; NULL: there is none of this kind and name. */
const struct spool_text *spool_text(const struct spool_entry *entry, enum spool_text_kind kind, const char *name);

/*
 * Why a CPU lost events: they were overwritten; interrupts had filled its ring; it was full and is not to be
 * overwritten; its drain ended before it was empty.
 */
struct spool_losses {
	uint64_t overrun, commit_overrun, dropped, left;
};

/* Out of the text of per_cpu/cpuN/stats; a figure by its name there, 0 if there is none. */
void spool_losses_parse(const char *stats, struct spool_losses *ret_losses);
uint64_t spool_stats_figure(const char *stats, const char *name);

uint64_t spool_losses_sum(const struct spool_losses *losses);

/* Of the kernel, by the CPU's statistics at the end; false: the recorder was killed before it took them. */
bool spool_kernel_losses(const struct spool_entry *entry, unsigned int cpu, struct spool_losses *ret_losses);

/* Whether it is the kernel; whether that is in there. */
bool spool_is_kernel(const struct spool_entry *entry);
bool spool_has_kernel(const struct spool *spool);

/* The next event that the spool lacks of a lane: what is below was drained before. */
uint64_t spool_next_event(const struct spool *spool, unsigned int process, unsigned int lane);

/* ----------------------------------------------------------------------------------------------------- side files */

/*
 * The file with the pages of the kernel's lane `cpu`: the spool's name and ".cpuN". Pages follow upon each other,
 * each subbuf_size bytes, as the kernel gave them away; a piece of a page at the end is nobody's.
 */
int spool_side_path(const struct spool *spool, unsigned int cpu, char *path, size_t size);

/*
 * Make it, empty. The chunk that names it is in the spool before it exists. Returns a descriptor; -EEXIST:
 * something is in the way; -ENAMETOOLONG; or as spool_add_page() and open's errno.
 */
int spool_side_create(struct spool *spool, unsigned int process, unsigned int cpu);

/* Open it for reading. Returns a descriptor, or open's errno; *ret_pages: whole pages in it. */
int spool_side_open(const struct spool *spool, unsigned int process, unsigned int cpu, uint64_t *ret_pages);

/* Bytes in all of them. */
uint64_t spool_side_bytes(const struct spool *spool);

/*
 * Remove the files beside the spool's, then that one, which stays open. 0 or the first errno of write or of unlink
 * other than ENOENT. Who is killed in between leaves a spool with head.done.
 */
int spool_remove(struct spool *spool);

/* --------------------------------------------------------------------------------------------------- reading back */

/* The lane that a stream is made of. */
struct spool_stream {
	unsigned int process;
	unsigned int lane;
	int side;	/* the side file that the pages come from, one after the other; -1: none */
	uint64_t told;	/* losses that the pages of a side file told so far */
	uint64_t gaps;	/* and how often they told no number */
	uint64_t *lost; /* if set: where to write at the end of a side file's stream what its CPU lost beyond that */
};

/*
 * A source of the lanes that have pages or ended with losses, a stream each; of the kernel, all. Nothing may be
 * appended while it is in use, and the spool outlives it. 0, -ENOMEM, or why a side file that is there cannot be
 * opened; one that is not is empty. The source's memory for a stream is given back with the stream's last page.
 */
int spool_source_open(struct spool *spool, struct rec_source **ret_source, struct spool_stream **ret_streams);
struct rec_source *spool_source_close(struct rec_source *source);

#endif
