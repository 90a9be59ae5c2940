/* SPDX-License-Identifier: MIT */
/*
 * Every byte that two processes, or two versions of the library, share: the buffer file, its lanes, their links, the
 * sub-buffer and the event word (abi_page.h), the log. These two files contain nothing else. A byte that is in use
 * keeps its place and its meaning; each addition gets a feature bit and an entry in docs/SHM-LAYOUT.md, which has the
 * rules.
 *
 * The writer of each part determines the layout. Readers map the lane page and the sub-buffers read-only, so a reader
 * that misbehaves cannot harm the program. Words that both sides write (links, reader words, enable words) are masked
 * and checked by each side that reads them.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/reader.h> to read, <librecorder/event.h> to write events"
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
#define REC_ABI_VERSION 5u				 /* the first with feature bits; readers take later ones */

/*
 * Features of a buffer, one bit each. A reader ignores compatible bits that it does not know, and refuses a buffer
 * with an unknown incompatible bit.
 */
#define REC_FEATURE_GROWTH	  UINT64_C(1) /* compatible: the program reads grow_until */
#define REC_FEATURE_UNRECORDED	  UINT64_C(2) /* compatible: forked children write `unrecorded` */
#define REC_FEATURES_COMPATIBLE	  (REC_FEATURE_GROWTH | REC_FEATURE_UNRECORDED)
#define REC_FEATURES_INCOMPATIBLE UINT64_C(0)

/* A cache line. REC_MAP_PAGE is the unit of the places in a buffer file, unless the pages of the system are larger. */
#define REC_CACHE_LINE 64u
#define REC_MAP_PAGE   4096u

/* ---------------------------------------------------------------------------------------------------- positions */

/*
 * Tail and commit are positions: the sub-buffer, the number of changes of sub-buffer by the tail (15 bits, against
 * ABA), the number of events on the sub-buffer, and the offset of the next byte in words of four. One
 * compare-and-exchange on this word reserves space and counts the event.
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
 * A link names the next sub-buffer of the ring, with that sub-buffer's flags as in the kernel's design text, and a
 * generation that changes with every write. So a compare-and-exchange never succeeds on a link that was changed and
 * changed back.
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
	uint32_t prev; /* the sub-buffer before; its link leads here if this sub-buffer is in the ring */
	uint32_t reserved;
};

/* -------------------------------------------------------------------------------------------------------- lanes */

/*
 * The most sub-buffers that all lanes of a buffer together may have: 256 GiB of the smallest. It limits the time that
 * a pass over all of them takes.
 */
#define REC_SUBBUFS_MAX (UINT64_C(1) << 26)

/*
 * The lane page. Only the program writes it and, except for the lease, only the lane's writer stack; readers map it
 * read-only. The writer stores to the first cache line with each event; of this line readers need only the commit
 * position. The other lines change only on refusals, leases, backward steps of the clock and changes of sub-buffer.
 */
struct rec_gap {
	uint64_t first; /* number of the first event of a run of overwritten ones */
	uint64_t time;	/* time of this event */
};

/* The owner of a lane that was set aside as a snapshot: no thread has this id, so no thread writes there. */
#define REC_OWNER_HELD UINT32_C(0xffffffff)

struct rec_lane {
	REC_ALIGNED(64) uint64_t tail; /* position of the next reservation */
	uint64_t after;	 /* time of the last event in position order (the kernel's write_stamp), if `cpu` is known */
	uint64_t before; /* time of the last attempt. `after` and `before` never go back */
	uint64_t commit; /* position up to which everything is committed: readers may read up to here */
	/* the tail when a writer was last about to change sub-buffers; used only to count torn events */
	uint64_t left;
	uint64_t open; /* 0: no writer is inside; else the outermost writer's stack pointer, and the depth of nesting */
	uint32_t cpu;	 /* CPU of the last marker in position order; unknown after nesting and after taking back */
	uint32_t reserved_hot[3];

