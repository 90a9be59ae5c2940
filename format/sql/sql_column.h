/* SPDX-License-Identifier: MIT */
/*
 * The columns of a table. A table of events has the event's time, CPU, thread and so on, then its fields, then hidden
 * columns. The hidden columns are the first columns again, with an underscore in front, because a field of the same
 * name hides the plain one; and the names of fields' values.
 */
#ifndef FORMAT_SQL_COLUMN_H
#define FORMAT_SQL_COLUMN_H

#include "format/sql/sql_trace.h"
#include "format/sql/sql_value.h"

enum sql_source {
	SQL_OF_CELL, /* tables in memory */
	SQL_OF_TS,
	SQL_OF_DUR,
	SQL_OF_CPU,
	SQL_OF_TID,
	SQL_OF_PID,
	SQL_OF_COMM,
	SQL_OF_TASK,
	SQL_OF_SYSTEM,
	SQL_OF_NAME,
	SQL_OF_ID,
	SQL_OF_LINE,
	SQL_OF_FIELD,
	SQL_OF_SYMBOL, /* the name of a field's value */
};

struct sql_column {
	char *name;
	enum sql_kind kind;
	enum sql_source source;
	bool is_hidden;
	struct tep_format_field *field;
	struct tep_print_flag_sym *symbols;
};

/* A record in a scan. */
struct sql_record {
	struct dat_event event;
	int id;
	int32_t tid;
	uint64_t task;
};

/*
 * SQLite combines the rows of several scans by their numbers, for an OR for example. So a row's number is the place of
 * the event in the file, which no filter changes: where its page or chunk begins, and where the record ends within it,
 * in words. A chunk has at most 2^22 words.
 */
static inline int64_t sql_event_number(const struct dat_event *event)
{
	const uint64_t end = (uint64_t)event->in_chunk + event->buffer->page_size - event->bytes_after;

	return (int64_t)((event->offset << 24 | end / 4) & INT64_MAX);
}

static inline int64_t sql_record_number(const struct sql_record *record)
{
	return sql_event_number(&record->event);
}

/* The bit of a column in SQLite's mask of used columns. The last bit is for all further columns. */
static inline uint64_t sql_column_bit(unsigned int column)
{
	return UINT64_C(1) << (column < 63 ? column : 63);
}

struct sql_columns {
	struct sql_column *columns;
	unsigned int nr;
	enum sql_kind *kinds; /* the kinds of the columns, followed by that of a row's number; for sql_cells_open() */
};

/* The columns of `events`, and of a table of one event. 0; -ENOMEM. sql_columns_close() takes an empty list, too. */
int sql_columns_of_events(struct sql_columns *ret_columns);
int sql_columns_of_event(const struct event_type *type, const struct model_rule *rule, struct sql_columns *ret_columns);
void sql_columns_close(struct sql_columns *columns);

/* Add a column. The name is copied. 0; -ENOMEM. */
int sql_columns_add(struct sql_columns *columns, const char *name, enum sql_kind kind, enum sql_source source);

/* CREATE TABLE for the columns, to be freed with sqlite3_free(); NULL: out of memory. */
char *sql_columns_declaration(const struct sql_columns *columns);

/*
 * A column of a record. Texts are valid until the next call for this trace. If the record is too short for a field, the
 * value is NULL. 0; -ENOMEM.
 */
int sql_column_value(struct sql_trace *trace, const struct sql_column *column, const struct sql_record *record,
		     struct sql_value *ret_value);

#endif
