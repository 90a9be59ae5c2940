/* SPDX-License-Identifier: MIT */
/*
 * The interface between the accesses that the compiler reports (tsan.c) and a checker. There are two checkers: that of
 * the ring (model.h), and that of the pool of lanes (lanes.h). Each has the functions below for its own memory and
 * actors.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum place {
	PLACE_BYTES, /* event data: no step, but races are found */
	/* words that one side uses, or passes to the other one after a release: a step for that side alone */
	PLACE_OWN,
	/* words that both sides use at the same time; not loads of words that the other side does not store to */
	PLACE_COMMON,
};

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_LOAD, ACCESS_STORE, ACCESS_EXCHANGE, ACCESS_ADD, ACCESS_CLOCK };

/* The access before which an actor is stopped. */
struct pending {
	const void *caller;
	uint32_t offset;
	int16_t word;
	uint8_t access;
	uint8_t place;
	uint8_t size;
	uint8_t candidates;
};

/* The running actor; -1: the explorer. This, and the two words below, are not part of a state: */
extern int running;
extern bool quiet;     /* accesses just happen */
extern bool unwatched; /* no step, but races are found */

/* Begin a piece of work without steps. */
void quiet_begin(void);
/* Whether there are no steps now; counts the accesses, and fails if there are too many. */
bool steps_are_quiet(void);
/* A plain access, or an atomic one to a word that is not common. */
void steps_plain(const void *at, uint32_t size, bool write, const void *caller);

bool memory_is_shared(const void *at);
uint32_t memory_offset(const void *at);
/* Fails the check if the access leaves what is shared. */
void memory_check(const void *at, uint32_t size);
enum place memory_place(const void *at, bool write);
int memory_word(const void *at); /* number of the common word there, or -1 */
unsigned int memory_candidates(int word);
uint64_t memory_load(int word, unsigned int candidate, int order);
void memory_store(int word, uint64_t value, int order);
void memory_exchange(int word, uint64_t value, int order);
void memory_fence(int order);
/* The running actor has exchanged the word at `at`. */
void memory_exchanged(const void *at, uint64_t was, uint64_t value);
/* Fails the check if another actor's last access there may still be in progress, and must not compete with this one. */
void memory_race(const void *at, uint32_t size, bool write, bool atomic);

/* An actor has stopped before this access. Returns which of the candidates it is to read. */
unsigned int actor_step(const struct pending *next);

__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
