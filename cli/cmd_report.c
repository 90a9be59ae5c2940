/* SPDX-License-Identifier: MIT */
/*
 * recorder report: the events of a trace.dat as text, byte for byte what trace-cmd report prints for the same file and
 * flags. Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report_lines.h"
#include "cli/report_select.h"
#include "cli/report_spans.h"
#include "cli/show_text.h"
#include "cli/terminal.h"
#include "format/dat/dat_compress.h"
#include "format/dat/dat_notes.h"
#include "format/io/bytes.h"

#define COMMAND "report"

struct report {
	const char *path;
	const char *input;
	struct report_select select;
	bool no_plugins;
	bool no_date;
	bool raw_ts;
	bool quiet;
	bool clock;
	bool spans;
	bool raw_strings;
	bool stats;
	unsigned int color;
	struct event_print_options print;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct dat_merge *merge;
	struct report_lines lines;
};

/* Everything that goes wrong with the file is said here, in one line. */
static int fail(const struct report *r, const struct dat_error *error)
{
	fflush(stdout);
	complain(COMMAND, "%s: %s", r->path, error->text);
	return 1;
}

static int fail_memory(const struct report *r)
{
	const struct dat_error error = { .text = "not enough memory" };

	return fail(r, &error);
}

/* ------------------------------------------------------------------------------------------------------- output */

/* The exit status of what was written: a reader that went away is no failure. */
static int check_output(struct report *r)
{
	fflush(stdout);
	if (report_lines_written(&r->lines))
		return 0;
	if (r->lines.write_error == EPIPE) {
		/* What is left has no reader; main() would take it for a failure. */
		__fpurge(stdout);
		clearerr(stdout);
		return 0;
	}
	complain(COMMAND, "%s: cannot write the report: %s", r->path, strerror(r->lines.write_error));
	return 1;
}

/* The highest that options CPUCOUNT say; 0 without one. */
static uint32_t machine_cpus(const struct report *r)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < r->file->nr_options; i++) {
		const struct dat_option *option = &r->file->options[i];

		if (option->id == DAT_CPUCOUNT && option->size >= 4 && bytes_get32(option->data, r->file->big) > cpus)
			cpus = bytes_get32(option->data, r->file->big);
	}
	return cpus;
}

/* The number in the first line: CPUs of the top buffer, and in version 7 no fewer than the machine's. */
static bool print_head(struct report *r)
{
	const struct dat_buffer *top = NULL;
	uint32_t cpus = r->file->cpus;

	for (size_t i = 0; !top && i < r->file->nr_buffers; i++) {
		if (!r->file->buffers[i].name[0])
			top = &r->file->buffers[i];
	}
	if (r->file->version == 7)
		cpus = top && top->cpus > machine_cpus(r) ? top->cpus : machine_cpus(r);
	printf("cpus=%" PRIu32 "\n", cpus);
	return report_lines_written(&r->lines);
}

/* Up to the last line feed, if there is one, so that no character of UTF-8 is cut in two. */
static ssize_t whole_lines(const char *text, ssize_t size)
{
	const char *end = memrchr(text, '\n', (size_t)size);

	return end ? end + 1 - text : size;
}

static int print_latency_text(struct report *r)
{
	struct dat_error error = { 0 };
	char text[65536];
	ssize_t n;

	for (uint64_t at = r->file->latency_offset; at < r->file->size; at += (uint64_t)n) {
		n = dat_read_raw(r->file, at, text, sizeof(text), &error);
		if (n < 0)
			return fail(r, &error);
		if (r->lines.escapes) {
			n = whole_lines(text, n);
			show_text(stdout, text, (size_t)n, true);
		} else {
			fwrite(text, 1, (size_t)n, stdout);
		}
		if (!n || !report_lines_written(&r->lines))
			break;
	}
	return 0;
}

/* Events of damaged pages are missing from what was printed: that is a failure, though not the end of the report. */
static int check_damage(const struct report *r)
{
	struct dat_error error;
	uint32_t cpu;
	uint64_t pages = dat_merge_damaged(r->merge, &error, &cpu);

	if (!pages)
		return 0;
	fflush(stdout);
	complain(COMMAND,
		 "%s: damaged: events of %" PRIu64 " page%s are missing; CPU %" PRIu32 ", page at %" PRIu64 ": %s",
		 r->path, pages, pages == 1 ? "" : "s", cpu, error.offset, error.text);
	return 1;
}

/* What the file says of its times. */
static void print_clock(const struct report *r)
{
	const struct dat_option *version = dat_option(r->file, DAT_VERSION);
	struct clock_offset offset;
	struct dat_notes notes;
	char name[64];

	dat_notes_read(version ? version->data : NULL, &notes);
	printf("clock: %s\n", dat_clock_name(r->file, name, sizeof(name)) ? name : "not stated in the file");
	if (notes.time_error != DAT_TIME_ERROR_UNKNOWN)
		printf("time error: at most %" PRIu64 " ns from CLOCK_MONOTONIC\n", notes.time_error);
	else
		printf("time error: not stated in the file\n");
	if (!notes.offsets)
		printf("kernel - programs: not measured (no kernel events were recorded, or not by recorder)\n");
	while (notes.offsets && clock_offsets_next(&notes.offsets, &offset))
		printf("CPU %u: kernel - programs between %" PRId64 " and %" PRId64 " ns, 0 %s; %u rounds\n", offset.cpu,
		       offset.low, offset.high, clock_offset_contains_zero(&offset) ? "included" : "excluded", offset.rounds);
}

