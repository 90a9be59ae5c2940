/* SPDX-License-Identifier: MIT */
/* Queries of sqlhist, split into tokens and sections. */
#include "format/sql/sql_hist_private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const struct hist_word hist_words[] = {
	{ "TIMESTAMP", "_ts", NULL },	 { "TIMESTAMP_USECS", "_ts / 1000", NULL },
	{ "TIMESTAMP_DELTA", NULL, "" }, { "TIMESTAMP_DELTA_USECS", NULL, " / 1000" },
	{ "common_pid", "_tid", NULL },	 { "common_comm", "_comm", NULL },
	{ "common_cpu", "_cpu", NULL },	 { "STACKTRACE", NULL, NULL },
	{ "COMM", "_comm", NULL },
};

bool hist_is_word(const struct hist_statement *s, unsigned int i, const char *word)
{
	return i < s->nr && !s->tokens[i].is_name && s->tokens[i].size == strlen(word) &&
	       !strncasecmp(s->tokens[i].text, word, strlen(word));
}

bool hist_is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t token_size(const char *text)
{
	size_t size = 1;

	if (hist_is_name_char(*text)) {
		while (hist_is_name_char(text[size]))
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

size_t hist_word_of(const struct hist_statement *s, unsigned int i)
{
	size_t w = 0;

	while (w < HIST_NR_WORDS && !hist_is_word(s, i, hist_words[w].word))
		w++;
	return w;
}

/* The tables here have a column `comm` as well. */
static bool is_of_dialect(const struct hist_statement *s, unsigned int i)
{
	return hist_word_of(s, i) < HIST_NR_WORDS && !hist_is_word(s, i, "COMM");
}

/* SYSTEM.EVENT.FIELD becomes EVENT.FIELD: the last token is FIELD. */
static void drop_system(struct hist_statement *s)
{
	struct hist_token *first;

	if (s->nr < 5 || !hist_is_word(s, s->nr - 2, ".") || !hist_is_word(s, s->nr - 4, "."))
		return;
	first = &s->tokens[s->nr - 5];
	first[2].is_spaced = first[0].is_spaced;
	memmove(first, first + 2, 3 * sizeof(*first));
	s->nr -= 2;
}

bool hist_read_tokens(const char *text, struct hist_statement *s, const char **ret_rest)
{
	struct hist_token token = { 0 };

	while (*text && *text != ';') {
		if (isspace((unsigned char)*text)) {
			text++;
			token.is_spaced = true;
			continue;
		}
		if (*text == '\\' && hist_is_name_char(text[1])) {
			text++;
			token.is_name = true;
		}
		if (s->nr == HIST_TOKENS_MAX)
			return false;
		token.text = text;
		token.size = token_size(text);
		s->tokens[s->nr++] = token;
		s->is_dialect |= is_of_dialect(s, s->nr - 1);
		drop_system(s);
		text += token.size;
		token = (struct hist_token){ 0 };
	}
	*ret_rest = *text ? text + 1 : text;
	return true;
}

bool hist_find_sections(struct hist_statement *s)
{
	static const char *const heads[] = { "SELECT", "FROM", "JOIN", "ON", "WHERE", NULL };
	static const char *const tails[] = { "GROUP", "ORDER", "LIMIT", "HAVING" };
	int section = -1, depth = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		int next = -1;

		depth += hist_is_word(s, i, "(") ? 1 : hist_is_word(s, i, ")") ? -1 : 0;
		for (int h = section + 1; !depth && h <= HIST_WHERE; h++)
			next = hist_is_word(s, i, heads[h]) ? h : next;
		for (size_t t = 0; !depth && section < HIST_TAIL && t < sizeof(tails) / sizeof(tails[0]); t++)
			next = hist_is_word(s, i, tails[t]) ? HIST_TAIL : next;
		if (next < 0)
			continue;
		if (section >= 0)
			s->sections[section].end = i;
		section = next;
		s->sections[next].first = next == HIST_TAIL ? i : i + 1;
	}
	if (section >= 0)
		s->sections[section].end = s->nr;
	s->has_one_table = !s->sections[HIST_JOIN].end && !s->sections[HIST_ON].end;
	return s->sections[HIST_SELECT].first == 1 && s->sections[HIST_FROM].end &&
	       (s->has_one_table || (s->sections[HIST_JOIN].end && s->sections[HIST_ON].end));
}

bool hist_read_table(struct hist_statement *s, enum hist_section section, unsigned int which)
{
	unsigned int i = s->sections[section].first;
	const unsigned int end = s->sections[section].end;

	if (i + 2 < end && hist_is_word(s, i + 1, "."))
		i += 2;
	if (i >= end)
		return false;
	s->tables[which] = s->aliases[which] = (struct hist_range){ i, i + 1 };
	i += 1 + hist_is_word(s, i + 1, "AS");
	if (i < end)
		s->aliases[which] = (struct hist_range){ i, i + 1 };
	if (s->has_one_table)
		s->aliases[1] = s->aliases[0];
	return i + 1 >= end;
}

bool hist_is_quoted(const struct hist_token *token)
{
	const char first = token->text[0];

	return token->size >= 2 && strchr("\"`[", first) &&
	       token->text[token->size - 1] == (first == '[' ? ']' : first);
}

/* Whether two tokens are the same name; each may be in quotes. */
static bool is_same_name(struct hist_token a, struct hist_token b)
{
	struct hist_token *both[] = { &a, &b };

	for (size_t i = 0; i < 2; i++) {
		if (hist_is_quoted(both[i])) {
			both[i]->text++;
			both[i]->size -= 2;
		}
	}
	return a.size == b.size && !strncasecmp(a.text, b.text, a.size);
}

int hist_table_at(const struct hist_statement *s, unsigned int i)
{
	for (int which = 0; which < 2; which++) {
		if (i + 1 < s->nr && hist_is_word(s, i + 1, ".") &&
		    is_same_name(s->tokens[i], s->tokens[s->aliases[which].first]))
			return which;
	}
	return -1;
}
