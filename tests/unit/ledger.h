/* SPDX-License-Identifier: MIT */
/*
 * Keeping account of a ring: every event has a number and its size in its payload; what is read must be whole, of a
 * number above all before (but for nested ones, which stand behind what they interrupted), and of a time not below;
 * and at the end what was read and what was told to be lost must be what was written and refused.
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

/* One event of `size` bytes, 8 at least; false: refused. */
bool ledger_write(struct ledger *ledger, uint32_t size);

/* Until the ring refuses, or `events` are written; returns how many were. */
unsigned int ledger_write_some(struct ledger *ledger, unsigned int events, uint32_t size);

/* A reservation whose payload is filled; for ledger_commit() or ledger_discard(). */
void *ledger_reserve(struct ledger *ledger, uint32_t size, struct rec_slot *ret_slot);
void ledger_commit(struct ledger *ledger, const struct rec_slot *slot);
void ledger_discard(struct ledger *ledger, const struct rec_slot *slot, void *payload);

/* Check a page as described above and enter it. */
void ledger_enter(struct ledger *ledger, const struct rec_page *page);

/* What rec_ring_read() says; what it gave is entered. */
int ledger_read(struct ledger *ledger, bool whole_only);

/* Read all there is, ask for losses behind it, and compare; then the ring goes. */
void ledger_close(struct ledger *ledger);

#endif
