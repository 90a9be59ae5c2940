/* SPDX-License-Identifier: MIT */
/*
 * SQLite's functions: called directly in the command, which is linked with SQLite, and through the table that SQLite
 * passes to a loadable extension, which is not: SQL_EXTENSION is defined there.
 */
#ifndef FORMAT_SQL_SQLITE_H
#define FORMAT_SQL_SQLITE_H

#ifdef SQL_EXTENSION
#include <sqlite3ext.h>
extern const struct sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
