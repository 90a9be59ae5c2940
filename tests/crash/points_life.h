/* SPDX-License-Identifier: MIT */
/* The life of a writer under ptrace, from its start to the account of what it left, and the readers beside it. */
#ifndef POINTS_LIFE_H
#define POINTS_LIFE_H

#include "chance.h"
#include "points_notes.h"
#include "tracer.h"

#include <librecorder/reader.h>
#include <stdbool.h>
#include <stdint.h>

#define INJECTIONS 8u

/* The order that is carried out each `every`-th time that the writer reaches the point. */
struct injection {
	unsigned int point, every;
	enum { GIVE_SIGNAL, READ_SOME, READ_WHOLE, END_THREAD } what;
};

struct plan {
	uint64_t from;	   /* start of its random numbers */
	unsigned int kind; /* of life; see points_plan.h */
	uint64_t seed;
	bool overwrite, plain, filter, leave, control;
	unsigned int kb, events, longest;
	unsigned int injections;
	struct injection injection[INJECTIONS];
};

/* A writer from its start to the account of what it left. */
struct life {
	const struct plan *plan;
	struct notes *notes;
	struct tracer_run run;
	struct rec_view *view;
	unsigned int left[INJECTIONS];
	unsigned int hits[TRACER_POINTS];
	struct tracer_run reader;
	unsigned int reader_hits[TRACER_POINTS];
	unsigned int reader_kill_point, reader_kill_hit;
	bool died_together;		   /* the writer reached its kill point while a reader was stopped at a point */
	bool by_pages;			   /* the reader takes pages, not events, and maps nothing */
	bool freeze, frozen; /* stop the reader at its kill point until the writer has ended; the reader was stopped */
	unsigned int kill_point, kill_hit; /* of the writer; TRACER_POINTS: none */
	const bool *kill_points;	   /* or kill it at the first of these that it reaches; NULL: none */
	unsigned int stop_after;	   /* points until it stops; 0: it does not */
	unsigned int level;		   /* `level` of the notes when the writer was killed */
	enum tracer_end end;
};

/* The victim's test points, its path, and the directory of buffers and notes. */
extern struct tracer_points points;
extern char program[512], where[512];

/* The sums of the test so far. */
struct figures {
	unsigned int lives, kills, events, lost, torn, again;
};

extern struct figures figures;

bool is_named(unsigned int point, const char *beginning);

/* Points that readers reach. */
bool is_readers(unsigned int point);

/* Sub-buffers of the ring that the library makes for this many KiB of events. */
unsigned int ring_pages(const struct plan *plan);

/* Make the notes, and arm the plan's points. After that: start_writer(), let_writer_go(), check_life(), end_life(). */
void begin_life(struct life *life, const struct plan *plan);
void start_writer(struct life *life);

/* From now on the writer stops at this point, too. */
void arm_writer(struct life *life, unsigned int point);

/* Run the writer until it ends, is killed at the kill point, or stops; life->end is the result. */
void let_writer_go(struct life *life);
void find_buffer(struct life *life);
void end_life(struct life *life);

/* Read one page as a recorder, in this process. Returns as rec_view_read(). */
int read_one(struct life *life, unsigned int flags);

/* Run a reader that is killed or stopped at this point if it reaches it; the writer continues meanwhile. */
enum tracer_end read_and_die(struct life *life, unsigned int point, unsigned int hit);

/* Read what is left and compare all that was read with what the writer noted. */
void check_life(struct life *life);

/* Prints the data needed to understand a failure. */
void describe_life(const struct life *life);

#endif
