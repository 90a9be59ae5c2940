/* SPDX-License-Identifier: MIT */
/*
 * The model checker of the ring. docs/MEMORY-MODEL.md, "The exhaustive check", describes what it explores and why that
 * is enough; docs/TESTING.md how to run it. This header is shared by its parts.
 *
 * The ring's own sources are compiled with -fsanitize=thread, and tsan.c replaces that sanitizer's library: so every
 * access to memory that they make, plain or atomic, with its memory order, is reported to us before it happens, and the
 * sources are unchanged. Before an access the actor yields to the explorer, which decides what continues: that actor,
 * the other one, a signal handler on top of a writer, or, after a death, neither.
 */
#ifndef MODEL_H
#define MODEL_H

#include "librecorder/ring/ring_private.h"
#include "set.h"
#include "steps.h"

#include <librecorder/page.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WRITER, READER, ACTORS };

#define SUBBUFS_MAX 4u
#define SUBBUF_MAX  256u
#define LEVELS	    3u /* depth of the writer stack */
#define EVENTS_MAX  26u
#define STACK_SIZE  8192u
#define WORDS_MAX   20u /* words that both sides use, one location each */
#define OLD_MAX	    4u	/* newest values of a word that can still be read */
#define ITER_SIZE   512u /* of reader_iter.c's iterator */

/* ------------------------------------------------------------------------------------------------ configurations */

/* What is explored together; configs.c has the table. */
enum {
	OVERWRITE = 1,	  /* the mode */
	CUT = 2,	  /* in every state, both sides die; then recovery and checks */
	WRITER_DIES = 4,  /* the writer dies at any step, and its lane is leased again while the reader continues */
	PROGRAM_DIES = 8, /* as before, but no thread succeeds the writer; the reader settles the lane */
	READER_DIES = 16, /* the reader dies at any step, and another one takes over while the writer continues */
	WEAK = 32,	  /* loads may find older values, if their orders allow it */
	MOVES = 64,	  /* the writer may move to the other CPU, once */
	THOROUGH = 128,	  /* takes minutes and some GB: explored only on request */
	SHARED = 256, /* two threads that share the lane, and take it for one event each; the reader comes at the end */
	/* actions are left for good, once, at any step: the innermost, or with those that it interrupted */
	JUMPS = 512,
	STAYS = 1024,	   /* a thread whose lane is stuck stays there, as vfork's child; else it takes another lane */
	ANEW = 4096,	   /* at the end the lane is remade and used again */
	LONG = 8192,	   /* takes many seconds: in the long tier */
	ALTERNATE = 16384, /* the writer runs on an alternate stack */
	SPOILS = 65536,	   /* instead of exploring steps, memory is damaged */
	ELSEWHERE = 32768, /* the thread has an alternate stack, and is not on it */
	ITERATES = 2048,   /* the reader reads without consuming, and races with the writer on purpose */
};

struct config {
	const char *name;
	uint8_t pages;	     /* in the ring; one more is the reader's */
	uint8_t shift;	     /* log2 of the sub-buffer's size */
	const char *prefill; /* done before the exploration: writer's and reader's actions, see action.c */
	const char *program; /* the writer's actions, one after the other */
	const char *nested;  /* actions that may interrupt */
	uint8_t depth;	     /* of the writer stack */
	uint8_t interrupts;  /* in all */
	const char *reads;   /* the reader's actions, one after the other; SHARED: the second thread's */
	/* how the clock may move when it is read: '0', '1' by 1, 'b' by more than a delta holds, '-' back */
	const char *ticks;
	unsigned int flags;
};

extern const struct config configs[];
extern const struct config *config;

/* The id of a thread that shares the lane. */
#define THREAD(actor) ((uint32_t)(actor) + 1u)

static inline bool with(unsigned int flag)
{
	return config->flags & flag;
}

/* ------------------------------------------------------------------------------------------------------- memory */

