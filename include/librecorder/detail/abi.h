/* SPDX-License-Identifier: MIT */
/*
 * Every byte that two processes, or two versions of the library, share: the buffer file, its lanes, their links, the
 * sub-buffer and the event word (abi_page.h), the log. Nothing else stands in these two files. A byte that is in use keeps
 * its place and its meaning; whatever is added gets a feature bit and an entry in docs/SHM-LAYOUT.md, which has the rules.
 *
 * Who writes what decides the layout. Readers map the lane page and the sub-buffers read-only, so a reader that
 * misbehaves cannot harm the program; what both sides write (links, reader words, enable words) is masked and checked
 * by whoever reads it.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/reader.h> to read buffers, <librecorder/event.h> to write them"
#endif
#ifndef LIBRECORDER_ABI_H
#define LIBRECORDER_ABI_H

#include <librecorder/detail/abi_page.h>
#include <stdint.h>

#ifdef __cplusplus
#define REC_ABI_ASSERT(cond, text) static_assert(cond, text)
#define REC_ALIGNED(n) alignas(n)
#else
#define REC_ABI_ASSERT(cond, text) _Static_assert(cond, text)
#define REC_ALIGNED(n) _Alignas(n)
#endif

#define REC_ABI_MAGIC	UINT64_C(0x4c4646554245524c) /* "LREBUFFL" in little-endian order */
#define REC_ABI_VERSION 5u				 /* the first version with feature bits; readers take any later one */

/*
 * Features of a buffer, a bit each. A reader ignores compatible bits that it does not know, and refuses a buffer with an
 * incompatible one. There are none yet.
 */
#define REC_FEATURES_COMPATIBLE	  UINT64_C(0)
#define REC_FEATURES_INCOMPATIBLE UINT64_C(0)

/* One cache line, and the page that mappings are made of. */
#define REC_CACHE_LINE 64u
#define REC_MAP_PAGE   4096u

/* ---------------------------------------------------------------------------------------------------- positions */

/*
 * Tail and commit are positions: the sub-buffer, how often the tail has changed sub-buffers (15 bits, against ABA), the
 * number of events on the sub-buffer, and the offset of the next byte in words of four. One compare-and-exchange on
 * this word reserves space and counts the event.
 */
#define REC_POS_OFF_BITS    17u /* (512 KiB - 16) / 4 fits */
#define REC_POS_COUNT_BITS  16u /* 512 KiB of the smallest events fit */
#define REC_POS_SEQ_BITS    15u
#define REC_POS_COUNT_SHIFT REC_POS_OFF_BITS
#define REC_POS_SEQ_SHIFT   (REC_POS_COUNT_SHIFT + REC_POS_COUNT_BITS)
#define REC_POS_ID_SHIFT    (REC_POS_SEQ_SHIFT + REC_POS_SEQ_BITS)
#define REC_POS_OFF_MASK    ((UINT64_C(1) << REC_POS_OFF_BITS) - 1u)
#define REC_POS_COUNT_MASK  ((UINT64_C(1) << REC_POS_COUNT_BITS) - 1u)
#define REC_POS_SEQ_MASK    ((UINT64_C(1) << REC_POS_SEQ_BITS) - 1u)
#define REC_POS_ONE_EVENT   (UINT64_C(1) << REC_POS_COUNT_SHIFT)

#define REC_POS_OFF(pos)   ((uint32_t)((pos) & REC_POS_OFF_MASK) * 4u) /* bytes into the data area */
#define REC_POS_COUNT(pos) ((uint32_t)(((pos) >> REC_POS_COUNT_SHIFT) & REC_POS_COUNT_MASK))
#define REC_POS_SEQ(pos)   ((uint32_t)(((pos) >> REC_POS_SEQ_SHIFT) & REC_POS_SEQ_MASK))
#define REC_POS_ID(pos)	   ((uint32_t)((pos) >> REC_POS_ID_SHIFT))
#define REC_POS(id, seq, count, off)                                                                                   \
	(((uint64_t)(id) << REC_POS_ID_SHIFT) | (((uint64_t)(seq) & REC_POS_SEQ_MASK) << REC_POS_SEQ_SHIFT) |          \
	 ((uint64_t)(count) << REC_POS_COUNT_SHIFT) | ((uint64_t)(off) / 4u))

