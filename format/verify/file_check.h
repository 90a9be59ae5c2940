/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a trace.dat keeps the rules of its format for writers (trace-dat.md), from the header to the last
 * record. A file may break some of them, although viewers show it; each problem names its place.
 *
 * Memory: some bytes for each event format and each stream. Threads: one at a time per check.
 */
#ifndef FORMAT_FILE_CHECK_H
#define FORMAT_FILE_CHECK_H

#include "format/dat/dat_read.h"
#include "format/text/event_parse.h"

struct check_problem {
	uint64_t offset; /* in the file: of the page or chunk, if there is a stream */
	const struct dat_buffer *buffer; /* NULL: not in the pages */
	uint32_t cpu;
	const char *text; /* one line */
};

struct file_check {
	/* Called for each problem. */
	void (*report)(void *arg, const struct check_problem *problem);
	void *arg;
	bool strict; /* report also what every reader must survive, and what kernels and trace-cmd write */

	/* results */
	uint64_t problems;
	uint64_t pages;
	uint64_t events;
	uint64_t lost; /* as the pages count them */
	uint64_t gaps; /* losses of unknown number */
	uint64_t unparsed; /* print formats that libtraceevent cannot parse; no problem, as viewers show the fields */
};

/* Check everything in a file that dat_open() has read. 0; -ENOMEM. */
int file_check(const struct dat_file *file, const struct event_table *table, struct file_check *check);

#endif
