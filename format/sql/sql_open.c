/* SPDX-License-Identifier: MIT */
/* See sql_open.h. */
#include "format/sql/sql_open.h"

#include "format/sql/sql_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void close_traces(void *arg)
{
	struct sql_traces *traces = arg;

	for (unsigned int i = 0; i < traces->nr; i++)
		sql_trace_close(traces->traces[i]);
	free(traces->traces);
	free(traces);
}

/* ------------------------------------------------------------------------------------------------- names of tables */

/* All events of a trace, sorted by name and system: there may be some thousand. */
struct names {
	const struct tep_event **all;
	size_t nr;
};

/* Compares an event with a name, and with a system unless that is NULL. */
static int compare(const struct tep_event *event, const char *name, const char *system)
{
	const int order = strcasecmp(event->name, name);

	return order || !system ? order : strcasecmp(event->system, system);
}

static int by_name(const void *a, const void *b)
{
	const struct tep_event *other = *(const struct tep_event *const *)b;

	return compare(*(const struct tep_event *const *)a, other->name, other->system);
}

/* 0; -ENOMEM. */
static int names_open(const struct event_table *table, struct names *ret_names)
{
	struct names names = { calloc(table->nr_events + 1u, sizeof(*names.all)), table->nr_events };

	if (!names.all)
		return -ENOMEM;
	for (size_t i = 0; i < names.nr; i++)
		names.all[i] = table->all[i].event;
	qsort(names.all, names.nr, sizeof(*names.all), by_name);
	*ret_names = names;
	return 0;
}

/* Whether more than `most` events have this name, and this system unless it is NULL. */
static bool has_more(const struct names *names, const char *name, const char *system, size_t most)
{
	size_t low = 0, high = names->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(names->all[middle], name, system) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low + most < names->nr && !compare(names->all[low + most], name, system);
}

/* Whether the name is that of one of SQLite's own tables, or of a table that all traces have. */
static bool is_reserved_name(const char *name)
{
	return !sqlite3_strnicmp(name, "sqlite_", 7) || sql_computed_find(name) || !strcasecmp(name, "events");
}

/*
 * Whether SYSTEM_NAME of an event is that of another event, too: one of different shape, or with its underscores
 * elsewhere. The text is the same afterwards.
 */
static bool is_shared_name(const struct names *names, char *text)
{
	unsigned int nr = 0;

	for (char *at = strchr(text, '_'); at && nr < 2; at = strchr(at + 1, '_')) {
		*at = '\0';
		nr += has_more(names, at + 1, text, 0);
		nr += has_more(names, at + 1, text, 1);
		*at = '_';
	}
	return nr > 1;
}

/*
 * The name of an event's table: the event's name; if that is taken, with the system; if that is taken or shared, with
 * the id as well.
 */
static char *table_name(const struct names *names, const struct event_type *type)
{
	const struct tep_event *event = type->event;
	char *name;

	if (!is_reserved_name(event->name) && !has_more(names, event->name, NULL, 1))
		return sqlite3_mprintf("%s", event->name);
	name = sqlite3_mprintf("%s_%s", event->system, event->name);
	if (name && (is_reserved_name(name) || has_more(names, name, NULL, 0) || is_shared_name(names, name))) {
		sqlite3_free(name);
		name = sqlite3_mprintf("%s_%s_%d", event->system, event->name, event->id);
	}
	return name;
}

/* ---------------------------------------------------------------------------------------------------- making tables */

/*
 * SQLite needs a second for some thousand CREATE VIRTUAL TABLE statements, one for each event of a kernel. So the rows
 * of the schema are written as that statement would write them, and SQLite reads the schema again. It connects a table
 * when a statement uses it for the first time.
 */
struct making {
	sqlite3 *db;
	unsigned int number; /* number of the trace */
	sqlite3_stmt *insert;
	char *error;
};

/* Make a table. Takes ownership of the name, which may be NULL. */
static int make_table(const struct making *m, char *name, const char *kind, const char *what)
{
	char prefix[16] = "", *full, *statement;
	int code;

	if (m->number)
		sqlite3_snprintf(sizeof(prefix), prefix, "f%u_", m->number + 1);
	full = name ? sqlite3_mprintf("%s%s", prefix, name) : NULL;
	statement = full ? sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING recorder_table(%u, %s, %s)", full,
					   m->number, kind, what)
			 : NULL;
	code = statement ? sqlite3_bind_text(m->insert, 1, full, -1, SQLITE_STATIC) : SQLITE_NOMEM;
	if (code == SQLITE_OK)
		code = sqlite3_bind_text(m->insert, 2, statement, -1, SQLITE_STATIC);
	if (code == SQLITE_OK) {
		sqlite3_step(m->insert);
		code = sqlite3_reset(m->insert);
	}
	sqlite3_clear_bindings(m->insert);
	sqlite3_free(statement);
	sqlite3_free(full);
	sqlite3_free(name);
	return code;
}