/* -------------------------------------------------------------------------------------------------------- links */

/*
 * A link names the next sub-buffer of the ring, with the design text's flags for that next one, and a generation that
 * changes with every write, so that a compare-and-exchange never succeeds on a link that was changed and changed back.
 */
#define REC_LINK_NORMAL	   0u
#define REC_LINK_HEAD	   1u
#define REC_LINK_UPDATE	   2u
#define REC_LINK_FLAGS	   3u
#define REC_LINK_ID(link)  ((uint32_t)((link) >> 2) & 0xffffu)
#define REC_LINK_FLAG(l)   ((uint32_t)(l) & REC_LINK_FLAGS)
#define REC_LINK_GEN_SHIFT 32u
#define REC_LINK(id, flag, gen)                                                                                        \
	(((uint64_t)(uint32_t)(gen) << REC_LINK_GEN_SHIFT) | ((uint64_t)(id) << 2) | (uint64_t)(flag))
#define REC_LINK_GEN(link) ((uint32_t)((link) >> REC_LINK_GEN_SHIFT))

struct rec_link {
	uint64_t next;
	uint32_t prev; /* tells whether a sub-buffer is in the ring: the next of its prev is itself */
	uint32_t reserved;
};

/* -------------------------------------------------------------------------------------------------------- lanes */

/*
 * Sub-buffers of all lanes together that a buffer may have: 256 GiB of the smallest. It bounds
 * the time that a look at all of them takes.
 */
#define REC_SUBBUFS_MAX (UINT64_C(1) << 26)

/*
 * The lane page: written by the program alone, and but for the lease by the lane's writer stack alone; mapped read-only
 * by readers. The first line is the writer's hot one, of which a reader wants the commit position; the others change
 * with refusals, leases, steps of the clock and changes of sub-buffer only.
 */
struct rec_gap {
	uint64_t first; /* number of the first event of a run of overwritten ones */
	uint64_t time;	/* its time */
};

/* The owner of a lane that was set aside as a snapshot: no thread has this id, nobody writes there. */
#define REC_OWNER_HELD UINT32_C(0xffffffff)

struct rec_lane {
	REC_ALIGNED(64) uint64_t tail; /* position of the next reservation */
	uint64_t after;	 /* time of the last event in position order (the kernel's write_stamp), if `cpu` is known */
	uint64_t before; /* time of the last attempt: neither of the two goes back */
	uint64_t commit; /* position up to which everything is committed; what readers may see */
	uint64_t left;	 /* tail from which a writer was about to go to another sub-buffer last; for the count of torn events alone */
	uint64_t open;	 /* 0: no writer is inside; else the stack of the outermost, and how many it was interrupted by */
	uint32_t cpu;	 /* CPU of the last marker in position order; not known after writers that nested, or took back */
	uint32_t reserved_hot[3];

	REC_ALIGNED(64) uint64_t commit_overrun; /* refused: nested writers wrapped onto the commit sub-buffer */
	uint64_t dropped;	/* refused in discard mode: the lane was full */
	uint64_t too_long;	/* refused: longer than a sub-buffer takes */
	uint64_t nested_limit;	/* refused: the retry bound was met */
	uint64_t disabled;	/* refused: the lane was disabled or broken */
	uint64_t torn;		/* events that were reserved, never committed, and taken back (ring_left.c) */
	uint64_t time_back;	/* times the clock stepped back; the event took its predecessor's time */
	uint64_t leases;	/* ever, sharing not counted */

