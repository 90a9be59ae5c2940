/* SPDX-License-Identifier: MIT */
/*
 * recorder dump shows the structure of a trace.dat to those who work on the format: header, blobs, sections, options,
 * buffers; pages and their records on request. --validate walks over everything and reports what is wrong.
 */
#include "cli/cmd.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/common/verbosity.h"
#include "cli/common/missing_parts.h"
#include "cli/files/dump_head.h"
#include "cli/files/dump_sections.h"
#include "cli/files/dump_strings.h"
#include "format/dat/dat_compress.h"
#include "format/dat/dat_page.h"
#include "format/dat/dat_time.h"
#include "format/io/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "dump"

struct dump {
	const char *path;
	bool pages;
	bool records;
	bool validate;
	bool summary; /* dump one of these parts, or one of the sections, instead of everything */
	bool options;
	bool flyrecord;
	bool clock;
	bool strings;
	bool headings; /* --sections */
	bool escapes; /* on a terminal */
	struct dump_sections sections;

	struct dat_file *file;
	uint64_t nr_pages;
	uint64_t nr_events;
	uint64_t nr_lost;
	uint64_t nr_problems;
};

/* -------------------------------------------------------------------------------------------------------- pages */

static void problem(struct dump *d, const struct dat_stream *stream, uint64_t offset, const char *text)
{
	d->nr_problems++;
	if (d->validate)
		printf("CPU %" PRIu32 ", page at %" PRIu64 ": %s%s%s\n", stream->cpu, offset, paint(PAINT_BAD), text,
		       paint_end());
	else if (d->pages || d->records)
		printf("    %sproblem: %s%s\n", paint(PAINT_BAD), text, paint_end());
}

static void show_page(const struct dat_page *page, const struct dat_walk *walk, uint64_t events)
{
	char lost[32] = "";

	if (walk->page_lost)
		snprintf(lost, sizeof(lost), walk->page_lost < 0 ? "  lost ?" : "  lost %" PRId64, walk->page_lost);
	printf("  page at %" PRIu64 "  time %" PRIu64 "  commit 0x%08" PRIx32 "  used %" PRIu32 "  events %" PRIu64
	       "%s\n",
	       page->offset, walk->page_ts, walk->commit, walk->used - walk->header, events, lost);
}

static void show_record(const struct dat_file *f, const struct dat_record *r)
{
	static const char *const kinds[] = { "data", "padding", "extend", "stamp" };

	printf("    %6" PRIu32 "  %-7s  length %5" PRIu32 "  delta %9" PRIu32 "  time %" PRIu64, r->pos, kinds[r->kind],
	       r->length, r->delta, r->ts);
	if (r->kind == DAT_RECORD_DATA && r->size >= 2)
		printf("  id %u", bytes_get16(r->data, f->big));
	if (r->lost)
		printf(r->lost < 0 ? "  lost ?" : "  lost %" PRId64, r->lost);
	putchar('\n');
}

/*
 * Walk over a page twice: first to count its records for its line, then to show them. *last is the time of the last
 * event of the stream.
 */
static void dump_page(struct dump *d, const struct dat_stream *stream, const struct dat_page *page, uint64_t *last)
{
	struct dat_error error = { 0 };
	struct dat_record record;
	struct dat_walk walk, start;
	uint64_t events = 0;
	bool back = false, seen = false;
	int ret;

	d->nr_pages++;
	if (dat_walk_open(d->file, page, &walk, &error)) {
		if (d->pages)
			printf("  page at %" PRIu64 "\n", page->offset);
		problem(d, stream, page->offset, error.text);
		return;
	}
	start = walk;
	while ((ret = dat_walk_next(&walk, &record, &error)) > 0) {
		if (record.kind != DAT_RECORD_DATA)
			continue;
		events++;
		back = back || record.ts < *last;
		*last = record.ts;
		seen = seen || record.lost;
	}
	d->nr_events += events;
	d->nr_lost += start.page_lost > 0 ? (uint64_t)start.page_lost : 0;
	if (d->pages)
		show_page(page, &start, events);
	walk = start;
	while (d->records && dat_walk_next(&walk, &record, &error) > 0)
		show_record(d->file, &record);
	if (ret < 0)
		problem(d, stream, page->offset, error.text);
	if (start.page_lost && !seen)
		problem(d, stream, page->offset,
			"the page does not begin with an event: no viewer shows that events were lost");
	if (back)
		problem(d, stream, page->offset, "time goes back");
}

static int dump_stream(struct dump *d, const struct dat_buffer *buffer, const struct dat_stream *stream)
{
	struct dat_error error = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	uint64_t last = 0;
	int ret;

	if (!stream->size)
		return 0;
	if (d->pages) {
		fputs("buffer \"", stdout);
		show_name(stdout, buffer->name, d->escapes);
		printf("\" CPU %" PRIu32 ":\n", stream->cpu);
	}
	if (dat_cursor_open(d->file, buffer, stream, &cursor)) {
		complain(COMMAND, "%s: not enough memory", d->path);
		return 1;
	}
	while (((ret = dat_cursor_next(&cursor, &page, &error)) > 0 || cursor.skipped) && !ferror(stdout)) {
		if (ret > 0)
			dump_page(d, stream, &page, &last);
		else
			problem(d, stream, error.offset, error.text);
	}
	if (ret < 0)
		problem(d, stream, error.offset, error.text);
	dat_cursor_close(&cursor);
	return 0;
}

