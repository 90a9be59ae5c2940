/* SPDX-License-Identifier: MIT */
#include "cli/files/dump_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/show_text.h"
#include "format/io/bytes.h"

bool dump_sections_any(const struct dump_sections *s)
{
	return s->head_page || s->head_event || s->ftrace_events || s->systems || s->events || s->kallsyms ||
	       s->printk || s->cmd_lines;
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

		/* The formats of one system have the same pointer to its name. */
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

#define BTF_MAGIC	0xeb9fu
#define BTF_HEADER_SIZE 24u

/* Print a BTF header. Its numbers have the byte order of its magic number, which is that of the file. */
static void print_btf(const struct dat_text *text, bool big)
{
	const char *data = text->text;

	if (text->size < BTF_HEADER_SIZE || bytes_get16(data, big) != BTF_MAGIC)
		printf("  %zu bytes that are not BTF\n", text->size);
	else
		printf("  BTF version %u: %" PRIu32 " bytes of types, %" PRIu32 " bytes of strings\n",
		       (unsigned char)data[2], bytes_get32(data + 12, big), bytes_get32(data + 20, big));
}

void dump_part(const struct dat_part *part, bool big, bool escapes)
{
	const char *line = part->text.text, *end = line + part->text.size;

	if (part->id == DAT_BTF_FILE) {
		print_btf(&part->text, big);
		return;
	}
	while (line < end && *line) {
		const size_t length = strcspn(line, "\n");

		fputs("  ", stdout);
		if (escapes)
			show_text(stdout, line, length, true);
		else
			show_bytes(stdout, line, length);
		putchar('\n');
		line += length + (line[length] == '\n');
	}
}
