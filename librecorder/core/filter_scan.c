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

/* An operator comes before the shorter ones that are its beginning. */
static const struct rec_operator operators[] = {
	{ "==", REC_TEST_EQUAL, false }, { "!=", REC_TEST_EQUAL, true }, { "<=", REC_TEST_LESS_EQUAL, false },
	{ ">=", REC_TEST_LESS, true },	 { "<", REC_TEST_LESS, false },	 { ">", REC_TEST_LESS_EQUAL, true },
	{ "&", REC_TEST_BITS, false },	 { "~", REC_TEST_GLOB, false },
};

const struct rec_operator *rec_scan_operator(struct rec_scan *scan)
{
	rec_scan_skip(scan);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		/* Otherwise && would be read as & and a value that begins with &. */
		if (strncmp(scan->at, "&&", 2) != 0 && rec_scan_take(scan, operators[i].word))
			return &operators[i];
	rec_scan_wrong(scan, scan->at, "expected one of == != < <= > >= & ~");
	return NULL;
}