	REC_ALIGNED(64) uint64_t commit_overrun; /* refused: nested writers wrapped onto the commit sub-buffer */
	uint64_t dropped;	/* refused in discard mode: the lane was full */
	uint64_t too_long;	/* refused: longer than a sub-buffer takes */
	uint64_t nested_limit;	/* refused: the bound of retries was reached */
	uint64_t disabled;	/* refused: the lane was disabled or broken */
	uint64_t torn;		/* events that were reserved, never committed, and taken back (ring_left.c) */
	uint64_t time_back;	/* events that took their predecessor's time, because the clock had stepped back */
	uint64_t leases;	/* in total, sharing not counted */

	REC_ALIGNED(64) uint32_t owner; /* thread, see SHM-LAYOUT.md; 0: not leased; or REC_OWNER_HELD */
	uint32_t broken;	/* a broken invariant: the source line that detected it */
	/* size of this lane's sub-buffers: a power of two; 0: the lane is not made yet, or is being remade (edge N1) */
	uint32_t subbuf_size;
	uint32_t nr_subbufs;	/* ring and reader page; changes only while subbuf_size is 0 */
	uint32_t nr_gaps;	/* number of gaps that ever began; gaps has the newest two, alternating */
	uint32_t shared;	/* 1: threads without a lane of their own take it for one event at a time */
	uint64_t pages_touched; /* sub-buffers that the commit position has entered, not counting the first */
	uint64_t pages_lost;	/* overwritten before they were read */
	uint64_t lost_until;	/* number after the last overwritten event: another loss there continues the gap */
	uint64_t refused_time;	/* time of the first refusal since the last change of sub-buffer; 0: none */
	uint64_t reserved_shape;

	REC_ALIGNED(64) struct rec_gap gaps[2]; /* a third can begin only after the reader has found the first */
	uint64_t reserved_gaps[4];
};

REC_ABI_ASSERT(sizeof(struct rec_lane) == 256, "docs/SHM-LAYOUT.md: lane");

/* One per sub-buffer, on the writer's side. Valid once the commit position has reached the sub-buffer. */
struct rec_subbuf {
	uint64_t first;	       /* number of events committed to the lane before this sub-buffer */
	/* the lane's refusals (dropped, commit_overrun, too_long, nested_limit) before this sub-buffer */
	uint64_t refused;
	uint64_t refused_time; /* of the first refusal since the previous sub-buffer began; 0: none */
	uint32_t entries;      /* events on it; final once the commit position has left */
	/* number of the commit position's present or last stay here, counted from 1 over all sub-buffers; 0: none */
	uint32_t visit;
};

REC_ABI_ASSERT(sizeof(struct rec_subbuf) == 32, "docs/SHM-LAYOUT.md: sub-buffer descriptor");

/* Values of a lane's counters at its last reset. */
struct rec_lane_bases {
	uint64_t commit_overrun;
	uint64_t dropped;
	uint64_t too_long;
	uint64_t nested_limit;
	uint64_t disabled;
	uint64_t torn;
	uint64_t read;	  /* events */
	uint64_t overrun; /* events */
	uint64_t time;	  /* of the reset, in the lane's clock; no loss reported after it is older */
};

/* What was reported to readers, without the events on the reader page and the losses immediately before them. */
struct rec_reader_account {
	uint64_t next_event;  /* number that the first event of the reader page would have if none had been lost */
	uint64_t refused;     /* refusals reported */
	uint64_t events_lost; /* events reported as overwritten before they were read */
	uint64_t lost_time;   /* time of a loss that a sub-buffer without events could not report; 0: no such loss */
};

/* The position up to which snapshots have copied a lane. All 0: never. */
struct rec_lane_mark {
	uint64_t next;	  /* number of the event after the last one copied */
	uint64_t refused; /* refusals reported */
};

/*
 * What readers of a lane write, on separate cache lines. The links follow this struct. `read` is a position like tail
 * and commit: the reader page, the number of sub-buffers taken, the events and bytes of the page that count as read.
 * account[REC_POS_SEQ(read) & 1] is valid; the other account is prepared before a sub-buffer is taken. So one store of
 * `read` changes everything, and a reader that dies leaves no figure half changed. The same holds for the bases and
 * `resets`.
 */
