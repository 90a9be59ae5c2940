/* SPDX-License-Identifier: MIT */
/* A simulated recording of the kernel beside that of a program: the source and the texts for weaving both. */
#ifndef KERNEL_FIXTURE_H
#define KERNEL_FIXTURE_H

#include "weave_fixture.h"

#define ID_SWITCH  300
#define ID_TICK	   301
#define ID_CALL	   11
#define ID_ADDRESS 12 /* a call with its return address */
#define ID_RETURN  10

/* The contents of a text; for an initializer. */
#define TEXT(string) { string, sizeof(string) - 1 }

struct switch_event {
	struct rec_event_common common;
	char prev_comm[16];
	int32_t prev_pid;
	char next_comm[16];
	int32_t next_pid;
};

/* The last `cpus` streams are the kernel's; the others are those of one program. */
struct both {
	struct weaving w;
	struct weave_kernel kernel;
	struct weave_process processes[2]; /* the program, the kernel */
	unsigned int lanes;
};

/*
 * Begin with both on CLOCK_MONOTONIC. Formats: ftrace:print, sched:sched_switch (twice), sched:tick, and three of the
 * function graph.
 */
void both_begin(struct both *b, unsigned int lanes, unsigned int cpus);

/* An event sched:tick of the kernel, t:a of the program. */
void both_put(struct both *b, unsigned int cpu, uint64_t time, uint64_t number);
void both_put_user(struct both *b, unsigned int lane, unsigned int cpu, uint64_t time, uint64_t number);

void check_event(const struct seen_event *event, const char *name, uint32_t cpu, uint64_t time, uint64_t number);

/* A page made word by word: `bytes` has room for 4096, `size` counts what follows the page's header. */
struct page_maker {
	unsigned char *bytes;
	uint32_t size;
};

void put_word(struct page_maker *page, uint32_t type, uint64_t delta);
void put_tick(struct page_maker *page, uint64_t delta, uint64_t number);
/* A discarded event; `size` counts the length word. */
void put_padding(struct page_maker *page, uint64_t delta, uint32_t size);
/*
 * A page as today's kernels write it: a leading extend of zeros, a stamp, a discarded event, an extend, a filler at the
 * end. Four ticks, 0, 50, 87 and 87 + 2^40 after `time`.
 */
void make_page(struct page_maker *page, uint64_t time);

#endif
