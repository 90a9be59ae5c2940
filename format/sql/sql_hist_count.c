/* SPDX-License-Identifier: MIT */
/*
 * Queries of sqlhist without JOIN, which make histograms: each combination of the keys that SELECT names is a row, with
 * the number of its events and the sums of its counters. A key is a field, or CAST(FIELD AS TYPE) with one of the
 * kernel's types. Queries that have neither such a CAST nor a word of the dialect are SQLite's own.
 */
#include "format/sql/sql_hist_private.h"

#include <strings.h>

#define KEYS_MAX 32u

struct key {
	struct hist_range field; /* NAME or ALIAS.NAME */
	struct hist_range name;	 /* of the column: one token */
	const char *type;	 /* as recorder_cast() takes it; NULL: no CAST */
};

#define COUNTER "counter"

static const struct {
	const char *word, *type;
} types[] = {
	{ "HEX", "hex" },	    { "SYM", "sym" },	       { "SYSCALL", "syscall" }, { "EXECNAME", "execname" },
	{ "COMM", "execname" },	    { "LOG", "log2" },	       { "LOG2", "log2" },	 { "COUNTER", COUNTER },
	{ "_COUNTER_", COUNTER },   { "__COUNTER__", COUNTER },
};

/* The type of a CAST, from a token on; *i becomes the token after it. False: it is SQLite's. */
static bool read_type(const struct hist_statement *s, unsigned int *i, const char **ret_type)
{
	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		if (!hist_is_word(s, *i, types[t].word))
			continue;
		*ret_type = types[t].type;
		++*i;
		if (!strcasecmp(types[t].word, "SYM") && hist_is_word(s, *i, "-") &&
		    hist_is_word(s, *i + 1, "OFFSET")) {
			*ret_type = "sym-offset";
			*i += 2;
		}
		return true;
	}
	return false;
}

static bool is_name(const struct hist_statement *s, unsigned int i)
{
	const struct hist_token *token = &s->tokens[i];

	return i < s->nr && (hist_is_quoted(token) || (hist_is_name_char(token->text[0]) &&
						       (token->text[0] < '0' || token->text[0] > '9')));
}

/* FIELD, or ALIAS.FIELD. False: another token begins here. */
static bool read_field(const struct hist_statement *s, unsigned int *i, struct hist_range *ret_field)
{
	const unsigned int first = *i;

	*i += hist_table_at(s, *i) >= 0 ? 2 : 0;
	if (!is_name(s, *i))
		return false;
	++*i;
	*ret_field = (struct hist_range){ first, *i };
	return true;
}

/* FIELD [[AS] NAME], or CAST(FIELD AS TYPE) [[AS] NAME]. False: it is not a key. */
static bool read_key(const struct hist_statement *s, struct hist_range item, struct key *ret_key)
{
	unsigned int i = item.first;
	struct key key = { .type = NULL };

	if (hist_is_word(s, i, "CAST") && hist_is_word(s, i + 1, "(")) {
		i += 2;
		if (!read_field(s, &i, &key.field) || !hist_is_word(s, i++, "AS") || !read_type(s, &i, &key.type) ||
		    !hist_is_word(s, i++, ")"))
			return false;
	} else if (!read_field(s, &i, &key.field)) {
		return false;
	}
	key.name = (struct hist_range){ key.field.end - 1, key.field.end };
	if (i < item.end) {
		i += hist_is_word(s, i, "AS");
		if (!is_name(s, i))
			return false;
		key.name = (struct hist_range){ i, i + 1 };
		i++;
	}
	*ret_key = key;
	return i == item.end;
}

/* Whether a key shows that the query is one of the dialect. */
static bool is_of_dialect(const struct hist_statement *s, const struct key *key)
{
	const unsigned int i = key->field.end - 1;

	return key->type || hist_is_word(s, i, HIST_STACKTRACE) || hist_is_word(s, i, "common_pid") ||
	       hist_is_word(s, i, "common_comm") || hist_is_word(s, i, "common_cpu");
}

static bool is_counter(const struct key *key)
{
	return key->type && !strcasecmp(key->type, COUNTER);
}

static void put_key(struct blob *out, const struct hist_statement *s, const struct key *key)
{
	if (key->type)
		blob_printf(out, is_counter(key) ? " sum(" : " recorder_cast(");
	hist_put_range(out, s, key->field);
	if (is_counter(key))
		blob_printf(out, ")");
	else if (key->type)
		blob_printf(out, ", '%s', %u)", key->type, hist_file_of(s, 0));
}

/* Write what the keys are grouped by, after a word or a comma: the values themselves, or ranges of them. */
static void put_groups(struct blob *out, const struct hist_statement *s, const struct key *keys, unsigned int nr,
		       const char *before)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (is_counter(&keys[i]))
			continue;
		blob_printf(out, "%s ", before);
		before = ",";
		if (keys[i].type && !strcasecmp(keys[i].type, "log2"))
			put_key(out, s, &keys[i]);
		else
			hist_put_range(out, s, keys[i].field);
	}
}

/* The columns: keys, number of events, counters, as the kernel prints them. */
static void put_columns(struct blob *out, const struct hist_statement *s, const struct key *keys, unsigned int nr)
{
	for (unsigned int counters = 0; counters < 2; counters++) {
		for (unsigned int i = 0; i < nr; i++) {
			if (is_counter(&keys[i]) != counters)
				continue;
			blob_printf(out, counters ? "," : "");
			put_key(out, s, &keys[i]);
			blob_printf(out, " AS ");
			hist_put_name(out, s, keys[i].name);
			blob_printf(out, counters ? "" : ",");
		}
		if (!counters)
			blob_printf(out, " count(*) AS hitcount");
	}
}

bool hist_put_counts(struct blob *out, const struct hist_statement *s)
{
	struct hist_range select = s->sections[HIST_SELECT], tail = s->sections[HIST_TAIL], item;
	struct key keys[KEYS_MAX];
	unsigned int nr = 0;
	bool is_dialect = false;

	while (hist_take_term(s, &select, &item)) {
		if (nr == KEYS_MAX || !read_key(s, item, &keys[nr]))
			return false;
		is_dialect |= is_of_dialect(s, &keys[nr++]);
	}
	if (!is_dialect || hist_is_word(s, tail.first, "GROUP") || hist_is_word(s, tail.first, "HAVING"))
		return false;
	blob_printf(out, "SELECT");
	put_columns(out, s, keys, nr);
	blob_printf(out, " FROM ");
	hist_put_name(out, s, s->tables[0]);
	blob_printf(out, " AS ");
	hist_put_name(out, s, s->aliases[0]);
	if (s->sections[HIST_WHERE].end) {
		blob_printf(out, " WHERE ");
		hist_put_range(out, s, s->sections[HIST_WHERE]);
	}
	put_groups(out, s, keys, nr, " GROUP BY");
	if (tail.first == tail.end || hist_is_word(s, tail.first, "LIMIT")) {
		blob_printf(out, " ORDER BY hitcount");
		put_groups(out, s, keys, nr, ",");
	}
	hist_put_range(out, s, tail);
	return true;
}