static int make_tables(const struct making *m, const struct sql_trace *trace)
{
	int code = make_table(m, sqlite3_mprintf("events"), "event", "-1");
	struct names names;

	if (names_open(trace->table, &names))
		return SQLITE_NOMEM;
	for (const struct sql_computed *c = sql_computed_tables; code == SQLITE_OK && c->name; c++)
		code = make_table(m, sqlite3_mprintf("%s", c->name), "computed", c->name);
	for (uint32_t i = 0; code == SQLITE_OK && i < trace->table->nr_events; i++) {
		const struct event_type *type = event_type_at(trace->table, i);
		char id[16];

		if (!type)
			continue;
		sqlite3_snprintf(sizeof(id), id, "%d", type->event->id);
		code = make_table(m, table_name(&names, type), "event", id);
	}
	free(names.all);
	return code;
}

/* Check that no table exists already: SQLite would not accept a schema in which a name occurs twice. */
static int check_names(struct making *m)
{
	static const char query[] = "SELECT min(name) FROM temp.sqlite_master WHERE type <> 'trigger'"
				    " GROUP BY lower(name) HAVING count(*) > 1";
	sqlite3_stmt *statement;
	int code = sqlite3_prepare_v2(m->db, query, -1, &statement, NULL);

	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		m->error = sqlite3_mprintf("there is already a table %s", sqlite3_column_text(statement, 0));
		sqlite3_finalize(statement);
		return SQLITE_ERROR;
	}
	return code == SQLITE_OK ? sqlite3_finalize(statement) : code;
}

static int write_schema(struct making *m, const struct sql_trace *trace)
{
	int code = sqlite3_prepare_v2(m->db,
				      "INSERT INTO temp.sqlite_master (type, name, tbl_name, rootpage, sql)"
				      " VALUES ('table', ?1, ?1, 0, ?2)",
				      -1, &m->insert, NULL);

	if (code == SQLITE_OK)
		code = make_tables(m, trace);
	sqlite3_finalize(m->insert);
	if (code == SQLITE_OK)
		code = check_names(m);
	return code;
}

/* The settings of a connection that decide whether its schema can be written. */
struct permissions {
	int is_defensive, is_writable;
};

static struct permissions take_permissions(sqlite3 *db)
{
	struct permissions before = { 0 };

	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &before.is_defensive);
	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, -1, &before.is_writable);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	return before;
}

static void give_back(sqlite3 *db, struct permissions before)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, before.is_writable, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, before.is_defensive, NULL);
}

/* Execute statements, and keep the reason if one fails and no reason is known yet. */
static int execute(struct making *m, const char *statements)
{
	const int code = sqlite3_exec(m->db, statements, NULL, NULL, NULL);

	if (code != SQLITE_OK && code != SQLITE_NOMEM && !m->error)
		m->error = sqlite3_mprintf("%s", sqlite3_errmsg(m->db));
	return code;
}

/*
 * Setting the schema's version makes the change one of the schema: if the transaction is rolled back, SQLite reads the
 * schema again. The new schema is read before the transaction ends, because that needs memory.
 */
static int change_schema(struct making *m, const struct sql_trace *trace)
{
	static const char undo[] = "ROLLBACK TO recorder_open; RELEASE recorder_open; PRAGMA writable_schema = RESET";
	static const char read_again[] = "PRAGMA writable_schema = RESET; PRAGMA temp.schema_version = 1;"
					 "SELECT 1 FROM temp.sqlite_master WHERE 0";
	int code = write_schema(m, trace);

	if (code != SQLITE_OK && code != SQLITE_NOMEM && !m->error)
		m->error = sqlite3_mprintf("%s", sqlite3_errmsg(m->db));
	if (code == SQLITE_OK)
		code = execute(m, read_again);
	if (code == SQLITE_OK)
		code = execute(m, "RELEASE recorder_open");
	if (code != SQLITE_OK)
		sqlite3_exec(m->db, undo, NULL, NULL, NULL);
	return code;
}

