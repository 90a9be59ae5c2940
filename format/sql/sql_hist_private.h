/* SPDX-License-Identifier: MIT */
/* What the parts of the translation of sqlhist's queries share: tokens, sections, and how both are written as SQL. */
#ifndef FORMAT_SQL_HIST_PRIVATE_H
#define FORMAT_SQL_HIST_PRIVATE_H

#include "format/io/blob.h"
#include "format/sql/sql_hist.h"

#include <stdbool.h>
#include <stddef.h>

#define HIST_TOKENS_MAX 2000u

struct hist_token {
	const char *text;
	size_t size;
	bool is_spaced; /* blanks are before it */
	bool is_name;	/* a backslash was before it: it is not a keyword */
};

/* Tokens from `first` until before `end`. */
struct hist_range {
	unsigned int first, end;
};

enum hist_section {
	HIST_SELECT,
	HIST_FROM,
	HIST_JOIN,
	HIST_ON,
	HIST_WHERE,
	HIST_TAIL,
	HIST_NR_SECTIONS,
};

struct hist_statement {
	struct hist_token tokens[HIST_TOKENS_MAX];
	unsigned int nr;
	bool is_dialect;    /* it has a word of the dialect */
	bool has_one_table; /* no JOIN: a histogram */
	struct hist_range sections[HIST_NR_SECTIONS];
	struct hist_range tables[2], aliases[2]; /* of FROM and JOIN: one token each */
};

/* Words of the dialect, and the columns that they mean here. `alone`: without an alias, for both events of a pair. */
struct hist_word {
	const char *word, *column, *alone;
};

#define HIST_NR_WORDS 9u
#define HIST_STACKTRACE "STACKTRACE"
extern const struct hist_word hist_words[HIST_NR_WORDS];

/* ---- sql_hist_read.c */

/* Split the statement into tokens; *ret_rest is what follows it. False: it is too long. */
bool hist_read_tokens(const char *text, struct hist_statement *s, const char **ret_rest);

/* Finds the sections of the statement: each begins with its word, outside of parentheses, in this order. */
bool hist_find_sections(struct hist_statement *s);

/* [SYSTEM.]EVENT [[AS] ALIAS] */
bool hist_read_table(struct hist_statement *s, enum hist_section section, unsigned int which);

/* Whether a token is this word, regardless of case. */
bool hist_is_word(const struct hist_statement *s, unsigned int i, const char *word);
bool hist_is_name_char(char c);

/* The index of a token in hist_words, regardless of case, as in SQL; HIST_NR_WORDS: it is not in the list. */
size_t hist_word_of(const struct hist_statement *s, unsigned int i);

/* Whether the token is in quotes or brackets. The end of the query may be the end of a token that is not closed. */
bool hist_is_quoted(const struct hist_token *token);

/* 0 or 1: the table whose alias begins at a token, with a full stop; -1: none. */
int hist_table_at(const struct hist_statement *s, unsigned int i);

/* ---- sql_hist_write.c */

void hist_put_token(struct blob *out, const struct hist_token *token);
void hist_put_name(struct blob *out, const struct hist_statement *s, struct hist_range name);

/* Write tokens as SQL: operators of C, texts, and words of the dialect. */
void hist_put_range(struct blob *out, const struct hist_statement *s, struct hist_range range);

/* Takes the next condition, which ends before AND or a comma, out of a range. False: the range is empty. */
bool hist_take_term(const struct hist_statement *s, struct hist_range *range, struct hist_range *ret_term);

/* The event that a condition concerns; -1: it concerns both events, or names none. */
int hist_table_of(const struct hist_statement *s, struct hist_range term);

/* The number of the file to which a table belongs: its name begins with fN_, except for the first file. */
unsigned int hist_file_of(const struct hist_statement *s, int which);

/* ---- sql_hist_count.c */

/* Write the query for a histogram. False: it is not one. */
bool hist_put_counts(struct blob *out, const struct hist_statement *s);

#endif
