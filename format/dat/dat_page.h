/* SPDX-License-Identifier: MIT */
/*
 * The records of one page of a trace.dat, of either byte order and either size of the commit word, as kernels and
 * other programs write them. Whatever a page contains, the walk stays within the page: a contradiction ends it with
 * -EBADMSG.
 *
 * Times are those that libtraceevent's kbuffer computes, and so those of every viewer (trace-dat.md 7).
 */
#ifndef FORMAT_DAT_PAGE_H
#define FORMAT_DAT_PAGE_H

#include "format/dat/dat_read.h"
#include "librecorder/core/page_bytes.h"

#define DAT_PAGE_LOST_UNKNOWN (-1)

enum dat_record_kind { DAT_RECORD_DATA, DAT_RECORD_PADDING, DAT_RECORD_EXTEND, DAT_RECORD_STAMP };

struct dat_record {
	enum dat_record_kind kind;
	uint32_t pos;		   /* offset of the event word in the page */
	uint32_t length;	   /* length of the whole record */
	uint32_t size;		   /* size of the payload; for padding, of the part after its two words */
	uint32_t delta;		   /* delta in the event word */
	const unsigned char *data; /* payload, within the page */
	uint64_t ts;		   /* raw: in the page's units */
	int64_t lost;		   /* events lost before this one: 0; a number; DAT_PAGE_LOST_UNKNOWN */
};

struct dat_walk {
	uint64_t page_ts;
	uint32_t commit;   /* the low 32 bits of the commit word */
	uint32_t used;	   /* bytes of records */
	uint32_t header;   /* bytes before them: 16 or 12 */
	int64_t page_lost; /* events lost before the page, as dat_record.lost */

	/* private */
	const unsigned char *page;
	uint32_t pos;
	uint64_t ts;
	unsigned int rule; /* bits of page_bytes.h */
	bool is_usual;	   /* the page has this machine's byte order and commit words of 8 bytes */
	bool cut;	   /* the file ends within the page: a record that does not fit is its end */
};

/* Reads the page's header. 0; -EBADMSG with ret_error filled in: the header is invalid. */
int dat_walk_open(const struct dat_file *file, const struct dat_page *page, struct dat_walk *ret_walk,
		  struct dat_error *ret_error);

/*
 * How this file's pages are read and written: the bits of page_bytes.h. The second function returns the CPU that a
 * padding record names if it is a marker of a raw recording, otherwise `cpu`.
 */
unsigned int dat_page_rule(const struct dat_file *file);
uint32_t dat_walk_marker(const struct dat_walk *walk, const struct dat_record *padding, uint32_t cpu);

/* Whether a page that was just opened has no records. */
static inline bool dat_walk_is_empty(const struct dat_walk *walk)
{
	return walk->used <= walk->header;
}

/* 1: *ret_record is the next record of any kind. 0: there are no more. -EBADMSG: the rest of the page is invalid. */
int dat_walk_next(struct dat_walk *walk, struct dat_record *ret_record, struct dat_error *ret_error);

/* The same for readers of events, faster: time extends and stamps may be left out. */
int dat_walk_event(struct dat_walk *walk, struct dat_record *ret_record, struct dat_error *ret_error);

/*
 * The next record in the most frequent case: an event whose length is in its event word, and that is not the first
 * record of its page. Returns its data and *ret_size; walk->ts is then its time, and walk->pos its end. NULL: the case
 * does not apply, and nothing has changed.
 */
static inline const unsigned char *dat_walk_short(struct dat_walk *walk, uint32_t *ret_size)
{
	const unsigned char *at = walk->page + walk->pos;
	const uint32_t left = walk->used - walk->pos;
	uint32_t word, size;

	if (!walk->is_usual || left < 8 || walk->pos == walk->header)
		return NULL;
	word = page_get32(at, 0);
	size = page_plain_size(word, left);
	if (!size)
		return NULL;
	walk->ts += page_word_delta(word, 0);
	walk->pos += 4 + size;
	*ret_size = size;
	return at + 4;
}

#endif
