/* SPDX-License-Identifier: MIT */
/*
 * Queries as `trace-cmd sqlhist` takes them:
 *
 *	SELECT start.common_pid AS pid, TIMESTAMP_DELTA_USECS AS lat
 *	FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid [WHERE start.prio < 100 && ...]
 *
 * There each event of the second kind belongs to the last event of the first kind with the same key, and none belongs
 * to two. That is not what JOIN means in SQL, so such a query is translated.
 */
#ifndef FORMAT_SQL_HIST_H
#define FORMAT_SQL_HIST_H

/*
 * The statement at the beginning of `text` in SQL; sqlite3_free() frees it. *ret_rest: what follows it. NULL: pass the
 * statement to SQLite as it is, because it has no word of that dialect, or so that SQLite reports what is wrong with
 * it; or there is no memory.
 */
char *sql_hist_translate(const char *text, const char **ret_rest);

#endif
