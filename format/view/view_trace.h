/* SPDX-License-Identifier: MIT */
/*
 * A trace as a picture: rows, each with lines of items that do not overlap, and arrows between rows. This is what the
 * page of `recorder view` shows; docs/VIEW-DATA.md describes it as bytes.
 *
 * Add rows and items in any order, then call view_finish() once, which sorts them and makes their levels of detail. The
 * first failure is kept in `error`, and every later call does nothing, so that it has to be checked only at the end.
 */
#ifndef FORMAT_VIEW_TRACE_H
#define FORMAT_VIEW_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/io/number_map.h"

enum view_row_kind {
	VIEW_GROUP, /* a heading: CPUs, a process, tasks */
	VIEW_CPU,
	VIEW_THREAD,
	VIEW_TASK, /* a logical task: the threads that worked for it */
	VIEW_COUNTER,
	VIEW_STATE, /* something that is in one of several states */
	VIEW_KEYED, /* spans that begin and end on any thread */
	VIEW_WHY,   /* an overlay: why a span took its time. Items have a string of details in `last` */
};

enum view_line_kind {
	VIEW_STATES, /* of a thread; `name` is an enum view_run */
	VIEW_SPANS,  /* a line for each depth */
	VIEW_POINTS,
	VIEW_VALUES, /* of a counter: `low` until the next one */
	VIEW_LOSSES, /* events are missing before this time */
};

/* Thread states, in the order of model.h. */
enum view_run {
	VIEW_RUNNING,
	VIEW_RUNNABLE,
	VIEW_SLEEPING,
	VIEW_BLOCKED,
	VIEW_STOPPED,
	VIEW_DEAD,
	VIEW_UNKNOWN,
};

#define VIEW_NO_BEGIN  1u /* begun before the trace, or not seen */
#define VIEW_NO_END    2u /* not ended in the trace */
#define VIEW_CUT       4u /* ended by an outer span, or by a loss */
#define VIEW_PREEMPTED 8u

#define VIEW_NO_EVENT UINT32_MAX
#define VIEW_NO_ROW   UINT32_MAX

/* One item, or several that were merged; `count` is their number, and `covered` the time that they cover. */
struct view_item {
	uint64_t begin, end;
	union {
		uint64_t last;	  /* of a single item: the event that ended it */
		uint64_t covered; /* of merged items: the time that they cover */
		int64_t low;	  /* of values */
	};
	union {
		uint64_t longest; /* of merged items: the length of the one whose name is used */
		int64_t high;	  /* of values */
	};
	uint32_t name;
	uint32_t event; /* its place in the file's order of events; VIEW_NO_EVENT */
	uint32_t count;
	uint16_t cpu;
	uint16_t flags;
};

/* A level of detail: items shorter than `resolution` are merged if they lie within one `resolution`. */
struct view_level {
	uint64_t resolution; /* ns; 0: nothing is merged */
	struct view_item *items;
	size_t nr, room;
};

#define VIEW_LEVELS_MAX 20u

struct view_line {
	enum view_line_kind kind;
	unsigned int depth;
	unsigned int nr_levels;
	struct view_level levels[VIEW_LEVELS_MAX]; /* the first has everything that is kept */
};

struct view_row {
	enum view_row_kind kind;
	uint64_t id;	 /* of the CPU, thread or task; with `kind` it identifies the row */
	uint32_t parent; /* VIEW_NO_ROW */
	uint32_t name;
	uint64_t order; /* place among the rows of its parent */
	size_t nr_lines;
	struct view_line *lines;
};

enum view_arrow_kind { VIEW_WAKE, VIEW_FLOW };

struct view_arrow {
	uint64_t from, to;
	uint32_t from_row, to_row;
	uint32_t event;
	enum view_arrow_kind kind;
};

struct view_name {
	uint32_t name;
	uint64_t count;
};

struct view_trace {
	int error;
	uint64_t begin, end;
	uint64_t events;	/* in the file */
	uint64_t lost;		/* number of lost events, of losses with a known number */
	uint64_t gaps;		/* places where events are missing */
	uint64_t given_up;	/* as in struct model_sink */
	uint64_t resolution;	/* shorter items were merged because there are too many; 0: all items are kept */
	size_t nr_rows, nr_arrows, all_arrows, nr_strings;
	struct view_row *rows;
	struct view_arrow *arrows;
	char **strings;
	uint64_t *string_events; /* for each string, the number of events with this name */

	/* private */
	struct number_map row_of[VIEW_WHY + 1];
	uint32_t *slots; /* slots of the table of strings */
	size_t nr_slots, row_room, arrow_room, string_room;
};

void view_trace_free(struct view_trace *trace);

/* The number of a string, which is copied. */
uint32_t view_string(struct view_trace *trace, const char *text);

/*
 * The row of this kind and id. If it does not exist, it is made, and *ret_new is set: the caller must then give it a
 * name.
 */
uint32_t view_row(struct view_trace *trace, enum view_row_kind kind, uint64_t id, uint32_t parent, bool *ret_new);

void view_add(struct view_trace *trace, uint32_t row, enum view_line_kind kind, unsigned int depth,
	      const struct view_item *item);
void view_add_arrow(struct view_trace *trace, const struct view_arrow *arrow);

/* At most this number of items are kept; if there are more, the shortest ones are merged. */
#define VIEW_ITEMS_MAX 2500000u

/* Sorts, reduces to `items_max`, makes levels. Returns `error`. */
int view_finish(struct view_trace *trace, size_t items_max);

#endif
