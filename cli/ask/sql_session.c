/* SPDX-License-Identifier: MIT */
/* See sql_session.h. */
#include "cli/ask/sql_session.h"

#include "cli/common/missing_parts.h"
#include "cli/common/opts.h"
#include "cli/common/progress.h"
#include "cli/common/show_text.h"
#include "cli/common/trace_events.h"
#include "format/sql/sql_hist.h"
#include "format/sql/sql_open.h"
#include "format/sql/sql_table.h"
#include "format/sql/sql_trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "sql"

static int fail(const struct sql_session *session)
{
	fflush(stdout);
	complain(COMMAND, "%s", sqlite3_errmsg(session->db));
	return EXIT_FAILURE;
}

void sql_session_report(struct sql_session *session)
{
	for (; session->nr_reported < session->traces->nr; session->nr_reported++) {
		const struct sql_trace *trace = session->traces->traces[session->nr_reported];

		trace_report_left_out(COMMAND, trace->path, trace->table);
		if (!trace->file->missing.text[0])
			continue;
		complain(COMMAND, "%s: %s; results cover only the rest", trace->path, trace->file->missing.text);
		session->is_cut = true;
	}
}

int sql_session_open(const char *path, struct sql_session *ret_session)
{
	struct sql_session s = { .written = true };
	char *text = NULL;
	int status = 0;

	if (sqlite3_open(":memory:", &s.db) != SQLITE_OK || sql_register(s.db, &s.traces) != SQLITE_OK) {
		status = fail(&s);
		*ret_session = s;
		return status;
	}
	s.traces->takes_cut = true;
	if (sql_open(s.db, s.traces, path, true, &text) != SQLITE_OK) {
		complain(COMMAND, "%s", text ? text : "not enough memory");
		status = EXIT_FAILURE;
	}
	sqlite3_free(text);
	*ret_session = s;
	return status;
}

void sql_session_close(struct sql_session *session)
{
	sqlite3_close_v2(session->db);
}

/* ------------------------------------------------------------------------------------------------------------- gaps */

/* After a result from a trace, report the events that are missing from the trace. */
static void report_gaps(struct sql_session *session)
{
	for (unsigned int i = 0; i < session->traces->nr; i++) {
		struct sql_trace *trace = session->traces->traces[i];
		struct sql_gaps gaps = { 0 };

		if (!trace->is_read)
			continue;
		trace->is_read = false;
		if (sql_trace_gaps(trace, &gaps))
			continue;
		fflush(stdout);
		if (gaps.events.places)
			complain(COMMAND,
				 "%s: %s%" PRIu64 " events were lost at %" PRIu64
				 " place%s; results may lack them (SELECT * FROM losses)",
				 trace->path, gaps.events.is_unknown ? "at least " : "", gaps.events.lost,
				 gaps.events.places, gaps.events.places == 1 ? "" : "s");
		session->is_damaged |= gaps.events.damaged > 0;
		if (gaps.events.damaged)
			complain(COMMAND, "%s: %" PRIu64 " damaged page%s; results may lack their events", trace->path,
				 gaps.events.damaged, gaps.events.damaged == 1 ? "" : "s");
		if (gaps.back)
			complain(COMMAND, "%s: times go back at %" PRIu64 " place%s; a condition on ts may miss events",
				 trace->path, gaps.back, gaps.back == 1 ? "" : "s");
		trace_report_absent(COMMAND, trace->path, trace->table);
		complain_given_up(COMMAND, trace->path, trace->given_up);
	}
}

/* ------------------------------------------------------------------------------------------------------- statements */

