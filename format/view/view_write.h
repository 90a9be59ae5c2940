/* SPDX-License-Identifier: MIT */
/* A view_trace as bytes: blocks, each compressed by itself (docs/VIEW-DATA.md). */
#ifndef FORMAT_VIEW_WRITE_H
#define FORMAT_VIEW_WRITE_H

#include "format/dat/dat_merge.h"
#include "format/io/blob.h"
#include "format/io/clock_reading.h"
#include "format/text/event_print.h"
#include "format/view/view_trace.h"

/* Receives one block, compressed. A result other than 0 ends the writing, which then returns the same result. */
struct view_sink {
	int (*block)(void *arg, const void *bytes, size_t size);
	void *arg;
	int effort; /* effort of compression, 1 to 9 */
};

/* The data that the page shows about the file. */
struct view_head {
	const char *file;
	const char *version; /* version of recorder */
	const char *clock;
	bool seconds; /* times are nanoseconds */
	bool live;
	struct clock_reading readings[CLOCK_READINGS]; /* their `mono` is a time of the trace */
	unsigned int nr_readings; /* 0: the time of day is not known */
};

/* The blocks of texts that were written so far: the first event of each. */
struct view_texts {
	struct blob firsts; /* u32 */
	uint64_t written, left_out;
};

/*
 * Call this first. It walks over the file once more and writes the texts of the events that are kept as single items,
 * in blocks of some thousand. `room` limits their compressed bytes; further texts are left out. 0; -ENOMEM; or the
 * sink's result.
 */
int view_write_texts(const struct view_trace *trace, struct event_printer *printer, struct dat_merge *merge,
		     size_t room, const struct view_sink *sink, struct view_texts *texts);

/* Call this second. It makes the columns in compressed form: all levels of all lines, and the arrows. 0; -ENOMEM. */
int view_pack_columns(const struct view_trace *trace, int effort, struct blob *ret_index, struct blob *ret_packed);

/*
 * Call this last. It writes those columns, then the index, which has rows and strings. 0; -ENOMEM; or the sink's
 * result.
 */
int view_write_index(const struct view_trace *trace, const struct view_head *head, const struct view_texts *texts,
		     const struct blob *index, const struct blob *packed, const struct view_sink *sink);

/* zlib's format, which browsers call "deflate". The result is appended. 0; -ENOMEM. */
int view_deflate(const void *bytes, size_t size, int effort, struct blob *out);

#endif