/* Read the text of a latency tracer, to check it; it has no pages that could be shown. */
static int dump_text(struct dump *d, const struct dat_buffer *buffer)
{
	struct dat_error error = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	int ret;

	if (dat_cursor_open(d->file, buffer, &buffer->text, &cursor)) {
		complain(COMMAND, "%s: not enough memory", d->path);
		return 1;
	}
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0)
		;
	if (ret < 0)
		problem(d, &buffer->text, error.offset, error.text);
	dat_cursor_close(&cursor);
	return 0;
}

static int dump_streams(struct dump *d)
{
	int status = 0;

	for (size_t i = 0; !status && i < d->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &d->file->buffers[i];

		if (buffer->latency)
			status = dump_text(d, buffer);
		for (uint32_t c = 0; !status && c < buffer->nr_streams; c++)
			status = dump_stream(d, buffer, &buffer->streams[c]);
	}
	return status;
}

/* Checks for errors that do not make the file unreadable. */
static void validate_head(struct dump *d)
{
	const struct dat_file *f = d->file;
	struct dat_error error = { 0 };
	struct dat_time time;

	if (dat_time_open(f, 0, &time, &error)) {
		d->nr_problems++;
		printf("%s\n", error.text);
	} else {
		dat_time_close(&time);
	}
	if (f->version == 6 && dat_option(f, DAT_TRACECLOCK) && !dat_option(f, DAT_TRACECLOCK)->size) {
		d->nr_problems++;
		printf("option traceclock is empty: trace-cmd may show times as plain numbers\n");
	}
	for (size_t i = 0; i < f->nr_buffers; i++) {
		const struct dat_buffer *b = &f->buffers[i];

		for (uint32_t c = 0; c < b->nr_streams; c++) {
			const struct dat_stream *s = &b->streams[c];

			if (s->size && !b->compressed && s->offset % b->page_size) {
				d->nr_problems++;
				printf("CPU %" PRIu32 ": the data begins at %" PRIu64 ", not at a page\n", s->cpu,
				       s->offset);
			}
		}
	}
}

/* --------------------------------------------------------------------------------------------------- the command */

static int finish(struct dump *d)
{
	if (d->validate && !d->nr_problems)
		printf("%s: valid: %" PRIu64 " pages, %" PRIu64 " events, %" PRIu64 " counted lost\n", d->path,
		       d->nr_pages, d->nr_events, d->nr_lost);
	fflush(stdout);
	if (ferror(stdout)) {
		/* stdout does not keep the errno; another write sets it again. */
		errno = 0;
		putchar('\n');
		fflush(stdout);
		if (errno == EPIPE) {
			/*
			 * It is not a failure if the reader of the output is gone; without this, main() would report
			 * one.
			 */
			__fpurge(stdout);
			clearerr(stdout);
			return 0;
		}
		complain(COMMAND, "%s: cannot write: %s", d->path, errno ? strerror(errno) : "output error");
		return 1;
	}
	if (d->nr_problems) {
		complain(COMMAND, "%s: damaged: %" PRIu64 " problem%s%s", d->path, d->nr_problems,
			 d->nr_problems == 1 ? "" : "s", d->validate ? "" : " (see --validate)");
		return 1;
	}
	return 0;
}

static int show_sections_of(void *arg)
{
	const struct dump *d = arg;

	dump_sections(&d->sections, d->file);
	return 0;
}