struct rec_lane_reader {
	REC_ALIGNED(64) uint64_t owner; /* the reading process: pid | start time << 32; 0: none */
	uint64_t read;
	uint64_t pages_read;
	uint32_t hint; /* the link where the search for the head begins */
	uint32_t resets; /* in total; bases[resets % 2] is valid */
	struct rec_lane_mark snapshot; /* written by any process that makes a snapshot */
	uint64_t reserved_read[2];

	REC_ALIGNED(64) struct rec_reader_account account[2];

	/* Read by the writer when the commit position enters another sub-buffer (edge K1 of the memory model). */
	REC_ALIGNED(64) uint32_t waiters; /* 0: no reader sleeps; else the percentage wanted, plus 1 */
	uint32_t wake;			  /* futex; changes whenever sleepers are woken */
	uint64_t reserved_wait[7];

	REC_ALIGNED(64) struct rec_lane_bases bases[2];
};

REC_ABI_ASSERT(sizeof(struct rec_lane_reader) == 384, "docs/SHM-LAYOUT.md: reader words");

/*
 * The kernel's struct trace_buffer_meta (facts D1), 80 bytes, at the start of the meta page. The first four fields are
 * written when the lane is made or remade; the others are not written, and are 0. Their values are in the reader
 * words.
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
#define REC_BUFFER_EXITED   2u /* the program exits normally; until the process is gone, threads may still write */
#define REC_BUFFER_REPLACED 3u /* the program replaced itself by exec: nothing writes any more */

/*
 * Bytes of the file on which processes that are alive hold a write lock (F_OFD_SETLK), whatever the bytes contain. The
 * kernel releases such a lock when the last descriptor and the last mapping of its holder are gone; all pid namespaces
 * see it.
 */
#define REC_LOCK_PROGRAM  0u /* the program */
#define REC_LOCK_RECORDER 1u /* the recorder that has the loan */
#define REC_LOCK_LANES	  2u /* plus the number of the lane: the lane's reader */

/*
 * The first page of a buffer file. Everything above `state`, except `unrecorded`, is written once, before `ready`. The
 * offsets are from the start of the file. Lane i begins at lanes + i * lane_stride and consists of: the lane page
 * (struct rec_lane, then max_subbufs struct rec_subbuf), the reader words and max_subbufs links, the meta page, the
 * sub-buffers. The last two depend on the lane's own sub-buffer size; the lane page has it and the number of
 * sub-buffers.
 */
struct rec_buffer_header {
	uint64_t magic;
	uint32_t version;
	uint32_t ready; /* 1 once everything above `state` is valid */
	uint32_t pid;
	uint32_t clock;
	uint64_t start_time; /* field 22 of /proc/PID/stat: with pid, identifies the process uniquely */
	uint32_t subbuf_size; /* of a new lane */
	uint32_t nr_subbufs;  /* of a new lane: ring and reader page */
	uint32_t max_subbufs; /* number of descriptors and links that a lane has */
	uint32_t max_lanes;
	uint32_t overwrite; /* 1: the oldest are lost, 0: the newest */
	uint32_t parent_pid; /* the parent process when this one began; 0: not known */
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
	/* start_time of parent_pid; 0: not known, as in every program that was started by exec */
	uint64_t parent_start;
	uint64_t pid_ns;       /* inode of /proc/self/ns/pid: the namespace of the pids here; 0: not known */
	uint32_t locked;       /* 1: REC_LOCK_PROGRAM is held as long as a process maps the file */
	/* Forked children that have no buffer and that no file reports: number | errno << 16. The children write it. */
	uint32_t unrecorded;
	char comm[32];
	char exe[256];
	uint64_t compatible;   /* features, REC_FEATURES_COMPATIBLE */
	uint64_t incompatible; /* REC_FEATURES_INCOMPATIBLE */

