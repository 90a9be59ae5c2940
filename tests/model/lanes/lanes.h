/* SPDX-License-Identifier: MIT */
/*
 * The checker of the pool of lanes. docs/MEMORY-MODEL.md, "The exhaustive check", describes what it explores. Like the
 * checker of the ring (model.h), it runs the library's own sources (here lane*.c, the ring, reader_lane.c and
 * reader_wait.c) with each access to shared memory as a step. Actors are the threads of a program and one reader.
 * kernel.c replaces the system calls, and the rest of the process.
 */
#ifndef LANES_H
#define LANES_H

#include "librecorder/process/lane_life.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "librecorder/view/reader_private.h"
#include "tests/model/set.h"
#include "tests/model/steps.h"

#include <stdio.h>

#define THREADS	   3u
#define READER	   THREADS
#define ACTORS	   (THREADS + 1u)
#define LANES_MAX  4u
#define SUBBUF	   128u
#define SUBBUFS	   4u  /* of a lane: the reader page, and two or three in the ring */
#define EVENTS_MAX 64u /* in one lane */
#define STACK_SIZE 16384u
#define WORDS_MAX  256u	 /* that several actors use at the same time */
#define CELLS	   2048u /* of four bytes each */
#define TLS_MAX	   1024u
#define ALIVE	   16u /* threads in all */

/* ------------------------------------------------------------------------------------------------ configurations */

enum {
	OVERWRITE = 1, /* the mode */
	DIES = 2,      /* the first thread ends at any step, once, without notice */
	REUSES = 4,    /* the thread that comes next in its place has the same id */
	LONG = 8,      /* in the long tier */
	GROWS = 16,    /* threads may take further lanes, from the beginning */
	LATE = 32,     /* no lane is shared before the exploration */
	THOROUGH = 64, /* takes minutes: explored only on request */
};

struct config {
	const char *name;
	uint8_t max_lanes;
	uint8_t made; /* of them, before the exploration */
	uint8_t shared_max;
	const char *before; /* actions of the first thread before that */
	const char *programs[THREADS]; /* each thread's actions, see action.c */
	const char *reads;	       /* the reader's */
	unsigned int flags;
};

extern const struct config configs[];
extern const struct config *config;

static inline bool with(unsigned int flag)
{
	return config->flags & flag;
}

/* --------------------------------------------------------------------------------------------- what is shared */

/* One lane of the buffer file: the smallest that the geometry can describe. */
struct lane_file {
	struct rec_lane lane;
	struct rec_subbuf subbufs[SUBBUFS];
	struct rec_lane_reader words;
	struct rec_link links[SUBBUFS];
	unsigned char meta[SUBBUF];
	unsigned char pages[SUBBUFS][SUBBUF];
};

/* The kernel's data. */
struct kernel {
	uint32_t alive[ALIVE]; /* threads, by id */
	uint32_t locks;	       /* on lanes, a bit each */
	uint32_t asleep;       /* the reader sleeps until one of these changes */
	const uint32_t *futex[LANES_MAX];
	bool has_head[LANES_MAX]; /* memory for each lane's page, reader words and links */
	bool has_ring[LANES_MAX]; /* and for the rest */
};

struct inside {
	struct kernel kernel;
	/* Only the last ones are in use, because the pool has its other data after its handles. */
	struct rec_handle handles[LANES_MAX];
	struct rec_lane_own own[LANES_MAX];
};

extern struct inside inside;
extern struct rec_buffer_header header;
extern struct lane_file file[LANES_MAX];

/* Data of lane_share.c, which share.c makes accessible. */
extern uint32_t *const share_starved;
extern struct rec_lane *const share_nowhere;

#define PID	   1000
#define START_TIME 7u
#define NOW	   1000u /* of the clock, which stands still */

void kernel_begin(void);
void view_begin(void);
void view_end(void);

/* What all actors use; its parts have offsets in this order. */
struct region {
	void *at;
	uint32_t size;
	uint32_t offset;
};

#define REGIONS 7u
extern struct region regions[REGIONS];
extern uint32_t nr_cells;	/* of this configuration */
void memory_begin_search(void); /* start of a configuration: no word is known to be common */
void memory_begin(void);	/* the state at the beginning */
/* From now on this part of the file has memory; or has none. */
void memory_populate(const void *at, size_t size, bool has);
void memory_name(uint32_t offset, char *text, size_t size);
/* The running actor learns that all ended threads are gone. */
void memory_deaths_seen(void);
void memory_ends(unsigned int actor);
/* A word turned out to be common, so the exploration so far is incomplete. */
extern bool memory_learnt;

