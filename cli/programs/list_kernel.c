/* SPDX-License-Identifier: MIT */
/* See list_kernel.h. States and filters are those of the top level of tracefs, which all its users share. */
#include "cli/programs/list_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"
#include "cli/common/terminal.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_names.h"

#define NAME "list"

/* The number of characters of system:event. */
static unsigned int width_of(const struct kernel_name *name)
{
	return (unsigned int)(strlen(name->system) + 1 + strlen(name->event));
}

/*
 * The text of a control file of an event, without the line feed at its end; the caller frees it. NULL: it cannot be
 * read.
 */
static char *read_control(const char *system, const char *event, const char *file)
{
	char *text = tracefs_event_file_read(NULL, system, event, file, NULL);
	const size_t size = text ? strlen(text) : 0;

	if (size && text[size - 1] == '\n')
		text[size - 1] = '\0';
	return text;
}

/* Print the declarations of the event's own fields, which are those after the blank line of the kernel's text. */
static void print_fields(const char *format)
{
	const char *at = strstr(format, "\n\n"), *before = "  ";

	while (at && (at = strstr(at, "\tfield:"))) {
		const char *end;

		at += strlen("\tfield:");
		end = strchr(at, ';');
		printf("%s%.*s", before, end ? (int)(end - at) : 0, at);
		before = ", ";
	}
}

/* Print an event. The text after the name begins in column `column`. */
static void print_event(const struct kernel_name *name, bool full, unsigned int column)
{
	char *enable = read_control(name->system, name->event, "enable");
	char *filter = read_control(name->system, name->event, "filter");
	char *format = full ? read_control(name->system, name->event, "format") : NULL;
	const bool is_on = enable && enable[0] == '1';
	/* The kernel prints "none" if there is no filter. */
	const bool has_filter = filter && strcmp(filter, "none") != 0;

	printf("  %s%-4s%s %s:%s", paint(is_on ? PAINT_GOOD : PAINT_DIM), is_on ? "on" : "off", paint_end(),
	       name->system, name->event);
	if ((format || has_filter) && width_of(name) < column)
		printf("%*s", (int)(column - width_of(name)), "");
	if (format)
		print_fields(format);
	if (has_filter)
		printf("  if %s", filter);
	putchar('\n');
	free(enable);
	free(filter);
	free(format);
}

/* ---------------------------------------------------------------------------------------------------- the patterns */

/* The pattern between two commas, without the ! by which a pattern excludes events. */
struct part {
	char text[256];
	bool excluded;
};

/* Takes the next pattern of the list, *at; the first one cannot exclude. */
static bool next_part(const char *patterns, const char **at, struct part *ret)
{
	const size_t size = strcspn(*at, ",");
	const char *separator, *text = ret->text;

	ret->excluded = **at == '!';
	snprintf(ret->text, sizeof(ret->text), "%.*s", (int)size - ret->excluded, *at + ret->excluded);
	separator = strpbrk(text, ":/");
	if (size >= sizeof(ret->text) || !*text || (ret->excluded && *at == patterns) ||
	    (separator && (separator == text || !separator[1] || strpbrk(separator + 1, ":/"))))
		return false;
	*at += size;
	return true;
}

/* Applies the patterns: each acts as -e of record; after ! as -v. 0 or the exit status. */
static int choose(struct kernel_names *names, const char *patterns)
{
	const struct message_sink sink = COMMAND_SINK(NAME);
	const char *at = patterns;
	struct kernel_pattern pattern;
	struct part part;

	do {
		unsigned int nr = 0;

		at += at > patterns;
		if (!next_part(patterns, &at, &part) || !kernel_pattern_parse(part.text, &pattern)) {
			complain(NAME, "'%s' is not a pattern of events, such as sched:* or '*:*wake*'", patterns);
			return EXIT_USAGE;
		}
		for (unsigned int i = 0; i < names->nr; i++)
			if (kernel_pattern_matches(&pattern, &names->names[i])) {
				names->names[i].on = !part.excluded;
				nr++;
			}
		if (!nr) {
			kernel_names_say_none(&sink, names, part.text, &pattern);
			return EXIT_FAILURE;
		}
	} while (*at);
	return 0;
}

static void print_all(const struct kernel_names *names, bool full)
{
	unsigned int column = 0;

	for (unsigned int i = 0; i < names->nr; i++)
		if (names->names[i].on && width_of(&names->names[i]) > column &&
		    width_of(&names->names[i]) <= LIST_COLUMN_MAX)
			column = width_of(&names->names[i]);
	for (unsigned int i = 0; i < names->nr; i++)
		if (names->names[i].on)
			print_event(&names->names[i], full, column);
}

int list_kernel(const char *patterns, bool full)
{
	const struct message_sink sink = COMMAND_SINK(NAME);
	struct kernel_names names = { .nr = 0 };
	int status;

	if (instance_find_tracefs(&sink, true))
		return EXIT_FAILURE;
	if (kernel_names_read(&names)) {
		instance_no_rights(&sink);
		kernel_names_free(&names);
		return EXIT_FAILURE;
	}
	status = choose(&names, patterns ? patterns : "all");
	if (!status) {
		terminal_start();
		print_all(&names, full);
	}
	kernel_names_free(&names);
	return status;
}
