/* SPDX-License-Identifier: MIT */
/*
 * A database connection with the tables of a trace. It runs the statements and dot commands of `recorder sql`, from the
 * command line, from standard input or from a terminal (sql_shell.h).
 */
#ifndef CLI_SQL_SESSION_H
#define CLI_SQL_SESSION_H

#include "cli/ask/sql_print.h"

struct sql_traces;

struct sql_session {
	sqlite3 *db;
	struct sql_traces *traces;
	enum sql_mode mode;
	bool escapes; /* the output is for a terminal, maybe through a pager: asked before the pager starts */
	unsigned int nr_reported; /* traces whose missing parts were reported */
	bool is_cut; /* a trace was cut off: results are those of the part that exists */
	bool is_damaged; /* a trace that was read has damaged pages: results may lack their events */
	bool is_over; /* .quit was given */
	bool written; /* false: standard output cannot be written */
};

/* 0; or the exit status of a failure, which was reported. Call sql_session_close() in either case. */
int sql_session_open(const char *path, struct sql_session *ret_session);
void sql_session_close(struct sql_session *session);

/*
 * Reports for each trace, once, whether it was cut off and which events have no table. Statements may open traces, so
 * each statement calls this at its end.
 */
void sql_session_report(struct sql_session *session);

/*
 * Runs statements, separated by semicolons, or a dot command. Stops at the first failure, reports it, and returns its
 * exit status; 0: all succeeded.
 */
int sql_session_run(struct sql_session *session, const char *text);

/* Writes all tables into a new database file. The exit status. */
int sql_session_save(struct sql_session *session, const char *path);

#endif
