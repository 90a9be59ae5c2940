/* SPDX-License-Identifier: MIT */
#include "format/weave/kernel_format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 256u

/* Parse a line such as "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;" */
static bool parse_field(const char *line, struct kernel_field *ret_field)
{
	const char *declaration = strstr(line, "field:");
	const char *end = declaration ? strchr(declaration, ';') : NULL;
	const char *name;

	if (!end || sscanf(end, "; offset:%u; size:%u;", &ret_field->offset, &ret_field->size) != 2)
		return false;
	if (end[-1] == ']')
		while (end > declaration && *end != '[')
			end--;
	for (name = end; name > declaration && name[-1] != ' ' && name[-1] != '*' && name[-1] != ':'; name--)
		;
	snprintf(ret_field->name, sizeof(ret_field->name), "%.*s", (int)(end - name), name);
	return true;
}

void kernel_format_parse(const char *text, size_t size, struct kernel_format *ret_format)
{
	const char *end = text + size;

	ret_format->id = ret_format->nr = 0;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_SIZE];

		snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		if (!strncmp(line, "print fmt:", 10))
			break;
		if (!strncmp(line, "ID: ", 4))
			ret_format->id = (unsigned int)strtoul(line + 4, NULL, 10);
		else if (ret_format->nr < KERNEL_FIELDS_MAX && parse_field(line, &ret_format->fields[ret_format->nr]))
			ret_format->nr++;
		text += length + 1;
	}
}

const struct kernel_field *kernel_format_field(const struct kernel_format *format, const char *name, uint32_t size)
{
	for (unsigned int i = 0; i < format->nr; i++)
		if (!strcmp(format->fields[i].name, name) && format->fields[i].size == size)
			return &format->fields[i];
	return NULL;
}
