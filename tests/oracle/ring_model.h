/* SPDX-License-Identifier: MIT */
/*
 * A ring as a list of pages that hold lists of events. It models a tracing ring without nested writers, and has no
 * links, flags or positions. Its parameters make it the kernel's ring or ours; all else is common to both, so that the
 * comparison is meaningful.
 */
#ifndef RING_MODEL_H
#define RING_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct model_params {
	uint32_t pages;	     /* in the ring; the reader page comes on top */
	uint32_t capacity;   /* bytes of a page that records may take */
	uint32_t lead;	     /* bytes of the capacity that every page begins with */
	uint32_t size_max;   /* longest payload */
	bool overwrite;	     /* otherwise the newest events are refused */
	bool has_filler;     /* a page that is left, or would have been, is filled up and takes nothing more */
	bool tells_refusals; /* a page's reported loss counts events that were refused before it was begun */
};

/* One record; the filler at the end of a page counts as one, too. */
struct model_event {
	uint64_t number;
	uint64_t index; /* among the events that were not refused */
	uint32_t size;	/* of the payload */
	uint32_t total; /* bytes on the page, a time extend before it included */
	bool is_filler;
};

struct model_page {
	struct model_event *events;
	uint32_t nr, max;
	uint32_t used;	  /* bytes */
	uint32_t read;	  /* records that were read */
	uint64_t refused; /* number that the ring refused before this page */
	bool full_twice;  /* one more event came after the filler, so where the filler begins is not known any more */
};

struct model_stats {
	uint64_t entries, overrun, dropped, read, too_long;
	uint64_t bytes; /* of unread records, fillers included, and what a page not yet read begins with */
};

struct model {
	struct model_params params;
	struct model_page *reader;
	struct model_page **ring; /* those in use, the oldest first; the last is the tail, if there is any */
	uint32_t nr_ring;
	uint64_t written, overrun, dropped, read, too_long;
	uint64_t overrun_seen, refused_seen; /* by the reader, at its last swap */
	uint64_t lost;			     /* pending for the next page read */
	uint64_t lost_first;		     /* the number of the first lost event */
	uint64_t gap_first;		     /* the number of the first event overwritten since the last swap */
	uint64_t *refusals;		     /* the numbers of all events that were refused */
	uint64_t nr_refusals, max_refusals;
	uint64_t nr_on_empty;	/* refusals while the first page of all had no event yet */
	uint64_t nr_forgotten;	/* refusals whose times are not kept */
	bool is_empty_lost;	/* that page was overwritten */
};

struct model *model_new(const struct model_params *params);
struct model *model_free(struct model *model);

enum model_write { MODEL_WRITTEN, MODEL_DROPPED, MODEL_TOO_LONG };

/* Write an event of `size` bytes. `extend`: it is so late that it needs a time extend, unless it begins a page. */
enum model_write model_write(struct model *model, uint64_t number, uint32_t size, bool extend);

/* How a page is handed out. */
enum model_form {
	MODEL_KERNEL,	/* read_page: swapped if none of it was read and the writer is on another page; else copied */
	MODEL_IN_PLACE, /* rec_view_read: all new events of the page, in place */
	MODEL_COPY,	/* rec_view_read_page */
	MODEL_EVENT,	/* rec_view_consume: one event */
};

struct model_read {
	const struct model_event *events; /* valid until the model is used again */
	uint32_t nr;			  /* number of events; a filler may be the last */
	uint32_t bytes;			  /* of the page handed out; in place: of the events alone */
	uint64_t lost;			  /* immediately before the first; REC_LOST_UNKNOWN: no room for the number */
	uint64_t lost_first;		  /* the number of the first lost event, if there is one */
};

/*
 * Read records into a page with room for `room` bytes. 1: as many records as fit. 0: there are some, but the first one
 * needs more room. -1: no records are left.
 */
int model_read(struct model *model, enum model_form form, uint32_t room, struct model_read *ret_read);

/* Reset as the kernel does: all pages are dropped, all counters are 0. */
void model_reset(struct model *model);

/* Reset as our library does: everything is read, the counters are 0, and the next event's position does not change. */
void model_drain(struct model *model);

void model_stats(const struct model *model, struct model_stats *ret_stats);

#endif