static int run_statement(struct sql_session *session, const char *text, const char **ret_rest)
{
	char *translated = sql_hist_translate(text, ret_rest);
	sqlite3_stmt *statement;
	int code, status = 0;

	if (sqlite3_prepare_v2(session->db, translated ? translated : text, -1, &statement,
			       translated ? NULL : ret_rest) != SQLITE_OK) {
		sqlite3_free(translated);
		*ret_rest = "";
		return fail(session);
	}
	sqlite3_free(translated);
	/* The text was only a comment, or blanks. */
	if (!statement)
		return 0;
	code = sql_print(statement, session->mode, session->escapes, &session->written);
	if (code == SQLITE_INTERRUPT && session->written) {
		fflush(stdout);
		complain(COMMAND, "%s", sqlite3_errstr(code));
		status = EXIT_FAILURE;
	} else if (code != SQLITE_DONE && session->written) {
		status = fail(session);
	}
	sqlite3_finalize(statement);
	sql_session_report(session);
	if (!status && session->written)
		report_gaps(session);
	return status;
}

static int run_statements(struct sql_session *session, const char *text)
{
	int status = 0;

	while (!status && *text && session->written)
		status = run_statement(session, text, &text);
	return status;
}

/* ----------------------------------------------------------------------------------------------------- dot commands */

static int show_tables(struct sql_session *session, const char *pattern)
{
	sqlite3_stmt *statement;
	int status = 0;

	if (sqlite3_prepare_v2(session->db,
			       "SELECT name FROM temp.sqlite_master WHERE type = 'table' AND name LIKE ? ORDER BY name",
			       -1, &statement, NULL) != SQLITE_OK)
		return fail(session);
	sqlite3_bind_text(statement, 1, *pattern ? pattern : "%", -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		show_name(stdout, (const char *)sqlite3_column_text(statement, 0), session->escapes);
		putchar('\n');
	}
	if (sqlite3_finalize(statement) != SQLITE_OK)
		status = fail(session);
	return status;
}

/* Lists the columns of a table, including hidden ones. */
static int show_columns(struct sql_session *session, const char *table)
{
	sqlite3_stmt *statement;
	bool is_first = true;

	if (sqlite3_prepare_v2(session->db, "SELECT name, type, hidden FROM pragma_table_xinfo(?)", -1, &statement,
			       NULL) != SQLITE_OK)
		return fail(session);
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(statement, 1);

		if (is_first)
			show_name(stdout, table, session->escapes);
		fputs(is_first ? "(\n  " : ",\n  ", stdout);
		show_name(stdout, (const char *)sqlite3_column_text(statement, 0), session->escapes);
		printf(" %s%s", type, sqlite3_column_int(statement, 2) ? " -- not in *" : "");
		is_first = false;
	}
	sqlite3_finalize(statement);
	if (is_first) {
		complain(COMMAND, "there is no table '%s'; .tables lists them", table);
		return EXIT_FAILURE;
	}
	puts("\n);");
	return 0;
}

static int show_schema(struct sql_session *session, const char *table)
{
	sqlite3_stmt *statement;
	int status = 0;

	if (*table)
		return show_columns(session, table);
	if (sqlite3_prepare_v2(session->db, "SELECT name FROM temp.sqlite_master WHERE type = 'table' ORDER BY name",
			       -1, &statement, NULL) != SQLITE_OK)
		return fail(session);
	while (!status && sqlite3_step(statement) == SQLITE_ROW)
		status = show_columns(session, (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return status;
}

static int set_mode(struct sql_session *session, const char *word)
{
	static const char *const names[] = { "box", "csv", "json", "list" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(word, names[i])) {
			session->mode = (enum sql_mode)i;
			return 0;
		}
	}
	complain(COMMAND, ".mode: one of " SQL_MODES " expected");
	return EXIT_FAILURE;
}

static int show_help(struct sql_session *session, const char *argument)
{
	(void)session;
	(void)argument;
	puts(".tables [PATTERN]    tables whose names match, with % and _\n"
	     ".schema [TABLE]      columns of a table, or of all\n"
	     ".mode " SQL_MODES "\n"
	     ".save FILE           write all tables into a database\n"
	     ".help                this list\n"
	     ".quit                end");
	return 0;
}

static int save(struct sql_session *session, const char *path)
{
	return sql_session_save(session, path);
}

static int quit(struct sql_session *session, const char *argument)
{
	(void)argument;
	session->is_over = true;
	return 0;
}

static int run_dot_command(struct sql_session *session, const char *text)
{
	static const struct {
		const char *name;
		int (*run)(struct sql_session *session, const char *argument);
	} commands[] = {
		{ ".tables", show_tables }, { ".schema", show_schema }, { ".mode", set_mode }, { ".save", save },
		{ ".help", show_help },	    { ".quit", quit },		{ ".exit", quit },
	};
	char name[16], argument[4096] = "";

	if (sscanf(text, "%15s %4095[^\n;]", name, argument) < 1)
		return 0;
	while (*argument && argument[strlen(argument) - 1] == ' ')
		argument[strlen(argument) - 1] = '\0';
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(session, argument);
	}
	complain(COMMAND, "'%s' is not a command; .help lists them", name);
	return EXIT_FAILURE;
}

