/* SPDX-License-Identifier: MIT */
/*
 * Every byte of a spool's file and of its stage's file. docs/SPOOL-LAYOUT.md has the same as tables, and the rules for
 * changing it: change both together. Numbers are the machine's own; all fields have fixed widths. These types belong to
 * the files alone: public structs may grow without them (spool_format.c converts).
 */
#ifndef CLI_SPOOL_FORMAT_H
#define CLI_SPOOL_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_ASSERT(condition) static_assert(condition, "docs/SPOOL-LAYOUT.md")

#define SPOOL_MAGIC   UINT64_C(0x4c4f4f5053434552) /* "RECSPOOL" in little-endian order */
#define SPOOL_VERSION 3u

/* The version number of spools with an incompatible feature, because readers before 1.0 compare only the version. */
#define SPOOL_VERSION_FEATURES 4u

/* Spools of this version and later ones are read; it had no stages. */
#define SPOOL_VERSION_LEAST 2u

/* The kernel's events are in several buffers: the spool has several kernel processes, each with its own side files. */
#define SPOOL_FEATURE_BUFFERS UINT64_C(1)

/* Side files have a limit: they begin with struct spool_side_head and hold the last pages as a ring. */
#define SPOOL_FEATURE_LIMIT UINT64_C(2)

/* The feature bits that this version knows. */
#define SPOOL_FEATURES_COMPATIBLE   UINT64_C(0)
#define SPOOL_FEATURES_INCOMPATIBLE (SPOOL_FEATURE_BUFFERS | SPOOL_FEATURE_LIMIT)

/* Reasons why a spool is not needed. */
#define SPOOL_DONE    1u /* its trace.dat is complete */
#define SPOOL_PARTIAL 2u /* it is an incomplete copy of another spool */

/* The start of the file; chunks follow. */
struct spool_head {
	uint64_t magic;
	uint32_t version;
	uint32_t file_version; /* requested version of the trace.dat */
	uint32_t raw;
	uint32_t recorder;     /* pid, for messages; the lock on the file shows whether the recorder is alive */
	char session[4096];    /* directory with the buffers; "": none */
	char command[256];     /* the command's first word */
	uint32_t split;	       /* 1: the trace.dat has a buffer for each process, in addition to the kernel's */
	uint32_t done;	       /* SPOOL_; 0: the spool is needed */
	char stage[1024];      /* path of the file with the chunks that come next (stage.h); "": none */
	uint64_t compatible;   /* features that a reader may ignore */
	uint64_t incompatible; /* features that a reader must know */
	char boot[40];	       /* boot id of the machine that records; "": not known */
	char wanted[1536];     /* patterns of the events that are woven, one list on each line; "": all */
	uint32_t date;	       /* 1: the trace.dat states the time of day at its time 0 */
	unsigned char reserved[1188];
};

SPOOL_ASSERT(offsetof(struct spool_head, session) == 24);
SPOOL_ASSERT(offsetof(struct spool_head, command) == 4120);
SPOOL_ASSERT(offsetof(struct spool_head, split) == 4376);
SPOOL_ASSERT(offsetof(struct spool_head, stage) == 4384);
SPOOL_ASSERT(offsetof(struct spool_head, compatible) == 5408);
SPOOL_ASSERT(offsetof(struct spool_head, boot) == 5424);
SPOOL_ASSERT(offsetof(struct spool_head, wanted) == 5464);
SPOOL_ASSERT(offsetof(struct spool_head, date) == 7000);
SPOOL_ASSERT(offsetof(struct spool_head, reserved) == 7004);
SPOOL_ASSERT(sizeof(struct spool_head) == 8192);

/*
 * Read the head of a spool. Version and features are not checked; texts end with a NUL. spool_head_look() opens the
 * file by its path, and takes no lock. 0; -EBADMSG: not a spool; or an errno of read, or of open_regular().
 */
int spool_head_read(int fd, struct spool_head *ret_head);
int spool_head_look(const char *path, struct spool_head *ret_head);

/* Kinds of chunks. Readers skip unknown kinds. */
enum spool_kind {
	SPOOL_PROCESS = 1, /* struct spool_disk_process; its index among these chunks is the number that others use */
	SPOOL_LOG,	   /* the next piece of a process's log */
	SPOOL_PAGE,	   /* a page of a lane as taken: header and data */
	SPOOL_LANE_END,	   /* struct spool_disk_lane_end: nothing of this lane follows */
	SPOOL_PROCESS_END, /* struct spool_disk_process_end: nothing of this process follows */
	SPOOL_ANCHOR,	   /* struct spool_disk_anchor; `lane` is the clock */
	SPOOL_RATE,	   /* struct spool_disk_rate of the event with the id `lane`, at the end of the process */
	SPOOL_SIDE,	   /* nothing: this lane's pages are in a side file */
	SPOOL_TEXT,	   /* a piece of a text: kind in `lane`, position in `from`; after its name and a NUL */
	SPOOL_CLOCKS,	   /* struct spool_disk_clocks: at the beginning of the recording, and at its end */
	SPOOL_KINDS	   /* one more than the last */
};

