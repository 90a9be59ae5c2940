/* SPDX-License-Identifier: MIT */
/*
 * recorder export: writes a trace.dat in the format of another viewer. The output is either complete or not written at
 * all.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/dat/dat_compress.h"
#include "format/dat/dat_gaps.h"
#include "format/dat/dat_merge.h"
#include "format/export/export.h"
#include "format/io/out_dir.h"
#include "format/io/out_file.h"

#include "cli/ask/why_overlay.h"
#include "cli/common/missing_parts.h"
#include "cli/common/output_error.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"

#define COMMAND "export"

static const struct {
	const char *option;
	const struct export_writer *writer;
} formats[] = {
	{ "--perfetto", &export_perfetto },
	{ "--chrome", &export_chrome },
	{ "--folded", &export_folded },
	{ "--ctf", &export_ctf },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct export {
	const char *path;
	const char *output; /* NULL: stdout */
	bool formats[NR_FORMATS];
	struct why_wanted why;
	struct overlay overlay;
	const struct export_writer *writer;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct export_trace trace;
	struct dat_merge *merge;
	struct export_out out;
	void *state; /* the writer's */
	struct dat_gaps gaps; /* only losses */
};

static int fail(const char *path, const char *text)
{
	complain(COMMAND, "%s: %s", path, text);
	return 1;
}

/* Report an error of the output; it is not a failure if the reader of the output is gone. */
static int fail_output(const struct export *e, int err)
{
	if (err == -EPIPE && !e->output)
		return 0;
	complain(COMMAND, "%s: cannot write: %s", e->output ? e->output : "standard output",
		 e->output ? output_error(e->output, err) : strerror(-err));
	return 1;
}

static int open_input(struct export *e)
{
	struct dat_error error = { 0 };
	int err;

	if (dat_open_rest(e->path, dat_compress_zstd(), &e->file, &error) || dat_check_events(e->file, &error) ||
	    dat_time_open(e->file, DAT_TIME_NO_DATE, &e->time, &error))
		return fail(e->path, error.text);
	err = trace_events_open(COMMAND, e->path, e->file, EVENT_NO_PLUGINS | EVENT_NAMES, &e->table);
	if (!err)
		err = export_trace_open(&e->trace, e->file, &e->time, e->table);
	if (!err)
		err = dat_merge_open(e->file, &e->time, NULL, NULL, &e->merge);
	e->trace.overlay = e->why.span ? &e->overlay : NULL;
	return err ? fail(e->path, strerror(-err)) : 0;
}

static void close_input(struct export *e)
{
	dat_merge_close(e->merge);
	export_trace_close(&e->trace);
	event_table_close(e->table);
	dat_time_close(&e->time);
	dat_close(e->file);
}

/* 0; -errno. */
static int write_events(struct export *e, int fd)
{
	struct dat_event event;
	int err, end;

	export_out_open(&e->out, fd);
	err = e->writer->open(&e->trace, &e->out, &e->state);
	while (!err && dat_merge_next(e->merge, &event)) {
		dat_gaps_note(&e->gaps, &event);
		err = e->writer->event(e->state, &event);
	}
	if (!err)
		err = e->writer->end(e->state);
	e->writer->close(e->state);
	end = export_out_close(&e->out);
	return err ? err : end;
}

/*
 * Report what the output lacks: ends of spans and, if the file is damaged, events. Losses are reported if the format
 * does not show them.
 */
static int check_damage(const struct export *e)
{
	struct dat_error error;
	uint32_t cpu;
	const uint64_t pages = dat_merge_damaged(e->merge, &error, &cpu);
	const struct trace_input input = { .command = COMMAND, .path = e->path };

	if (e->writer == &export_folded)
		trace_input_report_gaps(&input, &e->gaps);
	complain_given_up(COMMAND, e->path, e->trace.given_up);
	trace_report_absent(COMMAND, e->path, e->table);
	return complain_incomplete(COMMAND, e->path, e->file, pages, cpu, &error);
}

static int export_to_file(struct export *e)
{
	struct out_file file;
	int err = out_file_open(e->output, &file);

	if (err)
		return fail_output(e, err);
	err = write_events(e, file.fd);
	if (err)
		out_file_abandon(&file);
	else
		err = out_file_commit(&file);
	return err ? fail_output(e, err) : check_damage(e);
}

