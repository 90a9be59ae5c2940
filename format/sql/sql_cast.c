/* SPDX-License-Identifier: MIT */
/*
 * The SQL function recorder_cast(NUMBER, TYPE [, FILE]): a number as the kernel's histograms print it. TYPE is one of
 * the words in `types`; FILE is the number of the opened file that has the names, by default 1.
 */
#include "format/sql/sql_open.h"
#include "format/sql/sql_table.h"
#include "format/text/syscall_names.h"

#include <strings.h>

static char *show_hex(struct sql_trace *trace, uint64_t number)
{
	(void)trace;
	return sqlite3_mprintf("%llx", (unsigned long long)number);
}

/* The next power of two. */
static char *show_log2(struct sql_trace *trace, uint64_t number)
{
	(void)trace;
	return sqlite3_mprintf("~ 2^%d", number <= 1 ? 0 : 64 - __builtin_clzll(number - 1));
}

static char *show_execname(struct sql_trace *trace, uint64_t number)
{
	const struct pooled_text *comm = sql_trace_comm(trace, (int32_t)number);

	return sqlite3_mprintf("%s [%d]", comm ? comm->text : "<...>", (int)(int32_t)number);
}

static char *show_syscall(struct sql_trace *trace, uint64_t number)
{
	const char *name = syscall_name((int64_t)number);

	(void)trace;
	return sqlite3_mprintf("sys_%s [%lld]", name ? name : "unknown", (long long)number);
}

static char *show_symbol(struct sql_trace *trace, uint64_t number)
{
	const char *name = tep_find_function(trace->table->tep, number);

	return sqlite3_mprintf("[%llx]%s%s", (unsigned long long)number, name ? " " : "", name ? name : "");
}

static char *show_symbol_offset(struct sql_trace *trace, uint64_t number)
{
	char *text = show_symbol(trace, number);

	if (!text || !tep_find_function(trace->table->tep, number))
		return text;
	return sqlite3_mprintf("%z+0x%llx", text,
			       (unsigned long long)(number - tep_find_function_address(trace->table->tep, number)));
}

static const struct {
	const char *word;
	char *(*show)(struct sql_trace *trace, uint64_t number);
} types[] = {
	{ "hex", show_hex },	     { "log2", show_log2 },  { "execname", show_execname },
	{ "syscall", show_syscall }, { "sym", show_symbol }, { "sym-offset", show_symbol_offset },
};

static void cast_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct sql_traces *traces = sqlite3_user_data(context);
	const char *word = (const char *)sqlite3_value_text(argv[1]);
	const sqlite3_int64 file = argc > 2 ? sqlite3_value_int64(argv[2]) : 1;
	const int kind = sqlite3_value_numeric_type(argv[0]);
	size_t t = 0;
	char *text;

	while (t < sizeof(types) / sizeof(types[0]) && (!word || strcasecmp(word, types[t].word) != 0))
		t++;
	if (t == sizeof(types) / sizeof(types[0])) {
		sqlite3_result_error(
			context, "recorder_cast: one of hex, log2, execname, syscall, sym, sym-offset expected", -1);
		return;
	}
	if (file < 1 || file > (sqlite3_int64)traces->nr) {
		sqlite3_result_error(context, "recorder_cast: there is no open file of this number", -1);
		return;
	}
	if (kind != SQLITE_INTEGER) {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	text = types[t].show(traces->traces[file - 1], (uint64_t)sqlite3_value_int64(argv[0]));
	if (text)
		sqlite3_result_text(context, text, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(context);
}

int sql_register_cast(sqlite3 *db, struct sql_traces *traces)
{
	int code = sqlite3_create_function_v2(db, "recorder_cast", 2, SQLITE_UTF8, traces, cast_function, NULL, NULL,
					      NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "recorder_cast", 3, SQLITE_UTF8, traces, cast_function, NULL,
						  NULL, NULL);
	return code;
}
