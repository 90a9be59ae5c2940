/* SPDX-License-Identifier: MIT */
/* The summary of a recording, for the user. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/recording/spool_to_weave.h"
#include "cli/recording/output.h"

/*
 * Report buffers and lanes that were skipped, and programs that were not recorded. These are errors, and are reported
 * also if the output is quiet. Arguments as for output_finish().
 */
void summary_trouble(const struct output *output, const struct spool *spool, const struct drain_trouble *trouble,
		     const struct weave_stats *stats);

/* Print the lines of the summary, after messages about programs that waited, and selections. */
void summary(const struct output *output, const struct spool *spool, const struct selections *selections,
	     const struct drain_trouble *trouble, const struct weave_stats *stats,
	     const struct spool_to_weave_kernel *kernel);

/* Report how many processes could not make a buffer, and why; trouble->no_buffers is not 0. */
void summary_no_buffer(const struct spool *spool, const struct drain_trouble *trouble, char *text, size_t size);

/* The end of a message that begins with "no process of 'COMMAND' ". */
#define NOT_LINKED "uses librecorder, or its buffer directory was out of reach (REC_DEBUG=1 shows why)"

#endif
