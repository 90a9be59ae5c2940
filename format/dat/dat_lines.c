/* SPDX-License-Identifier: MIT */
/* See dat_lines.h. */
#include "format/dat/dat_lines.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number after `word` in the line; false: the line does not have it. */
static bool number_after(const char *line, const char *word, uint32_t *ret_number)
{
	const char *at = strstr(line, word);
	const char *end = strchr(line, '\n');
	unsigned long long number;

	if (!at || (end && at > end) || !is_digit(at[strlen(word)]))
		return false;
	number = strtoull(at + strlen(word), NULL, 10);
	if (number > UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

bool dat_line_field(const char *format, const char *name, uint32_t *ret_offset, uint32_t *ret_size)
{
	const char *line = strstr(format, name);
	uint32_t offset;

	if (!line || !number_after(line, "offset:", &offset) || !number_after(line, "size:", ret_size))
		return false;
	*ret_offset = offset;
	return true;
}

const char *dat_line_id(const char *format)
{
	const char *at = strncmp(format, "ID:", strlen("ID:")) ? strstr(format, "\nID:") : format;

	if (!at)
		return NULL;
	at += strcspn(at, ":") + 1;
	at += strspn(at, " ");
	return is_digit(*at) ? at : NULL;
}

bool dat_line_is_named(const char *format, const char *name)
{
	const size_t size = strlen(name);

	return !strncmp(format, "name: ", 6) && !strncmp(format + 6, name, size) && format[6 + size] == '\n';
}
