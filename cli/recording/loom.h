/* SPDX-License-Identifier: MIT */
/*
 * The spool as the weave takes it: what is in the one described in the other's words. Programs, their lanes, the
 * kernel with its CPUs and texts.
 */
#ifndef CLI_LOOM_H
#define CLI_LOOM_H

#include <stdint.h>

#include "cli/recording/spool.h"
#include "format/weave/weave.h"

struct loom {
	struct rec_source *source;
	struct weave_stream *streams;	 /* as the source has them */
	struct weave_process *processes; /* as the spool has them */
	uint64_t pages;			 /* in all streams */

	/* what those point to */
	struct spool_stream *lanes; /* the source's own */
	struct weave_file *files;   /* by stream: the side files */
	struct weave_kernel kernel;
	struct weave_format *formats; /* with names of their own */
	struct weave_text *cpu_stats;
};

/* What the kernel's half of a recording came to. */
struct loom_kernel {
	bool is_there;
	unsigned int cpus;   /* that were drained */
	uint64_t lost;	     /* by their statistics, or as far as their pages tell */
	uint64_t gaps;	     /* of unknown size in pages, of CPUs without statistics */
	uint64_t gaps_known; /* of CPUs with */
	struct spool_losses why;
};

/*
 * Describe the spool, which stays as it is until loom_close(). 0, -ENOMEM, or why a side file cannot be opened;
 * closed it is to be in any case.
 */
int loom_open(struct loom *loom, struct spool *spool);
void loom_close(struct loom *loom);

/* Once all streams were read to their ends. */
void loom_kernel(const struct loom *loom, const struct spool *spool, struct loom_kernel *ret_kernel);

#endif