int sql_session_run(struct sql_session *session, const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '.' ? run_dot_command(session, text) : run_statements(session, text);
}

/* ------------------------------------------------------------------------------------------------------------- save */

/* Static, because signal handlers cannot be passed an argument. */
static sqlite3 *saving;
static volatile sig_atomic_t ended_by; /* the signal that ends the command; 0: none */

static void end_save(int number)
{
	ended_by = number;
	sql_interrupted = 1;
	sqlite3_interrupt(saving);
}

/*
 * A signal that would end the command ends the save first, so that no incomplete file is left. The shell keeps its own
 * handler of Ctrl-C.
 */
static void handle_signals(bool handle)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = handle ? end_save : SIG_DFL, .sa_flags = SA_RESTART };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == (handle ? SIG_DFL : end_save))
			sigaction(numbers[i], &action, NULL);
}

/*
 * The table's columns, each after a comma; NULL: no memory. *ret_rowid is a name for the row's number that no column
 * has.
 */
static char *columns_of(struct sql_session *session, const char *name, const char **ret_rowid)
{
	static const char *const rowids[] = { "rowid", "oid", "_rowid_" };
	bool is_taken[3] = { 0 };
	char *query = sqlite3_mprintf("SELECT * FROM saved.\"%w\"", name);
	sqlite3_stmt *statement = NULL;
	sqlite3_str *columns = sqlite3_str_new(session->db);

	if (query)
		sqlite3_prepare_v2(session->db, query, -1, &statement, NULL);
	sqlite3_free(query);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *column = sqlite3_column_name(statement, i);

		sqlite3_str_appendf(columns, ", \"%w\"", column);
		for (int j = 0; column && j < 3; j++)
			is_taken[j] |= !sqlite3_stricmp(column, rowids[j]);
	}
	sqlite3_finalize(statement);
	*ret_rowid = !is_taken[0] ? rowids[0] : !is_taken[1] ? rowids[1] : rowids[2];
	return sqlite3_str_finish(columns);
}

/* Whether the rows have a number: tables WITHOUT ROWID have none. */
static bool has_rowid(struct sql_session *session, const char *name, const char *column)
{
	char *query = sqlite3_mprintf("SELECT %s FROM temp.\"%w\"", column, name);
	sqlite3_stmt *statement = NULL;
	const bool has = query && sqlite3_prepare_v2(session->db, query, -1, &statement, NULL) == SQLITE_OK;

	sqlite3_finalize(statement);
	sqlite3_free(query);
	return has;
}

static int fail_save(const struct sql_session *session, const char *path)
{
	/* A signal that ends the command needs no reason. */
	if (!ended_by)
		complain(COMMAND, "cannot save to '%s': %s", path, sqlite3_errmsg(session->db));
	return EXIT_FAILURE;
}

