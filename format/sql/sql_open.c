/* SPDX-License-Identifier: MIT */
/* See sql_open.h. */
#include "format/sql/sql_open.h"

#include "format/sql/sql_table.h"

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

static bool is_taken_name(const struct event_table *table, const struct event_type *type, const char *name)
{
	if (sql_computed_find(name) || !strcasecmp(name, "events"))
		return true;
	for (uint32_t i = 0; i < table->nr_events; i++) {
		if (&table->all[i] != type && !strcasecmp(table->all[i].event->name, name))
			return true;
	}
	return false;
}

/* Events of one system and name, but of different shape. */
static bool has_twin(const struct event_table *table, const struct event_type *type)
{
	for (uint32_t i = 0; i < table->nr_events; i++) {
		const struct tep_event *other = table->all[i].event;

		if (&table->all[i] != type && !strcasecmp(other->name, type->event->name) &&
		    !strcasecmp(other->system, type->event->system))
			return true;
	}
	return false;
}

/* The event's name; with its system, if that is not enough; and with its id, if its system has two. */
static char *table_name(const struct event_table *table, const struct event_type *type)
{
	const struct tep_event *event = type->event;

	if (!is_taken_name(table, type, event->name))
		return sqlite3_mprintf("%s", event->name);
	if (!has_twin(table, type))
		return sqlite3_mprintf("%s_%s", event->system, event->name);
	return sqlite3_mprintf("%s_%s_%d", event->system, event->name, event->id);
}

/* ---------------------------------------------------------------------------------------------------- making tables */

struct making {
	sqlite3 *db;
	unsigned int number; /* of the trace */
	char *error;
};

/* Takes the name, which may be NULL. */
static int make_table(struct making *m, char *name, const char *kind, const char *what)
{
	char prefix[16] = "", *statement;
	int code = SQLITE_NOMEM;

	if (m->number)
		sqlite3_snprintf(sizeof(prefix), prefix, "f%u_", m->number + 1);
	statement = name ? sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w%w\" USING recorder_table(%u, %s, %s)",
					   prefix, name, m->number, kind, what)
			 : NULL;
	if (statement)
		code = sqlite3_exec(m->db, statement, NULL, NULL, m->error ? NULL : &m->error);
	sqlite3_free(statement);
	sqlite3_free(name);
	return code;
}

static int make_tables(struct making *m, const struct sql_trace *trace)
{
	int code = make_table(m, sqlite3_mprintf("events"), "event", "-1");

	for (const struct sql_computed *c = sql_computed_tables; code == SQLITE_OK && c->name; c++)
		code = make_table(m, sqlite3_mprintf("%s", c->name), "computed", c->name);
	for (uint32_t i = 0; code == SQLITE_OK && i < trace->table->nr_events; i++) {
		const struct event_type *type = &trace->table->all[i];
		char id[16];

		/* Of two formats with one id, the first counts. */
		if (event_type(trace->table, type->event->id) != type)
			continue;
		sqlite3_snprintf(sizeof(id), id, "%d", type->event->id);
		code = make_table(m, table_name(trace->table, type), "event", id);
	}
	return code;
}

int sql_open(sqlite3 *db, struct sql_traces *traces, const char *path, char **ret_error)
{
	struct sql_trace **more = reallocarray(traces->traces, traces->nr + 1, sizeof(struct sql_trace *));
	struct making m = { .db = db, .number = traces->nr };
	struct dat_error error;
	int code;

	if (!more)
		return SQLITE_NOMEM;
	traces->traces = more;
	if (sql_trace_open(path, &more[traces->nr], &error)) {
		*ret_error = sqlite3_mprintf("%s: %s", path, error.text);
		return SQLITE_ERROR;
	}
	/* From here on it is closed with the connection. */
	traces->nr++;
	code = sqlite3_exec(db, "SAVEPOINT recorder_open", NULL, NULL, &m.error);
	if (code == SQLITE_OK)
		code = make_tables(&m, more[traces->nr - 1]);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "RELEASE recorder_open", NULL, NULL, &m.error);
	else
		sqlite3_exec(db, "ROLLBACK TO recorder_open; RELEASE recorder_open", NULL, NULL, NULL);
	*ret_error = m.error;
	return code;
}

static void open_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	char *error = NULL;

	(void)argc;
	if (!path) {
		sqlite3_result_error(context, "recorder_open: a file name expected", -1);
		return;
	}
	if (sql_open(sqlite3_context_db_handle(context), sqlite3_user_data(context), path, &error) != SQLITE_OK)
		sqlite3_result_error(context, error ? error : "recorder_open: not enough memory", -1);
	else
		sqlite3_result_text(context, path, -1, SQLITE_TRANSIENT);
	sqlite3_free(error);
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
		code = sqlite3_create_function_v2(db, "recorder_open", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, traces,
						  open_function, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sql_register_functions(db);
	if (code == SQLITE_OK && ret_traces)
		*ret_traces = traces;
	return code;
}