/* The kernel's texts. If several have the same kind and name, the last one is valid. Readers skip unknown kinds. */
enum spool_text_kind {
	SPOOL_TEXT_HEADER_PAGE = 1, /* events/header_page */
	SPOOL_TEXT_HEADER_EVENT,
	SPOOL_TEXT_FORMAT, /* of an event: "system/event" */
	SPOOL_TEXT_KALLSYMS,
	SPOOL_TEXT_PRINTK,   /* printk_formats */
	SPOOL_TEXT_CMDLINES, /* saved_cmdlines */
	SPOOL_TEXT_STATS,    /* per_cpu/cpuN/stats at the end: "N" */
	SPOOL_TEXT_UNAME,    /* in trace-cmd's form: system, host, release, machine */
	SPOOL_TEXT_CLOCK,    /* the clock's name, as in trace_clock */
	SPOOL_TEXT_BOOT,     /* random/boot_id: kernels with the same one are one kernel */
	SPOOL_TEXT_OFFSETS,  /* its clock against that of programs: clock_offsets_text() */
	SPOOL_TEXT_HIDDEN,   /* ids of threads whose events the file leaves out: the recorder's */
	/*
	 * What is missing. Switches: "first pids" and "pids", set_event_pid at the beginning and at the end; "filter",
	 * that of sched_switch at the beginning; "switches", whether it is on; "no cpus", the online CPUs that are not
	 * recorded. "processes", of these threads: "PID TID TID, PID TID". And "graph depth": which calls the file
	 * leaves out (format/weave/graph_depth.h).
	 */
	SPOOL_TEXT_SOME,
	SPOOL_TEXT_MAP,	     /* of a process, by its pid: proc_maps.h */
	SPOOL_TEXTS	     /* one more than the last */
};

#define SPOOL_CHUNK_MAGIC UINT32_C(0x4b4e4843) /* "CHNK" */

struct spool_chunk {
	uint32_t magic;
	uint16_t kind;
	uint16_t reserved;
	uint32_t process;
	uint32_t lane;
	uint32_t size;	  /* size of the payload */
	uint32_t from;	  /* of a page: as in struct rec_page; of a text's piece: its place */
	uint32_t entries; /* of a page */
	uint32_t reserved2;
	uint64_t first; /* of a page */
	uint64_t lost;	/* of a page */
	uint64_t next;	/* offset of the lane's next chunk, written when that one is in the file; 0 before */
	uint64_t prev;	/* the chunk whose `next` is to be written once this one is in the file; 0: nothing to write */
};

SPOOL_ASSERT(offsetof(struct spool_chunk, process) == 8);
SPOOL_ASSERT(offsetof(struct spool_chunk, entries) == 24);
SPOOL_ASSERT(offsetof(struct spool_chunk, first) == 32);
SPOOL_ASSERT(offsetof(struct spool_chunk, next) == 48);
SPOOL_ASSERT(sizeof(struct spool_chunk) == 64);

/*
 * Payloads. Version 3 has these sizes, which are the least. A later version may add fields at the end: a reader takes
 * those that it knows.
 */

/* The data of a program's buffer that the spool needs, because the buffer may be gone. */
struct spool_disk_process {
	uint32_t pid;
	uint32_t reserved;
	uint64_t start_time;
	uint32_t parent_pid;
	uint32_t reserved2;
	uint64_t parent_start;
	uint32_t clock;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	uint32_t max_lanes;
	uint32_t overwrite;
	char comm[32];
	char exe[256];
	uint32_t reserved3;
	uint64_t inode; /* of the buffer file: with its name it identifies the buffer */
	char file[256]; /* its name in the session's directory */
	uint32_t other_pids; /* 1: its pids are not of the initial pid namespace, whose pids the kernel's events have */
	uint32_t reserved4;
};

SPOOL_ASSERT(offsetof(struct spool_disk_process, start_time) == 8);
SPOOL_ASSERT(offsetof(struct spool_disk_process, parent_start) == 24);
SPOOL_ASSERT(offsetof(struct spool_disk_process, comm) == 52);
SPOOL_ASSERT(offsetof(struct spool_disk_process, exe) == 84);
SPOOL_ASSERT(offsetof(struct spool_disk_process, inode) == 344);
SPOOL_ASSERT(offsetof(struct spool_disk_process, other_pids) == 608);
SPOOL_ASSERT(sizeof(struct spool_disk_process) == 616);

/* The lane's statistics, as in struct rec_lane_stats. */
struct spool_disk_lane_end {
	uint64_t entries;
	uint64_t overrun;
	uint64_t commit_overrun;
	uint64_t bytes;
	uint64_t oldest_event_ts;
	uint64_t now_ts;
	uint64_t dropped_events;
	uint64_t read_events;
	uint64_t too_long;
	uint64_t nested_limit;
	uint64_t disabled;
	uint64_t torn;
	uint64_t lost_unread;
	uint32_t clock;
	uint32_t subbuf_size;
	uint32_t nr_pages;
	uint32_t owner;
	uint32_t shared;
	uint32_t broken;
};