	/* Control: the program writes these while it runs. */
	REC_ALIGNED(64) uint32_t state;
	uint32_t stopped;	/* 1: every event is off, even if it is wanted; others write it, too */
	uint32_t nr_lanes;	/* lanes with at least lane page, reader words and links; never decreases */
	uint32_t lease_errno;	/* errno: the reason of the last loss that lost_no_lane counts */
	uint64_t lost_no_lane;	/* events lost because no lane was available */
	uint64_t lost_log_full; /* events, names, call sites and conditions that found no room in the buffer */
	uint64_t log_used;	/* bytes of valid records */
	uint64_t nr_anchors;	/* anchors ever written; the first one is written before `ready` */
	struct rec_anchor anchors[REC_ANCHORS]; /* the newest ones */
	uint64_t recorder; /* pid | start time << 32 of the recorder that has `loan`; 0: none. Recorders write it */
	uint64_t grow_until; /* CLOCK_MONOTONIC, ns: threads may grow until then; 0: never. Readers write it */
};

REC_ABI_ASSERT(sizeof(struct rec_buffer_header) == 2624, "docs/SHM-LAYOUT.md: header");

/* ------------------------------------------------------------------------------------------------ events and log */

/*
 * Event ids are at most 32767, because KernelShark keeps them in an int16, and begin high, because the kernel assigns
 * its own ids from the lowest up (facts trace-dat 1.7). In every process the first id is that of rec_printf's event,
 * ftrace:bprint, which has no record in the log; declared events get the ids after it. The last id, 32767, is
 * recorder:end in a trace.dat (format/weave/trace_info.h); no other event has that id there.
 */
#define REC_EVENT_ID_FIRST 16384u
#define REC_EVENTS_MAX	   16384u

/* The enable word of the event with id REC_EVENT_ID_FIRST + i is enable[i]. */
#define REC_ENABLE_ON	  1u /* the bit that the program tests */
#define REC_ENABLE_WANTED 2u /* the event is on as soon as the buffer is not stopped */

/* Bits 8 to 31: the place of the event's condition among the conditions, in units of 16 bytes; 0: none. */
#define REC_ENABLE_CONDITION_SHIFT 8u
#define REC_ENABLE_CONDITION(word) ((word) >> REC_ENABLE_CONDITION_SHIFT)

/*
 * Requests of other processes for events that the program may register later: '+' or '-', a selector (filter.h), NUL,
 * one after the other; the last rule that matches applies. Processes that switch events from outside write them, one
 * at a time (they lock the file), and never the text that the program may be reading: they fill the other text, then
 * `changes` names it. A reader checks `changes` again afterwards.
 */
#define REC_RULES_SIZE 2040u

struct rec_rules {
	uint32_t changes; /* in total; text[changes % 2] is valid */
	uint32_t reserved;
	char text[2][REC_RULES_SIZE];
};

REC_ABI_ASSERT(sizeof(struct rec_rules) <= REC_MAP_PAGE, "docs/SHM-LAYOUT.md: rules");

/*
 * A condition: a compiled filter (filter.h), and the number of events that may pass each second. It consists of this
 * head, the steps, and the texts that steps compare with; its size is a multiple of 16 bytes. Once an enable word
 * names it, only `window` and `suppressed` change, and it is never removed, because a writer may be using it.
 */
struct rec_condition {
	uint32_t size; /* of the whole condition */
	uint16_t nr_steps;
	uint16_t id; /* with a rate: id of the event, because events do not share a condition that has a rate; else 0 */
	uint32_t rate; /* events that may pass in each second of CLOCK_MONOTONIC; 0: all */
	uint32_t reserved;
	uint64_t window;     /* the second in the upper half, the number that passed in the lower */
	uint64_t suppressed; /* events of this process that the rate suppressed; 0 in the copy for a forked child */
};

/* A step tests one field. Then it leads to a later step, or ends the condition; so no path visits a step twice. */
struct rec_condition_step {
	uint8_t test;
	uint8_t size;	 /* of the number: 1, 2, 4, 8 */
	uint16_t offset; /* of the field in the record */
	uint16_t yes;	 /* the next step if the test is true, or the result */
	uint16_t no;
	uint64_t value; /* the number; or a text: its offset in the condition, its length << 32 */
};

