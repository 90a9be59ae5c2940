/* SPDX-License-Identifier: MIT */
/* Parts of queries of sqlhist, written as SQL. */
#include "format/sql/sql_hist_private.h"

#include <stdlib.h>
#include <string.h>

void hist_put_token(struct blob *out, const struct hist_token *token)
{
	if (token->is_spaced)
		blob_put(out, " ", 1);
	if (token->is_name)
		blob_put(out, "\"", 1);
	blob_put(out, token->text, token->size);
	if (token->is_name)
		blob_put(out, "\"", 1);
}

void hist_put_name(struct blob *out, const struct hist_statement *s, struct hist_range name)
{
	struct hist_token token = s->tokens[name.first];

	token.is_spaced = false;
	hist_put_token(out, &token);
}

/* Whether a token can end a value, so that an operator after it has two sides. */
static bool ends_value(const struct hist_statement *s, unsigned int i)
{
	return hist_is_name_char(s->tokens[i].text[0]) || strchr("'\"`[)", s->tokens[i].text[0]);
}

/* The dialect writes conditions as C does. In the columns of SELECT, || joins texts. */
static bool put_operator(struct blob *out, const struct hist_statement *s, unsigned int i)
{
	const bool is_condition = i >= s->sections[HIST_ON].first;

	if (hist_is_word(s, i, "&&"))
		blob_printf(out, " AND ");
	else if (is_condition && hist_is_word(s, i, "||"))
		blob_printf(out, " OR ");
	else if (hist_is_word(s, i, "!"))
		blob_printf(out, " NOT ");
	else if (i && hist_is_word(s, i, "~") && (ends_value(s, i - 1) || hist_is_word(s, i - 1, "!")))
		blob_printf(out, " GLOB ");
	else
		return false;
	return true;
}

/*
 * After an operator, a text in "" is not a name. SQLite would take the column, if there is one of this name. The
 * kernel's patterns have [!a-z] where SQLite has [^a-z].
 */
static bool put_text(struct blob *out, const struct hist_statement *s, unsigned int i)
{
	const struct hist_token *token = &s->tokens[i];
	char before = 0;

	if (!i || token->text[0] != '"' || !hist_is_quoted(token) || ends_value(s, i - 1) ||
	    !strchr("=<>!~", s->tokens[i - 1].text[0]) || hist_is_word(s, i + 1, "."))
		return false;
	blob_put(out, " '", 2);
	for (size_t c = 1; c + 1 < token->size; c++) {
		const char next = token->text[c];

		if (before == '[' && next == '!' && hist_is_word(s, i - 1, "~"))
			blob_put(out, "^", 1);
		else
			blob_put(out, next == '\'' ? "''" : &next, next == '\'' ? 2 : 1);
		before = next;
	}
	blob_put(out, "'", 1);
	return true;
}

unsigned int hist_file_of(const struct hist_statement *s, int which)
{
	const struct hist_token *name = &s->tokens[s->tables[which].first];
	const char *at = name->text + hist_is_quoted(name), *const end = name->text + name->size;
	unsigned int number = 0;

	if (at == end || (*at != 'f' && *at != 'F'))
		return 1;
	for (at++; at < end && *at >= '0' && *at <= '9' && number < 1000; at++)
		number = 10 * number + (unsigned int)(*at - '0');
	return at < end && *at == '_' && number > 1 ? number : 1;
}

/* The kernel's stack of an event, the innermost function first. */
static void put_stack(struct blob *out, const struct hist_statement *s, int which)
{
	const unsigned int file = hist_file_of(s, which);

	blob_printf(out, " (SELECT group_concat(coalesce(symbol, printf('%%x', address)), ' <- ') FROM ");
	if (file > 1)
		blob_printf(out, "f%u_", file);
	blob_printf(out, "stacks AS hist_stack WHERE hist_stack.event = ");
	hist_put_name(out, s, s->aliases[which]);
	blob_printf(out, ".rowid AND hist_stack.kind = 'kernel')");
}

/* Write a word of the dialect as a column of one event. False: it is not such a word. */
static bool put_column(struct blob *out, const struct hist_statement *s, unsigned int i, int which)
{
	const size_t w = hist_word_of(s, i);

	if (w < HIST_NR_WORDS && hist_words[w].column) {
		blob_printf(out, " (");
		hist_put_name(out, s, s->aliases[which]);
		blob_printf(out, ".%s)", hist_words[w].column);
		return true;
	}
	if (!hist_is_word(s, i, HIST_STACKTRACE))
		return false;
	put_stack(out, s, which);
	return true;
}

void hist_put_range(struct blob *out, const struct hist_statement *s, struct hist_range range)
{
	for (unsigned int i = range.first; i < range.end; i++) {
		const bool is_field = i >= 2 && i - 2 >= range.first && hist_table_at(s, i - 2) >= 0;
		const size_t w = hist_word_of(s, i);

		if (put_operator(out, s, i) || put_text(out, s, i))
			continue;
		if (hist_table_at(s, i) >= 0 && i + 2 < range.end && put_column(out, s, i + 2, hist_table_at(s, i))) {
			i += 2;
		} else if (s->has_one_table && !is_field && !hist_is_word(s, i, "COMM") && put_column(out, s, i, 0)) {
			continue;
		} else if (!is_field && w < HIST_NR_WORDS && hist_words[w].alone) {
			blob_printf(out, " ((");
			hist_put_name(out, s, s->aliases[1]);
			blob_printf(out, "._ts - ");
			hist_put_name(out, s, s->aliases[0]);
			blob_printf(out, "._ts)%s)", hist_words[w].alone);
		} else {
			hist_put_token(out, &s->tokens[i]);
		}
	}
}

bool hist_take_term(const struct hist_statement *s, struct hist_range *range, struct hist_range *ret_term)
{
	unsigned int i = range->first;
	bool is_between = false;
	int depth = 0;

	if (range->first >= range->end)
		return false;
	for (; i < range->end; i++) {
		const bool is_and = hist_is_word(s, i, "AND") || hist_is_word(s, i, "&&");

		/* BETWEEN has an AND of its own. */
		if (!depth && !is_between && (is_and || hist_is_word(s, i, ",")))
			break;
		if (!depth && (is_and || hist_is_word(s, i, "BETWEEN")))
			is_between = !is_and;
		depth += hist_is_word(s, i, "(") ? 1 : hist_is_word(s, i, ")") ? -1 : 0;
	}
	*ret_term = (struct hist_range){ range->first, i };
	range->first = i + 1;
	return true;
}

int hist_table_of(const struct hist_statement *s, struct hist_range term)
{
	int found = -1;

	for (unsigned int i = term.first; i < term.end; i++) {
		const int which = hist_table_at(s, i);

		if (hist_is_word(s, i, "OR") || hist_is_word(s, i, "||"))
			return -1;
		if (which >= 0 && found >= 0 && which != found)
			return -1;
		found = which >= 0 ? which : found;
	}
	return found;
}
