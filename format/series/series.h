/* SPDX-License-Identifier: MIT */
/*
 * Numbers that a trace gives one after the other: durations of spans, times from one event to another, latencies of
 * wake-ups, values of fields. Add the series that are wanted to a set, then run it: one pass over the trace feeds all
 * of them.
 *
 * A duration is a point of its series only if its begin and its end were seen, no event was lost that could belong
 * between them, and the file does not note that such events were not recorded for a time between them; other durations
 * are only counted. Memory grows with the number of open spans and pairs, not with the number of events.
 */
#ifndef FORMAT_SERIES_H
#define FORMAT_SERIES_H

#include "format/dat/dat_gaps.h"
#include "format/text/event_parse.h"

#include <stdbool.h>
#include <stdint.h>

enum series_kind {
	/*
	 * Durations of the spans `name`: "system:name" or the name alone. "sys_read" and so on: durations of system
	 * calls, which may have been recorded by either of the kernel's two kinds of events. "wakeup": from the wake-up
	 * of a thread until it runs.
	 */
	SERIES_SPAN,
	/*
	 * Times from an event `name` to the next event `to` with the same value of the field `field`, in any thread;
	 * or, if that is NULL, to the next one of the same thread. A further event `name` before that begins anew. Both
	 * may be the same event. A thread is known by its id only: a later thread with the same id counts as the same.
	 */
	SERIES_PAIR,
	SERIES_FIELD, /* values of the number `field` of the events `name` */
	SERIES_EVENT, /* the events `name`; their value is 1 */
};

struct series_spec {
	enum series_kind kind;
	const char *name, *to, *field;
};

struct series_point {
	int64_t value;
	uint64_t begin, end; /* of one event: both are its time */
	int32_t tid, end_tid;
	uint32_t cpu; /* CPU of the end */
};

/* 0; or a result with which series_set_run() ends. */
typedef int (*series_take)(void *arg, const struct series_point *point);

struct series_counts {
	uint64_t points;
	uint64_t no_begin; /* the begin is not in the trace */
	uint64_t no_end;   /* the end is not in the trace, or the begin came again before it */
	uint64_t cut; /* events were lost, or not recorded, between begin and end, or an outer span ended first */
};

enum series_word { SERIES_NAME, SERIES_TO, SERIES_FIELD_NAME };

struct series_error {
	enum series_word word; /* the word of the specification that is wrong */
	char reason[192];
};

struct series_set;
struct series;

/* 0; -ENOMEM. Everything passed in must outlive the set. series_set_close() takes NULL; returns NULL. */
int series_set_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
		    struct series_set **ret_set);
struct series_set *series_set_close(struct series_set *set);

/*
 * Call it before the set runs. 0; -ENOMEM; -EINVAL: the trace has nothing that matches, for the reason in *ret_error.
 */
int series_add(struct series_set *set, const struct series_spec *spec, series_take take, void *arg,
	       struct series **ret_series, struct series_error *ret_error);

/* Called for each loss, with the event after it. May be NULL. */
typedef int (*series_loss)(void *arg, const struct dat_event *event);

/* Call it once. 0; -ENOMEM; what a callback returned. */
int series_set_run(struct series_set *set, series_loss loss, void *arg);

/* The counts, valid after the set has run. */
const struct series_counts *series_counts(const struct series *series);
const struct dat_gaps *series_gaps(const struct series_set *set);

/* The times of the first and the last event. False: there was no event. */
bool series_range(const struct series_set *set, uint64_t *ret_first, uint64_t *ret_last);

#endif
