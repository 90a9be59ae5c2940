/* SPDX-License-Identifier: MIT */
/* See sql_hist.h. */
#include "format/sql/sql_hist.h"

#include "format/io/blob.h"
#include "format/sql/sql_sqlite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKENS_MAX 2000u

struct token {
	const char *text;
	size_t size;
	bool is_spaced; /* blanks are before it */
	bool is_name;	/* a backslash was before it: it is not a keyword */
};

/* Tokens from `first` until before `end`. */
struct range {
	unsigned int first, end;
};

enum section { SELECT, FROM, JOIN, ON, WHERE, TAIL, NR_SECTIONS };

struct statement {
	struct token tokens[TOKENS_MAX];
	unsigned int nr;
	bool is_dialect;
	struct range sections[NR_SECTIONS];
	struct range tables[2], aliases[2]; /* of FROM and JOIN: one token each */
};

static bool is_word(const struct statement *s, unsigned int i, const char *word)
{
	return i < s->nr && !s->tokens[i].is_name && s->tokens[i].size == strlen(word) &&
	       !strncasecmp(s->tokens[i].text, word, strlen(word));
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static size_t token_size(const char *text)
{
	size_t size = 1;

	if (is_name_char(*text)) {
		while (is_name_char(text[size]))
			size++;
		return size;
	}
	if (strchr("'\"`[", *text)) {
		const char end = *text == '[' ? ']' : *text;

		while (text[size] && text[size] != end)
			size++;
		return size + (text[size] != '\0');
	}
	if (strchr("&|<>=!", *text) && strchr("&|<>=", text[1]) && text[1])
		return 2;
	return size;
}

/* Words of the dialect, and the columns that they mean here. Without an alias they concern both events. */
static const struct {
	const char *word, *column, *alone;
} words[] = {
	{ "TIMESTAMP", "_ts", NULL },	 { "TIMESTAMP_USECS", "_ts / 1000", NULL },
	{ "TIMESTAMP_DELTA", NULL, "" }, { "TIMESTAMP_DELTA_USECS", NULL, " / 1000" },
	{ "common_pid", "_tid", NULL },	 { "common_comm", "_comm", NULL },
	{ "common_cpu", "_cpu", NULL },	 { "COMM", "_comm", NULL },
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

/* The index of a token in `words`, regardless of case, as in SQL; NR_WORDS: it is not in the list. */
static size_t word_of(const struct statement *s, unsigned int i)
{
	size_t w = 0;

	while (w < NR_WORDS && !is_word(s, i, words[w].word))
		w++;
	return w;
}

/* The tables here have a column `comm` as well. */
static bool is_of_dialect(const struct statement *s, unsigned int i)
{
	return word_of(s, i) < NR_WORDS && !is_word(s, i, "COMM");
}

/* SYSTEM.EVENT.FIELD becomes EVENT.FIELD: the last token is FIELD. */
static void drop_system(struct statement *s)
{
	struct token *first;

	if (s->nr < 5 || !is_word(s, s->nr - 2, ".") || !is_word(s, s->nr - 4, "."))
		return;
	first = &s->tokens[s->nr - 5];
	first[2].is_spaced = first[0].is_spaced;
	memmove(first, first + 2, 3 * sizeof(*first));
	s->nr -= 2;
}

/* Split the statement into tokens. False: it is too long. */
static bool read_tokens(const char *text, struct statement *s, const char **ret_rest)
{
	struct token token = { 0 };

	while (*text && *text != ';') {
		if (isspace((unsigned char)*text)) {
			text++;
			token.is_spaced = true;
			continue;
		}
		if (*text == '\\' && is_name_char(text[1])) {
			text++;
			token.is_name = true;
		}
		if (s->nr == TOKENS_MAX)
			return false;
		token.text = text;
		token.size = token_size(text);
		s->tokens[s->nr++] = token;
		s->is_dialect |= is_of_dialect(s, s->nr - 1);
		drop_system(s);
		text += token.size;
		token = (struct token){ 0 };
	}
	*ret_rest = *text ? text + 1 : text;
	return true;
}

/* Finds the sections of the statement: each begins with its word, outside of parentheses, in this order. */
static bool find_sections(struct statement *s)
{
	static const char *const heads[] = { "SELECT", "FROM", "JOIN", "ON", "WHERE", NULL };
	static const char *const tails[] = { "GROUP", "ORDER", "LIMIT", "HAVING" };
	int section = -1, depth = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		int next = -1;

		depth += is_word(s, i, "(") ? 1 : is_word(s, i, ")") ? -1 : 0;
		for (int h = section + 1; !depth && h <= WHERE; h++)
			next = is_word(s, i, heads[h]) ? h : next;
		for (size_t t = 0; !depth && section < TAIL && t < sizeof(tails) / sizeof(tails[0]); t++)
			next = is_word(s, i, tails[t]) ? TAIL : next;
		if (next < 0)
			continue;
		if (section >= 0)
			s->sections[section].end = i;
		section = next;
		s->sections[next].first = next == TAIL ? i : i + 1;
	}
	if (section >= 0)
		s->sections[section].end = s->nr;
	return s->sections[SELECT].first == 1 && s->sections[FROM].end && s->sections[JOIN].end && s->sections[ON].end;
}

/* [SYSTEM.]EVENT [[AS] ALIAS] */
static bool read_table(struct statement *s, enum section section, unsigned int which)
{
	unsigned int i = s->sections[section].first;
	const unsigned int end = s->sections[section].end;

	if (i + 2 < end && is_word(s, i + 1, "."))
		i += 2;
	if (i >= end)
		return false;
	s->tables[which] = s->aliases[which] = (struct range){ i, i + 1 };
	i += 1 + is_word(s, i + 1, "AS");
	if (i < end)
		s->aliases[which] = (struct range){ i, i + 1 };
	return i + 1 >= end;
}

/* Whether two tokens are the same name; each may be in quotes. */
/* Whether the token is in quotes or brackets. The end of the query may be the end of a token that is not closed. */
static bool is_quoted(const struct token *token)
{
	const char first = token->text[0];

	return token->size >= 2 && strchr("\"`[", first) &&
	       token->text[token->size - 1] == (first == '[' ? ']' : first);
}

static bool is_same_name(struct token a, struct token b)
{
	struct token *both[] = { &a, &b };

	for (size_t i = 0; i < 2; i++) {
		if (is_quoted(both[i])) {
			both[i]->text++;
			both[i]->size -= 2;
		}
	}
	return a.size == b.size && !strncasecmp(a.text, b.text, a.size);
}

/* 0 or 1: the table whose alias begins at a token, with a full stop; -1: none. */
static int table_at(const struct statement *s, unsigned int i)
{
	for (int which = 0; which < 2; which++) {
		if (i + 1 < s->nr && is_word(s, i + 1, ".") &&
		    is_same_name(s->tokens[i], s->tokens[s->aliases[which].first]))
			return which;
	}
	return -1;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static void put_token(struct blob *out, const struct token *token)
{
	if (token->is_spaced)
		blob_put(out, " ", 1);
	if (token->is_name)
		blob_put(out, "\"", 1);
	blob_put(out, token->text, token->size);
	if (token->is_name)
		blob_put(out, "\"", 1);
}

static void put_name(struct blob *out, const struct statement *s, struct range name)
{
	struct token token = s->tokens[name.first];

	token.is_spaced = false;
	put_token(out, &token);
}

/* Whether a token can end a value, so that an operator after it has two sides. */
static bool ends_value(const struct statement *s, unsigned int i)
{
	return is_name_char(s->tokens[i].text[0]) || strchr("'\"`[)", s->tokens[i].text[0]);
}

/* The dialect writes conditions as C does. In the columns of SELECT, || joins texts. */
static bool put_operator(struct blob *out, const struct statement *s, unsigned int i)
{
	const bool is_condition = i >= s->sections[ON].first;

	if (is_word(s, i, "&&"))
		blob_printf(out, " AND ");
	else if (is_condition && is_word(s, i, "||"))
		blob_printf(out, " OR ");
	else if (is_word(s, i, "!"))
		blob_printf(out, " NOT ");
	else if (i && is_word(s, i, "~") && (ends_value(s, i - 1) || is_word(s, i - 1, "!")))
		blob_printf(out, " GLOB ");
	else
		return false;
	return true;
}

/*
 * After an operator, a text in "" is not a name. SQLite would take the column, if there is one of this name. The
 * kernel's patterns have [!a-z] where SQLite has [^a-z].
 */
static bool put_text(struct blob *out, const struct statement *s, unsigned int i)
{
	const struct token *token = &s->tokens[i];
	char before = 0;

	if (!i || token->text[0] != '"' || !is_quoted(token) || ends_value(s, i - 1) ||
	    !strchr("=<>!~", s->tokens[i - 1].text[0]) || is_word(s, i + 1, "."))
		return false;
	blob_put(out, " '", 2);
	for (size_t c = 1; c + 1 < token->size; c++) {
		const char next = token->text[c];

		if (before == '[' && next == '!' && is_word(s, i - 1, "~"))
			blob_put(out, "^", 1);
		else
			blob_put(out, next == '\'' ? "''" : &next, next == '\'' ? 2 : 1);
		before = next;
	}
	blob_put(out, "'", 1);
	return true;
}

static void put_range(struct blob *out, const struct statement *s, struct range range)
{
	for (unsigned int i = range.first; i < range.end; i++) {
		const bool is_field = i >= 2 && i - 2 >= range.first && table_at(s, i - 2) >= 0;
		const size_t w = word_of(s, i);

		if (put_operator(out, s, i) || put_text(out, s, i))
			continue;
		if (table_at(s, i) >= 0 && i + 2 < range.end && word_of(s, i + 2) < NR_WORDS &&
		    words[word_of(s, i + 2)].column) {
			blob_printf(out, " (");
			put_name(out, s, s->aliases[table_at(s, i)]);
			blob_printf(out, ".%s)", words[word_of(s, i + 2)].column);
			i += 2;
		} else if (!is_field && w < NR_WORDS && words[w].alone) {
			blob_printf(out, " ((");
			put_name(out, s, s->aliases[1]);
			blob_printf(out, "._ts - ");
			put_name(out, s, s->aliases[0]);
			blob_printf(out, "._ts)%s)", words[w].alone);
		} else {
			put_token(out, &s->tokens[i]);
		}
	}
}

/* Takes the next of the conditions that AND, or a comma, separates out of a range. False: the range is empty. */
static bool take_term(const struct statement *s, struct range *range, struct range *ret_term)
{
	unsigned int i = range->first;
	int depth = 0;

	if (range->first >= range->end)
		return false;
	for (; i < range->end && (depth || (!is_word(s, i, "AND") && !is_word(s, i, "&&") && !is_word(s, i, ","))); i++)
		depth += is_word(s, i, "(") ? 1 : is_word(s, i, ")") ? -1 : 0;
	*ret_term = (struct range){ range->first, i };
	range->first = i + 1;
	return true;
}

/* The event that a condition concerns; -1: it concerns both events, or names none. */
static int table_of(const struct statement *s, struct range term)
{
	int found = -1;

	for (unsigned int i = term.first; i < term.end; i++) {
		const int which = table_at(s, i);

		if (is_word(s, i, "OR") || is_word(s, i, "||"))
			return -1;
		if (which >= 0 && found >= 0 && which != found)
			return -1;
		found = which >= 0 ? which : found;
	}
	return found;
}

/* Write the query for the events of one kind: their keys, times and row numbers. */
static bool put_events(struct blob *out, const struct statement *s, int which)
{
	struct range on = s->sections[ON], where = s->sections[WHERE], term;
	bool has_key = false;

	blob_printf(out, "SELECT ");
	while (take_term(s, &on, &term)) {
		unsigned int equal = term.first;
		struct range left, right;

		while (equal < term.end && !is_word(s, equal, "=") && !is_word(s, equal, "=="))
			equal++;
		left = (struct range){ term.first, equal };
		right = (struct range){ equal + 1, term.end };
		if (equal + 1 >= term.end || table_of(s, left) < 0 || table_of(s, right) != !table_of(s, left))
			return false;
		put_range(out, s, table_of(s, left) == which ? left : right);
		blob_printf(out, ", ");
		has_key = true;
	}
	put_name(out, s, s->aliases[which]);
	blob_printf(out, "._ts, ");
	put_name(out, s, s->aliases[which]);
	blob_printf(out, ".rowid, %d FROM ", which);
	put_name(out, s, s->tables[which]);
	blob_printf(out, " AS ");
	put_name(out, s, s->aliases[which]);
	blob_printf(out, " WHERE 1");
	while (take_term(s, &where, &term)) {
		if (table_of(s, term) != which)
			continue;
		blob_printf(out, " AND (");
		put_range(out, s, term);
		blob_printf(out, ")");
	}
	return has_key;
}

static unsigned int count_keys(const struct statement *s)
{
	struct range on = s->sections[ON], term;
	unsigned int nr = 0;

	while (take_term(s, &on, &term))
		nr++;
	return nr;
}

static void put_keys(struct blob *out, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		blob_printf(out, "%shist_k%u", i ? ", " : "", i);
}

/* Write the subquery for one of the two events of a pair. */
static void put_table(struct blob *out, const struct statement *s, int which, const char *prefix)
{
	blob_printf(out, " CROSS JOIN ");
	put_name(out, s, s->tables[which]);
	blob_printf(out, " AS ");
	put_name(out, s, s->aliases[which]);
	blob_printf(out, " ON ");
	put_name(out, s, s->aliases[which]);
	blob_printf(out, "._ts = %s_ts AND ", prefix);
	put_name(out, s, s->aliases[which]);
	blob_printf(out, ".rowid = %s_n", prefix);
}

/*
 * Sorts all events of both kinds by key and time. An event of the second kind forms a pair with the event before it, if
 * that is of the first kind. If an event is of both kinds, it ends the pair before it and then begins one. Events of
 * one thread may have the same time: then the numbers of their rows decide.
 */
static bool put_query(struct blob *out, const struct statement *s)
{
	const unsigned int nr_keys = count_keys(s);
	struct range where = s->sections[WHERE], term;

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
	put_range(out, s, s->sections[SELECT]);
	blob_printf(out, " FROM (SELECT * FROM hist_pairs WHERE end_which = 1 AND start_which = 0) AS hist_pair");
	put_table(out, s, 0, "start");
	put_table(out, s, 1, "end");
	blob_printf(out, " WHERE 1");
	while (take_term(s, &where, &term)) {
		if (table_of(s, term) >= 0)
			continue;
		blob_printf(out, " AND (");
		put_range(out, s, term);
		blob_printf(out, ")");
	}
	/* Writes the numbers as the kernel prints them. */
	if (s->sections[TAIL].first == s->sections[TAIL].end || is_word(s, s->sections[TAIL].first, "LIMIT"))
		blob_printf(out, " ORDER BY end_ts");
	put_range(out, s, s->sections[TAIL]);
	return true;
}

char *sql_hist_translate(const char *text, const char **ret_rest)
{
	struct statement *s = calloc(1, sizeof(*s));
	struct blob out = BLOB_INIT;
	const char *rest;
	char *query = NULL;

	if (s && read_tokens(text, s, &rest) && s->is_dialect && find_sections(s) && read_table(s, FROM, 0) &&
	    read_table(s, JOIN, 1) && put_query(&out, s) && !out.error) {
		query = sqlite3_mprintf("%.*s", (int)out.size, (const char *)out.data);
		*ret_rest = rest;
	}
	blob_free(&out);
	free(s);
	return query;
}