SPOOL_ASSERT(offsetof(struct spool_disk_lane_end, read_events) == 56);
SPOOL_ASSERT(offsetof(struct spool_disk_lane_end, lost_unread) == 96);
SPOOL_ASSERT(offsetof(struct spool_disk_lane_end, broken) == 124);
SPOOL_ASSERT(sizeof(struct spool_disk_lane_end) == 128);

/* The process's losses, as in struct rec_view_losses. */
struct spool_disk_process_end {
	uint64_t no_lane;
	uint64_t log_full;
	int32_t lease_errno;
	uint32_t reserved;
};

SPOOL_ASSERT(offsetof(struct spool_disk_process_end, lease_errno) == 16);
SPOOL_ASSERT(sizeof(struct spool_disk_process_end) == 24);

struct spool_disk_rate {
	uint32_t rate; /* events a second */
	uint32_t reserved;
	uint64_t suppressed;
};

SPOOL_ASSERT(offsetof(struct spool_disk_rate, suppressed) == 8);
SPOOL_ASSERT(sizeof(struct spool_disk_rate) == 16);

/* The fields of struct rec_anchor. */
struct spool_disk_anchor {
	uint64_t clock;
	uint64_t mono;
	uint64_t realtime;
	uint64_t error;
};

SPOOL_ASSERT(offsetof(struct spool_disk_anchor, error) == 24);
SPOOL_ASSERT(sizeof(struct spool_disk_anchor) == 32);

struct spool_disk_clocks {
	uint64_t mono;
	uint64_t realtime;
	uint64_t boottime;
	uint64_t error;	    /* 0: not known, as in spools of earlier versions, which do not have it */
	uint64_t day_error; /* 0: not known */
};

SPOOL_ASSERT(offsetof(struct spool_disk_clocks, boottime) == 16);
SPOOL_ASSERT(offsetof(struct spool_disk_clocks, day_error) == 32);
SPOOL_ASSERT(sizeof(struct spool_disk_clocks) == 40);

/* --------------------------------------------------------------------------------------- side files with a limit */

#define SPOOL_SIDE_MAGIC UINT64_C(0x4544495353434552) /* "RECSSIDE" in little-endian order */

/*
 * The first page of a side file with a limit begins with this. Page k of the CPU is in place k % places, counted from 0
 * after the head. The file has page k if k is at least `first` and not after the last page. If `end` is 0, the last
 * page is the one before the first page whose time goes back.
 */
struct spool_side_head {
	uint64_t magic;
	uint64_t places;
	uint64_t first;	 /* number of pages that were overwritten, or are about to be */
	uint64_t events; /* events on those pages */
	uint64_t lost;	 /* lost events: the sum of the numbers that these pages report */
	uint64_t time;	 /* time of the last of these pages, which is invalid even if it was not overwritten yet */
	uint64_t end;	 /* final number of pages; 0: the recorder was killed */
};

SPOOL_ASSERT(offsetof(struct spool_side_head, first) == 16);
SPOOL_ASSERT(sizeof(struct spool_side_head) == 56);

/* ------------------------------------------------------------------------------------------------------- the stage */

#define STAGE_MAGIC UINT64_C(0x4547415453434552) /* "RECSTAGE" in little-endian order */

#define STAGE_FEATURES_COMPATIBLE   UINT64_C(0)
#define STAGE_FEATURES_INCOMPATIBLE UINT64_C(0)

/* The most blocks that a stage has; each has room for this many bytes, and block n begins at STAGE_HEAD + n * that. */
#define STAGE_BLOCKS	1024u
#define STAGE_BLOCK_MAX (1024u * 1024u)
#define STAGE_HEAD	(64u * 1024u)

/*
 * The record of a block. It is written in this order: taken, offset, bytes, filled; filled = 0 frees the block.
 */
struct stage_slot {
	uint64_t offset; /* in the spool; 0: not known yet */
	uint64_t filled; /* valid bytes; 0: none */
	uint64_t taken;	 /* the number of blocks taken before it: the order of those without an offset */
};

SPOOL_ASSERT(offsetof(struct stage_slot, taken) == 16);
SPOOL_ASSERT(sizeof(struct stage_slot) == 24);

/* The start of the stage's file. */
struct stage_head {
	uint64_t magic;
	uint64_t dev;	  /* device of the spool's file */
	uint64_t inode;	  /* inode of the spool's file */
	char spool[4096]; /* path of the spool */
	struct stage_slot slots[STAGE_BLOCKS];
	uint64_t compatible;   /* features that a reader may ignore */
	uint64_t incompatible; /* features that a reader must know */
};

SPOOL_ASSERT(offsetof(struct stage_head, spool) == 24);
SPOOL_ASSERT(offsetof(struct stage_head, slots) == 4120);
SPOOL_ASSERT(offsetof(struct stage_head, compatible) == 28696);
SPOOL_ASSERT(sizeof(struct stage_head) == 28712);

#endif
