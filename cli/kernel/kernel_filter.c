/* SPDX-License-Identifier: MIT */
/*
 * The kernel accepts comm and cpu as well as COMM and CPU, unless an event has such a field. It does not know pid, true
 * and false.
 */
#include "cli/kernel/kernel_filter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t word_size(const char *at)
{
	size_t size = 0;

	while (isalnum((unsigned char)at[size]) || at[size] == '_')
		size++;
	return size;
}

static bool is_word(const char *at, size_t size, const char *word)
{
	return size == strlen(word) && !strncmp(at, word, size);
}

static const char *kernel_word(const char *at, size_t size, bool has_pid)
{
	if (is_word(at, size, "true"))
		return "1";
	if (is_word(at, size, "false"))
		return "0";
	return !has_pid && is_word(at, size, "pid") ? "common_pid" : NULL;
}

/* Returns the end of the quoted text that begins here; if none begins here, the position of the next character. */
static const char *skip(const char *at)
{
	const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;

	return end ? end + 1 : at + 1;
}

char *kernel_filter_make(const char *filter, bool has_pid)
{
	char *text = NULL;
	size_t made = 0;
	FILE *out = open_memstream(&text, &made);
	bool good;

	if (!out)
		return NULL;
	for (const char *at = filter, *next; *at; at = next) {
		const size_t size = word_size(at);
		const char *word = size ? kernel_word(at, size, has_pid) : NULL;

		next = size ? at + size : skip(at);
		if (word)
			fputs(word, out);
		else
			fwrite(at, 1, (size_t)(next - at), out);
	}
	good = !ferror(out);
	if (!fclose(out) && good)
		return text;
	free(text);
	return NULL;
}
