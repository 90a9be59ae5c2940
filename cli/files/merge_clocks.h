/* SPDX-License-Identifier: MIT */
/*
 * How times of one file become times of another file's clock. If both have the same clock: by an option of the file.
 * Otherwise: by the clock readings that recorder stores in its files. Files of one boot of one machine are joined by
 * CLOCK_BOOTTIME, others by the time of day.
 */
#ifndef CLI_MERGE_CLOCKS_H
#define CLI_MERGE_CLOCKS_H

#include <stdbool.h>

#include "format/dat/dat_read.h"
#include "format/io/clock_reading.h"

/* What a file states about its machine, read once: files are compared in pairs. The strings are the file's. */
struct merge_machine {
	const struct dat_file *file;
	const char *boot;		/* DAT_BOOT_ID characters; NULL: not known */
	struct clock_reading reading;	/* the first one, if nr_readings is not 0 */
	unsigned int nr_readings;
	const struct dat_option *shift; /* TIME_SHIFT; NULL: none */
	const struct dat_option *id;	/* TRACEID; NULL: none */
};

struct merge_clock {
	int64_t move;	  /* added to times as this file shows them, gives times as the other file shows them */
	uint64_t error;	  /* of the result, ns */
	bool by_readings; /* else the files have one clock, and error is 0 */
	bool by_day;	  /* by readings of the time of day: another machine, or another boot */
	bool is_open;	  /* `error` does not include the errors that a file does not state */
	bool is_guessed;  /* both are taken to be of one boot, but at least one of them does not state its id */
};

/*
 * The name of the clock of a file's times as they are shown, which is a clock's name in the result. If the file does
 * not state it: "local". If the times were converted from the TSC: "mono" if they are CLOCK_MONOTONIC, otherwise
 * "tsc2nsec", because no other name makes viewers show nanoseconds.
 */
void merge_clock_name(const struct dat_file *file, char *ret_name, size_t size);

struct merge_machine merge_machine_of(const struct dat_file *file);

/* Whether a file was recorded on another machine or in another boot than the other one, if the files state that. */
bool merge_machine_is_other(const struct merge_machine *machine, const struct merge_machine *other);

/* 0; -EOPNOTSUPP with ret_error filled in: the files have no common time. */
int merge_clock_find(const struct dat_file *file, const struct dat_file *first, struct merge_clock *ret_clock,
		     struct dat_error *ret_error);

#endif
