/* SPDX-License-Identifier: MIT */
/*
 * recorder sql: runs a query over a trace.dat, or a shell for queries. Nothing is imported: SQLite reads the file
 * through virtual tables.
 */
#include "cli/cmd.h"

#include "cli/ask/sql_shell.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "sql"

struct options {
	bool csv, json, box, list;
	const char *save;
	unsigned int color;
};

/* Without an option, the form is a table for people. */
static enum sql_mode mode_of(const struct options *o)
{
	return o->json ? SQL_MODE_JSON : o->csv ? SQL_MODE_CSV : o->list ? SQL_MODE_LIST : SQL_MODE_BOX;
}

/*
 * The FILE of the operands; *operands then begins after it. A single operand with blanks is a query, unless a file has
 * this name.
 */
static const char *take_path(char ***operands)
{
	const char *first = **operands;

	if (!first || (!(*operands)[1] && strpbrk(first, " \t\n") && access(first, F_OK) < 0))
		return "trace.dat";
	(*operands)++;
	return first;
}

static int run(const struct options *o, const char *path, const char *query)
{
	struct sql_session session;
	int status = sql_session_open(path, &session);

	if (!status)
		sql_session_report(&session);
	session.mode = mode_of(o);
	session.escapes = show_escapes(stdout);
	signal(SIGPIPE, SIG_IGN);
	if (!status && o->save)
		status = sql_session_save(&session, o->save);
	else if (!status && query) {
		terminal_start();
		status = sql_session_run(&session, query);
	} else if (!status) {
		status = sql_shell(&session);
	}
	sql_session_close(&session);
	return !status && (session.is_cut || session.is_damaged) ? EXIT_FAILURE : status;
}

int cmd_sql(int argc, char **argv)
{
	struct options o = { 0 };
	const struct opt table[] = {
		OPT_FLAG(0, "box", "print a table with lines; the default", &o.box),
		OPT_FLAG(0, "csv", "print comma-separated values", &o.csv),
		OPT_FLAG(0, "json", "print an array of JSON objects", &o.json),
		OPT_FLAG(0, "list", "print values separated by |", &o.list),
		OPT_STRING(0, "save", "FILE", "write all tables into the SQLite database FILE", &o.save),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE] [QUERY]",
		.about =
			"Query FILE, by default trace.dat, with SQL. Each event is a table; so are spans, counters, "
			"sched, losses\nand others.\n"
			"Without QUERY, statements are read from standard input; .help lists the commands of the "
			"shell.\n",
		.table = table,
		.max_operands = 2,
	};
	const char *path;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (o.box + o.csv + o.json + o.list > 1) {
		complain(COMMAND, "--box, --csv, --json and --list exclude each other");
		return EXIT_USAGE;
	}
	path = take_path(&operands);
	if (o.save && operands[0]) {
		complain(COMMAND, "--save writes all tables; it takes no query");
		return EXIT_USAGE;
	}
	terminal_use(o.color);
	return run(&o, path, operands[0]);
}
