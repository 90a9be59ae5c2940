/* SPDX-License-Identifier: MIT */
/*
 * The loadable extension librecorder-sql.so: .load librecorder-sql in the sqlite3 shell, load_extension() elsewhere.
 * SQLite derives the name of the function from that of the file.
 */
#include "format/sql/sql_open.h"

SQLITE_EXTENSION_INIT1

__attribute__((visibility("default"))) int sqlite3_recordersql_init(sqlite3 *db, char **ret_error,
								     const struct sqlite3_api_routines *api);

int sqlite3_recordersql_init(sqlite3 *db, char **ret_error, const struct sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	(void)ret_error;
	return sql_register(db, NULL);
}