/*
 * Make all tables of the trace, or none. If SQLite runs out of memory within a function, it refuses every statement,
 * also one that undoes a change, until the statement that called the function has ended. But if a statement that reads
 * tables ends after memory ran out, SQLite rolls back the transaction. So such a statement is kept running during the
 * change.
 */
static int add_tables(struct making *m, const struct sql_trace *trace)
{
	sqlite3_stmt *reading = NULL;
	struct permissions before;
	int code;

	code = sqlite3_prepare_v2(m->db, "SELECT 1 UNION ALL SELECT 1 FROM temp.sqlite_master", -1, &reading, NULL);
	if (code == SQLITE_OK && sqlite3_step(reading) != SQLITE_ROW)
		code = sqlite3_reset(reading);
	if (code == SQLITE_OK)
		code = execute(m, "SAVEPOINT recorder_open");
	if (code == SQLITE_OK) {
		before = take_permissions(m->db);
		code = change_schema(m, trace);
		give_back(m->db, before);
	}
	sqlite3_finalize(reading);
	return code;
}

/* The result of recorder_open(): the name of the file and, if it is incomplete, what is missing from it. */
static char *opened_text(const struct sql_trace *trace)
{
	const char *missing = trace->file->missing.text;

	return sqlite3_mprintf("%s%s%s", trace->path, *missing ? ": " : "", missing);
}

int sql_open(sqlite3 *db, struct sql_traces *traces, const char *path, bool takes_cut, char **ret_text)
{
	struct sql_trace **more = reallocarray(traces->traces, traces->nr + 1, sizeof(struct sql_trace *));
	struct making m = { .db = db, .number = traces->nr };
	struct dat_error error;
	char *text;
	int code;

	*ret_text = NULL;
	if (!more)
		return SQLITE_NOMEM;
	traces->traces = more;
	if (sql_trace_open(db, path, &more[traces->nr], &error)) {
		*ret_text = sqlite3_mprintf("%s: %s", path, error.text);
		return SQLITE_ERROR;
	}
	error = more[traces->nr]->file->missing;
	if (error.text[0] && !takes_cut) {
		*ret_text = sqlite3_mprintf("%s: %s; recorder_open(FILE, 'rest') reads the rest", path, error.text);
		sql_trace_close(more[traces->nr]);
		return SQLITE_ERROR;
	}
	/* After the tables are made, nothing may fail. */
	text = opened_text(more[traces->nr]);
	code = text ? add_tables(&m, more[traces->nr]) : SQLITE_NOMEM;
	if (code == SQLITE_OK) {
		/* From here on, closing the connection closes the trace. */
		traces->nr++;
		*ret_text = text;
		return code;
	}
	sqlite3_free(text);
	sql_trace_close(more[traces->nr]);
	*ret_text = m.error;
	return code;
}

/* The SQL function recorder_open(FILE), or recorder_open(FILE, 'rest'). */
static void open_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_traces *traces = sqlite3_user_data(context);
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *how = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	char *text = NULL;

	if (!path || argc > 2) {
		sqlite3_result_error(context, "recorder_open: a file name expected", -1);
	} else if (argc > 1 && (!how || strcmp(how, "rest") != 0)) {
		sqlite3_result_error(context, "recorder_open: 'rest' expected after the file name, or nothing", -1);
	} else {
		if (sql_open(sqlite3_context_db_handle(context), traces, path, how || traces->takes_cut, &text) ==
		    SQLITE_OK) {
			sqlite3_result_text(context, text, -1, sqlite3_free);
			return;
		}
		sqlite3_result_error(context, text ? text : "recorder_open: not enough memory", -1);
		sqlite3_free(text);
	}
}

int sql_register(sqlite3 *db, struct sql_traces **ret_traces)
{
	struct sql_traces *traces = calloc(1, sizeof(*traces));
	int code;

	if (!traces)
		return SQLITE_NOMEM;
	/* SQLite calls close_traces() also if this fails. */
	code = sqlite3_create_module_v2(db, "recorder_table", &sql_module, traces, close_traces);
	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "recorder_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, traces,
						  open_function, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sql_register_functions(db);
	if (code == SQLITE_OK)
		code = sql_register_cast(db, traces);
	if (code == SQLITE_OK && ret_traces)
		*ret_traces = traces;
	return code;
}
