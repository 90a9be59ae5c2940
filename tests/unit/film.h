/* SPDX-License-Identifier: MIT */
/*
 * A film of a ring at work. Each actor runs with the processor's single-step flag, and each time an instruction has
 * changed what the kernel's design text draws, a frame is added to the film, in the style of the text's figures:
 *
 *	1: 0->2 : 1-> 2-H> 3-> 4-> : commit 1 tail 2
 *
 * A frame shows the actor's level (its depth of interruption), the reader page and where it leads, the ring from its
 * lowest sub-buffer on (each arrow leads to the next one, the last one to the first; H is HEAD, U is UPDATE), the pages
 * of commit and tail.
 *
 * The film can be cut at a frame: the next level interrupts there, is stepped as well, and may be cut in turn. To the
 * ring that is a signal handler after exactly this instruction; if a reader acts, it is a reader on another CPU.
 */
#ifndef FILM_H
#define FILM_H

#include "ring_fixture.h"

#define FILM_FRAMES 96
#define FILM_FRAME  112
#define FILM_CUTS   8

typedef void (*film_act)(struct ring *ring);

struct film_cut {
	unsigned int level;		       /* the level that is interrupted */
	const char *at;			       /* at this frame, given without its level; or */
	bool (*when)(const struct ring *ring); /* after the instruction that makes this true */
	film_act act;			       /* happens once */
	bool unseen;			       /* neither filmed nor cut: at full speed */
	bool done;
};

struct film {
	struct ring *ring;
	struct film_cut cuts[FILM_CUTS];
	char frames[FILM_FRAMES][FILM_FRAME];
	unsigned int nr_frames;
	unsigned int level;
	bool cuts_only; /* no frames, and full speed after the last cut */
};

/* Whether this machine can do it: only on x86-64 can a program set the flag. */
bool film_can(void);

/* Run `act` as the first level, the cuts as the levels above it. */
void film_shoot(struct film *film, film_act act);

/* One frame of the ring as it is, without a level; static memory. */
const char *film_picture(const struct ring *ring);

/* Compares the film with the frames that are expected, ended by NULL; asserts, and shows both where they differ. */
void film_expect(const struct film *film, const char *const *frames);

/* Whether a frame, including its level, is in the film. */
bool film_has(const struct film *film, const char *frame);

/* Number of links in the ring with a mark, and of those with HEAD. */
unsigned int film_marks(const struct ring *ring, unsigned int *ret_heads);

#define FILM_OR_SKIP()                                                                                                 \
	do {                                                                                                           \
		if (!film_can())                                                                                       \
			cr_skip_test("the processor's trap flag is out of a program's reach here");                    \
	} while (0)

#endif