/* Show the texts of the file, which may be long and have several lines. */
static int show_texts(struct dump *d)
{
	if (d->escapes && show_escaped(show_sections_of, d)) {
		complain(COMMAND, "%s: %s", d->path, strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	if (!d->escapes)
		show_sections_of(d);
	return 0;
}

/* Show what trace-cmd dump --all shows: every part except pages. */
static void choose_all(struct dump *d)
{
	d->summary = d->options = d->flyrecord = d->clock = d->strings = d->headings = true;
	d->sections = (struct dump_sections){
		.head_page = true,
		.head_event = true,
		.ftrace_events = true,
		.systems = true,
		.events = true,
		.kallsyms = true,
		.printk = true,
		.cmd_lines = true,
	};
}

/* Whether the command line names parts of the file. */
static bool has_parts(const struct dump *d)
{
	return d->summary || d->options || d->flyrecord || d->clock || d->strings || d->headings ||
	       dump_sections_any(&d->sections);
}

static int show_parts(struct dump *d)
{
	const bool all = !has_parts(d);
	struct dat_headings headings = { 0 };
	struct dat_error error = { 0 };
	int status, err = 0;

	if (d->strings || d->headings)
		err = dat_headings_open(d->file, &headings, &error);
	if (all || d->summary) {
		dump_header(d->file, d->escapes);
		dump_section_list(d->file);
	}
	if (d->strings)
		dump_strings(&headings, d->escapes);
	if (d->headings)
		dump_headings(&headings, d->escapes);
	status = show_texts(d);
	if (all || d->options) {
		dump_options(d->file);
		for (size_t i = 0; i < d->file->nr_parts; i++) {
			printf("%s%s:%s\n", paint(PAINT_TITLE), dat_id_name(d->file->parts[i].id), paint_end());
			dump_part(&d->file->parts[i], d->file->big, d->escapes);
		}
	}
	if (d->clock)
		dump_clock(d->file, d->escapes);
	for (size_t i = 0; (all || d->flyrecord) && i < d->file->nr_buffers; i++)
		dump_buffer(&d->file->buffers[i], d->escapes);
	if (d->headings)
		dump_headings_count(&headings);
	dat_headings_close(&headings);
	/* The parts that were missing when the file was opened are reported at the end. */
	if (status || !err || d->file->missing.text[0])
		return status;
	complain(COMMAND, "%s: %s", d->path, error.text);
	return EXIT_FAILURE;
}

static int run(struct dump *d)
{
	struct dat_error error = { 0 };
	int status = 0;

	/* A file that was cut off is shown up to its end, and then reported as invalid. */
	if (d->validate ? dat_open(d->path, dat_compress_zstd(), &d->file, &error) :
			  dat_open_rest(d->path, dat_compress_zstd(), &d->file, &error)) {
		complain(COMMAND, "%s: %s", d->path, error.text);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	d->escapes = show_escapes(stdout);
	terminal_start();
	if (d->validate)
		validate_head(d);
	else
		status = show_parts(d);
	if (!status && (d->pages || d->validate))
		status = dump_streams(d);
	status = status ? status : finish(d);
	return status ? status : complain_missing(COMMAND, d->path, d->file);
}

/* Checks the options. False: they contradict each other, or one is wrong; one line was printed. */
static bool check_options(const struct dump *d, const char *input, const char *operand, const char *verbose)
{
	enum verbosity level;

	if (!verbosity_read(verbose, &level))
		return false;
	if (input && operand)
		complain(COMMAND, "both '-i %s' and '%s' name the file", input, operand);
	else if (d->validate && (d->pages || d->records))
		complain(COMMAND, "--validate cannot be combined with --pages or --records");
	else if (d->validate && has_parts(d))
		complain(COMMAND, "--validate cannot be combined with options that show parts");
	else
		return true;
	return false;
}

int cmd_dump(int argc, char **argv)
{
	struct dump d = { 0 };
	const char *input = NULL;
	const char *verbose = NULL;
	unsigned int color = TERMINAL_COLOR_AUTO;
	bool all = false;
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "read FILE; same as the operand", &input),
		OPT_FLAG('p', "pages", "show the pages, one line each", &d.pages),
		OPT_FLAG('a', "records", "show the pages and their records, one line each", &d.records),
		OPT_COLOR(color),
		OPT_FLAG('v', "validate", "check everything and print only what is wrong", &d.validate),
		OPT_FLAG(0, "all", "all of the following, and no pages", &all),
		OPT_FLAG(0, "summary", "only the header and where the parts are", &d.summary),
		OPT_FLAG(0, "head-page", "the text that describes a page's header", &d.sections.head_page),
		OPT_FLAG(0, "head-event", "the text that describes an event's header", &d.sections.head_event),
		OPT_FLAG(0, "ftrace-events", "the formats of ftrace's own events", &d.sections.ftrace_events),
		OPT_FLAG(0, "systems", "the systems of events, and how many events each has", &d.sections.systems),
		OPT_FLAG(0, "events", "the formats of all other events", &d.sections.events),
		OPT_FLAG(0, "kallsyms", "the addresses of functions", &d.sections.kallsyms),
		OPT_FLAG(0, "printk", "the formats of trace_printk", &d.sections.printk),
		OPT_FLAG(0, "cmd-lines", "the names of threads", &d.sections.cmd_lines),
		OPT_FLAG(0, "options", "only the options", &d.options),
		OPT_FLAG(0, "flyrecord", "only the buffers, with the place of each CPU's data", &d.flyrecord),
		OPT_FLAG(0, "clock", "the clock", &d.clock),
		OPT_FLAG(0, "strings", "version 7: the descriptions of sections, with their offsets", &d.strings),
		OPT_FLAG(0, "sections", "version 7: the headers of sections, in the order of the file", &d.headings),
		OPT_MAYBE(0, "verbose", "LEVEL", "accepted because trace-cmd has it; does nothing", &verbose),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Show the structure of FILE (by default trace.dat): header, options, buffers, pages.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (all)
		choose_all(&d);
	if (!check_options(&d, input, operands[0], verbose))
		return EXIT_USAGE;
	terminal_use(color);
	d.path = input ? input : operands[0] ? operands[0] : "trace.dat";
	d.pages = d.pages || d.records;
	status = run(&d);
	dat_close(d.file);
	return status;
}
