/* SPDX-License-Identifier: MIT */
/* A ring whose writer or reader is interrupted after each instruction. For inclusion in one source file. */
#ifndef REVIEW_ACTOR_H
#define REVIEW_ACTOR_H

#include "film.h"
#include "ledger.h"
#include "steps.h"

/* Four events fit on a sub-buffer. */
#define SIZE	 1000u
#define PER_PAGE 4u

/* STEPS by default (steps.h); and each actor has at least this many instructions. */
#define STRIDE	     11
#define INSTRUCTIONS 50u

static struct ledger book;

static inline void write_one(struct ring *ring)
{
	(void)ring;
	ledger_write(&book, SIZE);
}

/* at_target() counts the actor's instructions in `instruction`, and returns whether this was number `target`. */
static unsigned int instruction, target;

static inline bool at_target(const struct ring *ring)
{
	(void)ring;
	return ++instruction == target;
}

/*
 * Make one film with a cut after the target-th instruction; returns whether there was such an instruction. A refused
 * event is in the ledger like any other.
 */
static inline bool cut_at_instruction(film_act outer, film_act nested, unsigned int k)
{
	struct film film = { .ring = book.ring,
			     .cuts = { { .level = 1, .when = at_target, .act = nested, .unseen = true } },
			     .cuts_only = true };

	instruction = 0;
	target = k;
	film_shoot(&film, outer);
	return film.cuts[0].done;
}

#endif
