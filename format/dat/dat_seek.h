/* SPDX-License-Identifier: MIT */
/*
 * Finds a time in a stream without reading what is between: by the times in the headers of pages, which rise. The
 * places of a stream are its pages, or in compressed data its chunks, of which only a few are unpacked. In a damaged
 * file the result may be too early or too late, but reading from there is as safe as reading from the start.
 */
#ifndef FORMAT_DAT_SEEK_H
#define FORMAT_DAT_SEEK_H

#include "format/dat/dat_time.h"

struct dat_places {
	const struct dat_time *time;
	struct dat_cursor cursor;
	uint64_t nr;	  /* number of places */
	uint64_t *chunks; /* where each begins; NULL: not compressed */
	uint32_t count;	  /* number of chunks, as the stream states it */
};

/* 0; -ENOMEM. A stream without data has no places. */
int dat_places_open(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		    const struct dat_time *time, struct dat_places *ret_places);
void dat_places_close(struct dat_places *places);

/* The time, as shown, of the first page of place i < nr. False: the page cannot be read, or has no events. */
bool dat_places_time(struct dat_places *places, uint64_t i, uint64_t *ret_ts);

/* Puts a cursor of the same stream before place i. */
void dat_places_go(const struct dat_places *places, uint64_t i, struct dat_cursor *cursor);

/* Puts the cursor before the last page or chunk that begins before `ts`: all events from then on follow. 0; -ENOMEM. */
int dat_cursor_seek(struct dat_cursor *cursor, const struct dat_time *time, uint64_t ts);

/* The time of the last event of a stream. 1; 0: it has none; -ENOMEM. */
int dat_last_time(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		  const struct dat_time *time, uint64_t *ret_ts);

#endif
