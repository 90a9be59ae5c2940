/* SPDX-License-Identifier: MIT */
/* Scanning the text of a filter: words, quoted texts, operators; and the messages for wrong texts. */
#include "librecorder/core/filter_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool rec_scan_wrong(struct rec_scan *scan, const char *at, const char *format, ...)
{
	va_list args;

	scan->error->column = (uint32_t)(at - scan->text) + 1;
	va_start(args, format);
	vsnprintf(scan->error->reason, sizeof(scan->error->reason), format, args);
	va_end(args);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void rec_scan_skip(struct rec_scan *scan)
{
	while (is_blank(*scan->at))
		scan->at++;
}

bool rec_scan_take(struct rec_scan *scan, const char *word)
{
	rec_scan_skip(scan);
	if (strncmp(scan->at, word, strlen(word)) != 0)
		return false;
	scan->at += strlen(word);
	return true;
}

struct rec_words rec_scan_word(struct rec_scan *scan)
{
	const char *start = scan->at;

	while (rec_is_word(*scan->at))
		scan->at++;
	return (struct rec_words){ start, (uint32_t)(scan->at - start) };
}

bool rec_scan_quoted(struct rec_scan *scan, struct rec_words *ret_words)
{
	const char *start = scan->at, *end = strchr(start + 1, *start);

	if (!end)
		return rec_scan_wrong(scan, start, "the quote is not closed");
	*ret_words = (struct rec_words){ start + 1, (uint32_t)(end - start - 1) };
	if (ret_words->size > REC_FILTER_TEXT_MAX)
		return rec_scan_wrong(scan, start, "a text has at most %u characters", REC_FILTER_TEXT_MAX);
	scan->at = end + 1;
	return true;
}

/* ------------------------------------------------------------------------------------------- regular expressions */

/* Write a class of characters, from after its [, as patterns do. Returns the number of characters read; 0: no end. */
static uint32_t copy_class(const char *at, uint32_t size, char *pattern)
{
	uint32_t n = 0;

	while (n < size && (at[n] != ']' || n == 0 || (n == 1 && at[0] == '^'))) {
		pattern[n] = n == 0 && at[0] == '^' ? '!' : at[n];
		n++;
	}
	if (n == size)
		return 0;
	pattern[n] = ']';
	return n + 1;
}

/*
 * Whether the character, after a backslash, is an operator in some kind of regular expression: in grep, \| separates
 * alternatives; elsewhere, \d is a digit. As literal characters they would match hardly any text, without a warning.
 */
static bool is_escaped_operator(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("|()}<>", c));
}

/* Copy the expression without its anchors. */
static bool copy_regex(struct rec_scan *scan, const char *at, const char *end, char *pattern, uint32_t *used)
{
	while (at < end) {
		const char next = at + 1 < end ? at[1] : '\0';
		uint32_t taken = 1;

		if (strchr("*+?(){}|^$", *at) || (next && strchr("*+?{", next) && !(*at == '.' && next == '*')))
			return rec_scan_wrong(
				scan, strchr("*+?(){}|^$", *at) ? at : at + 1,
				"this regular expression is not supported: use ~ with a pattern of * ? and [a-z]");
		if (*at == '.') {
			taken = next == '*' ? 2 : 1;
			pattern[(*used)++] = next == '*' ? '*' : '?';
		} else if (*at == '[') {
			pattern[(*used)++] = '[';
			taken = copy_class(at + 1, (uint32_t)(end - at - 1), pattern + *used);
			if (!taken)
				return rec_scan_wrong(scan, at, "the [ is not closed");
			*used += taken++;
		} else {
			if (*at == '\\' && is_escaped_operator(next))
				return rec_scan_wrong(scan, at,
						      "\\%c is not supported in a regular expression: write [%c] for "
						      "the character, or join two comparisons with ||",
						      next, next);
			if (*at == '\\' && next)
				taken = 2;
			/* A ! is special at the beginning of a pattern. */
			pattern[(*used)++] = '\\';
			pattern[(*used)++] = at[taken - 1];
		}
		at += taken;
	}
	return true;
}

bool rec_scan_regex(struct rec_scan *scan, const struct rec_words *regex, char *pattern, size_t size,
		    uint32_t *ret_size)
{
	const char *at = regex->text, *end = at + regex->size;
	const bool begins = at < end && *at == '^';
	const bool ends = at + begins < end && end[-1] == '$' && (end - at < 2 || end[-2] != '\\');
	uint32_t used = 0;

	/* Each character becomes at most two. */
	if (2 * (size_t)regex->size + 2 > size)
		return rec_scan_wrong(scan, at, "the regular expression is too long");
	if (!begins)
		pattern[used++] = '*';
	if (!copy_regex(scan, at + begins, end - ends, pattern, &used))
		return false;
	if (!ends)
		pattern[used++] = '*';
	*ret_size = used;
	return true;
}

bool rec_scan_unquoted(struct rec_scan *scan, const struct rec_words *name, const char *operator)
{
	const char *start = scan->at, *end = start;

	while (*end && !is_blank(*end) && *end != ')' && strncmp(end, "&&", 2) != 0 && strncmp(end, "||", 2) != 0)
		end++;
	if (end == start)
		return rec_scan_wrong(scan, start, "expected a text in quotes");
	return rec_scan_wrong(scan, start,
			      "expected a text in quotes: %.*s %s \"%.*s\"; mind that the shell removes quotes",
			      (int)(name->size < 64 ? name->size : 64),
			      name->text, operator, (int)(end - start < 64 ? end - start : 64), start);
}

/* ---------------------------------------------------------------------------------------------------- operators */

/* Longer operators come before the shorter ones with which they begin. */
static const struct rec_operator operators[] = {
	{ "==", REC_TEST_EQUAL, false, false },	    { "!=", REC_TEST_EQUAL, true, false },
	{ "=~", REC_TEST_GLOB, false, true },	    { "!~", REC_TEST_GLOB, true, true },
	{ "<=", REC_TEST_LESS_EQUAL, false, false }, { ">=", REC_TEST_LESS, true, false },
	{ "<", REC_TEST_LESS, false, false },	    { ">", REC_TEST_LESS_EQUAL, true, false },
	{ "&", REC_TEST_BITS, false, false },	    { "~", REC_TEST_GLOB, false, false },
};

const struct rec_operator *rec_scan_operator(struct rec_scan *scan)
{
	rec_scan_skip(scan);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		/* This check keeps && from being read as & and a value that begins with &. */
		if (strncmp(scan->at, "&&", 2) != 0 && rec_scan_take(scan, operators[i].word))
			return &operators[i];
	rec_scan_wrong(scan, scan->at, "expected one of == != < <= > >= & ~");
	return NULL;
}
