/* SPDX-License-Identifier: MIT */
/* The records of a page as they stand there, padding and stamps included. */
#ifndef RAW_H
#define RAW_H

#include "ring_fixture.h"

#include <librecorder/page.h>

struct raw {
	uint32_t type; /* type_len */
	uint32_t delta;
	uint32_t second; /* the word behind the event word */
	uint32_t at;
	uint32_t total;
};

/* The record at *at, which goes on behind it; false: the page ends there. */
bool raw_next(const struct rec_page *page, uint32_t *at, struct raw *ret);

/* The first one of `type` behind *at; there must be one. */
struct raw raw_find(const struct rec_page *page, uint32_t *at, uint32_t type);

/* What an extend or a stamp says. */
uint64_t raw_value(const struct raw *raw);

/* The ring's next page; there must be one. */
struct rec_page raw_page(struct ring *ring);

/* Times of the page's events, `max` at the most; their number. */
unsigned int raw_times(const struct rec_page *page, uint64_t *time, unsigned int max);

#endif