static int save_table(struct sql_session *session, const char *name, const char *path)
{
	char *statement = sqlite3_mprintf("CREATE TABLE saved.\"%w\" AS SELECT * FROM temp.\"%w\" WHERE 0", name, name);
	int code = statement ? sqlite3_exec(session->db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
	char *columns = NULL;
	const char *rowid;

	sqlite3_free(statement);
	/* The rows keep their numbers, if they have any: stacks.event is that of an event. */
	if (code == SQLITE_OK) {
		columns = columns_of(session, name, &rowid);
		if (columns && has_rowid(session, name, rowid))
			statement = sqlite3_mprintf("INSERT INTO saved.\"%w\" (%s%s) SELECT %s%s FROM temp.\"%w\"",
						    name, rowid, columns, rowid, columns, name);
		else
			statement = columns ? sqlite3_mprintf("INSERT INTO saved.\"%w\" SELECT * FROM temp.\"%w\"",
							      name, name)
					    : NULL;
		code = statement ? sqlite3_exec(session->db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(statement);
		sqlite3_free(columns);
	}
	return code == SQLITE_OK ? 0 : fail_save(session, path);
}

static int save_tables(struct sql_session *session, const char *path)
{
	sqlite3_stmt *statement;
	int status = 0, code = SQLITE_DONE;

	if (sqlite3_exec(session->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(session->db, "SELECT name FROM temp.sqlite_master WHERE type = 'table'", -1, &statement,
			       NULL) != SQLITE_OK)
		return fail_save(session, path);
	while (!status && !ended_by && (code = sqlite3_step(statement)) == SQLITE_ROW)
		status = save_table(session, (const char *)sqlite3_column_text(statement, 0), path);
	if (!status && !ended_by && code != SQLITE_DONE)
		status = fail_save(session, path);
	sqlite3_finalize(statement);
	if (!status && !ended_by && sqlite3_exec(session->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		status = fail_save(session, path);
	return status;
}

static int attach(struct sql_session *session, const char *path)
{
	sqlite3_stmt *statement = NULL;
	char *name;
	int status;

	if (sqlite3_prepare_v2(session->db, "ATTACH ? AS saved", -1, &statement, NULL) != SQLITE_OK)
		return fail_save(session, path);
	/* SQLite keeps nothing of a database called :memory: or file:X?mode=memory, but a path is always a file. */
	name = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
	if (!name) {
		complain(COMMAND, "not enough memory");
		sqlite3_finalize(statement);
		return EXIT_FAILURE;
	}
	sqlite3_bind_text(statement, 1, name, -1, sqlite3_free);
	status = sqlite3_step(statement) == SQLITE_DONE ? 0 : fail_save(session, path);
	sqlite3_finalize(statement);
	return status;
}

/* Remove an incomplete database. Attaching makes the file. After a failed write SQLite may leave its journal. */
static void discard(struct sql_session *session, const char *path)
{
	char *journal = sqlite3_mprintf("%s-journal", path);

	sqlite3_exec(session->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(session->db, "DETACH saved", NULL, NULL, NULL);
	unlink(path);
	if (journal)
		unlink(journal);
	sqlite3_free(journal);
}

int sql_session_save(struct sql_session *session, const char *path)
{
	int status;

	if (!*path) {
		complain(COMMAND, "the name of a database is missing");
		return EXIT_FAILURE;
	}
	if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW)) {
		complain(COMMAND, "'%s' exists already; remove it or choose another name", path);
		return EXIT_FAILURE;
	}
	saving = session->db;
	handle_signals(true);
	status = attach(session, path);
	if (!status)
		status = save_tables(session, path);
	if (status || ended_by)
		discard(session, path);
	else
		sqlite3_exec(session->db, "DETACH saved", NULL, NULL, NULL);
	handle_signals(false);
	if (ended_by)
		raise(ended_by);
	if (!status)
		report_gaps(session);
	return status;
}
