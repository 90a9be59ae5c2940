/* SPDX-License-Identifier: MIT */
/* The summary of a recording, for the user. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/recording/loom.h"
#include "cli/recording/output.h"

/* Messages about what was skipped, then the lines of the summary. As output_finish(). */
void summary(const struct output *output, const struct spool *spool, const struct selections *selections,
	     const struct drain_trouble *trouble, const struct weave_stats *stats, const struct loom_kernel *kernel);

#endif
