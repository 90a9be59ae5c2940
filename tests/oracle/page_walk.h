/* SPDX-License-Identifier: MIT */
/*
 * One page read twice: by libtraceevent's kbuffer and by our page reader. They must find the same events, with the
 * same payloads, and the same loss.
 *
 * They must find the same times, except for one rule: kbuffer adds a padding record's delta of 1, our reader does not
 * (docs/KERNEL-DIFFERENCES.md). So kbuffer's time of an event is ours plus the number of such records since the
 * beginning of the page or the last absolute stamp. A third reading of the bytes counts them here.
 *
 * If the first record of a page is not an event, kbuffer does not report the page's loss.
 */
#ifndef PAGE_WALK_H
#define PAGE_WALK_H

#include <librecorder/page.h>
#include <stdbool.h>
#include <stdint.h>

struct kbuffer;

struct page_walk {
	struct kbuffer *kbuffer;
	/* Counts of the cases found. A test checks with them that its cases occurred. */
	uint64_t pages, events, long_events, extends, stamps, paddings, counted_losses, uncounted_losses;
	uint64_t padded_times; /* events whose times differ as the head of this file permits */
	uint64_t hidden_losses;
	uint64_t begin; /* the page's time */
	char why[256];	/* of the last difference */
};

void page_walk_init(struct page_walk *walk);
void page_walk_free(struct page_walk *walk);

/* Called for each event; false is a difference, and the callee fills in walk->why. */
typedef bool page_walk_each(void *data, struct page_walk *walk, const struct rec_record *record);

/* Read `page`, of a sub-buffer of `subbuf_size` bytes, both ways. False: they differ, walk->why is the reason. */
bool page_walk_compare(struct page_walk *walk, const void *page, uint32_t subbuf_size, page_walk_each *each,
		       void *data);

#endif