static int export_to_directory(struct export *e)
{
	struct out_dir dir;
	int err = out_dir_open(e->output, &dir);

	if (!err) {
		err = write_events(e, dir.fd);
		if (err)
			out_dir_abandon(&dir);
		else
			err = out_dir_commit(&dir);
	}
	if (err == -EEXIST) {
		complain(COMMAND, "%s: exists and is not an empty directory", e->output);
		return 1;
	}
	return err ? fail_output(e, err) : check_damage(e);
}

static int export_to_stdout(struct export *e)
{
	int err;

	signal(SIGPIPE, SIG_IGN);
	err = write_events(e, STDOUT_FILENO);
	return err ? fail_output(e, err) : check_damage(e);
}

static int check_command_line(struct export *e)
{
	const char *option = NULL;

	for (size_t i = 0; i < NR_FORMATS; i++) {
		if (!e->formats[i])
			continue;
		if (option) {
			complain(COMMAND, "%s and %s are given; one format at a time", option, formats[i].option);
			return EXIT_USAGE;
		}
		option = formats[i].option;
		e->writer = formats[i].writer;
	}
	if (!option) {
		complain(COMMAND, "no format is given, such as %s (see 'recorder export --help')", formats[0].option);
		return EXIT_USAGE;
	}
	if (e->why.span && e->writer != &export_perfetto) {
		complain(COMMAND, "--why is for --perfetto: %s has no tracks for it", option);
		return EXIT_USAGE;
	}
	if (e->why.slowest && !e->why.span) {
		complain(COMMAND, "--slowest needs --why SYSTEM:NAME");
		return EXIT_USAGE;
	}
	if (e->output && !strcmp(e->output, "-"))
		e->output = NULL;
	if (!e->output && e->writer->form == EXPORT_FORM_DIRECTORY) {
		complain(COMMAND, "%s makes a directory: name it with -o", option);
		return EXIT_USAGE;
	}
	if (!e->output && e->writer->form == EXPORT_FORM_BINARY && isatty(STDOUT_FILENO)) {
		complain(COMMAND, "%s writes no text: give a file with -o FILE", option);
		return EXIT_USAGE;
	}
	return 0;
}

static int write_all(struct export *e)
{
	int status = open_input(e);

	if (!status && e->writer->form == EXPORT_FORM_DIRECTORY)
		status = export_to_directory(e);
	else if (!status)
		status = e->output ? export_to_file(e) : export_to_stdout(e);
	close_input(e);
	return status;
}

/* The trace is read for the overlay first, so that an existing output is not replaced if there is no such span. */
static int run(struct export *e)
{
	int status = 0;

	if (e->output && complain_replaces_input(COMMAND, e->path, e->output))
		return EXIT_USAGE;
	e->why.slowest = e->why.slowest ? e->why.slowest : 1;
	if (e->why.span)
		status = why_overlay_read(COMMAND, e->path, DAT_TIME_NO_DATE, &e->why, &e->overlay);
	if (!status)
		status = write_all(e);
	why_overlay_free(&e->overlay);
	return status;
}

int cmd_export(int argc, char **argv)
{
	struct export e = { 0 };
	const char *input = NULL;
	const struct opt table[] = {
		OPT_FLAG(0, "perfetto", "for ui.perfetto.dev and Perfetto's trace processor", &e.formats[0]),
		OPT_FLAG(0, "chrome", "Chrome's trace events, JSON: for chrome://tracing, speedscope and others",
			 &e.formats[1]),
		OPT_FLAG(0, "folded", "stacks of spans with their own time in ns: for flamegraph.pl and others",
			 &e.formats[2]),
		OPT_FLAG(0, "ctf", "Common Trace Format 1.8, a directory: for babeltrace2 and Trace Compass",
			 &e.formats[3]),
		OPT_STRING(0, "why", "SPAN", "with --perfetto: show what took the time of the slowest of these spans",
			   &e.why.span),
		OPT_NUMBER(0, "slowest", "N", 1, UINT32_MAX, "with --why: show the N that took longest; default 1",
			   &e.why.slowest),
		OPT_STRING('o', "output", "FILE", "write to FILE; by default, or if it is '-', to standard output",
			   &e.output),
		OPT_STRING('i', "input", "FILE", "read FILE; same as the operand", &input),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Write the events of FILE (by default trace.dat) in the format of another viewer.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (input && operands[0]) {
		complain(COMMAND, "both '-i %s' and '%s' name the file", input, operands[0]);
		return EXIT_USAGE;
	}
	status = check_command_line(&e);
	if (status)
		return status;
	e.path = input ? input : operands[0] ? operands[0] : "trace.dat";
	return run(&e);
}