/* The memory that the two sides share, as in a buffer file, but small. */
struct shared {
	struct rec_lane lane;
	struct rec_subbuf subbufs[SUBBUFS_MAX];
	struct rec_lane_reader words;
	struct rec_link links[SUBBUFS_MAX];
	uint32_t cpu; /* where the kernel keeps the writer's CPU number */
	struct rec_handle handle; /* SHARED: the lane's, which both threads use */
	_Alignas(64) unsigned char pages[SUBBUFS_MAX * SUBBUF_MAX];
};

#define CELLS (sizeof(struct shared) / 4)

/*
 * The knowledge of a side: the clocks of both sides, and the oldest value that it may read of each word.
 */
struct view {
	uint8_t clock[ACTORS];
	uint8_t at[WORDS_MAX];
};

struct message {
	uint64_t value;
	struct view view; /* what its reader learns by acquiring it */
};

struct word {
	uint8_t last; /* number of the newest */
	uint8_t oldest;
	struct message messages[OLD_MAX];
};

struct memory {
	struct view view[ACTORS];
	struct view release[ACTORS];	     /* as of the last release fence */
	struct view acquire[ACTORS];	     /* what an acquire fence will add */
	struct view total;		     /* what sequentially consistent fences passed on */
	uint8_t released[WORDS_MAX][ACTORS]; /* clocks in each word's newest value; in place of histories */
	/* The time of the last write and read of each cell; 0: the other side knows that the access is over. */
	uint8_t written[ACTORS][CELLS];
	uint8_t read[ACTORS][CELLS];
};

/* The cells that an action has accessed, one bit each. */
struct footprint {
	uint8_t written[(CELLS + 7) / 8];
	uint8_t read[(CELLS + 7) / 8];
};

size_t memory_used(void); /* bytes of what is shared that this configuration has */
void memory_name(uint32_t offset, char *text, size_t size);
void memory_begin(void);
/* Note the access in the writer's footprint. */
void memory_note(const struct pending *access);
/* Whether the access conflicts with one of the accesses in this footprint. */
bool memory_conflicts(const struct footprint *footprint, const struct pending *access);
/* The other side is dead, and `actor` knows that: it sees all of its accesses. */
void memory_death_seen(unsigned int actor);

/* ------------------------------------------------------------------------------------------------------- actors */

enum act { ACT_START, ACT_STEP, ACT_INTERRUPT, ACT_MIGRATE, ACT_JUMP, ACT_DIE, ACT_PROGRAM_DIES };

struct choice {
	uint8_t actor;
	uint8_t act;
	uint8_t arg;
};

struct level {
	uint64_t time; /* the last value of its clock */
	uint32_t cpu;
	uint16_t steps;
	uint8_t interrupts; /* directly */
	uint8_t events;	    /* begun in it */
	bool reader_moved;  /* since it began */
	char action;
	void *jump[5]; /* the place where the action ends if it is left */
	struct footprint footprint;
};

struct actor {
	void *sp;
	struct pending next;
	struct level levels[LEVELS];
	uint8_t depth; /* actions on its stack; 0: idle */
	uint8_t done;  /* of its program */
};

enum state {
	EVENT_NONE,
	EVENT_DISCARDING,
	EVENT_RESERVING,
	EVENT_LEFT,
	EVENT_OPEN,
	EVENT_COMMITTING,
	EVENT_COMMITTED,
	EVENT_HANDED,
	EVENT_AGAIN
};

struct event {
	uint64_t time;
	uint32_t position; /* after it: sequence and offset */
	uint32_t id;
	uint8_t cpu;
	uint8_t state;
	uint8_t actor; /* whose it is */
	uint8_t level; /* of the action that began it */
	bool placed;   /* it is being reserved, and has its place */
	bool kept;     /* the action that interrupted it was left, and this writer continues */
	bool at_once;  /* its reservation and commit are one step */
};

