/* SPDX-License-Identifier: MIT */
/* See sql_column.h. */
#include "format/sql/sql_column.h"

#include "format/sql/sql_field.h"
#include "format/sql/sql_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int sql_columns_add(struct sql_columns *columns, const char *name, enum sql_kind kind, enum sql_source source)
{
	struct sql_column *more = reallocarray(columns->columns, columns->nr + 1, sizeof(*more));
	enum sql_kind *kinds;
	char *copy;

	if (!more)
		return -ENOMEM;
	columns->columns = more;
	kinds = reallocarray(columns->kinds, columns->nr + 2, sizeof(*kinds));
	if (!kinds)
		return -ENOMEM;
	columns->kinds = kinds;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	more[columns->nr] = (struct sql_column){ .name = copy, .kind = kind, .source = source };
	kinds[columns->nr++] = kind;
	kinds[columns->nr] = SQL_INT;
	return 0;
}

void sql_columns_close(struct sql_columns *columns)
{
	for (unsigned int i = 0; i < columns->nr; i++)
		free(columns->columns[i].name);
	free(columns->columns);
	free(columns->kinds);
	*columns = (struct sql_columns){ 0 };
}

/* ------------------------------------------------------------------------------------------------- tables of events */

/* The columns that every event has. */
static const struct {
	const char *name; /* with an underscore in front: the name of the hidden column */
	enum sql_kind kind;
	enum sql_source source;
} common[] = {
	{ "_ts", SQL_INT, SQL_OF_TS },	   { "_dur", SQL_INT, SQL_OF_DUR },    { "_cpu", SQL_INT, SQL_OF_CPU },
	{ "_tid", SQL_INT, SQL_OF_TID },   { "_pid", SQL_INT, SQL_OF_PID },    { "_comm", SQL_TEXT, SQL_OF_COMM },
	{ "_task", SQL_INT, SQL_OF_TASK },
};

static const struct tep_format_field *field_named(const struct event_type *type, const char *name)
{
	const struct tep_format_field *field = type ? type->event->format.fields : NULL;

	/* SQLite does not distinguish upper and lower case in names. */
	while (field && strcasecmp(field->name, name) != 0)
		field = field->next;
	return field;
}

/* Add the columns that every event has. `duration`: the field with the duration; NULL: the event has none. */
static int add_common(struct sql_columns *columns, const struct event_type *type, struct tep_format_field *duration,
		      bool hidden)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(common) / sizeof(common[0]); i++) {
		const char *name = common[i].name + !hidden;

		if ((common[i].source == SQL_OF_DUR && !duration) || field_named(type, name))
			continue;
		err = sql_columns_add(columns, name, common[i].kind, common[i].source);
		if (!err) {
			columns->columns[columns->nr - 1].is_hidden = hidden;
			columns->columns[columns->nr - 1].field = duration;
		}
	}
	return err;
}

/*
 * The name of a field's column, or of another column of the field. Names that differ only in case are distinguished by
 * the fields' offsets.
 */
static void put_name(const struct event_type *type, const struct tep_format_field *field, const char *suffix,
		     char *name, size_t size)
{
	if (field_named(type, field->name) == field)
		snprintf(name, size, "%s%s", field->name, suffix);
	else
		snprintf(name, size, "%s_%d%s", field->name, field->offset, suffix);
}

static int add_field(struct sql_columns *columns, const struct event_type *type, struct tep_format_field *field)
{
	char name[300];
	int err;

	put_name(type, field, "", name, sizeof(name));
	err = sql_columns_add(columns, name, sql_field_kind(field), SQL_OF_FIELD);
	if (!err)
		columns->columns[columns->nr - 1].field = field;
	return err;
}

static int add_symbol(struct sql_columns *columns, const struct event_type *type, struct tep_format_field *field)
{
	struct tep_print_flag_sym *symbols = event_symbols(type, field);
	char name[300];
	int err;

	put_name(type, field, "_name", name, sizeof(name));
	if (!symbols || sql_field_kind(field) != SQL_INT || field_named(type, name))
		return 0;
	err = sql_columns_add(columns, name, SQL_TEXT, SQL_OF_SYMBOL);
	if (!err) {
		columns->columns[columns->nr - 1].field = field;
		columns->columns[columns->nr - 1].symbols = symbols;
		columns->columns[columns->nr - 1].is_hidden = true;
	}
	return err;
}

