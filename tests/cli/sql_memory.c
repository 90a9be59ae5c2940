/* SPDX-License-Identifier: MIT */
/*
 * sql_memory EXTENSION FILE: opens a trace in a connection again and again. Each time SQLite gets no memory from
 * another allocation on: for this one alone, or also for all later ones until recorder_open() returns. It must report
 * an error, make no table and leave no transaction open, or make all tables; and a second recorder_open() must succeed.
 * Prints what was wrong, and whether many opens failed. Most allocations make the tables one after the other, so of
 * those only some are tried.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static sqlite3_mem_methods real;
static long left; /* allocations until one fails; 0: none fails */
static long last_left;
static bool for_one, has_failed;

#define MANY 1000000 /* more allocations than there are */
#define STEP 31
#define LAST 70 /* the last ones are tried one by one */

static bool fails(void)
{
	if (!left || --left)
		return false;
	has_failed = true;
	left = for_one ? 0 : 1;
	return true;
}

static void *take(int size)
{
	return fails() ? NULL : real.xMalloc(size);
}

static void *take_again(void *old, int size)
{
	return fails() ? NULL : real.xRealloc(old, size);
}

static int tables_of(sqlite3 *db)
{
	sqlite3_stmt *statement;
	int nr = -1;

	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM temp.sqlite_master", -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		nr = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return nr;
}

static int open_trace(sqlite3 *db, const char *path)
{
	char *query = sqlite3_mprintf("SELECT recorder_open(%Q)", path);
	sqlite3_stmt *statement;
	int code = sqlite3_prepare_v2(db, query, -1, &statement, NULL);

	if (code == SQLITE_OK) {
		sqlite3_step(statement);
		code = sqlite3_finalize(statement);
	}
	last_left = left;
	left = 0;
	sqlite3_free(query);
	return code;
}

/* The number of tables that one open makes; 0: it failed as it should; -1: not so. */
static int try(const char *extension, const char *path, long at)
{
	sqlite3 *db;
	int code, nr;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_enable_load_extension(db, 1) != SQLITE_OK ||
	    sqlite3_load_extension(db, extension, NULL, NULL) != SQLITE_OK)
		return -1;
	has_failed = false;
	left = at;
	code = open_trace(db, path);
	nr = tables_of(db);
	if ((code == SQLITE_OK) != (nr > 0) || !sqlite3_get_autocommit(db)) {
		printf("allocation %ld%s: code %d, %d tables%s\n", at, for_one ? " alone" : "", code, nr,
		       sqlite3_get_autocommit(db) ? "" : ", in a transaction");
		nr = -1;
	} else if (nr == 0 && (open_trace(db, path) != SQLITE_OK || tables_of(db) <= 0)) {
		printf("allocation %ld%s: afterwards the file cannot be opened: %s\n", at, for_one ? " alone" : "",
		       sqlite3_errmsg(db));
		nr = -1;
	}
	sqlite3_close(db);
	return nr;
}

int main(int argc, char **argv)
{
	sqlite3_mem_methods methods;
	int all, failed = 0;
	long total;

	if (argc < 3)
		return 2;
	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
	methods = real;
	methods.xMalloc = take;
	methods.xRealloc = take_again;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	all = try(argv[1], argv[2], MANY);
	total = MANY - last_left;
	for (int mode = 0; mode < 2; mode++) {
		for_one = mode;
		for (long at = 1, nr = 0;; at += at < total - LAST ? STEP : 1) {
			nr = try(argv[1], argv[2], at);
			if (nr > 0 && nr != all)
				printf("allocation %ld: %ld tables instead of %d\n", at, nr, all);
			if (!has_failed)
				break;
			failed += nr == 0;
		}
	}
	puts(failed > 20 ? "some failed" : "none failed");
	return 0;
}