static bool is_latency(const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (file->buffers[i].latency && !file->buffers[i].name[0])
			return true;
	}
	return false;
}

static int open_report(struct report *r)
{
	struct dat_error error = { 0 };
	unsigned int flags = (r->no_date ? DAT_TIME_NO_DATE : 0) | (r->raw_ts ? DAT_TIME_RAW : 0);
	int status, err;

	if (dat_open(r->path, dat_compress_zstd(), &r->file, &error))
		return fail(r, &error);
	if (dat_time_open(r->file, flags, &r->time, &error))
		return fail(r, &error);
	err = event_table_open(r->file, r->no_plugins ? EVENT_NO_PLUGINS : 0, &r->table);
	if (err) {
		snprintf(error.text, sizeof(error.text), "cannot parse the event formats: %s", strerror(-err));
		return fail(r, &error);
	}
	if (event_printer_open(&r->printer, r->file, &r->time, r->table, &r->print))
		return fail_memory(r);
	status = report_select_open(&r->select, r->file, &r->time, r->table);
	/* Spans are selected when they are whole. */
	if (!status && dat_merge_open(r->file, &r->time, r->spans ? NULL : report_select_has_cpu, &r->select, &r->merge))
		status = fail_memory(r);
	return status;
}

static void close_report(struct report *r)
{
	dat_merge_close(r->merge);
	report_select_close(&r->select);
	if (r->table)
		event_printer_close(&r->printer);
	event_table_close(r->table);
	dat_time_close(&r->time);
	dat_close(r->file);
}

static int print_events(struct report *r)
{
	r->lines.printer = &r->printer;
	r->lines.merge = r->merge;
	r->lines.select = &r->select;
	if (r->spans ? report_spans_print(&r->lines, r->time.seconds) : report_lines_print(&r->lines))
		return fail_memory(r);
	if (r->stats)
		report_lines_stats(&r->lines);
	return 0;
}

static int run(struct report *r)
{
	int status = report_select_cpus(&r->select);

	if (!status)
		status = open_report(r);
	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	r->lines.escapes = !r->raw_strings && show_escapes(stdout);
	terminal_start();
	if (r->clock)
		print_clock(r);
	else if (print_head(r))
		status = is_latency(r->file) ? print_latency_text(r) : print_events(r);
	if (!status)
		status = check_output(r);
	return status || r->lines.write_error ? status : check_damage(r);
}

int cmd_report(int argc, char **argv)
{
	struct report r = { 0 };
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "read FILE; same as the operand", &r.input),
		OPT_FLAG('t', NULL, "print times in full nanoseconds", &r.print.full_ts),
		OPT_FLAG('R', NULL, "print the fields, not the event's own format", &r.print.raw),
		OPT_FLAG('l', NULL, "print the latency columns", &r.print.latency),
		OPT_LIST('F', NULL, "FILTER", "print events that match: 'io:* if fd == 3', or as trace-cmd: 'io/submit:fd == 3'",
			 &r.select.filters),
		OPT_STRING(0, "cpu", "LIST", "print events of these CPUs, as 0,2-5", &r.select.cpus),
		OPT_FLAG('I', NULL, "leave out events of hard interrupts", &r.select.no_hardirq),
		OPT_FLAG('S', NULL, "leave out events of soft interrupts", &r.select.no_softirq),
		OPT_FLAG(0, "ts-diff", "print the time since the event before", &r.print.ts_diff),
		OPT_FLAG(0, "nodate", "ignore the file's date offset", &r.no_date),
		OPT_FLAG(0, "raw-ts", "print times as stored in the file", &r.raw_ts),
		OPT_COLOR(r.color),
		OPT_FLAG(0, "raw-strings", "do not escape control characters on a terminal", &r.raw_strings),
		OPT_FLAG(0, "stats", "at the end, print on standard error how many events libtraceevent printed", &r.stats),
		OPT_FLAG('N', NULL, "do not load libtraceevent's plugins", &r.no_plugins),
		OPT_FLAG(0, "clock", "instead of the events print their clock, its error, and the kernel's offsets",
			 &r.clock),
		OPT_FLAG(0, "spans", "print spans, indented, with durations and the time not spent in inner ones", &r.spans),
		OPT_FLAG('q', NULL, "accepted because trace-cmd has it; does nothing", &r.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Print the events of FILE (by default trace.dat) as trace-cmd report does.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status)) {
		opt_list_free(&r.select.filters);
		return status;
	}
	if (r.input && operands[0]) {
		complain(COMMAND, "both '-i %s' and '%s' name the file", r.input, operands[0]);
		opt_list_free(&r.select.filters);
		return EXIT_USAGE;
	}
	terminal_use(r.color);
	r.path = r.input ? r.input : operands[0] ? operands[0] : "trace.dat";
	status = run(&r);
	close_report(&r);
	return status;
}
