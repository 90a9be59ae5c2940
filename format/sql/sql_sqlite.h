/* SPDX-License-Identifier: MIT */
/*
 * SQLite's functions. The command is linked with SQLite and calls them directly. The loadable extension, where
 * SQL_EXTENSION is defined, calls them through the table that SQLite passes to it.
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
