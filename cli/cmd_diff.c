/* SPDX-License-Identifier: MIT */
/*
 * recorder diff: shows what changed between recordings. Its exit status is that of diff(1): 0: nothing changed; 1:
 * something changed; 2: a failure.
 */
#include "cli/cmd.h"

#include "cli/ask/diff_print.h"
#include "cli/ask/diff_sides.h"
#include "cli/common/missing_parts.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"
#include "format/diff/diff_collect.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "diff"

enum { STATUS_SAME, STATUS_CHANGED, STATUS_ERROR };

struct options {
	const char *threshold;
	bool all;
	bool json;
	unsigned int color;
};

/* What is true of the files that were read. */
struct files {
	bool is_any_cut; /* a file does not have all its parts */
	bool are_all_ns; /* the times of all files are nanoseconds */
};

/* -------------------------------------------------------------------------------------------------------- the files */

/* Returns 0; or STATUS_ERROR, and one line was printed. */
static int read_run(struct diff_collect *collect, unsigned int run, const char *path, struct files *files)
{
	struct dat_error error = { .text = "" };
	struct trace_input input;
	bool failed = trace_input_open(COMMAND, path, &input) != 0;
	int err;

	if (!failed) {
		err = diff_collect_run(collect, run, input.file, &input.time, input.table, &error);
		failed = err != 0;
		if (failed)
			complain(COMMAND, "%s: %s", path, error.text[0] ? error.text : strerror(-err));
	}
	if (!failed) {
		if (diff_collect_lost(collect, run))
			complain(COMMAND,
				 "%s: events were lost, so numbers of events are too low and spans are missing", path);
		trace_report_absent(COMMAND, path, input.table);
		complain_given_up(COMMAND, path, diff_collect_given_up(collect, run));
		files->are_all_ns &= trace_input_counts_ns(&input);
	}
	files->is_any_cut |= trace_input_close(&input, 0) != 0;
	return failed ? STATUS_ERROR : 0;
}

/* Flush standard output. Returns the exit status. It is not a failure if the reader has closed the pipe. */
static int check_output(int status)
{
	const int err = fflush(stdout) || ferror(stdout) ? errno : 0;

	if (!err)
		return status;
	/* Otherwise main() would report the failure again, with another status. */
	__fpurge(stdout);
	clearerr(stdout);
	if (err == EPIPE)
		return status;
	complain(COMMAND, "cannot write to standard output: %s", strerror(err));
	return STATUS_ERROR;
}

static int compare(const struct options *o, double threshold, struct diff_collect *collect, const unsigned int runs[2],
		   bool is_ns)
{
	const struct diff_options options = { .threshold = threshold };
	struct diff_result result = { 0 };
	size_t nr;
	const struct diff_series *series = diff_collect_series(collect, &nr);
	int status;

	if (diff_compare(series, nr, runs[0], runs[1], &options, &result)) {
		complain(COMMAND, "not enough memory");
		return STATUS_ERROR;
	}
	signal(SIGPIPE, SIG_IGN);
	terminal_start_answer();
	if (o->json)
		diff_print_json(&result, o->all);
	else
		diff_print_text(&result, runs, is_ns, o->all);
	status = check_output(result.nr_changed ? STATUS_CHANGED : STATUS_SAME);
	if (diff_sides_report(COMMAND, series, nr, runs, &result)) {
		complain(COMMAND, "not enough memory");
		status = STATUS_ERROR;
	}
	diff_result_free(&result);
	return status;
}

static int run(const struct options *o, double threshold, char **paths, const unsigned int runs[2])
{
	struct diff_collect *collect = NULL;
	struct files files = { .are_all_ns = true };
	int status = 0;

	if (diff_collect_open(runs[0] + runs[1], &collect)) {
		complain(COMMAND, "not enough memory");
		return STATUS_ERROR;
	}
	for (unsigned int i = 0; !status && i < runs[0] + runs[1]; i++)
		status = read_run(collect, i, paths[i], &files);
	if (!status)
		status = compare(o, threshold, collect, runs, files.are_all_ns);
	diff_collect_close(collect);
	/* The only change may be in the missing part of the file. */
	return files.is_any_cut ? STATUS_ERROR : status;
}

/* ------------------------------------------------------------------------------------------------- the command line */

/* The number of words after the first "--" of the command line; -1: there is no "--". */
static int count_after_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	}
	return -1;
}

/* Find out which files belong to which side. `after`: as count_after_dashes(). False: one line was printed. */
static bool read_sides(char **files, int after, unsigned int ret_runs[2])
{
	unsigned int nr = 0;

	while (files[nr])
		nr++;
	/* "-- A B", for names that begin with a dash. */
	if (nr == 2 && (after < 0 || after == 2))
		after = 1;
	if (after < 0) {
		complain(COMMAND, "%u files are given: separate the two sides by --: A1 A2 -- B1 B2", nr);
		return false;
	}
	if (after == 0 || (unsigned int)after >= nr) {
		complain(COMMAND, "no file %s --: A1 A2 -- B1 B2 expected", after ? "before" : "after");
		return false;
	}
	ret_runs[0] = nr - (unsigned int)after;
	ret_runs[1] = (unsigned int)after;
	return true;
}

static bool read_percent(const char *text, double *ret_fraction)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(value) || value < 0) {
		complain(COMMAND, "--threshold: a number of percent expected, not '%s'", text);
		return false;
	}
	*ret_fraction = value / 100;
	return true;
}

int cmd_diff(int argc, char **argv)
{
	struct options o = { 0 };
	const struct opt table[] = {
		OPT_STRING(0, "threshold", "PERCENT",
			   "report changes of at least PERCENT; default 2, see the manual page", &o.threshold),
		OPT_FLAG(0, "all", "print all comparisons, the changed ones first", &o.all),
		OPT_FLAG(0, "json", "print a JSON object a line", &o.json),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "A... [--] B...",
		.about =
			"Print what changed between two recordings A and B, or between several on each side: durations "
			"of\n"
			"spans, what they were spent on, waits after wake-ups, numbers of events; the most important "
			"change\n"
			"first. Exit status: 0 nothing changed, 1 something changed, 2 failure.\n",
		.table = table,
		.min_operands = 2,
		.max_operands = 10000,
	};
	const int after = count_after_dashes(argc, argv);
	unsigned int runs[2];
	double threshold = -1;
	char **files;
	int status;

	if (!opts_parse(&opts, argc, argv, &files, &status))
		return status;
	if (!read_sides(files, after, runs) || (o.threshold && !read_percent(o.threshold, &threshold)))
		return EXIT_USAGE;
	terminal_use(o.color);
	return run(&o, threshold, files, runs);
}
