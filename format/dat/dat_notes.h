/* SPDX-License-Identifier: MIT */
/*
 * The notes in a file about how it was made: the writer, how the clocks agreed, which threads the kernel left out. They
 * are one text, the option DAT_VERSION, which only this code writes and reads:
 *
 *	recorder 1.0; kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 1 ...; switches of some threads alone:
 *	100 101; hidden threads: 12 13; threads of other pid namespaces: 2; processes: 100 101 102, 200; time error at
 *	most 40 ns; clocks: monotonic 5000 realtime 1700000000000005000 boottime 7000 ns, monotonic 9000 ...; clocks
 *	read within 50 ns; time of day within 2000000 ns; boot 1b4e28ba-2fa1-11d2-883f-0016d3cca427; merged within
 *	4000100 ns and errors that are not stated; events of the kernel lost from 100 to 200, 300 on; events of programs
 *	lost from 150 to 160; CPUs not recorded: 1-3,5; no switches from 800 to 899; no events of the kernel from 810 to
 *	889; no events of programs from 820 to 849; nothing left out from 900 to 950
 *
 * "processes" has the process of each program and its further threads, and those of the threads to which the kernel
 * was restricted: trace.dat has no other place for that. "clocks" has readings of the clocks at the beginning and at
 * the end of the recording; a file of a single moment has one reading. "within" has their errors: of one clock compared
 * with another of the machine, and of the time of day compared with UTC. "merged" is in files that were merged from
 * files of several clocks.
 *
 * What is known to be absent: the switches of all threads except a list ("switches of some threads alone: 100 101",
 * with "and no others" if an event in another thread does not show that its switches were recorded, too; with "from 5
 * to 7, 9 to 10" only at these times); the events of CPUs; and the switches of all threads, all events of the kernel,
 * or all of programs at some times, which is what no file of a merged one covers. These times are those of all machines
 * together: if a file of another machine covers a time, it is not noted. The first and the last ns of a time are
 * included; "800 on": until the end.
 *
 * "nothing left out" is in a piece that recorder split made, if the piece has all events of its time. The two times are
 * those of the last event before the piece and of the piece's first event: so no time is missing between the pieces if
 * they are merged.
 *
 * "several machines", at the end, is in files that were merged from files of different machines or boots, of which at
 * least two cover the same time. There, a thread's id, or a CPU's number, may mean several threads or CPUs.
 */
#ifndef FORMAT_DAT_NOTES_H
#define FORMAT_DAT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/io/clock_reading.h"

struct blob;

/* The offset of one CPU. low > high: no offset agrees with all rounds, so one of the clocks is unusable. */
struct clock_offset {
	unsigned int cpu;
	unsigned int rounds; /* 0: not measured */
	int64_t low, high;   /* the kernel's clock minus the programs' clock, ns */
};

/* Whether the clocks may be the same: 0 is in the interval. */
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
 * Combine with another measurement of the same CPU: the result is the smallest interval that contains both, or an
 * empty one if one of them is empty.
 */
void clock_offset_join(struct clock_offset *known, const struct clock_offset *found);

/*
 * As in a file: "kernel - programs: CPU 0 -120 to 95 ns in 400 rounds, CPU 1 ...". The caller frees the text; NULL:
 * out of memory. The opposite: reads the next CPU at *at and advances *at; false: there are no more.
 */
char *clock_offsets_text(const struct clock_offset *offsets, unsigned int nr);
bool clock_offsets_next(const char **at, struct clock_offset *ret_offset);

#define DAT_TIME_ERROR_UNKNOWN UINT64_MAX
#define DAT_BOOT_ID	       36u /* characters of a boot id */

struct dat_notes {
	const char *program; /* name and version; what dat_notes_read() returns continues with the rest of the text */
	const char *offsets; /* clock_offsets_text(); NULL: not measured */
	bool some_threads;   /* the kernel recorded only the switches of some threads */
	/*
	 * With some_threads: the numbers of threads that the kernel recorded, in the form of `hidden`; of other
	 * threads, it recorded only the switches and wake-ups that these have a part in. NULL: events were left out by
	 * another rule, such as a filter.
	 */
	const char *listed;
	/* with `listed`: an event in another thread does not show that its switches were recorded, too */
	bool is_listed_only;
	const char *some_times; /* with some_threads: only at these times, in the form of dat_losses.h; NULL: always */
	const char *no_cpus;	/* CPUs whose events were not recorded: "1-3,5"; NULL: none */
	const char *no_switches; /* when no switch was recorded, in the form of dat_losses.h; NULL: never */
	const char *no_kernel;	/* when no event of the kernel was recorded; NULL: never */
	const char *no_programs; /* when no event of a program was recorded; NULL: never */
	const char *whole; /* of a piece: when nothing was left out before its first event; NULL: not known */
	bool several_machines;	 /* ids of threads, and numbers of CPUs, are those of several machines */
	const char *hidden;  /* numbers of threads whose events are left out, separated by blanks; NULL: none */
	const char
		*other_pids;   /* ids of threads that have other ids for the kernel, separated by blanks; NULL: none */
	const char *processes; /* "PID TID TID, PID TID"; NULL: none */
	struct clock_reading readings[CLOCK_READINGS]; /* in the order of time */
	unsigned int nr_readings;
	const char *boot; /* of the machine: DAT_BOOT_ID characters; NULL or "": not known */
	bool is_merged;	  /* the file was merged from files of several clocks */
	bool merge_is_open; /* merge_error does not include some errors, which are not known */
	uint64_t merge_error; /* maximum error between times of different files, ns */
	const char *kernel_losses; /* when events of the kernel were lost, in the form of dat_losses.h; NULL: never */
	const char *program_losses; /* the same for events of programs */
	uint64_t time_error; /* maximum distance from CLOCK_MONOTONIC, ns; or DAT_TIME_ERROR_UNKNOWN */
};

/* Append the text, without its NUL. */
void dat_notes_put(struct blob *text, const struct dat_notes *notes);

/*
 * Parse the text; NULL: the file has none. Strings point into the text. False: another program wrote the file.
 */
bool dat_notes_read(const char *text, struct dat_notes *ret_notes);

/*
 * The next thread of notes.processes at *at, which is advanced, with its process; the first time *pid is 0. False:
 * there are no more.
 */
bool dat_notes_next_member(const char **at, int32_t *pid, int32_t *ret_tid);

/*
 * The next number of notes.listed, notes.hidden or notes.other_pids at *at, which is advanced; false: there are no
 * more.
 */
bool dat_notes_next_thread(const char **at, int32_t *ret_tid);

/* The next CPUs of notes.no_cpus, from *ret_first to *ret_last, at *at, which is advanced; false: there are no more. */
bool dat_notes_next_cpus(const char **at, uint32_t *ret_first, uint32_t *ret_last);

/* Append the CPUs that are in a set, "1-3,5", without a NUL. */
void dat_notes_put_cpus(struct blob *text, const bool *set, uint32_t nr);

/*
 * Put the CPUs of notes.no_cpus into a set that has nr of them; further ones are left out. Returns the number that the
 * set would need for all.
 */
uint32_t dat_notes_cpus(const char *no_cpus, bool *set, uint32_t nr);

#endif
