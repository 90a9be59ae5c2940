/* SPDX-License-Identifier: MIT */
/* A program that has filled the lanes of its buffer, and a drain that reads them into a spool. */
#ifndef DRAIN_FIXTURE_H
#define DRAIN_FIXTURE_H

#include <limits.h>
#include <stdint.h>

struct rec_handle;

/* Sub-buffers of a lane. */
#define PAGES 100u

/* The drain must finish all events within this number of rounds. */
#define ROUNDS_MAX 1000000u

extern struct spool *spool;
extern struct drain *drain; /* a test that closes it sets it to NULL */
extern char buffer[PATH_MAX];
extern uint64_t written; /* events that the program wrote */
extern int dir;		 /* the directory of `buffer` */

/*
 * Start a program and open a drain of its buffer, which has read nothing yet. The program calls `fill`: this writes to
 * `lane`, or to others, and then calls end_writing().
 */
void draining_begin_with(void (*fill)(struct rec_handle *lane, int pipe));

/* The same with a program that fills three lanes. */
void draining_begin(void);

void draining_end(void);

/* For `fill`: tell the test how many events were written, and wait to be killed. */
void end_writing(uint64_t number, int pipe);

void kill_program(void);

/* Drain the buffer, whose program is gone, until its file is removed. */
void drain_to_the_end(void);

/* Check that each event of the three lanes is in the spool, once and in order. */
void expect_all(void);

#endif