/* The knowledge of an actor: the number of parts of each other actor's work that are over. */
struct view {
	uint8_t clock[ACTORS];
};

struct memory {
	struct view view[ACTORS];
	struct view release[ACTORS]; /* as of the last release fence */
	struct view acquire[ACTORS]; /* what an acquire fence will add */
	struct view total;	     /* what sequentially consistent fences passed on */
	struct view gone;	     /* the knowledge of ended threads */
	bool used[ACTORS];	     /* there was an access since the last release */
	struct view released[WORDS_MAX];
	/*
	 * In which part of an actor's work each cell was written and read last, with MARK_PLAIN, unless all others know
	 * that it is over.
	 */
	uint8_t written[ACTORS][CELLS];
	uint8_t read[ACTORS][CELLS];
};

#define MARK_PLAIN 0x80u

/* ------------------------------------------------------------------------------------------------------- actors */

enum act { ACT_START, ACT_STEP, ACT_DIE };

struct choice {
	uint8_t actor;
	uint8_t act;
	char action;
};

struct actor {
	void *sp;
	struct pending next;
	uint32_t tid;
	uint32_t held; /* number of the lane in reserve, plus 1 */
	uint32_t disabled; /* of the lane that it has disabled, plus 1 */
	uint16_t steps;
	uint8_t done; /* of its program */
	uint8_t masked;
	bool ended;  /* the next thread has not begun */
	bool bereft; /* since its action began, others took a lane over from a former thread with its id */
	char action; /* 0: idle */
	unsigned char tls[TLS_MAX];
};

/* A lane's events: their numbers are the places in this list. */
struct list {
	uint8_t nr;
	uint8_t id[EVENTS_MAX];
	bool writing;	/* the last of them may not be committed yet */
	uint8_t next;	/* the number to be read next */
	uint8_t writer; /* the actor that is inside, plus 1 */
};

struct oracle {
	struct list lists[LANES_MAX];
	uint8_t tried;
	uint8_t unknown; /* events whose outcome is unknown, because their thread ended */
	bool died;
};

struct model {
	struct actor actors[ACTORS];
	struct oracle oracle;
	uint32_t next_tid;
	struct rec_view view;
	struct view_lane opened[LANES_MAX];
	struct memory memory; /* last, because not all of its cells are used */
};

extern struct model m;
extern struct choice command;
extern unsigned int current; /* the actor whose thread-local data are in place */

void actors_begin(void);
void actor_resume(unsigned int actor);
/* The actor's thread is gone, at any point of its work. */
void actor_renew(unsigned int actor);
/* The running thread ends here. */
void actor_end_thread(void);
/* If the actor's thread has ended, another one begins. */
void actor_begin_thread(unsigned int actor);
unsigned char *actor_stack(unsigned int actor, size_t *ret_live);
/* Use the thread-local data of this actor. */
void actor_become(unsigned int actor);
/* The model was restored: the thread-local data in place belong to no actor. */
void actor_return(void);
/* The handle that a thread's variable names, in the data of an actor that is not running. */
struct rec_handle *actor_handle(unsigned int actor);
/* The running actor sleeps until kernel.asleep is 0. */
void actor_sleep(void);
bool actor_is_thread(unsigned int actor);
const char *actor_program(unsigned int actor);
void act(char action);

/* ------------------------------------------------------------------------------------------------------- oracle */

uint32_t oracle_tries(void); /* returns the event's id */
void oracle_enters(const struct rec_lane *lane);
void oracle_commits(const struct rec_lane *lane, uint32_t id);
void oracle_leaves(const struct rec_lane *lane);
void oracle_reads(uint32_t lane, const struct rec_ring_event *event);
void oracle_dies(unsigned int actor);
/* Check, in every state, that no two threads use one lane. */
void check_owners(void);
/* Check what must hold at the end, when no actor runs any more. */
void check_end(void);

/* ------------------------------------------------------------------------------------------- state and explorer */

struct saved {
	struct model model;
	unsigned char shared[CELLS * 4];
	size_t live[ACTORS];
	unsigned char stacks[ACTORS][STACK_SIZE];
};

uint64_t state_hash(void);
void state_save(struct saved *ret_saved);
void state_restore(const struct saved *saved);

struct tally {
	uint64_t states;
	uint64_t steps;
	uint64_t ends;
	uint32_t depth;
	uint32_t words; /* common ones */
	uint32_t rounds;
	uint32_t most; /* steps of an action */
};

extern struct tally tally;

bool explorer_passes(unsigned int actor, const struct pending *next);
/* 0: no error was found. 1: an error was found and reported. */
int explore(const struct config *what, uint64_t limit, bool verbose);

#endif
