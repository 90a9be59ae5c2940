/* SPDX-License-Identifier: MIT */
/* See list_kernel.h. States and filters are those of the top level of tracefs, which all its users share. */
#include "cli/list_kernel.h"

#include <librecorder/pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/terminal.h"

#define NAME "list"

/* The text of a control file of an event, without the line feed at its end; NULL: it cannot be read. To be freed. */
static char *read_control(const char *system, const char *event, const char *file)
{
	char *text = tracefs_event_file_read(NULL, system, event, file, NULL);
	const size_t size = text ? strlen(text) : 0;

	if (size && text[size - 1] == '\n')
		text[size - 1] = '\0';
	return text;
}

/* The declarations of the event's own fields, as the kernel writes them: those after the blank line. */
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

static void print_event(const char *system, const char *event, bool full)
{
	char *enable = read_control(system, event, "enable");
	char *filter = read_control(system, event, "filter");
	char *format = full ? read_control(system, event, "format") : NULL;
	const bool is_on = enable && enable[0] == '1';

	printf("  %s%-4s%s %s:%s", paint(is_on ? PAINT_GOOD : PAINT_DIM), is_on ? "on" : "off", paint_end(), system,
	       event);
	if (format)
		print_fields(format);
	/* Without a filter the kernel says "none". */
	if (filter && strcmp(filter, "none") != 0)
		printf("  if %s", filter);
	putchar('\n');
	free(enable);
	free(filter);
	free(format);
}

/* Each line of available_events is SYSTEM:EVENT. Returns how many match. */
static unsigned int print_events(char *names, const char *patterns, bool full)
{
	unsigned int nr = 0;
	char *save = NULL;

	for (char *line = strtok_r(names, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (patterns && !rec_pattern_match(patterns, line, strlen(line), colon + 1, strlen(colon + 1)))
			continue;
		print_event(line, colon + 1, full);
		nr++;
	}
	return nr;
}

int list_kernel(const char *patterns, bool full)
{
	const struct message_sink sink = COMMAND_SINK(NAME);
	unsigned int nr;
	char *names;

	if (patterns && rec_pattern_check(patterns) < 0) {
		complain(NAME, "'%s' is not a pattern of events, such as sched:* or '*:*wake*'", patterns);
		return EXIT_USAGE;
	}
	if (instance_find_tracefs(&sink, true))
		return EXIT_FAILURE;
	names = tracefs_instance_file_read(NULL, "available_events", NULL);
	if (!names) {
		instance_no_rights(&sink);
		return EXIT_FAILURE;
	}
	terminal_start();
	nr = print_events(names, patterns, full);
	free(names);
	if (!nr)
		complain(NAME, "the kernel has no event that matches '%s'", patterns);
	return nr ? EXIT_SUCCESS : EXIT_FAILURE;
}
