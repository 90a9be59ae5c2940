/* SPDX-License-Identifier: MIT */
/* recorder assert: check assertions about a trace, for tests and continuous integration. */
#include "cli/cmd.h"

#include "cli/ask/assert_report.h"
#include "cli/ask/assert_sql.h"
#include "cli/common/missing_parts.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMAND		"assert"
#define EXPRESSIONS_MAX 1000u

struct options {
	struct opt_list sql;
	const char *junit;
	unsigned int color;
};

struct run {
	struct trace_input input;
	struct assertion *assertions;
	unsigned int nr, nr_expressions; /* the first nr_expressions are expressions; queries follow them */
	struct series_set *set;
	struct assert_losses losses;
	uint64_t begin; /* clock_ns() */
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* Report that the trace could not be read, or that memory is short. The exit status. */
static int fail(const struct run *run, const struct assertion *assertion, const struct assert_error *error)
{
	const struct message_sink sink = COMMAND_SINK(COMMAND);

	if (!error->column)
		return trace_input_fail_memory(&run->input);
	message(&sink, "'%s': %s (column %zu)", assertion->text, error->reason, error->column);
	message_caret(&sink, assertion->text, error->column);
	return EXIT_USAGE;
}

static int note_loss(void *arg, const struct dat_event *event)
{
	struct assert_losses *losses = arg;

	if (losses->nr < ASSERT_KEPT) {
		losses->places[losses->nr].ts = event->ts;
		losses->places[losses->nr].lost = event->lost;
		losses->places[losses->nr++].cpu = event->cpu;
	}
	return 0;
}

/* Parse the expressions before the file is read, so that an invalid one is reported at once. */
static int parse(struct run *run)
{
	struct assert_error error;

	for (unsigned int i = 0; i < run->nr_expressions; i++)
		if (assert_parse(run->assertions[i].text, &run->assertions[i].node, &error))
			return fail(run, &run->assertions[i], &error);
	return 0;
}

static int measure(struct run *run)
{
	struct assert_error error;

	if (series_set_open(run->input.file, &run->input.time, run->input.table, &run->set))
		return trace_input_fail_memory(&run->input);
	for (unsigned int i = 0; i < run->nr_expressions; i++)
		if (assert_prepare(run->assertions[i].node, run->set, &error))
			return fail(run, &run->assertions[i], &error);
	return series_set_run(run->set, note_loss, &run->losses) ? trace_input_fail_memory(&run->input) : 0;
}

static int decide(struct run *run)
{
	struct assert_trace trace = { .gaps = series_gaps(run->set),
				      .is_cut = run->input.file->missing.text[0],
				      .has_ns = run->input.time.seconds };
	uint64_t first, last;
	int status = 0;

	if (series_range(run->set, &first, &last) && trace.has_ns)
		trace.seconds = (double)(last - first) / 1e9;
	for (unsigned int i = 0; !status && i < run->nr; i++) {
		const uint64_t begin = clock_ns();

		if (run->assertions[i].is_sql)
			status = assert_sql_run(&run->assertions[i], &run->input);
		else if (assert_report(&run->assertions[i], &run->input, &trace, &run->losses))
			status = trace_input_fail_memory(&run->input);
		run->assertions[i].seconds = (double)(clock_ns() - begin) / 1e9;
	}
	return status;
}

/* --------------------------------------------------------------------------------------------------------- printing */

/*
 * Write the JUnit file. Also called if the trace cannot be read, or does not have something that an assertion names:
 * then some assertions are undecided.
 */
static int write_junit(const struct run *run, const char *path)
{
	const uint64_t pages = run->set ? series_gaps(run->set)->damaged : 0;
	char damage[64] = "";
	struct assert_suite suite = {
		.trace = run->input.path,
		.assertions = run->assertions,
		.nr = run->nr,
		.missing = run->input.file ? run->input.file->missing.text : "",
		.seconds = (double)(clock_ns() - run->begin) / 1e9,
	};
	int err;

	if (pages)
		snprintf(damage, sizeof(damage), "%" PRIu64 " damaged page%s", pages, pages == 1 ? "" : "s");
	if (!suite.missing[0])
		suite.missing = damage;
	err = assert_write_junit(path, &suite);
	if (err)
		complain(COMMAND, "cannot write '%s': %s", path, strerror(-err));
	return err ? EXIT_FAILURE : 0;
}

static void hint(const struct assertion *assertion)
{
	const struct assert_node *limit = assertion->unitless;
	const int size = limit ? (int)(limit->end - limit->begin) : 0;
	const char *written = limit ? assertion->text + limit->begin : "";

	if (limit)
		complain(COMMAND, "'%s': %.*s is %.12g ns; for milliseconds write %.*sms", assertion->text, size,
			 written, limit->number, size, written);
}

static int print(const struct run *run)
{
	int status = 0;

	signal(SIGPIPE, SIG_IGN);
	terminal_start_answer();
	for (unsigned int i = 0; i < run->nr; i++) {
		assert_print(&run->assertions[i]);
		hint(&run->assertions[i]);
		if (run->assertions[i].verdict != ASSERT_HOLDS)
			status = EXIT_FAILURE;
	}
	if (trace_input_report_gaps(&run->input, series_gaps(run->set)))
		status = EXIT_FAILURE;
	trace_report_absent(run->input.command, run->input.path, run->input.table);
	return status;
}

static int make_assertions(struct run *run, const struct options *o, char *const *expressions)
{
	while (expressions[run->nr_expressions])
		run->nr_expressions++;
	run->nr = run->nr_expressions + o->sql.nr;
	run->assertions = calloc(run->nr, sizeof(*run->assertions));
	if (!run->assertions)
		return trace_input_fail_memory(&run->input);
	for (unsigned int i = 0; i < run->nr; i++) {
		run->assertions[i].is_sql = i >= run->nr_expressions;
		run->assertions[i].text = i < run->nr_expressions ? expressions[i]
								  : o->sql.items[i - run->nr_expressions];
	}
	return 0;
}

static int run_assert(const struct options *o, const char *path, char *const *expressions)
{
	struct run run = { .input = { .command = COMMAND, .path = path }, .begin = clock_ns() };
	int status = make_assertions(&run, o, expressions);
	bool is_valid = false; /* the command line */

	if (!status) {
		status = parse(&run);
		is_valid = status != EXIT_USAGE;
	}
	if (!status)
		status = trace_input_open(COMMAND, path, &run.input);
	if (!status)
		status = measure(&run);
	if (!status)
		status = decide(&run);
	if (!status)
		status = print(&run);
	/* After a wrong command line there are no results. */
	if (o->junit && is_valid && write_junit(&run, o->junit) && !status)
		status = EXIT_FAILURE;
	for (unsigned int i = 0; run.assertions && i < run.nr; i++) {
		assert_free(run.assertions[i].node);
		free(run.assertions[i].body);
	}
	free(run.assertions);
	series_set_close(run.set);
	return trace_input_close(&run.input, status);
}

int cmd_assert(int argc, char **argv)
{
	struct options o = { 0 };
	const struct opt table[] = {
		OPT_LIST(0, "sql", "QUERY", "demand that QUERY selects no row; may be given several times", &o.sql),
		OPT_STRING(0, "junit", "FILE", "write the results as JUnit's XML, too", &o.junit),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE] EXPRESSION...",
		.about =
			"Check that expressions hold for a trace, such as 'p99(io:request) < 5ms && lost == 0'. FILE "
			"is the first\n"
			"operand if it names an existing file or ends in .dat, trace.dat otherwise.\n"
			"Exits with 1 if one does not hold.\n",
		.table = table,
		.max_operands = EXPRESSIONS_MAX,
	};
	const char *path;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status)) {
		opt_list_free(&o.sql);
		return status;
	}
	path = trace_input_path(&operands);
	terminal_use(o.color);
	if (o.junit && complain_replaces_input(COMMAND, path, o.junit)) {
		status = EXIT_USAGE;
	} else if (operands[0] || o.sql.nr) {
		status = run_assert(&o, path, operands);
	} else {
		complain(COMMAND, "missing EXPRESSION, such as 'lost == 0'");
		status = EXIT_USAGE;
	}
	opt_list_free(&o.sql);
	return status;
}