	REC_ALIGNED(64) uint32_t owner; /* thread id of the lease; 0: nobody's; or REC_OWNER_HELD */
	uint32_t broken;	/* a broken invariant: the line of the source that saw it */
	uint32_t subbuf_size;	/* of this lane: a power of two; 0: the lane is not made yet, or is being made anew (edge N1) */
	uint32_t nr_subbufs;	/* ring and reader page; changes only while subbuf_size is 0 */
	uint32_t nr_gaps;	/* ever begun; the newest two stand in gaps, by turns */
	uint32_t shared;	/* 1: threads without a lane of their own take it for one event at a time */
	uint64_t pages_touched; /* sub-buffers that the commit position has entered, not counting the first */
	uint64_t pages_lost;	/* overwritten before they were read */
	uint64_t lost_until;	/* number behind the last overwritten event: another one there continues the gap */
	uint64_t refused_time;	/* when the first of the refusals since the last change of sub-buffer was; 0: none */
	uint64_t reserved_shape;

	REC_ALIGNED(64) struct rec_gap gaps[2]; /* a third can begin only after the reader has met the first */
	uint64_t reserved_gaps[4];
};

REC_ABI_ASSERT(sizeof(struct rec_lane) == 256, "docs/SHM-LAYOUT.md: lane");

/* One per sub-buffer, on the writer's side. Valid once the commit position has come to the sub-buffer. */
struct rec_subbuf {
	uint64_t first;	       /* number of events committed to the lane before this sub-buffer */
	uint64_t refused;      /* the lane's refusals (dropped, commit_overrun, too_long, nested_limit) before this one */
	uint64_t refused_time; /* of the first refusal since the sub-buffer before; 0: none */
	uint32_t entries;      /* events on it; final once the commit position has left */
	uint32_t visit;	       /* which sub-buffer of the lane this is, counted from 1 as the commit position meets them; 0: none */
};

REC_ABI_ASSERT(sizeof(struct rec_subbuf) == 32, "docs/SHM-LAYOUT.md: sub-buffer descriptor");

/* Where the counters of a lane stood when it was last reset. */
struct rec_lane_bases {
	uint64_t commit_overrun;
	uint64_t dropped;
	uint64_t too_long;
	uint64_t nested_limit;
	uint64_t disabled;
	uint64_t torn;
	uint64_t read;	  /* events */
	uint64_t overrun; /* events */
	uint64_t time;	  /* of the reset, in the lane's clock; no loss told from then on is older */
};

/* What readers were told up to the reader page; what is on it, and was lost before it, not yet. */
struct rec_reader_account {
	uint64_t next_event;  /* number of the event that would come first on the reader page, had none been lost */
	uint64_t refused;     /* refusals told */
	uint64_t events_lost; /* overwritten before they were read, as far as told */
	uint64_t lost_time;   /* of a loss that a sub-buffer without events could not tell; 0: none */
};

/* Up to where a lane was copied by snapshots. All 0: never. */
struct rec_lane_mark {
	uint64_t next;	  /* number of the event behind the last one copied */
	uint64_t refused; /* refusals told */
};

/*
 * What readers of a lane write, on lines of its own. The links follow it. `read` is a position as tail and commit are:
 * the reader page, the number of sub-buffers taken, the events and bytes of it that count as read. Of the accounts the
 * one at REC_POS_SEQ(read) & 1 counts; the other is made ready before a sub-buffer is taken. So one store of `read`
 * changes all of it, and readers that die leave no figure half changed. So it is with the bases and `resets`.
 */
struct rec_lane_reader {
	REC_ALIGNED(64) uint64_t owner; /* the reading process: pid | start time << 32; 0: none */
	uint64_t read;
	uint64_t pages_read;
	uint32_t hint; /* the link where the search for the head begins */
	uint32_t resets; /* ever; bases[resets % 2] counts */
	struct rec_lane_mark snapshot; /* whoever reads the lane */
	uint64_t reserved_read[2];

	REC_ALIGNED(64) struct rec_reader_account account[2];

	/* Looked at by the writer when the commit position enters another sub-buffer (edge K1 of the memory model). */
	REC_ALIGNED(64) uint32_t waiters; /* 0: nobody sleeps; else the percentage wanted, plus 1 */
	uint32_t wake;			  /* futex; changes whenever sleepers are woken */
	uint64_t reserved_wait[7];

	REC_ALIGNED(64) struct rec_lane_bases bases[2];
};

REC_ABI_ASSERT(sizeof(struct rec_lane_reader) == 384, "docs/SHM-LAYOUT.md: reader words");

