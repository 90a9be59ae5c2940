/* SPDX-License-Identifier: MIT */
/*
 * A database connection with the tables of a trace, and the statements and dot commands of `recorder sql`: from the
 * command line, from standard input, or from a person at a terminal (sql_shell.h).
 */
#ifndef CLI_SQL_SESSION_H
#define CLI_SQL_SESSION_H

#include "cli/ask/sql_print.h"

struct sql_traces;

struct sql_session {
	sqlite3 *db;
	struct sql_traces *traces;
	enum sql_mode mode;
	bool is_over; /* .quit */
	bool written; /* false: standard output cannot be written */
};

/* 0, or the exit status of a failure, which is reported. sql_session_close() also takes what failed. */
int sql_session_open(const char *path, struct sql_session *ret_session);
void sql_session_close(struct sql_session *session);

/*
 * Runs statements, separated by semicolons, or a dot command. The exit status of the first failure, which is reported.
 */
int sql_session_run(struct sql_session *session, const char *text);

/* Writes all tables into a new database file. The exit status. */
int sql_session_save(struct sql_session *session, const char *path);

#endif