#define REC_TEST_EQUAL	    1u
#define REC_TEST_LESS	    2u
#define REC_TEST_LESS_EQUAL 3u
#define REC_TEST_BITS	    4u /* one of the value's bits is set */
#define REC_TEST_TEXT	    5u /* a string equals the text */
#define REC_TEST_GLOB	    6u /* a string matches the text as a pattern */
/* Tests of a float or double field of `size` bytes; the value is the bits of a double. For a NaN, none is true. */
#define REC_TEST_FLOAT_EQUAL	     7u
#define REC_TEST_FLOAT_LESS	     8u
#define REC_TEST_FLOAT_LESS_EQUAL    9u
#define REC_TEST_FLOAT_GREATER	     10u
#define REC_TEST_FLOAT_GREATER_EQUAL 11u
#define REC_TEST_KIND	    0x0fu
/* Only in conditions that a reader compiles for itself, never in a buffer. */
#define REC_TEST_IN_PLACE   0x10u /* tests a text of `size` bytes that is at the offset itself */
#define REC_TEST_READING    0x20u /* tests the record's time, not a field; if it tests a text: the thread's name */
#define REC_TEST_SIGNED	    0x40u
#define REC_TEST_CPU	    0x80u /* tests the CPU's number instead of a field */

#define REC_STEP_PASS 0xffffu
#define REC_STEP_DROP 0xfffeu

#define REC_CONDITION_UNIT 16u
#define REC_CONDITION_MAX  4096u
#define REC_STEPS_MAX	   128u

/*
 * The conditions, in two halves. Each half begins with this head and only grows. The first is written by processes
 * that switch events from outside, one at a time, the second by the program. Each side first searches its own half for
 * an equal condition.
 */
struct rec_conditions {
	uint64_t used; /* bytes of the half, including this head; 0: none */
	uint64_t reserved;
};

#define REC_CONDITIONS_HALF 65536u
#define REC_CONDITIONS_SIZE (2u * REC_CONDITIONS_HALF)

REC_ABI_ASSERT(sizeof(struct rec_condition) == 32, "docs/SHM-LAYOUT.md: condition");
REC_ABI_ASSERT(sizeof(struct rec_condition_step) == 16, "docs/SHM-LAYOUT.md: condition");

/*
 * What a recorder that attached has switched on for the duration of its recording. With it the recorder, or the
 * process that finds the recorder dead, can restore the events: those that match `patterns` get their previous words
 * back, including the condition, and are switched off if they had none. Valid while the header's `recorder` is not 0;
 * a forked child gets a copy of both.
 */
#define REC_LOAN_PATTERNS 2048u

struct rec_loan {
	char patterns[REC_LOAN_PATTERNS]; /* as for rec_enable(), one list on each line, ended by NUL */
	uint32_t nr_words;
	uint32_t reserved;
	uint32_t words[REC_EVENTS_MAX]; /* enable words; only the first nr_words have memory */
};

REC_ABI_ASSERT(sizeof(struct rec_loan) == 67592, "docs/SHM-LAYOUT.md: loan");

/*
 * The log: append-only records, each a multiple of 8 bytes, valid below log_used. An event's record is the blob that
 * the compiler put into the section "rec_events" of the program, with its id filled in.
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
 * (format, arguments), u64(id)", each terminated by NUL. numbers: the size of the common and fixed fields, then those
 * constants of the declaration whose values its text does not show, in their order in the declaration: an array's
 * length, a real's decimals, the number of named values and the values. event_text.h reads all this. A declaration of
 * span.h has a word and a colon before its name, "counter:heap, s64(bytes)"; docs/MEANING.md lists them. Both events of
 * a span have the numbers of all its fields.
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

/* A call site of rec_printf: text is the function's name and the format, each terminated by NUL. */
struct rec_log_printf {
	struct rec_log_record record;
	uint64_t site; /* the value of the record's fmt field */
	uint32_t line;
	uint32_t text_size;
	/* char text[text_size]; zeros */
};

#endif