/*
 * The kernel's struct trace_buffer_meta (facts D1), 80 bytes, at the start of the meta page. The first four fields are
 * written when the lane is made, or made anew; nobody writes the others, which are 0. What they stand for is in the
 * reader words.
 */
struct rec_meta {
	uint32_t meta_page_size;
	uint32_t meta_struct_len;
	uint32_t subbuf_size;
	uint32_t nr_subbufs; /* ring and reader page */
	uint64_t reader_lost_events;
	uint32_t reader_id;
	uint32_t reader_read;
	uint64_t flags;
	uint64_t entries;
	uint64_t overrun;
	uint64_t read;
	uint64_t pages_lost;
	uint64_t pages_touched;
};

REC_ABI_ASSERT(sizeof(struct rec_meta) == 80, "the kernel's size");

/* ------------------------------------------------------------------------------------------------------- buffer */

/* The clock of a buffer. */
#define REC_CLOCK_TSC  1u
#define REC_CLOCK_MONO 2u

/* One reading of the buffer's clock between two of CLOCK_MONOTONIC; see clock.c. */
struct rec_anchor {
	uint64_t clock;	   /* the buffer's clock */
	uint64_t mono;	   /* CLOCK_MONOTONIC, ns */
	uint64_t realtime; /* CLOCK_REALTIME, ns */
	uint64_t error;	   /* half the width of the bracket, ns: |true mono at clock - mono| is at most this */
};

#define REC_ANCHORS 64u

#define REC_BUFFER_LIVE	    1u
#define REC_BUFFER_EXITED   2u /* the program ends in order; until the process is gone, threads may still write */
#define REC_BUFFER_REPLACED 3u /* the program replaced itself by exec: nobody writes any more */

/*
 * Bytes of the file that are locked (F_OFD_SETLK, to write), whatever stands there: by those who are
 * alive. The kernel lets go of such a lock when the last descriptor and the last mapping of who took it
 * are gone; all pid namespaces see it alike.
 */
#define REC_LOCK_PROGRAM  0u /* the program */
#define REC_LOCK_RECORDER 1u /* whose loan it is */
#define REC_LOCK_LANES	  2u /* and more, by the lane: its reader */

/*
 * The first page of a buffer file. Everything above `state` is written once, before `ready`; the offsets are from the
 * start of the file. Lane i begins at lanes + i * lane_stride and within it lie: the lane page (struct rec_lane, then
 * max_subbufs struct rec_subbuf), the reader words and max_subbufs links, the meta page, the sub-buffers. The last two
 * are of the lane's own sub-buffer size; it and their number stand in the lane page.
 */
struct rec_buffer_header {
	uint64_t magic;
	uint32_t version;
	uint32_t ready; /* 1 once everything up to control is valid */
	uint32_t pid;
	uint32_t clock;
	uint64_t start_time; /* field 22 of /proc/PID/stat: with pid, the process for good */
	uint32_t subbuf_size; /* of a new lane */
	uint32_t nr_subbufs;  /* of a new lane: ring and reader page */
	uint32_t max_subbufs; /* for which a lane has descriptors and links */
	uint32_t max_lanes;
	uint32_t overwrite; /* 1: the oldest are lost, 0: the newest */
	uint32_t parent_pid; /* of the process that made this one, when it began; 0: not known */
	uint64_t file_size;
	uint64_t enable; /* uint32_t[REC_EVENTS_MAX] */
	uint64_t rules;	 /* struct rec_rules */
	uint64_t conditions; /* REC_CONDITIONS_SIZE bytes */
	uint64_t log;	 /* records */
	uint64_t log_size;
	uint64_t lanes;
	uint64_t lane_stride;
	uint64_t lane_reader; /* within a lane: struct rec_lane_reader and the links */
	uint64_t lane_meta;
	uint64_t loan;	       /* struct rec_loan; has memory once a recorder has written there */
	uint64_t parent_start; /* of parent_pid, as start_time; 0: not known, as with every program that is started anew */
	uint64_t pid_ns;       /* inode of /proc/self/ns/pid: where the pids here count; 0: not known */
	uint32_t locked;       /* 1: REC_LOCK_PROGRAM is held as long as a process maps the file */
	uint32_t reserved;
	char comm[32];
	char exe[256];
	uint64_t compatible;   /* features, REC_FEATURES_COMPATIBLE */
	uint64_t incompatible; /* REC_FEATURES_INCOMPATIBLE */

