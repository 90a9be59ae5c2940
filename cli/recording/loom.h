/* SPDX-License-Identifier: MIT */
/* The spool in the weave's data structures: programs, their lanes, the kernel with its CPUs and texts. */
#ifndef CLI_LOOM_H
#define CLI_LOOM_H

#include <stdint.h>

#include "cli/recording/spool.h"
#include "format/weave/weave.h"

struct loom {
	struct rec_source *source;
	struct weave_stream *streams;	 /* in the source's order */
	struct weave_process *processes; /* in the spool's order */
	uint64_t pages;			 /* in all streams */

	/* what those point to */
	struct spool_stream *lanes; /* the source's own */
	struct weave_file *files;   /* by stream: the side files */
	struct weave_kernel kernel;
	struct weave_format *formats; /* with names of their own */
	struct weave_text *cpu_stats;
};

/* The results of the kernel's half of a recording. */
struct loom_kernel {
	bool is_there;
	unsigned int cpus;   /* that were drained */
	uint64_t lost;	     /* according to their statistics, or to their pages */
	uint64_t gaps;	     /* of unknown size in pages, of CPUs without statistics */
	uint64_t gaps_known; /* of unknown size, of CPUs with statistics */
	struct spool_losses why;
};

/*
 * Describe the spool, which must not change until loom_close(). 0, -ENOMEM, or the reason why a side file cannot be
 * opened; call loom_close() in any case.
 */
int loom_open(struct loom *loom, struct spool *spool);
void loom_close(struct loom *loom);

/* Call it when all streams were read to their ends. */
void loom_kernel(const struct loom *loom, const struct spool *spool, struct loom_kernel *ret_kernel);

#endif
