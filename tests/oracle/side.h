/* SPDX-License-Identifier: MIT */
/* Shared by the two rings that are compared: clock, events, results of reads, and statistics. */
#ifndef SIDE_H
#define SIDE_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's name of the clock, and ours. */
#if defined(__x86_64__)
#define SIDE_CLOCK_NAME "x86-tsc"
#define SIDE_CLOCK	REC_CLOCK_TSC
#else
#define SIDE_CLOCK_NAME "mono"
#define SIDE_CLOCK	REC_CLOCK_MONO
#endif

uint64_t side_clock(void);

/* The longest event that trace_marker_raw takes, common fields included. */
#define SIDE_SIZE_MAX 4072u
/* The shortest one: common fields, and an id. */
#define SIDE_SIZE_MIN 12u
#define SIDE_COMMON   8u

#define BATCH_MAX 8192u

/* The result of one read. */
struct batch {
	struct {
		uint64_t number;
		uint64_t time;
		uint32_t size; /* as stored, rounded up to 4 */
	} event[BATCH_MAX];
	uint32_t nr;
	uint32_t bytes;	    /* of the page; if it is ours and was read in place, without its first marker and stamp */
	uint64_t lost;	    /* REC_LOST_UNKNOWN: a number that is not reported */
	uint64_t first;	    /* ours alone: the number of the first event in the lane */
	uint64_t lost_time; /* ours alone: the time of the first lost event */
	bool is_damaged;    /* the page is invalid, or a payload was never written */
};

/* Whether the record is an event of the test, and its number. */
bool side_is_intact(const unsigned char *payload, uint32_t size, uint64_t *ret_number);

/* Write event `number`, `size` bytes in all; the common fields are left alone. */
void side_fill(unsigned char *payload, uint64_t number, uint32_t size);

/* Read the events of a page into a batch, from offset `from` on. */
void side_walk(struct batch *batch, const void *page, uint32_t size, uint32_t from);

/* The eight lines of per_cpu/cpuN/stats, the time now left out. */
struct side_stats {
	uint64_t entries, overrun, commit_overrun, bytes, oldest, dropped, read;
	char form[256]; /* the text, each number replaced by one N */
};

/* 0, or -1: these are not the eight lines. */
int side_parse_stats(const char *text, struct side_stats *ret_stats);

/* The test cannot continue unless `done`: prints that `what` failed and ends the test. */
void side_must(bool done, const char *what);

#endif
