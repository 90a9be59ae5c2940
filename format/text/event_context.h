/* SPDX-License-Identifier: MIT */
/*
 * The values to which the events of threads belong, by the rule in docs/MEANING.md, "Context": found in one pass over
 * the events recorder:context of a file. A file without this event has no values, and is not read.
 */
#ifndef FORMAT_EVENT_CONTEXT_H
#define FORMAT_EVENT_CONTEXT_H

#include "format/dat/dat_time.h"
#include "format/io/number_map.h"
#include "format/io/text_pool.h"
#include "format/text/event_parse.h"

/* A thread has the value from `begin` until before `end`. An empty value means that the thread has no value. */
struct event_context {
	int32_t tid;
	const struct pooled_text *key, *value;
	uint64_t begin, end; /* UINT64_MAX: it has not ended */
	uint64_t seen;	     /* the time of the last event with this value */
	size_t group, number; /* the order of the list */
};

/* The values that a thread has for a key, in the order of time. */
struct event_context_group {
	int32_t tid;
	const struct pooled_text *key;
	size_t first, nr; /* its first value in the list, and how many it has */
	size_t last;	  /* used while the file is read */
	size_t next;	  /* the number plus one of the thread's next group; 0: this is the last */
};

struct event_contexts {
	struct text_pool pool;
	struct number_map groups_of; /* by thread: the number plus one of its first group */
	struct event_context_group *groups;
	size_t nr_groups, groups_room;
	struct event_context *list;
	size_t nr, room;
};

/* 0; -ENOMEM. event_contexts_close() also accepts a struct of zeros that was never opened. */
int event_contexts_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
			struct event_contexts *ret_contexts);

/*
 * The same, but `ends` is called for each event that is read. If it returns true, the pass ends with -EINTR. It may be
 * NULL.
 */
int event_contexts_open_until(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
			      bool (*ends)(void *arg), void *arg, struct event_contexts *ret_contexts);
void event_contexts_close(struct event_contexts *contexts);

/*
 * The values of a thread at a time, one after the other: `*next` is 0 at the first call. NULL: there are no more.
 */
const struct event_context *event_contexts_next(const struct event_contexts *contexts, int32_t tid, uint64_t ts,
						size_t *next);

#endif
