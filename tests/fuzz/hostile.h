/* SPDX-License-Identifier: MIT */
/* A buffer file that a program has left or is still damaging; and rounds of changes to it. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <librecorder/detail/abi.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sub-buffers of each lane: the ring and the reader page. */
#define HOSTILE_LANE_PAGES 6u

/* Random numbers. Any state is valid, so the number of a round can be its seed. */
struct hostile_random {
	uint64_t state;
};

uint64_t hostile_random(struct hostile_random *random);

/* Below `limit`; 0 if that is 0. */
size_t hostile_below(struct hostile_random *random, size_t limit);

/* A value that code is likely to handle wrongly. */
uint64_t hostile_number(struct hostile_random *random);

/* The buffer, and the directory that holds nothing else. */
extern char hostile_path[PATH_MAX];
extern char hostile_dir[PATH_MAX];

/* Make them: a program with lanes that were wrapped and partly read, with names, call sites and discarded events. */
void hostile_make(void);
void hostile_remove(void);

/* Restore the file, and note in it that its program is this one, or one that is gone. */
void hostile_restore(bool alive);

/* Damage one to a few places of the file; now and then cut it short. */
void hostile_strike(struct hostile_random *random);

/*
 * Damage what processes other than the program may write in a buffer with this header: words, rules, readers' words.
 * `fd` is the buffer's file.
 */
void hostile_strike_shared(struct hostile_random *random, int fd, const struct rec_buffer_header *header);

/* Another thread repeats hostile_strike() until it is stopped. */
void hostile_scribble(uint64_t seed);
void hostile_scribble_end(void);

/*
 * Call `round` with one number after another, from FUZZ_FIRST (0) on, in a child of the test, for FUZZ_SECONDS (5 when
 * not set). The test fails, and names the round, if the child dies or a round takes ten minutes.
 */
void hostile_rounds(const char *name, void (*round)(uint64_t number));

#endif
