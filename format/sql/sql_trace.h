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
#include "format/sql/sql_sqlite.h"
#include "format/sql/sql_value.h"
#include "format/text/event_parse.h"
#include "format/text/event_print.h"

#include <signal.h>

/* The names of an event id. */
struct sql_event_name {
	const struct pooled_text *system;
	const struct pooled_text *name;
};

/* The losses of the file. */
struct sql_gaps {
	struct dat_gaps events;
	uint64_t back; /* events earlier than the one before, in SQL's signed numbers: only in a damaged file */
	uint64_t last_ts;
};

struct sql_trace {
	unsigned int nr_users; /* tables, and the connection's list */
	sqlite3 *db;
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
	bool is_read; /* set to true when a row is read */
	double rows;  /* an estimate of its events */
	struct sql_gaps gaps;
	bool has_gaps; /* gaps is complete: a pass has read all events */
	uint64_t given_up; /* as in struct model_sink; of the last pass in which the model gave up any */
	uint64_t nr_read; /* by all passes over the file */
};

/*
 * The new trace has one user. If parts of the file are missing, the others are opened, and file->missing has the
 * reason. 0, or -errno with ret_error filled in.
 */
int sql_trace_open(sqlite3 *db, const char *path, struct sql_trace **ret_trace, struct dat_error *ret_error);

/* Removes a user; the last one closes the trace. Takes NULL; returns NULL. */
struct sql_trace *sql_trace_close(struct sql_trace *trace);

/* The name of a thread, for as long as the trace is open. NULL: the file does not name it, or there is no memory. */
const struct pooled_text *sql_trace_comm(struct sql_trace *trace, int32_t tid);

/* The process of a thread; NULL: the file does not state it. */
struct sql_value sql_trace_process(const struct sql_trace *trace, int32_t tid);

/* The names of an event id; NULLs for one without a format. */
const struct sql_event_name *sql_trace_name(struct sql_trace *trace, int id);

/*
 * The text that `recorder report` prints after the event's name; valid until the next call; NULL: out of memory.
 */
const char *sql_trace_line(struct sql_trace *trace, const struct dat_event *event, size_t *ret_size);

/*
 * Set by the command when its user interrupts a statement, in a handler of a signal. SQLite notices interrupts only
 * between its own instructions; so passes over the file check this flag, too, and return -EINTR.
 */
extern volatile sig_atomic_t sql_interrupted;

/* Whether the statement that is running was interrupted, also by sqlite3_interrupt(). Takes some microseconds. */
bool sql_is_interrupted(sqlite3 *db);

/* Passes over the file check sqlite3_interrupt() once in this many events, which take some milliseconds. */
#define SQL_EVENTS_A_CHECK 8192

/* Whether a pass over the file ends before its next event. SQLite itself ends a loop of short passes. */
static inline bool sql_pass_ends(struct sql_trace *trace)
{
	return sql_interrupted || (++trace->nr_read % SQL_EVENTS_A_CHECK == 0 && sql_is_interrupted(trace->db));
}

/* Called for each event in a pass over all events. At its end, sql_trace_read_all() stores the counts. */
static inline void sql_gaps_note(struct sql_gaps *gaps, const struct dat_event *event)
{
	dat_gaps_note(&gaps->events, event);
	/*
	 * SQL's numbers are signed, so there times from 2^63 ns on are before all others. Before the first event,
	 * last_ts is 0.
	 */
	gaps->back += event->ts < gaps->last_ts || (gaps->last_ts && (int64_t)event->ts < (int64_t)gaps->last_ts);
	gaps->last_ts = event->ts;
}

void sql_trace_read_all(struct sql_trace *trace, const struct sql_gaps *gaps, const struct dat_merge *merge);

/* Reads the whole file, if that was not done before. 0; -ENOMEM; -EINTR. */
int sql_trace_gaps(struct sql_trace *trace, struct sql_gaps *ret_gaps);

#endif
