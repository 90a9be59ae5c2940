/* SPDX-License-Identifier: MIT */
/*
 * Queries as `trace-cmd sqlhist` takes them:
 *
 *	SELECT start.common_pid AS pid, TIMESTAMP_DELTA_USECS AS lat
 *	FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid [WHERE start.prio < 100 && ...]
 *
 * In this dialect, each event of the second kind forms a pair with the last event of the first kind that has the same
 * key, and no event is in two pairs. JOIN in SQL has another meaning, so such a query is translated.
 *
 *	SELECT common_pid, CAST(id AS SYSCALL), CAST(size AS _COUNTER_) FROM EVENT [WHERE ...]
 *
 * A query without JOIN counts the events by their keys.
 */
#ifndef FORMAT_SQL_HIST_H
#define FORMAT_SQL_HIST_H

/*
 * The statement at the beginning of `text` in SQL; sqlite3_free() frees it. *ret_rest: what follows it. NULL: pass the
 * statement to SQLite unchanged, because it has no word of that dialect, or so that SQLite reports the error in it; or
 * there is no memory.
 */
char *sql_hist_translate(const char *text, const char **ret_rest);

#endif
