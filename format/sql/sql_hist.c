/* SPDX-License-Identifier: MIT */
/* See sql_hist.h. */
#include "format/sql/sql_hist_private.h"

#include "format/sql/sql_sqlite.h"

#include <stdlib.h>

/* Write the query for the events of one kind: their keys, times and row numbers. */
static bool put_events(struct blob *out, const struct hist_statement *s, int which)
{
	struct hist_range on = s->sections[HIST_ON], where = s->sections[HIST_WHERE], term;
	bool has_key = false;

	blob_printf(out, "SELECT ");
	while (hist_take_term(s, &on, &term)) {
		unsigned int equal = term.first;
		struct hist_range left, right;

		while (equal < term.end && !hist_is_word(s, equal, "=") && !hist_is_word(s, equal, "=="))
			equal++;
		left = (struct hist_range){ term.first, equal };
		right = (struct hist_range){ equal + 1, term.end };
		if (equal + 1 >= term.end || hist_table_of(s, left) < 0 ||
		    hist_table_of(s, right) != !hist_table_of(s, left))
			return false;
		hist_put_range(out, s, hist_table_of(s, left) == which ? left : right);
		blob_printf(out, ", ");
		has_key = true;
	}
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, "._ts, ");
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, ".rowid, %d FROM ", which);
	hist_put_name(out, s, s->tables[which]);
	blob_printf(out, " AS ");
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, " WHERE 1");
	while (hist_take_term(s, &where, &term)) {
		if (hist_table_of(s, term) != which)
			continue;
		blob_printf(out, " AND (");
		hist_put_range(out, s, term);
		blob_printf(out, ")");
	}
	return has_key;
}

static unsigned int count_keys(const struct hist_statement *s)
{
	struct hist_range on = s->sections[HIST_ON], term;
	unsigned int nr = 0;

	while (hist_take_term(s, &on, &term))
		nr++;
	return nr;
}

static void put_keys(struct blob *out, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		blob_printf(out, "%shist_k%u", i ? ", " : "", i);
}

/* Write the subquery for one of the two events of a pair. */
static void put_table(struct blob *out, const struct hist_statement *s, int which, const char *prefix)
{
	blob_printf(out, " CROSS JOIN ");
	hist_put_name(out, s, s->tables[which]);
	blob_printf(out, " AS ");
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, " ON ");
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, "._ts = %s_ts AND ", prefix);
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, ".rowid = %s_n", prefix);
}

/*
 * Sorts all events of both kinds by key and time. An event of the second kind forms a pair with the event before it, if
 * that is of the first kind. If an event is of both kinds, it ends the pair before it and then begins one. Events of
 * one thread may have the same time: then the numbers of their rows decide.
 */
static bool put_query(struct blob *out, const struct hist_statement *s)
{
	const unsigned int nr_keys = count_keys(s);
	struct hist_range where = s->sections[HIST_WHERE], term;

	blob_printf(out, "WITH hist_all(");
	put_keys(out, nr_keys);
	blob_printf(out, ", hist_ts, hist_n, hist_which) AS (");
	if (!put_events(out, s, 0))
		return false;
	blob_printf(out, " UNION ALL ");
	if (!put_events(out, s, 1))
		return false;
	blob_printf(out, "), hist_pairs AS (SELECT hist_ts AS end_ts, hist_n AS end_n, hist_which AS end_which, "
			 "lag(hist_ts) OVER w AS start_ts, lag(hist_n) OVER w AS start_n, "
			 "lag(hist_which) OVER w AS start_which FROM hist_all WINDOW w AS (PARTITION BY ");
	put_keys(out, nr_keys);
	blob_printf(out, " ORDER BY hist_ts, hist_n, hist_which DESC)) SELECT");
	hist_put_range(out, s, s->sections[HIST_SELECT]);
	blob_printf(out, " FROM (SELECT * FROM hist_pairs WHERE end_which = 1 AND start_which = 0) AS hist_pair");
	put_table(out, s, 0, "start");
	put_table(out, s, 1, "end");
	blob_printf(out, " WHERE 1");
	while (hist_take_term(s, &where, &term)) {
		if (hist_table_of(s, term) >= 0)
			continue;
		blob_printf(out, " AND (");
		hist_put_range(out, s, term);
		blob_printf(out, ")");
	}
	/* Without an order of its own, the query gets the pairs in the order of their ends. */
	if (s->sections[HIST_TAIL].first == s->sections[HIST_TAIL].end ||
	    hist_is_word(s, s->sections[HIST_TAIL].first, "LIMIT"))
		blob_printf(out, " ORDER BY end_ts");
	hist_put_range(out, s, s->sections[HIST_TAIL]);
	return true;
}

static bool put_statement(struct blob *out, struct hist_statement *s)
{
	if (!hist_read_table(s, HIST_FROM, 0))
		return false;
	if (s->has_one_table)
		return hist_put_counts(out, s);
	return s->is_dialect && hist_read_table(s, HIST_JOIN, 1) && put_query(out, s);
}

char *sql_hist_translate(const char *text, const char **ret_rest)
{
	struct hist_statement *s = calloc(1, sizeof(*s));
	struct blob out = BLOB_INIT;
	const char *rest;
	char *query = NULL;

	if (s && hist_read_tokens(text, s, &rest) && hist_find_sections(s) && put_statement(&out, s) && !out.error) {
		query = sqlite3_mprintf("%.*s", (int)out.size, (const char *)out.data);
		*ret_rest = rest;
	}
	blob_free(&out);
	free(s);
	return query;
}
