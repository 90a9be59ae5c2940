/* SPDX-License-Identifier: MIT */
/* The files that recorder split writes, one after the other. */
#ifndef CLI_SPLIT_PIECES_H
#define CLI_SPLIT_PIECES_H

#include "cli/files/event_select.h"
#include "format/dat/dat_copy.h"
#include "format/dat/dat_time.h"

struct split_source;

/* Losses that were reported by records that were left out. */
struct split_carried {
	int64_t kernel, programs; /* numbers of lost events */
	bool is_unknown;	  /* and an unknown number of either */
};

struct split {
	/* the command line */
	const char *input;
	const char *output;
	struct event_select select;
	uint64_t start, end; /* times as shown, both included */
	uint64_t duration;   /* limit of an output file, in the unit of times; at most one of the limits is not 0 */
	uint64_t events;
	uint64_t pages;
	uint64_t size; /* limit of an output file in KiB */
	bool repeat;
	bool per_cpu; /* the limit is for each CPU by itself */

	struct dat_file *file;
	struct dat_time time;

	/* private */
	struct split_source *sources;
	unsigned int nr_sources;
	uint32_t *page_sizes; /* by the writer's buffers */
	bool *no_cpus;	      /* by CPU: its events are left out; NULL: none are */
	struct split_carried **carried; /* by buffer and CPU */
};

/* Begin to read. The caller has opened the file, its times and the selection. 0, -ENOMEM. */
int split_open(struct split *split);
void split_close(struct split *split);

/*
 * Write the next file. 1: done, with *ret_events events; 0: no event is left, and no file was written; or -errno, with
 * a text in ret_error if the input is the reason.
 */
int split_piece(struct split *split, const char *path, uint64_t *ret_events, struct dat_error *ret_error);

/* Damage found so far, as dat_merge_damaged() returns it. */
uint64_t split_damaged(const struct split *split, struct dat_error *ret_error, uint32_t *ret_cpu);

#endif
