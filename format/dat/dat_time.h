/* SPDX-License-Identifier: MIT */
/*
 * Converts a page's time to the time that is shown: by the options DATE, OFFSET, TIME_SHIFT and TSC2NSEC and the
 * clock's name, with trace-cmd 3.1.6's arithmetic, including overflow (trace-dat.md 8).
 */
#ifndef FORMAT_DAT_TIME_H
#define FORMAT_DAT_TIME_H

#include "format/dat/dat_read.h"
#include "format/io/clock_reading.h"

struct dat_time_cpu; /* samples of TIME_SHIFT */

struct dat_time {
	int64_t offset;
	int64_t adjusted; /* the part of the offset that dat_time_adjust() added */
	uint32_t mult; /* 0: no conversion */
	uint32_t shift;
	double scale; /* nanoseconds per tick, used instead of mult and shift; 0: not used */
	bool seconds;	  /* times are nanoseconds and print as seconds */
	bool interpolate; /* interpolate between the samples */
	bool raw;	  /* DAT_TIME_RAW */
	uint32_t nr_cpus;
	struct dat_time_cpu *cpus;
};

#define DAT_TIME_NO_DATE 1u /* ignore DATE */
#define DAT_TIME_RAW	 2u /* ignore all options */

/* Reads the options of a file. 0; -ENOMEM; -EBADMSG with ret_error filled in. */
int dat_time_open(const struct dat_file *file, unsigned int flags, struct dat_time *ret_time,
		  struct dat_error *ret_error);

/*
 * Changes how times are shown: `offset` is added to all; the clock ticks `hz` times a second, whatever the file states,
 * unless hz is 0. Neither has an effect on times of DAT_TIME_RAW.
 */
void dat_time_adjust(struct dat_time *time, int64_t offset, uint64_t hz);
void dat_time_close(struct dat_time *time);

/*
 * Whether the times are nanoseconds. Those of the clock "boot" are, although they are not shown as seconds, as with
 * trace-cmd.
 */
bool dat_time_counts_ns(const struct dat_file *file, const struct dat_time *time);

/* The time of an event of a CPU whose time in its page is ts. In most files the conversion only adds an offset. */
uint64_t dat_time_convert(const struct dat_time *time, uint32_t cpu, uint64_t ts);

static inline uint64_t dat_time(const struct dat_time *time, uint32_t cpu, uint64_t ts)
{
	if (time->nr_cpus || time->mult || time->scale > 0)
		return dat_time_convert(time, cpu, ts);
	return ts + (uint64_t)time->offset;
}

/*
 * The readings of the clocks: each gives the time of day and CLOCK_BOOTTIME at a time of the file; `mono` is that time
 * with DAT_TIME_NO_DATE. Returns their number. 0: the file has no readings, or none for the clock of its times.
 */
unsigned int dat_time_readings(const struct dat_file *file, struct clock_reading ret_readings[CLOCK_READINGS]);

/*
 * The option DATE: by how much the times with the date exceed those without it, ns. False: the file has no such option.
 */
bool dat_time_date(const struct dat_file *file, int64_t *ret_date);

/* The name of the clock in use: the word in brackets, or the whole text. False: the file does not state it. */
bool dat_clock_name(const struct dat_file *file, char *ret_name, size_t size);

/*
 * The name of the clock that the file states for all its times. False: it states none. Then times are shown in seconds,
 * whatever the clocks of its buffers are (trace-dat.md 8.3).
 */
bool dat_clock_stated(const struct dat_file *file, char *ret_name, size_t size);

/*
 * The clock that a copy of the file states in version 6, in which buffers have no clocks of their own: the one that the
 * file states; or the one that all buffers have, if times are shown the same.
 */
bool dat_clock_in_v6(const struct dat_file *file, char *ret_name, size_t size);

#endif