	/* control: written while the program runs, by the program */
	REC_ALIGNED(64) uint32_t state;
	uint32_t stopped;	/* 1: every event is off, whatever its wish; others write it too */
	uint32_t nr_lanes;	/* lanes that have at least their lane page, reader words and links; they never go away */
	uint32_t lease_errno;	/* why the last lease failed */
	uint64_t lost_no_lane;	/* events lost because no lane could be had */
	uint64_t lost_log_full; /* events, names and call sites that could not be put into the log */
	uint64_t log_used;	/* bytes of valid records */
	uint64_t nr_anchors;	/* ever written; the newest REC_ANCHORS of them stand in the ring below. One, before ready */
	struct rec_anchor anchors[REC_ANCHORS];
	uint64_t recorder; /* who attached, pid | start time << 32: has `loan` to give back; others write it. 0: nobody */
};

REC_ABI_ASSERT(sizeof(struct rec_buffer_header) == 2624, "docs/SHM-LAYOUT.md: header");

/* ------------------------------------------------------------------------------------------------ events and log */

/*
 * Event ids: KernelShark keeps them in an int16, and the kernel's own grow from below (facts trace-dat
 * 1.7). The first is that of rec_printf's event, ftrace:bprint, in every process and without a record in
 * the log; declared events follow. The last one, 32767, is recorder:end in a trace.dat
 * (format/weave/trace_info.h); no other event has it there.
 */
#define REC_EVENT_ID_FIRST 16384u
#define REC_EVENTS_MAX	   16384u

/* The enable word of the event with id REC_EVENT_ID_FIRST + i is enable[i]. */
#define REC_ENABLE_ON	  1u /* what the program tests */
#define REC_ENABLE_WANTED 2u /* on, as soon as the buffer is not stopped */

/* Bits 8 to 31: where the event's condition stands among the conditions, in units of 16 bytes; 0: it has none. */
#define REC_ENABLE_CONDITION_SHIFT 8u
#define REC_ENABLE_CONDITION(word) ((word) >> REC_ENABLE_CONDITION_SHIFT)

/*
 * What others wish of events that the program may register later: '+' or '-', a wish (filter.h), NUL, one after the
 * other; the last rule that matches holds. Written by those who switch events from outside, one at a time (they
 * lock the file), and never where the program may be reading: the other text is filled, then `changes` names it.
 * Who reads looks at `changes` again afterwards.
 */
#define REC_RULES_SIZE 2040u

struct rec_rules {
	uint32_t changes; /* ever; text[changes % 2] holds */
	uint32_t reserved;
	char text[2][REC_RULES_SIZE];
};

REC_ABI_ASSERT(sizeof(struct rec_rules) <= REC_MAP_PAGE, "docs/SHM-LAYOUT.md: rules");

/*
 * A condition: a compiled filter (filter.h), and how many events a second may pass. It is this head, the steps, and the
 * texts that steps compare with; a multiple of 16 bytes. Once an enable word names it, only `window` and `suppressed`
 * change, and it stays for good: a writer may be at it.
 */
struct rec_condition {
	uint32_t size; /* of all of it */
	uint16_t nr_steps;
	uint16_t id;   /* with a rate: the event's, which has the condition for itself; else 0 */
	uint32_t rate; /* events that may pass in each second of CLOCK_MONOTONIC; 0: all */
	uint32_t reserved;
	uint64_t window;     /* the second in the upper half, how many passed in the lower */
	uint64_t suppressed; /* events that the rate kept away */
};

/* A step tests one field and goes on to a later step, or ends it. There are no others, so every way is short. */
struct rec_condition_step {
	uint8_t test;
	uint8_t size;	 /* of the number: 1, 2, 4, 8 */
	uint16_t offset; /* of the field in the record */
	uint16_t yes;	 /* the step to go on with, or how it ends */
	uint16_t no;
	uint64_t value; /* the number; or a text: its offset in the condition, its length << 32 */
};

