/* SPDX-License-Identifier: MIT */
/*
 * All events of a file, of all its buffers and CPUs, in the order in which viewers show them: by time, ties in the
 * order of buffers and of CPUs within them. One or two blocks of pages of each CPU are in memory at a time: one page if
 * the CPUs of all buffers are very many.
 *
 * A damaged page or chunk does not end the walk: the rest of it is skipped, the next event of that CPU reports an
 * unknown number of lost events, and the first damage is kept for the caller to report.
 */
#ifndef FORMAT_DAT_MERGE_H
#define FORMAT_DAT_MERGE_H

#include "format/dat/dat_page.h"
#include "format/dat/dat_time.h"

#define DAT_NO_MARKER UINT32_MAX

struct dat_event {
	uint64_t ts;  /* as shown */
	uint64_t raw; /* in the page's units */
	uint32_t cpu;
	uint32_t size;
	uint32_t bytes_after;	   /* bytes that the page has after the record */
	uint32_t in_chunk;	   /* as dat_page.in_chunk */
	const unsigned char *data; /* within the page */
	int64_t lost;		   /* as dat_record.lost */
	uint32_t marked;	   /* the CPU that the last marker before it names; DAT_NO_MARKER: there was none */
	const unsigned char *page; /* the start of its page */
	uint64_t offset;	   /* offset of the page in the file */
	bool begins;		   /* it is the first event of its page */
	const struct dat_buffer *buffer;
};

struct dat_merge;

/* Which CPUs to include; NULL: all. Called for each stream of the file. */
typedef bool (*dat_merge_wanted)(const void *arg, const struct dat_buffer *buffer, uint32_t cpu);

/* Starts before the first event; file and time must outlive it. 0; -ENOMEM. */
int dat_merge_open(const struct dat_file *file, const struct dat_time *time, dat_merge_wanted wanted, const void *arg,
		   struct dat_merge **ret_merge);

/*
 * The same, but skips pages before the time `from`. Some events before `from` may still be returned; no later event is
 * left out.
 */
int dat_merge_open_at(const struct dat_file *file, const struct dat_time *time, dat_merge_wanted wanted,
		      const void *arg, uint64_t from, struct dat_merge **ret_merge);

/* The same for one stream, at a cost that does not depend on the number of the others. */
int dat_merge_open_stream(const struct dat_file *file, const struct dat_time *time, const struct dat_buffer *buffer,
			  const struct dat_stream *stream, uint64_t from, struct dat_merge **ret_merge);

/*
 * Leaves out most events of the types that are not needed. The others keep their order. types[id]: whether events with
 * this id are needed, for each of the 65,536 ids. The ids must be in the records' first two bytes. Call it before the
 * first event is taken; `types` must outlive the merge.
 */
void dat_merge_only(struct dat_merge *merge, const bool *types);

/* Takes NULL. Returns NULL. */
struct dat_merge *dat_merge_close(struct dat_merge *merge);

/* 1: *ret_event is the next event; its data are valid until the call after the next one. 0: there are no more. */
int dat_merge_next(struct dat_merge *merge, struct dat_event *ret_event);

/* The same without a copy: the event is valid until the next call of either. NULL: there are no more. */
const struct dat_event *dat_merge_take(struct dat_merge *merge);

/* The number of pages so far that are damaged, in whole or in part; and the error and the CPU of the first one. */
uint64_t dat_merge_damaged(const struct dat_merge *merge, struct dat_error *ret_error, uint32_t *ret_cpu);

#endif
