/* SPDX-License-Identifier: MIT */
#include "cli/files/dump_head.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "format/dat/dat_time.h"
#include "format/io/bytes.h"

static void show_place(const char *name, const struct dat_text *text)
{
	if (text->text)
		printf("  %-14s %10zu bytes at %" PRIu64 "\n", name, text->size, text->offset);
}

static void title(const char *text)
{
	printf("%s%s%s\n", paint(PAINT_TITLE), text, paint_end());
}

void dump_header(const struct dat_file *f, bool escapes)
{
	size_t systems = f->nr_systems;

	printf("trace.dat version %u, %s endian, %u-byte long, %u-byte commit word, %" PRIu32 "-byte pages, %" PRIu64
	       " bytes\n",
	       f->version, f->big ? "big" : "little", f->long_size, f->commit_size, f->page_size, f->size);
	if (f->version == 7) {
		fputs("compression ", stdout);
		show_name(stdout, f->compression, escapes);
		putchar(' ');
		show_name(stdout, f->compression_version, escapes);
		printf(", first options at %" PRIu64 "\n", f->options_offset);
	}
	title("blobs:");
	show_place("header_page", &f->header_page);
	show_place("header_event", &f->header_event);
	printf("  %-14s %10zu in %zu systems\n", "event formats", f->nr_formats, systems);
	show_place("kallsyms", &f->kallsyms);
	show_place("printk", &f->printk);
	show_place("cmdlines", &f->cmdlines);
	for (size_t i = 0; i < f->nr_parts; i++)
		show_place(dat_id_name(f->parts[i].id), &f->parts[i].text);
}

void dump_section_list(const struct dat_file *f)
{
	if (f->version != 7)
		return;
	title("sections:");
	for (size_t i = 0; i < f->nr_sections; i++) {
		const struct dat_section *s = &f->sections[i];

		printf("  %-14s id %2u  flags %u  %10" PRIu64 " bytes at %" PRIu64 "\n",
		       s->id ? dat_id_name(s->id) : "options", s->id, s->flags, s->size, s->offset);
	}
}

/* Whether the option contains only the place of a section. */
static bool is_place(const struct dat_file *f, const struct dat_option *option)
{
	if (f->version != 7 || option->size != 8)
		return false;
	if (option->id >= DAT_HEADER_INFO && option->id <= DAT_CMDLINES)
		return true;
	for (size_t i = 0; i < f->nr_parts; i++)
		if (f->parts[i].id == option->id)
			return f->parts[i].text.offset != option->offset;
	return false;
}

/* Print the contents as text or as bytes, limited to one line. */
static void show_payload(const struct dat_file *f, const struct dat_option *option)
{
	size_t size = option->size;
	bool text = size > 0;

	if (is_place(f, option)) {
		printf("section at %" PRIu64, bytes_get64(option->data, f->big));
		return;
	}
	while (size && !option->data[size - 1])
		size--;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)option->data[i];

		text = text && (c == '\n' || c == '\t' || (c >= ' ' && c < 127));
	}
	if (text && size) {
		putchar('"');
		for (size_t i = 0; i < size && i < 60; i++) {
			if (option->data[i] == '\n')
				fputs("\\n", stdout);
			else if (option->data[i] == '\t')
				fputs("\\t", stdout);
			else
				putchar(option->data[i]);
		}
		fputs(size > 60 ? "\"..." : "\"", stdout);
		return;
	}
	for (size_t i = 0; i < option->size && i < 24; i++)
		printf("%s%02x", i && !(i % 4) ? " " : "", (unsigned char)option->data[i]);
	fputs(option->size > 24 ? "..." : "", stdout);
}

void dump_options(const struct dat_file *f)
{
	title("options:");
	for (size_t i = 0; i < f->nr_options; i++) {
		const struct dat_option *o = &f->options[i];

		printf("  %-14s id %2u  %6" PRIu32 " bytes at %" PRIu64 "  ", dat_id_name(o->id), o->id, o->size,
		       o->offset);
		show_payload(f, o);
		putchar('\n');
	}
}

void dump_buffer(const struct dat_buffer *b, bool escapes)
{
	printf("%sbuffer \"", paint(PAINT_TITLE));
	show_name(stdout, b->name, escapes);
	printf("\"%s: clock ", paint_end());
	show_name(stdout, b->clock && *b->clock ? b->clock : "not stated", escapes);
	printf(", %" PRIu32 "-byte pages, %" PRIu32 " CPUs, at %" PRIu64 "%s\n", b->page_size, b->cpus, b->offset,
	       b->latency      ? ", text"
	       : b->compressed ? ", compressed"
			       : "");
	for (uint32_t i = 0; i < b->nr_streams; i++) {
		const struct dat_stream *s = &b->streams[i];

		printf("  CPU %" PRIu32 ": %" PRIu64 " bytes at %" PRIu64 "\n", s->cpu, s->size, s->offset);
	}
}

/* Print the clock that report uses. */
void dump_clock(const struct dat_file *f, bool escapes)
{
	char name[64];

	fputs("clock ", stdout);
	show_name(stdout, dat_clock_name(f, name, sizeof(name)) ? name : "not stated", escapes);
	putchar('\n');
}
