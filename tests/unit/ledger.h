/* SPDX-License-Identifier: MIT */
/*
 * Accounts for a ring: every event has its number and its size in its payload. Each event read must be whole; its
 * number must be above all earlier ones (except for nested events, which come after the event that they interrupted);
 * its time must not be earlier. At the end the events read and reported as lost must be those written and refused.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include "ring_fixture.h"

#include <librecorder/page.h>

struct ledger {
	struct ring *ring;
	uint64_t written; /* committed */
	uint64_t refused;
	uint64_t read;
	uint64_t lost;
	uint64_t next; /* number of the next event */
	uint64_t last; /* number read last, + 1 */
	uint64_t time; /* of the event read last */
	bool nested;   /* numbers need not rise: writers are stopped between drawing a number and reserving */
};

struct ledger ledger_new(uint32_t pages, bool overwrite);

/* Write one event of `size` bytes, 8 at least. False: it was refused. */
bool ledger_write(struct ledger *ledger, uint32_t size);

/* Write until the ring refuses, or until `events` are written; returns the number written. */
unsigned int ledger_write_some(struct ledger *ledger, unsigned int events, uint32_t size);

/* A reservation whose payload is filled; for ledger_commit() or ledger_discard(). */
void *ledger_reserve(struct ledger *ledger, uint32_t size, struct rec_slot *ret_slot);
void ledger_commit(struct ledger *ledger, const struct rec_slot *slot);
void ledger_discard(struct ledger *ledger, const struct rec_slot *slot, void *payload);

/* Check a page as described above and enter it. */
void ledger_enter(struct ledger *ledger, const struct rec_page *page);

/* Read a page as rec_ring_read() does, and enter it. Returns as rec_ring_read(). */
int ledger_read(struct ledger *ledger, bool whole_only);

/* Read all events, ask for losses after them, and compare; then free the ring. */
void ledger_close(struct ledger *ledger);

#endif
