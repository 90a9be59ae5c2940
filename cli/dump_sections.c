/* SPDX-License-Identifier: MIT */
#include "cli/dump_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool dump_sections_any(const struct dump_sections *s)
{
	return s->head_page || s->head_event || s->ftrace_events || s->systems || s->events || s->kallsyms || s->printk ||
	       s->cmd_lines;
}

static void print_text(const struct dat_text *text)
{
	if (text->text)
		fwrite(text->text, 1, text->size, stdout);
	putchar('\n');
}

static void print_section(const char *name, const struct dat_text *text)
{
	printf("\t[%s, %zu bytes]\n", name, text->size);
	print_text(text);
}

static void print_ftrace(const struct dat_file *file)
{
	const size_t nr = file->nr_ftrace;

	printf("\t[Ftrace format, %zu events]\n", nr);
	for (size_t i = 0; i < nr; i++)
		print_text(&file->formats[i].text);
}

static void print_events(const struct dump_sections *s, const struct dat_file *file)
{
	size_t at = file->nr_ftrace;

	printf("\t[Events format, %zu systems]\n", file->nr_systems);
	for (size_t i = 0; i < file->nr_systems; i++) {
		const char *system = file->systems[i];
		size_t end = at;

		/* Formats lead to the very name that the system has in this list. */
		while (end < file->nr_formats && file->formats[end].system == system)
			end++;
		if (s->systems)
			printf("\t\t%s %zu [system, events]\n", system, end - at);
		for (; at < end; at++) {
			if (s->events)
				print_text(&file->formats[at].text);
		}
	}
}

void dump_sections(const struct dump_sections *s, const struct dat_file *file)
{
	if (s->head_page)
		print_section("Header page", &file->header_page);
	if (s->head_event)
		print_section("Header event", &file->header_event);
	if (s->ftrace_events)
		print_ftrace(file);
	if (s->systems || s->events)
		print_events(s, file);
	if (s->kallsyms)
		print_section("Kallsyms", &file->kallsyms);
	if (s->printk)
		print_section("Trace printk", &file->printk);
	if (s->cmd_lines)
		print_section("Saved command lines", &file->cmdlines);
}
