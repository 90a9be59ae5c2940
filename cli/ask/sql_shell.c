/* SPDX-License-Identifier: MIT */
/* See sql_shell.h. */
#include "cli/ask/sql_shell.h"

#include "cli/common/opts.h"
#include "format/io/blob.h"

#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT	    "recorder> "
#define PROMPT_MORE "     ...> "

/* libedit calls back without an argument of ours. */
static sqlite3 *completed;

/* ------------------------------------------------------------------------------------------------------- completion */

/* SQLite's own table of candidates: keywords, functions, and all names of tables and columns. */
static const char candidates[] =
	"SELECT name FROM temp.sqlite_master WHERE type = 'table' UNION "
	"SELECT c.name FROM temp.sqlite_master t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' UNION "
	"SELECT name FROM pragma_function_list UNION "
	"SELECT value FROM json_each('[\"SELECT\",\"FROM\",\"WHERE\",\"GROUP BY\","
	"\"ORDER BY\",\"LIMIT\",\"JOIN\",\"HAVING\",\"count(*)\"]')";

/* libedit's protocol: called with state 0 first; returns a copy each time, and NULL at the end. */
static char *complete(const char *word, int state)
{
	static sqlite3_stmt *statement;
	char *found = NULL, *query;

	if (!state) {
		sqlite3_finalize(statement);
		query = sqlite3_mprintf(
			"SELECT name FROM (%s) WHERE substr(name, 1, length(?1)) = ?1 COLLATE NOCASE ORDER BY 1",
			candidates);
		if (!query || sqlite3_prepare_v2(completed, query, -1, &statement, NULL) != SQLITE_OK)
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
	return status;
}

int sql_shell(struct sql_session *session)
{
	const bool is_person = isatty(STDIN_FILENO) == 1;
	struct blob input = BLOB_INIT;
	int status = 0;
	char *line;

	if (is_person) {
		puts("SQL over the trace: .tables, .schema TABLE, .help; statements end with a semicolon");
		rl_readline_name = (char *)(uintptr_t)"recorder";
		rl_completion_entry_function = complete;
		completed = session->db;
	}
	while (!session->is_over && session->written && (line = next_line(is_person, input.size > 0)) != NULL) {
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
	if (is_person)
		putchar('\n');
	blob_free(&input);
	return status;
}
