/* SPDX-License-Identifier: MIT */
/* See sql_shell.h. */
#include "cli/ask/sql_shell.h"

#include "cli/common/opts.h"
#include "format/io/blob.h"
#include "format/sql/sql_trace.h"

#include <editline/readline.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define PROMPT	    "recorder> "
#define PROMPT_MORE "     ...> "

/* Static, because libedit's callbacks and signal handlers cannot be passed an argument. */
static sqlite3 *connection;

/* ------------------------------------------------------------------------------------------------------- completion */

/*
 * The candidates for a word without a dot, or with a leading one: keywords, functions, commands, and all names of
 * tables and columns.
 */
static const char words[] =
	"SELECT name FROM temp.sqlite_master WHERE type = 'table' UNION "
	"SELECT c.name FROM temp.sqlite_master t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' UNION "
	"SELECT name FROM pragma_function_list UNION "
	"SELECT value FROM json_each('[\"SELECT\",\"FROM\",\"WHERE\",\"GROUP BY\","
	"\"ORDER BY\",\"LIMIT\",\"JOIN\",\"HAVING\",\"count(*)\","
	"\".tables\",\".schema\",\".mode\",\".save\",\".help\",\".quit\"]')";

/*
 * The candidates for TABLE.WORD: columns of the table. Without such a table, TABLE is an alias: columns of all tables.
 */
static const char columns[] =
	"WITH of(word, name) AS (SELECT ?1, substr(?1, 1, instr(?1, '.') - 1)) "
	"SELECT DISTINCT substr(?1, 1, instr(?1, '.')) || c.name AS name "
	"FROM of, temp.sqlite_master t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND "
	"(t.name = of.name COLLATE NOCASE OR of.name COLLATE NOCASE NOT IN (SELECT name FROM temp.sqlite_master))";

/*
 * The completion function of libedit: `state` is 0 in the first call; each call returns a copy of a candidate, the last
 * one NULL.
 */
static char *complete(const char *word, int state)
{
	static sqlite3_stmt *statement;
	char *found = NULL, *query;

	if (!state) {
		sqlite3_finalize(statement);
		query = sqlite3_mprintf(
			"SELECT name FROM (%s) WHERE substr(name, 1, length(?1)) = ?1 COLLATE NOCASE ORDER BY 1",
			strchr(word, '.') && *word != '.' ? columns : words);
		if (!query || sqlite3_prepare_v2(connection, query, -1, &statement, NULL) != SQLITE_OK)
			statement = NULL;
		sqlite3_free(query);
		if (statement)
			sqlite3_bind_text(statement, 1, word, -1, SQLITE_TRANSIENT);
	}
	if (statement && sqlite3_step(statement) == SQLITE_ROW)
		found = strdup((const char *)sqlite3_column_text(statement, 0));
	if (!found) {
		sqlite3_finalize(statement);
		statement = NULL;
	}
	return found;
}

/* ------------------------------------------------------------------------------------------------------ interrupts */

/* The handler of Ctrl-C. If no statement is running, sqlite3_interrupt() has no effect. */
static void interrupt(int number)
{
	(void)number;
	sql_interrupted = 1;
	sqlite3_interrupt(connection);
}

/* Waits for input. False: an interrupt came, before the call or during it. */
static bool wait_for_input(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t interrupts, before;
	bool has_input = false;

	/* The handler runs only while ppoll() waits, so that no interrupt is between the check and the wait. */
	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupts, &before);
	while (!has_input && !sql_interrupted)
		has_input = ppoll(&input, 1, NULL, &before) >= 0 || errno != EINTR;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return has_input;
}

/* The next character that is typed, for libedit. An interrupt ends the line; its reader then discards it. */
static int next_character(FILE *file)
{
	mbstate_t state = { 0 };
	wchar_t character;
	char byte;

	(void)file;
	for (;;) {
		size_t used;

		if (!wait_for_input())
			return '\n';
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return EOF;
		used = mbrtowc(&character, &byte, 1, &state);
		if (used == (size_t)-1)
			return '?';
		if (used != (size_t)-2)
			return (int)character;
	}
}

static void start_terminal(sqlite3 *db)
{
	/* Otherwise a write to the terminal could fail. */
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };

	puts("SQL over the trace: .tables, .schema TABLE, .help; statements end with a semicolon");
	setlocale(LC_CTYPE, "");
	connection = db;
	sigaction(SIGINT, &action, NULL);
	rl_readline_name = (char *)(uintptr_t)"recorder";
	rl_completion_entry_function = complete;
	rl_getc_function = next_character;
}

/* ------------------------------------------------------------------------------------------------------------ input */

static bool is_complete(const struct blob *input)
{
	const char *text = (const char *)input->data;

	return text[strspn(text, " \t")] == '.' || sqlite3_complete(text);
}

/* The next line without its end, to be freed; NULL at the end of the input. */
static char *next_line(bool is_person, bool is_more)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;

	if (is_person)
		return readline(is_more ? PROMPT_MORE : PROMPT);
	size = getline(&line, &room, stdin);
	if (size < 0) {
		free(line);
		return NULL;
	}
	if (size && line[size - 1] == '\n')
		line[size - 1] = '\0';
	return line;
}

static int run_input(struct sql_session *session, struct blob *input, bool is_person)
{
	const char *text = (const char *)input->data;
	int status;

	if (is_person && text[strspn(text, " \t\n")])
		add_history(text);
	status = sql_session_run(session, text);
	fflush(stdout);
	input->size = 0;
	sql_interrupted = 0;
	return status;
}

int sql_shell(struct sql_session *session)
{
	const bool is_person = isatty(STDIN_FILENO) == 1;
	struct blob input = BLOB_INIT;
	int status = 0;
	char *line;

	if (is_person)
		start_terminal(session->db);
	while (!session->is_over && session->written && (line = next_line(is_person, input.size > 0)) != NULL) {
		/* An interrupt discards the line and those before it. */
		if (sql_interrupted) {
			sql_interrupted = 0;
			input.size = 0;
			free(line);
			continue;
		}
		/* Lines are joined until a statement ends; the NUL is not part of the text. */
		if (input.size)
			blob_put(&input, "\n", 1);
		blob_put(&input, line, strlen(line));
		blob_put(&input, "", 1);
		free(line);
		if (input.error) {
			complain("sql", "not enough memory");
			status = EXIT_FAILURE;
			break;
		}
		input.size--;
		if (is_complete(&input)) {
			const int failed = run_input(session, &input, is_person);

			status = failed && !is_person ? failed : status;
		}
	}
	if (input.size && session->written && !input.error) {
		const int failed = run_input(session, &input, is_person);

		status = failed && !is_person ? failed : status;
	}
	if (is_person) {
		/* The caller closes the connection. */
		signal(SIGINT, SIG_DFL);
		putchar('\n');
	}
	blob_free(&input);
	return status;
}
