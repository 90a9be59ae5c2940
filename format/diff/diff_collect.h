/* SPDX-License-Identifier: MIT */
/* Series of traces: what diff_compare() compares. */
#ifndef FORMAT_DIFF_COLLECT_H
#define FORMAT_DIFF_COLLECT_H

#include "format/diff/diff.h"
#include "format/model/model.h"

struct diff_collect;

/* Begin to collect from this number of runs. 0; -ENOMEM. diff_collect_close() takes NULL; returns NULL. */
int diff_collect_open(unsigned int nr_runs, struct diff_collect **ret_collect);
struct diff_collect *diff_collect_close(struct diff_collect *collect);

/*
 * Reads a trace as the run with this number, from 0. 0; -ENOMEM; -EBADMSG with ret_error filled in: pages are damaged,
 * so that events are missing. file, time and table may be closed after the call.
 */
int diff_collect_run(struct diff_collect *collect, unsigned int run, const struct dat_file *file,
		     const struct dat_time *time, const struct event_table *table, struct dat_error *ret_error);

/* What was collected; valid until the next diff_collect_run(). */
const struct diff_series *diff_collect_series(const struct diff_collect *collect, size_t *ret_nr);

/* The number of events that this run lost; -1: some, but the file does not state how many. */
int64_t diff_collect_lost(const struct diff_collect *collect, unsigned int run);

/* The number of this run's spans and states as in model_sink.given_up. */
uint64_t diff_collect_given_up(const struct diff_collect *collect, unsigned int run);

#endif
