/* SPDX-License-Identifier: MIT */
/*
 * What a file says of how it was made: who wrote it, how the clocks agreed, which threads the kernel left out. All of
 * it is one text, the option DAT_VERSION, which is written and read here alone:
 *
 *	recorder 1.0; kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 1 ...; switches of some threads alone;
 *	hidden threads: 12 13; threads of other pid namespaces: 2; processes: 100 101 102, 200; time error at most 40
 *	ns; clocks: monotonic 5000 realtime 1700000000000005000 boottime 7000 ns, monotonic 9000 ...
 *
 * "processes" has the process of each program and its further threads: trace.dat has no other place for that.
 * "clocks" has what the clocks showed at the begin of the recording and at its end; a file of one moment has one
 * reading.
 */
#ifndef FORMAT_DAT_NOTES_H
#define FORMAT_DAT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/io/clock_reading.h"

struct blob;

/* One CPU. low > high: no offset explains all rounds, so one of the clocks is unusable. */
struct clock_offset {
	unsigned int cpu;
	unsigned int rounds; /* 0: not measured */
	int64_t low, high;   /* the kernel's clock less the programs', ns */
};

/* The clocks may be the same: 0 is in the interval. */
static inline bool clock_offset_contains_zero(const struct clock_offset *offset)
{
	return offset->low <= 0 && offset->high >= 0;
}

/* The absolute value of the offset is at most this. */
static inline uint64_t clock_offset_bound(const struct clock_offset *offset)
{
	const uint64_t low = (uint64_t)(offset->low < 0 ? -offset->low : offset->low);
	const uint64_t high = (uint64_t)(offset->high < 0 ? -offset->high : offset->high);

	return low > high ? low : high;
}

/*
 * Combine with another measurement of the same CPU: the result is the intersection, which is empty if one of them is.
 */
void clock_offset_join(struct clock_offset *known, const struct clock_offset *found);

/*
 * As in a file: "kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 1 ...". The caller frees the text; NULL:
 * out of memory. The opposite: reads the next CPU at *at and advances *at; false: there are no more.
 */
char *clock_offsets_text(const struct clock_offset *offsets, unsigned int nr);
bool clock_offsets_next(const char **at, struct clock_offset *ret_offset);

#define DAT_TIME_ERROR_UNKNOWN UINT64_MAX

struct dat_notes {
	const char *program; /* name and version; not read */
	const char *offsets; /* clock_offsets_text(); NULL: not measured */
	bool some_threads;   /* the kernel recorded only the switches of some threads */
	const char *hidden;  /* numbers of threads whose events are left out, separated by blanks; NULL: none */
	const char
		*other_pids;   /* numbers of threads that have others for the kernel, separated by blanks; NULL: none */
	const char *processes; /* "PID TID TID, PID TID"; NULL: none */
	struct clock_reading readings[CLOCK_READINGS]; /* in the order of time */
	unsigned int nr_readings;
	uint64_t time_error; /* maximum distance from CLOCK_MONOTONIC, ns; or DAT_TIME_ERROR_UNKNOWN */
};

/* Append the text, without its NUL. */
void dat_notes_put(struct blob *text, const struct dat_notes *notes);

/*
 * Parse the text; NULL: the file has none. Strings point into the text. False: the file was written by another
 * program, whatever else the text contains.
 */
bool dat_notes_read(const char *text, struct dat_notes *ret_notes);

/*
 * The next thread of notes.processes at *at, which is advanced, with its process; the first time *pid is 0. False:
 * there are no more.
 */
bool dat_notes_next_member(const char **at, int32_t *pid, int32_t *ret_tid);

/* The next number of notes.hidden or notes.other_pids at *at, which is advanced; false: there are no more. */
bool dat_notes_next_thread(const char **at, int32_t *ret_tid);

#endif