/* The list of events, simple enough to be obviously right. Events leave it when the reader has finished with them. */
struct oracle {
	struct event events[EVENTS_MAX];
	uint32_t next_id;
	uint32_t refused;
	uint32_t too_long; /* of them */
	uint64_t number;   /* of the next event to be read: all before were read or lost */
	uint32_t position; /* of the last one read */
	uint64_t time;
	uint64_t time_before; /* `time` when the page that is being read was begun */
	uint64_t refused_at; /* a time not after the first refusal that is not reported, or 1 */
	uint64_t refused_by; /* a time not before that refusal */
	uint64_t lost; /* events that were overwritten, of those before `number` */
	uint32_t told; /* refusals that pages have carried */
	/* The page that was handed over last. */
	uint64_t hash;
	uint32_t size;
	uint32_t handed_lost;
	const unsigned char *page;
	bool again;	/* the reader died: the page that it had may be handed over again */
	bool copied;	/* the page is a copy, which may have no room for the CPU of its first event */
	bool disturbed; /* a writer was inside, or moved, during this read */
	uint64_t entered; /* the commit position when the handle's function for entered sub-buffers was last called */
	bool calm;	/* the last action was an event that nothing interrupted */
	bool back;	/* the clock stepped back: times are not exact */
	bool died;	/* a writer was interrupted: times of losses are not exact */
	bool untimed;	/* an event was refused while its writer was interrupted */
	bool doubtful;	/* refusals were reported once or twice, to the reader that died and to the next one */
	uint32_t torn;	    /* number of events that were taken back with an event that was left */
	bool torn_away;	     /* such events were in more than one sub-buffer, whose counts may be unknown */
	uint32_t maybe_torn; /* number of events of which it is not known whether they were reserved */
	int answer;	/* of the last read */
	uint64_t looked; /* ITERATES: number of the event after the last one that the iterator returned */
};

/* All of a state, except the live part of the stacks. The histories are used with weak memory only. */
struct model {
	struct shared shared;
	struct memory memory;
	struct rec_handle handle;
	struct rec_handle
		threads[ACTORS]; /* SHARED: their own, which lead to the lane's; else the first: of another lane */
	struct rec_ring_reader reader;
	struct actor actors[ACTORS];
	struct oracle oracle;
	uint64_t clock;
	uint8_t interrupts;
	uint8_t migrations;
	bool writer_died;
	bool reader_died;
	bool program_gone;
	bool lease;  /* the writer's next action is to lease the lane */
	bool attach; /* the reader's: to take over */
	bool prune;  /* the result of the writer's next step is explored elsewhere */
	uint8_t missed; /* the event is not for this lane: a bit for each action under way */
	bool jumped; /* actions were left */
	bool sleeps; /* the reader, as reader_wait.c does */
	uint32_t wake; /* the condition that would wake it */
	uint8_t masked; /* signals are blocked */
	struct word words[WORDS_MAX];
	/* ITERATES: the iterator, and its copy of a sub-buffer. */
	_Alignas(16) unsigned char iter[ITER_SIZE];
	_Alignas(16) unsigned char copy[SUBBUF_MAX];
};

extern struct model m;

extern struct choice command; /* not part of a state */

void actors_begin(void);
/* Let the actor continue with `command` until its next step or its end. */
void actor_resume(unsigned int actor);
void actor_reset(unsigned int actor);
unsigned char *actor_stack(unsigned int actor, size_t *ret_live);
unsigned char *actor_stack_base(unsigned int actor); /* STACK_SIZE bytes */
/* Do one action immediately, on the current stack. */
void actor_do(unsigned int actor, char action);
void act(char action);
/* Replace what the handle calls in lane_control.c and lane_thread.c, for a lane of one thread and for a shared one. */
void lease_lane(void);
void share_lane(void);
struct rec_handle *lane_handle(void); /* of the thread that runs */
/* One bit: the event of the action that runs is not for this lane. */
uint8_t lane_missed(void);
/* The holder of the shared lane is gone: take it over. */
bool lane_take_orphan(void);
void lane_leave(struct rec_handle *handle);

/* ------------------------------------------------------------------------------------------------------- oracle */

