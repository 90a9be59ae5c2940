/* SPDX-License-Identifier: MIT */
/* The bytes of a sub-buffer: the part of abi.h that describes a page anywhere, in a lane, a spool or a trace.dat. */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/page.h>"
#endif
#ifndef LIBRECORDER_ABI_PAGE_H
#define LIBRECORDER_ABI_PAGE_H

#include <stdint.h>

/*
 * A sub-buffer has the kernel's format, byte for byte (facts A1): this header, then events. Sub-buffers in a lane never
 * have the two loss bits; they are added to the copy that leaves the ring, as the kernel does.
 */
struct rec_subbuf_header {
	uint64_t time_stamp; /* time of the first event */
	uint64_t commit;     /* bytes of committed data in the low 20 bits; final once the commit position has left */
};

#define REC_SUBBUF_HEADER_SIZE 16u
#define REC_SUBBUF_MIN	       4096u
#define REC_SUBBUF_MAX	       (512u * 1024u) /* tracefs allows 128 system pages (facts A3.5) */

#define REC_COMMIT_SIZE_MASK   UINT32_C(0x000fffff)
#define REC_COMMIT_LOST_STORED (UINT32_C(1) << 30) /* the number of lost events follows the data */
#define REC_COMMIT_LOST	       (UINT32_C(1) << 31) /* events were lost immediately before this sub-buffer */

/* The event word (facts A2): type_len in bits 0-4, time delta in bits 5-31. */
#define REC_TYPE_DATA_MAX    28u
#define REC_TYPE_PADDING     29u
#define REC_TYPE_TIME_EXTEND 30u
#define REC_TYPE_TIME_STAMP  31u
#define REC_TYPE_BITS	     5u
#define REC_DELTA_BITS	     27u
#define REC_DELTA_MAX	     ((UINT32_C(1) << REC_DELTA_BITS) - 1u)
#define REC_EVENT_SMALL_MAX  112u /* largest payload whose length fits type_len */
#define REC_TIME_EXTEND_SIZE 8u
#define REC_TIME_STAMP_MASK  ((UINT64_C(1) << 59) - 1u)

/*
 * The CPU marker: a padding record that names the CPU of the events after it. Every sub-buffer begins with one. Another
 * one precedes an event if the thread has moved to another CPU, if the event interrupts another one, or if the time of
 * the event before is in doubt. No reader of the format shows padding. Some readers add a padding record's delta to the
 * time, others do not. An absolute time stamp follows each marker, so both see the same times (facts A4.2). A discarded
 * event is padding, too: the first word of its body is cleared, so it never looks like a marker.
 */
struct rec_marker {
	uint32_t word;	 /* REC_MARKER_WORD */
	uint32_t length; /* 12: the kernel's length of padding includes this word and what follows */
	uint32_t magic;	 /* REC_MARKER_MAGIC */
	uint32_t cpu;
};

#define REC_MARKER_SIZE	 16u
#define REC_MARKER_WORD	 ((UINT32_C(1) << REC_TYPE_BITS) | REC_TYPE_PADDING) /* a delta of 0 would end the page */
#define REC_MARKER_MAGIC UINT32_C(0x55504352)				     /* "RCPU" */
#define REC_CPU_UNKNOWN	 UINT32_C(0xffffffff)

/* The fields with which every event begins, as in the kernel. */
struct rec_event_common {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid; /* the thread's id */
};

#endif
