/* SPDX-License-Identifier: MIT */
/* The raw records of a page, padding and stamps included. */
#ifndef RAW_H
#define RAW_H

#include "ring_fixture.h"

#include <librecorder/page.h>

struct raw {
	uint32_t type; /* type_len */
	uint32_t delta;
	uint32_t second; /* the word after the event word */
	uint32_t at;
	uint32_t total;
};

/* The record at *at, which moves to the next one; false: the page ends there. */
bool raw_next(const struct rec_page *page, uint32_t *at, struct raw *ret);

/* The first record of `type` after *at; there must be one. */
struct raw raw_find(const struct rec_page *page, uint32_t *at, uint32_t type);

/* The value of a time extend or stamp. */
uint64_t raw_value(const struct raw *raw);

/* The ring's next page; there must be one. */
struct rec_page raw_page(struct ring *ring);

/* Stores the times of the page's events, at most `max`; returns their number. */
unsigned int raw_times(const struct rec_page *page, uint64_t *time, unsigned int max);

#endif