struct event *oracle_begin(void);
void oracle_refused(uint32_t id, uint32_t size);
void oracle_missed(uint32_t id);
void oracle_reserved(uint32_t id, const struct rec_slot *slot, uint32_t size, uint32_t floor);
void oracle_at_once(uint32_t id); /* it is to be written by rec_write() */
void oracle_committing(uint32_t id);
void oracle_committed(uint32_t id);
void oracle_discarding(uint32_t id);
void oracle_discarded(uint32_t id, const struct rec_slot *slot);
/* Whether an event that begins now must go to another lane (docs/MEMORY-MODEL.md, "Reservations that are left"). */
bool oracle_stuck(void);
void oracle_leaves_stuck(void); /* it begins there */
/* The writer of the event is about to be mistaken for one that left; false: that is impossible. */
bool oracle_mistaken(uint32_t id);
/* As many writers as can be counted are inside; the second function ends that. */
uint64_t oracle_deepen(const void *frame);
void oracle_undeepen(uint64_t open);
void oracle_entered(void);   /* the handle's function for entered sub-buffers was called */
uint32_t oracle_floor(void); /* after the last event that is finished */
void oracle_writer_died(void);
/* The writer's actions from `level` on were left. */
void oracle_jumped(uint8_t level);
/* The lane is about to take back events that were left; the second function: it has done so. */
void oracle_putting_back(void);
void oracle_put_back(void);
/* Whether an event was left that the lane has not taken back. */
bool is_left(void);
void oracle_reader_died(void);
void oracle_reading(void);
void oracle_read(int r, const struct rec_page *page, bool whole);
/*
 * The number of events that a reader must find now; with `whole`, without those on the sub-buffer with the commit
 * position.
 */
uint32_t oracle_unread(bool whole);
/* The iterator has returned this, at number `number`, and `lost` before it. */
void oracle_looked(const struct rec_record *record, uint64_t number, uint64_t lost);
/* The reader has consumed this. */
void oracle_consumed(const struct rec_ring_event *event);
/* An outside reader has counted this. */
void oracle_counted(const struct rec_ring_counts *counts);
/* Nothing else runs: the iterator must have reached the end. */
void oracle_looked_all(void);
/* Nothing else runs: a sleeping reader must have no reason to be awake. */
void oracle_sleeps(void);
/* Events that were committed, according to the list; no writer is inside. */
uint64_t oracle_all(void);
/*
 * No writer is inside: check that there is exactly one head, that links and descriptors are right, that no move or
 * reservation is noted, and that each event is counted.
 */
void check_ring(void);
/* Read all events, write and read some more, and check that the counts add up. */
void check_end(void);
/* The writer and the reader die at this step: recover, and check what is left. */
void check_cut(bool program_gone);
/* Damage each word of the lane in turn (spoil.c). */
void spoil(void);
/* For the report of a failure: this word has this value now, before the call of this number; NULL: no more. */
void spoilt_name(const char *name, uint32_t value, unsigned int which);

/* --------------------------------------------------------------------------------------------------------- state */

struct saved {
	struct model model; /* the part that this configuration uses */
	size_t live[ACTORS];
	unsigned char stacks[ACTORS][STACK_SIZE];
};

/* Call this at the start of a configuration, when the parts of the model that it uses are known. */
void state_begin(void);
uint64_t state_hash(void);
/* A hash of all that matters when all actors are dead. */
uint64_t state_hash_remains(void);
/* A hash of all that check_end() depends on. */
uint64_t state_hash_end(void);
void state_save(struct saved *ret_saved);
void state_restore(const struct saved *saved);

/* ------------------------------------------------------------------------------------------------------ explorer */

struct tally {
	uint64_t states;
	uint64_t steps; /* transitions */
	uint64_t ends;
	uint64_t cuts;	       /* number of different remains whose recovery was checked */
	uint64_t pruned;       /* number of handlers whose place had no effect */
	uint32_t writer_steps; /* largest number of steps of an action, divided by its interruptions plus one */
	uint32_t reader_steps;
	uint32_t depth;
};

extern struct tally tally;

/* No actor is inside any more. Returns whether this state, with all remains, is new. */
bool explorer_ends(void);
bool explorer_passes(unsigned int actor, const struct pending *next);
/* 0: no error was found. 1: an error was found and reported. */
int explore(const struct config *what, uint64_t limit, bool verbose);

#endif
