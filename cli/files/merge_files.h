/* SPDX-License-Identifier: MIT */
/* Several trace.dat files as one, in the clock of the first. */
#ifndef CLI_MERGE_FILES_H
#define CLI_MERGE_FILES_H

#include <stdbool.h>

#include "cli/files/merge_clocks.h"
#include "format/dat/dat_absent.h"
#include "format/dat/dat_ids.h"
#include "format/dat/dat_merge.h"
#include "format/io/number_map.h"

/* Where records of rec_printf have the address of their site. */
struct merge_printf {
	uint16_t type; /* the id of the event in the file */
	uint32_t ip, fmt; /* offsets */
};

struct merge_sites;

/* What a file has, in the times of the result: merge_cover.c. */
struct merge_cover {
	uint64_t first, last; /* times of its events, if has_event */
	uint64_t since; /* at most `first`: of a piece, nothing was left out in between */
	bool is_whole; /* it is a piece with all events of its time */
	bool has_event, has_switch;
	bool has_kernel, has_programs; /* it has formats of their events */
	unsigned int switch_type; /* the id of sched_switch in the file */
	struct dat_absent absent; /* in the times of the file */
};

struct merge_file {
	const char *path;
	struct dat_file *file;
	struct dat_time time;
	struct dat_merge *merge;
	struct dat_id_map *ids;
	unsigned int *buffers; /* the writer's buffers, by buffer of the file */
	bool *lanes; /* by buffer of the file: its streams are lanes */
	struct dat_event event; /* the next one, if has_event */
	bool has_event;
	struct merge_machine machine;
	struct merge_clock clock;
	struct merge_cover cover;
	struct merge_printf *printfs;
	unsigned int nr_printfs;
	struct number_map sites; /* sites of rec_printf: the address in the result, by the address in the file */
};

enum merge_buffers { MERGE_WOVEN, MERGE_SPLIT, MERGE_BY_MACHINE };

struct merge {
	/* the command line */
	struct merge_file *files;
	unsigned int nr;
	const char *output;
	unsigned int version; /* 6 or 7 */
	const struct dat_packing *packing;
	enum merge_buffers buffers; /* MERGE_BY_MACHINE: each file has its own if the files are of several machines */

	/* private */
	struct dat_ids *ids;
	struct dat_writer *writer;
	uint32_t *page_sizes;
	unsigned int nr_buffers;
	char **names; /* names of the writer's buffers */
	bool *lanes; /* by buffer of the writer: a file has lanes for it */
	bool has_machines; /* two of the files are of different machines */
	bool split; /* each file has buffers of its own */
	int64_t date; /* the option DATE of the result, ns; 0: it has none */
	struct merge_sites *sites; /* call sites of the result */
	unsigned char *record;
	uint32_t record_size;

	/* the result */
	uint64_t events;
	bool hides_symbols; /* the kernels' symbols differ, so the result has none */
	/* addresses at which the printk formats differ, so that the result has none there */
	struct number_map ambiguous;
	bool is_moved;	/* a file was moved by readings */
	uint64_t error; /* if so: the maximum error between times of different files, ns */
	bool is_open;	/* `error` does not include some errors, which are not known */
};

/* The time in the pages of the result for a time of a file as it is shown; later the option DATE is added to it. */
static inline uint64_t merge_time(const struct merge *merge, const struct merge_file *file, uint64_t shown)
{
	return shown + (uint64_t)file->clock.move - (uint64_t)merge->date;
}

/*
 * Merge the opened files, and write the output. 0; or the -errno of the output. -EOPNOTSUPP, with text in ret_error:
 * file *ret_file cannot be merged with the others.
 */
int merge_files(struct merge *merge, unsigned int *ret_file, struct dat_error *ret_error);

/* Frees everything except the list of files. */
void merge_close(struct merge *merge);

#endif
