/* SPDX-License-Identifier: MIT */
/* 'recorder report --spans': the spans of a file as a tree, with durations. */
#ifndef CLI_REPORT_SPANS_H
#define CLI_REPORT_SPANS_H

#include "cli/report/report_lines.h"

/*
 * Print the selected spans, until stdout fails. `lines->merge` must have the events of all CPUs of the selected
 * buffers: a thread that moves to another CPU has spans that begin on one CPU and end on another. `seconds`: times are
 * in nanoseconds; otherwise they have no known unit. *ret_given_up is as in struct model_sink. 0; -ENOMEM.
 */
int report_spans_print(struct report_lines *lines, bool seconds, uint64_t *ret_given_up);

/* Print nothing, and add the number of selected spans to the window's `selected`. Returns as above. */
int report_spans_count(struct report_lines *lines);

#endif
