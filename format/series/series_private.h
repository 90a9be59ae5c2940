/* SPDX-License-Identifier: MIT */
/* What the parts of a set of series share: which events feed which series. */
#ifndef FORMAT_SERIES_PRIVATE_H
#define FORMAT_SERIES_PRIVATE_H

#include "format/export/export_fields.h"
#include "format/model/model.h"
#include "format/series/series.h"

/* The role of an event in a series. */
enum series_role {
	ROLE_SPAN,  /* begins or ends a span of it */
	ROLE_BEGIN, /* begins a pair */
	ROLE_END,
	ROLE_VALUE,
};

struct series_tap {
	struct series_tap *next; /* the next tap of the same event */
	struct series *series;
	enum series_role role;
	const char *system;		  /* system of the event */
	const struct export_field *field; /* the key, the value, or the number of the system call; NULL: none */
};

/* The first event of a pair, whose second one has not come. */
struct series_open {
	struct series_open *next; /* in its chain */
	uint64_t begin;
	uint64_t raw; /* the same time in the units of the pages */
	int32_t tid;
	uint64_t number; /* the key, or the hash of its text */
	uint32_t size;	 /* size of the text */
	char text[];
};

struct series {
	struct series *next;
	struct series_set *set;
	series_take take;
	void *arg;
	struct series_counts counts;
	bool is_wakeup;
	/* System calls are pairs of each thread: only one of the two kinds of events is used. */
	bool is_call;
	int64_t call;		 /* its number; -1: it is not known */
	const char *call_source; /* the system whose events give the calls; NULL: not known yet */
	/* For pairs: */
	bool has_key;
	bool is_period; /* both events are the same */
	/* it uses events of programs, events of the kernel, sched_switch */
	bool has_programs, has_kernel, has_switches;
	struct series_open **chains;
	size_t nr_chains; /* a power of two, or 0 */
	size_t nr_open;
};

struct series_set {
	const struct dat_file *file;
	const struct dat_time *time;
	const struct event_table *table;
	struct model_rules *rules;
	struct export_fields *fields;
	struct series *first;
	struct series_tap **taps; /* by id of the event */
	bool needs_model;
	struct dat_gaps gaps;
	bool has_events;
	uint64_t first_ts, last_ts;
	/* time of the event after the last loss of events of programs, and of the kernel; 0: none */
	uint64_t program_loss_ts, kernel_loss_ts;
};

/* series_names.c: finds the events of a series, and adds their taps. 0; -ENOMEM; -EINVAL. */
int series_find(struct series_set *set, struct series *series, const struct series_spec *spec,
		struct series_error *ret_error);

/* series_pairs.c. 0; -ENOMEM; what the callback returned. */
int series_pair_begin(const struct series_tap *tap, const struct dat_event *event, int32_t tid);
int series_pair_end(const struct series_tap *tap, const struct dat_event *event, int32_t tid);
void series_pairs_stop(struct series *series);
void series_pairs_free(struct series *series);

/* Counts the point and passes it on. */
int series_give(struct series *series, const struct series_point *point);

#endif
