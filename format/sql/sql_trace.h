/* SPDX-License-Identifier: MIT */
/*
 * A trace.dat that a database connection has opened, and what its tables share: formats, names of threads, texts. It
 * lives as long as one of its tables. Threads: one at a time, as SQLite's connections require.
 */
#ifndef FORMAT_SQL_TRACE_H
#define FORMAT_SQL_TRACE_H

#include "format/dat/dat_gaps.h"
#include "format/dat/dat_time.h"
#include "format/io/number_map.h"
#include "format/model/model.h"
#include "format/io/text_pool.h"
#include "format/sql/sql_value.h"
#include "format/text/event_parse.h"
#include "format/text/event_print.h"

/* An event id, and the texts of its names. */
struct sql_event_name {
	const struct pooled_text *system;
	const struct pooled_text *name;
};

/* What is missing from the file. */
struct sql_gaps {
	struct dat_gaps events;
	uint64_t back; /* events earlier than the one before: only in a damaged file */
	uint64_t last_ts;
};

struct sql_trace {
	unsigned int nr_users; /* tables, and the connection's list */
	char *path;
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct model_rules *rules;
	struct text_pool pool;
	struct number_map comms;      /* by thread: the address of its name in the pool */
	struct sql_event_name *names; /* by id, 65536 */
	struct event_printer printer;
	bool has_printer;
	char *room;   /* for a field as text: SQL_FIELD_ROOM */
	bool is_read; /* a row was taken since this was last set to false */
	double rows;  /* an estimate of its events */
	struct sql_gaps gaps;
	bool has_gaps; /* a pass over all events has counted them */
};

/* The trace has one user. 0, or -errno with ret_error filled in. */
int sql_trace_open(const char *path, struct sql_trace **ret_trace, struct dat_error *ret_error);

/* One user less; the last one closes the trace. Takes NULL; returns NULL. */
struct sql_trace *sql_trace_close(struct sql_trace *trace);

/* The name of a thread, for as long as the trace is open. NULL: the file does not name it, or there is no memory. */
const struct pooled_text *sql_trace_comm(struct sql_trace *trace, int32_t tid);

/* The process of a thread; NULL if the file does not say it. */
struct sql_value sql_trace_process(const struct sql_trace *trace, int32_t tid);

/* The names of an event id; NULLs for one without a format. */
const struct sql_event_name *sql_trace_name(struct sql_trace *trace, int id);

/*
 * What report prints of an event after its name, valid until the next call; NULL: out of memory.
 */
const char *sql_trace_line(struct sql_trace *trace, const struct dat_event *event, size_t *ret_size);

/* For each event that is read, if all are: sql_trace_read_all() at the end keeps what was counted. */
static inline void sql_gaps_note(struct sql_gaps *gaps, const struct dat_event *event)
{
	dat_gaps_note(&gaps->events, event);
	gaps->back += event->ts < gaps->last_ts;
	gaps->last_ts = event->ts;
}

void sql_trace_read_all(struct sql_trace *trace, const struct sql_gaps *gaps, const struct dat_merge *merge);

/* Reads the whole file, if that was not done before. 0; -ENOMEM. */
int sql_trace_gaps(struct sql_trace *trace, struct sql_gaps *ret_gaps);

#endif
