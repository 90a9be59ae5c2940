/* SPDX-License-Identifier: MIT */
#include "cli/report/report_filter_text.h"

#include <ctype.h>
#include <librecorder/event_text.h>
#include <librecorder/pattern.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the beginning of the text that may be patterns. ! excludes events only after a comma. */
static size_t patterns_room(const char *text)
{
	size_t size = 0;
	char before = '\0';

	for (; text[size] && (!strchr("=<>!&~\"'()", text[size]) || (text[size] == '!' && before == ',')); size++)
		before = text[size] == ' ' ? before : text[size];
	return size;
}

const char *report_filter_text_find(const char *text, size_t *ret_size)
{
	const char *keyword = strstr(text, " if "), *end = text + patterns_room(text);
	const char *colon = NULL;

	if (keyword && keyword < end) {
		*ret_size = (size_t)(keyword - text);
		return keyword + 4;
	}
	for (const char *at = text; at < end; at++)
		if (*at == ':')
			colon = at;
	/* Without an operator the text compares nothing: "io:submit", or "sched". */
	if (!*end && !(colon && !colon[1])) {
		*ret_size = strlen(text);
		return NULL;
	}
	*ret_size = colon ? (size_t)(colon - text) : 0;
	return colon ? colon + 1 : text;
}

/* Convert one pattern, of trace-cmd's form or ours. A single word is a system or an event. */
static void put_pattern(FILE *out, const char *at, size_t size)
{
	const bool has_system = memchr(at, '/', size) || memchr(at, ':', size);
	const bool excludes = size && *at == '!';

	for (int pass = 0; pass < (has_system ? 1 : 2); pass++) {
		fprintf(out, "%s%s%s", pass ? "," : "", excludes ? "!" : "", pass ? "*:" : "");
		for (size_t i = excludes; i < size; i++) {
			if (at[i] == '.' && i + 1 < size && at[i + 1] == '*')
				continue;
			fputc(at[i] == '/' ? ':' : at[i] == '.' ? '?' : at[i], out);
		}
		fputs(has_system || pass ? "" : ":*", out);
	}
}

/* Takes the next pattern of a list, without spaces around it; *at moves after its comma, or to the end. */
static struct rec_words next_pattern(const char **at, const char *end)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at)), *stop = comma ? comma : end, *begin = *at;

	while (begin < stop && isspace((unsigned char)*begin))
		begin++;
	while (stop > begin && isspace((unsigned char)stop[-1]))
		stop--;
	*at = comma ? comma + 1 : end;
	return (struct rec_words){ begin, (uint32_t)(stop - begin) };
}

char *report_filter_text_patterns(const char *text, size_t size)
{
	char *patterns = NULL;
	size_t made = 0;
	FILE *out = open_memstream(&patterns, &made);
	const char *end = text + size;

	if (!out)
		return NULL;
	for (const char *at = text; at < end;) {
		const struct rec_words pattern = next_pattern(&at, end);

		put_pattern(out, pattern.text, pattern.size);
		fputs(at[-1] == ',' ? "," : "", out);
	}
	if (!size || strspn(text, " ") >= size)
		fputs("*:*", out);
	if (fclose(out)) {
		free(patterns);
		return NULL;
	}
	return patterns;
}

size_t report_filter_text_wrong(const char *text, size_t size)
{
	const char *const end = text + size;

	for (const char *at = text; at < end;) {
		struct rec_words pattern = next_pattern(&at, end);
		const bool excludes = pattern.size && *pattern.text == '!' && pattern.text != text;
		char *alone = report_filter_text_patterns(pattern.text + excludes, pattern.size - excludes);
		const bool is_wrong = !alone || pattern.size == excludes || rec_pattern_check(alone);

		free(alone);
		if (is_wrong)
			return (size_t)(pattern.text - text) + 1;
	}
	return size + 1;
}
