/* SPDX-License-Identifier: MIT */
/* The spool in the weave's data structures: programs, their lanes, the kernel with its CPUs and texts. */
#ifndef CLI_SPOOL_TO_WEAVE_H
#define CLI_SPOOL_TO_WEAVE_H

#include <stdint.h>

#include "cli/recording/spool.h"
#include "format/weave/weave.h"

/* The kernel's counts of one of its buffers. */
struct spool_to_weave_texts {
	struct weave_kernel kernel;
	struct weave_format *formats; /* the formats, whose names are copies */
	struct weave_text *cpu_stats;
};

struct spool_to_weave {
	struct rec_source *source;
	struct weave_stream *streams;	 /* in the source's order */
	struct weave_process *processes; /* in the spool's order */
	uint64_t pages;			 /* in all streams */

	/* the CPUs' data to which the kernels point */
	struct spool_stream *lanes; /* the source's own */
	struct weave_file *files;   /* by stream: the side files */
	struct spool_to_weave_texts *kernels; /* one for each of the kernel's buffers */
	unsigned int nr_kernels;
	bool has_top; /* one of them is the top buffer */
	struct weave_text *maps; /* maps of processes */
	unsigned int nr_maps;
};

/* The results of the kernel's half of a recording. */
struct spool_to_weave_kernel {
	bool is_there;
	unsigned int cpus;   /* number of CPUs that were drained */
	uint64_t lost;	     /* according to their statistics, or to their pages */
	bool is_cut;	     /* the spool lacks the statistics of a CPU, which the recorder stores last */
	uint64_t gaps;	     /* gaps of unknown size in pages of CPUs without statistics */
	uint64_t gaps_known; /* gaps of unknown size in pages of CPUs with statistics */
	struct spool_losses why;
	uint64_t not_kept; /* the part of `lost` that -m did not keep: events before the last ones */
};

/*
 * Describe the spool, which must not change until spool_to_weave_close(). 0, -ENOMEM, or the reason why a side file
 * cannot be opened; call spool_to_weave_close() in any case.
 */
int spool_to_weave_open(struct spool_to_weave *to_weave, struct spool *spool);
void spool_to_weave_close(struct spool_to_weave *to_weave);

/* The notes for the file about how it was made. Their strings point into the spool. */
struct dat_notes spool_to_weave_notes(const struct spool *spool);

/* Call it when all streams were read to their ends. */
void spool_to_weave_kernel(const struct spool_to_weave *to_weave, const struct spool *spool,
			   struct spool_to_weave_kernel *ret_kernel);

#endif
