/* SPDX-License-Identifier: MIT */
/* A distribution of durations or of other numbers, as `recorder latency` and `recorder hist` print it. */
#ifndef CLI_HIST_PRINT_H
#define CLI_HIST_PRINT_H

#include <stdbool.h>

#include "format/hist/hist.h"
#include "format/io/blob.h"
#include "format/series/series.h"

struct hist_shown {
	const char *name; /* name of the measured quantity */
	const char *of;	  /* its values in the plural: "latencies" */
	bool is_ns;
	const struct hist *hist;
	const struct series_counts *counts; /* counts of left-out values; NULL: none can be left out */
	const struct dat_gaps *gaps;
};

/* A value with its unit, without blanks around it. */
#define HIST_TEXT_SIZE 40u
const char *hist_text(int64_t value, bool is_ns, char to[HIST_TEXT_SIZE]);

/*
 * Print to standard output: figures and a bar for each row; or one JSON object on one line; or a picture. 0; -ENOMEM.
 */
void hist_print_text(const struct hist_shown *shown);
int hist_print_json(const struct hist_shown *shown);
void hist_print_svg(const struct hist_shown *shown);

/* Print the members of a JSON object about events missing from the trace, each with a comma before it. */
void hist_put_gaps(struct blob *out, const struct dat_gaps *gaps);

#endif
