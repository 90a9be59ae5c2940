/* SPDX-License-Identifier: MIT */
/* See assert_sql.h. */
#include "cli/ask/assert_sql.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ask/sql_print.h"
#include "cli/ask/sql_session.h"
#include "cli/common/opts.h"
#include "format/io/blob.h"

#define ROWS_MAX 10u

/* The number in a column of this name; `otherwise` if there is no such column. */
static int64_t column_number(sqlite3_stmt *s, const char *name, int64_t otherwise)
{
	for (int i = 0; i < sqlite3_column_count(s); i++)
		if (!strcmp(sqlite3_column_name(s, i), name) && sqlite3_column_type(s, i) == SQLITE_INTEGER)
			return sqlite3_column_int64(s, i);
	return otherwise;
}

/* Append a row, "ts=1 name=x", and the events at its time if it has one. */
static int put_row(sqlite3_stmt *s, const struct trace_input *input, FILE *out)
{
	const int64_t ts = column_number(s, "ts", -1), dur = column_number(s, "dur", 0);
	const int32_t tid = (int32_t)column_number(s, "tid", ASSERT_ANY_THREAD);
	const struct assert_place place = { (uint64_t)ts, (uint64_t)(ts + (dur > 0 ? dur : 0)), tid, tid };
	struct blob value = BLOB_INIT;
	int err;

	for (int i = 0; i < sqlite3_column_count(s); i++) {
		fprintf(out, "%s%s=", i ? " " : "  ", sqlite3_column_name(s, i));
		value.size = 0;
		if (sql_put_value(&value, s, i) == SQLITE_NULL)
			fputs("NULL", out);
		else
			fwrite(value.data, 1, value.size, out);
	}
	err = value.error;
	blob_free(&value);
	if (err)
		return err;
	fputc('\n', out);
	return ts < 0 ? 0 : assert_context_print(input, &place, out);
}

/* 0; -ENOMEM; an SQLite code, which is positive. */
static int step_rows(sqlite3_stmt *s, const struct trace_input *input, struct assertion *assertion, FILE *out)
{
	unsigned long nr = 0;
	int code, err;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		err = nr++ < ROWS_MAX ? put_row(s, input, out) : 0;
		if (err)
			return err;
	}
	if (nr > ROWS_MAX)
		fprintf(out, "  %lu more rows\n", nr - ROWS_MAX);
	assertion->verdict = nr ? ASSERT_FAILS : ASSERT_HOLDS;
	return code == SQLITE_DONE ? 0 : code;
}

static int run_query(struct sql_session *session, struct assertion *assertion, const struct trace_input *input)
{
	FILE *out = open_memstream(&assertion->body, &assertion->size);
	const char *rest = "";
	sqlite3_stmt *s = NULL;
	int code = out ? sqlite3_prepare_v2(session->db, assertion->text, -1, &s, &rest) : SQLITE_NOMEM;

	if (code == SQLITE_OK && !sqlite3_column_count(s)) {
		complain(input->command, "--sql: a query expected, not '%s'", assertion->text);
		code = SQLITE_MISUSE;
	} else if (code == SQLITE_OK && rest[strspn(rest, "; \t\r\n")]) {
		complain(input->command, "--sql takes one query; repeat --sql for more: '%s'", assertion->text);
		code = SQLITE_MISUSE;
	} else {
		if (code == SQLITE_OK)
			code = step_rows(s, input, assertion, out);
		if (code > 0)
			complain(input->command, "--sql '%s': %s", assertion->text, sqlite3_errmsg(session->db));
	}
	sqlite3_finalize(s);
	if ((out && fclose(out)) || code < 0)
		return trace_input_fail_memory(input);
	return code == SQLITE_OK ? 0 : EXIT_USAGE;
}

int assert_sql_run(struct assertion *assertion, const struct trace_input *input)
{
	struct sql_session session;
	int status = sql_session_open(input->path, &session);

	if (!status)
		status = run_query(&session, assertion, input);
	sql_session_close(&session);
	return status;
}