int sql_columns_of_events(struct sql_columns *ret_columns)
{
	struct sql_columns columns = { 0 };
	int err = add_common(&columns, NULL, NULL, false);

	if (!err)
		err = sql_columns_add(&columns, "system", SQL_TEXT, SQL_OF_SYSTEM);
	if (!err)
		err = sql_columns_add(&columns, "name", SQL_TEXT, SQL_OF_NAME);
	if (!err)
		err = sql_columns_add(&columns, "text", SQL_TEXT, SQL_OF_LINE);
	if (!err)
		err = sql_columns_add(&columns, "id", SQL_INT, SQL_OF_ID);
	if (err)
		sql_columns_close(&columns);
	else
		columns.columns[columns.nr - 1].is_hidden = true;
	*ret_columns = columns;
	return err;
}

int sql_columns_of_event(const struct event_type *type, const struct model_rule *rule, struct sql_columns *ret_columns)
{
	struct tep_format_field *const duration = rule->meaning == MODEL_TIMED ? rule->value : NULL;
	struct sql_columns columns = { 0 };
	int err = add_common(&columns, type, duration, false);

	for (struct tep_format_field *f = type->event->format.fields; !err && f; f = f->next)
		err = add_field(&columns, type, f);
	if (!err)
		err = add_common(&columns, type, duration, true);
	for (struct tep_format_field *f = type->event->format.fields; !err && f; f = f->next)
		err = add_symbol(&columns, type, f);
	if (!err && !field_named(type, "_text")) {
		err = sql_columns_add(&columns, "_text", SQL_TEXT, SQL_OF_LINE);
		if (!err)
			columns.columns[columns.nr - 1].is_hidden = true;
	}
	if (err)
		sql_columns_close(&columns);
	*ret_columns = columns;
	return err;
}

char *sql_columns_declaration(const struct sql_columns *columns)
{
	static const char *const types[] = { [SQL_INT] = "INTEGER", [SQL_TEXT] = "TEXT", [SQL_BLOB] = "BLOB",
						[SQL_REAL] = "REAL" };
	char *text = sqlite3_mprintf("CREATE TABLE x(");

	for (unsigned int i = 0; text && i < columns->nr; i++) {
		const struct sql_column *column = &columns->columns[i];

		text = sqlite3_mprintf("%z%s\"%w\" %s%s", text, i ? ", " : "", column->name, types[column->kind],
				       column->is_hidden ? " HIDDEN" : "");
	}
	return text ? sqlite3_mprintf("%z)", text) : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* A text of the pool as a value; it is valid as long as the trace. */
static struct sql_value lasting(const struct pooled_text *text)
{
	if (!text)
		return sql_null();
	return (struct sql_value){ .kind = SQL_TEXT, .lasts = 1, .text = text->text, .size = text->size };
}

static struct sql_value symbol_value(const struct sql_column *column, const struct sql_record *r, bool big)
{
	const char *name;
	int64_t number;

	if (!sql_field_number(column->field, r->event.data, r->event.size, big, &number))
		return sql_null();
	name = event_symbol(column->symbols, column->field, number);
	if (!name)
		return sql_null();
	return (struct sql_value){ .kind = SQL_TEXT, .lasts = 1, .text = name, .size = strlen(name) };
}

int sql_column_value(struct sql_trace *trace, const struct sql_column *column, const struct sql_record *record,
		     struct sql_value *ret_value)
{
	const bool big = trace->file->big;
	const char *line;
	size_t size;

	switch (column->source) {
	case SQL_OF_TS:
		*ret_value = sql_int((int64_t)record->event.ts);
		return 0;
	case SQL_OF_CPU:
		*ret_value = sql_int(record->event.cpu);
		return 0;
	case SQL_OF_TID:
		*ret_value = sql_int(record->tid);
		return 0;
	case SQL_OF_PID:
		*ret_value = sql_trace_process(trace, record->tid);
		return 0;
	case SQL_OF_COMM:
		*ret_value = lasting(sql_trace_comm(trace, record->tid));
		return 0;
	case SQL_OF_TASK:
		*ret_value = record->task ? sql_int((int64_t)record->task) : sql_null();
		return 0;
	case SQL_OF_SYSTEM:
		*ret_value = lasting(sql_trace_name(trace, record->id)->system);
		return 0;
	case SQL_OF_NAME:
		*ret_value = lasting(sql_trace_name(trace, record->id)->name);
		return 0;
	case SQL_OF_ID:
		*ret_value = sql_int(record->id);
		return 0;
	case SQL_OF_LINE:
		line = sql_trace_line(trace, &record->event, &size);
		if (!line)
			return -ENOMEM;
		*ret_value = (struct sql_value){ .kind = SQL_TEXT, .text = line, .size = size };
		return 0;
	case SQL_OF_SYMBOL:
		*ret_value = symbol_value(column, record, big);
		return 0;
	default: /* columns of fields; the duration is a field under another name */
		*ret_value = sql_field_value(column->field, record->event.data, record->event.size, big, trace->room);
		return 0;
	}
}
