/* SPDX-License-Identifier: MIT */
/* Several trace.dat files of one clock as one. */
#ifndef CLI_MERGE_FILES_H
#define CLI_MERGE_FILES_H

#include <stdbool.h>

#include "format/dat/dat_ids.h"
#include "format/dat/dat_merge.h"

struct merge_file {
	const char *path;
	struct dat_file *file;
	struct dat_time time;
	struct dat_merge *merge;
	struct dat_id_map *ids;
	unsigned int *buffers; /* of the writer, by buffer */
	struct dat_event event; /* the next one, if has_event */
	bool has_event;
};

struct merge {
	/* the command line */
	struct merge_file *files;
	unsigned int nr;
	const char *output;
	unsigned int version; /* 6 or 7 */
	const struct dat_packing *packing;
	bool split; /* each file has buffers of its own */

	/* private */
	struct dat_ids *ids;
	struct dat_writer *writer;
	uint32_t *page_sizes;
	unsigned int nr_buffers;
	char **names; /* of the writer's buffers */
	unsigned char *record;
	uint32_t record_size;

	uint64_t events;
};

/*
 * Merge the files, which were opened, and write the output. 0; or -errno of the output. What two files cannot have in
 * one is reported with -EOPNOTSUPP, and text in ret_error; *ret_file is its index.
 */
int merge_files(struct merge *merge, unsigned int *ret_file, struct dat_error *ret_error);

/* Frees everything except the list of files. */
void merge_close(struct merge *merge);

#endif