#define REC_TEST_EQUAL	    1u
#define REC_TEST_LESS	    2u
#define REC_TEST_LESS_EQUAL 3u
#define REC_TEST_BITS	    4u /* one of them is set */
#define REC_TEST_TEXT	    5u /* of a string: is the text */
#define REC_TEST_GLOB	    6u /* of a string: is like the text */
#define REC_TEST_KIND	    0x0fu
#define REC_TEST_SIGNED	    0x40u
#define REC_TEST_CPU	    0x80u /* of the CPU's number in place of a field */

#define REC_STEP_PASS 0xffffu
#define REC_STEP_DROP 0xfffeu

#define REC_CONDITION_UNIT 16u
#define REC_CONDITION_MAX  4096u
#define REC_STEPS_MAX	   128u

/*
 * The conditions, in two halves, each of which begins with this and only grows: the first is written
 * by those who switch events from outside, one at a time, the second by the program. Either looks for
 * an equal condition in its own half first.
 */
struct rec_conditions {
	uint64_t used; /* bytes of the half, this head counted; 0: none */
	uint64_t reserved;
};

#define REC_CONDITIONS_HALF 65536u
#define REC_CONDITIONS_SIZE (2u * REC_CONDITIONS_HALF)

REC_ABI_ASSERT(sizeof(struct rec_condition) == 32, "docs/SHM-LAYOUT.md: condition");
REC_ABI_ASSERT(sizeof(struct rec_condition_step) == 16, "docs/SHM-LAYOUT.md: condition");

/*
 * What a recorder that attached has switched on for the time of its recording, so that it, or whoever finds it
 * dead, can leave the events as they were: those like `patterns` get their words of before, condition and all, and
 * go off where they had none. Counts while the header's `recorder` is not 0; a forked child gets a copy of both.
 */
#define REC_LOAN_PATTERNS 2048u

struct rec_loan {
	char patterns[REC_LOAN_PATTERNS]; /* as of rec_enable(), one list a line, with NUL */
	uint32_t nr_words;
	uint32_t reserved;
	uint32_t words[REC_EVENTS_MAX]; /* enable words; only the first nr_words have memory */
};

REC_ABI_ASSERT(sizeof(struct rec_loan) == 67592, "docs/SHM-LAYOUT.md: loan");

/*
 * The log: append-only records, each a multiple of 8 bytes, valid below log_used. An event's record is the very
 * blob that the compiler put into the section "rec_events" of the program, with its id filled in.
 */
struct rec_log_record {
	uint32_t size; /* of the whole record */
	uint16_t kind;
	uint16_t id;
};

#define REC_LOG_EVENT  1u /* id: the event's; struct rec_log_event */
#define REC_LOG_THREAD 2u /* struct rec_log_thread; a later record of the same thread replaces the name */
#define REC_LOG_PRINTF 3u /* struct rec_log_printf */

/*
 * text: the system, then the declaration as written, "submit, u64(id), string(path)" or, with a format, "submit,
 * (format, arguments), u64(id)", each ended by NUL. numbers: the size of the common and fixed fields, then the
 * constants of the declaration that are not readable from its text, in the order in which they are met: an array's
 * length, a real's decimals, the number of named values and the values. event_text.h reads all this.
 */
struct rec_log_event {
	struct rec_log_record record;
	uint32_t nr_numbers;
	uint32_t text_size;
	/* int64_t numbers[nr_numbers]; char text[text_size]; zeros up to a multiple of 8 */
};

struct rec_log_thread {
	struct rec_log_record record;
	int32_t tid;
	uint32_t name_size; /* with NUL */
	/* char name[name_size]; zeros */
};

/* A call site of rec_printf: text is the function's name and the format, each ended by NUL. */
struct rec_log_printf {
	struct rec_log_record record;
	uint64_t site; /* what the record's fmt field holds */
	uint32_t line;
	uint32_t text_size;
	/* char text[text_size]; zeros */
};

#endif
