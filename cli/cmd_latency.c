/* SPDX-License-Identifier: MIT */
/* recorder latency: shows how long spans, system calls and wake-ups take, and the time from one event to another. */
#include "cli/cmd.h"

#include "cli/ask/hist_print.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "latency"

struct options {
	const char *key;
	bool json, svg;
	unsigned int color;
};

/* Make the title, "io:submit -> io:complete by id". False: out of memory. */
static bool make_name(const struct series_spec *spec, struct blob *name)
{
	blob_printf(name, "%s", spec->name);
	if (spec->to)
		blob_printf(name, " -> %s", spec->to);
	if (spec->field)
		blob_printf(name, " by %s", spec->field);
	blob_put(name, "", 1);
	return !name->error;
}

static int add_value(void *arg, const struct series_point *point)
{
	return hist_add(arg, point->value);
}

static int print(const struct options *o, const struct hist_shown *shown)
{
	signal(SIGPIPE, SIG_IGN);
	terminal_start();
	if (o->json)
		return hist_print_json(shown);
	if (o->svg)
		hist_print_svg(shown);
	else
		hist_print_text(shown);
	return 0;
}

/* Report that there is no duration. A frequent reason is that B follows A on another thread. */
static void complain_empty(const struct trace_input *input, const struct series_spec *spec,
			   const struct series_counts *counts)
{
	if (spec->to && !spec->field && counts->no_begin && counts->no_end)
		complain(COMMAND,
			 "%s: there is nothing to measure; if %s and %s are on different threads, pair them by a "
			 "field (-k FIELD)",
			 input->path, spec->name, spec->to);
	else
		complain(COMMAND, "%s: there is nothing to measure", input->path);
}

/* Measure and print the durations. Returns the exit status. */
static int measure(const struct trace_input *input, const struct options *o, const struct series_spec *spec,
		   struct hist *hist, struct series_set *set)
{
	struct blob name = BLOB_INIT;
	struct hist_shown shown = { .of = spec->to ? "times" : "latencies",
				    .is_ns = input->time.seconds,
				    .hist = hist };
	struct series_error error;
	struct series *series;
	int status, err = series_add(set, spec, add_value, hist, &series, &error);

	if (err == -EINVAL) {
		complain(COMMAND, "%s: %s", input->path, error.reason);
		return EXIT_FAILURE;
	}
	if (!err)
		err = series_set_run(set, NULL, NULL);
	if (!err && !make_name(spec, &name))
		err = -ENOMEM;
	if (!err) {
		shown.name = (const char *)name.data;
		shown.counts = series_counts(series);
		shown.gaps = series_gaps(set);
		err = print(o, &shown);
	}
	blob_free(&name);
	if (err)
		return trace_input_fail_memory(input);
	status = trace_input_report_gaps(input, series_gaps(set));
	trace_report_absent(input->command, input->path, input->table);
	if (!hist->count)
		complain_empty(input, spec, series_counts(series));
	return hist->count ? status : EXIT_FAILURE;
}

static int run(const struct options *o, const char *path, const struct series_spec *spec)
{
	struct trace_input input;
	struct series_set *set = NULL;
	struct hist hist = HIST_INIT;
	int status = trace_input_open(COMMAND, path, &input);

	if (!status && series_set_open(input.file, &input.time, input.table, &set))
		status = trace_input_fail_memory(&input);
	if (!status)
		status = measure(&input, o, spec, &hist, set);
	hist_free(&hist);
	series_set_close(set);
	return trace_input_close(&input, status);
}

int cmd_latency(int argc, char **argv)
{
	struct options o = { 0 };
	const struct opt table[] = {
		OPT_STRING('k', "key", "FIELD",
			   "pair A with the B that has the same FIELD; by default, on the same thread", &o.key),
		OPT_FLAG(0, "json", "print a JSON object with all buckets", &o.json),
		OPT_FLAG(0, "svg", "write a picture to standard output", &o.svg),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE] SPAN|A B",
		.about =
			"Print how long spans take, or the time from event A to B: count, percentiles, a histogram.\n"
			"SPAN is SYSTEM:NAME or NAME; a system call such as sys_read; or wakeup, from waking a thread "
			"until it runs.\n"
			"FILE is the first operand if it names an existing file or ends in .dat, trace.dat "
			"otherwise.\n",
		.table = table,
		.min_operands = 1,
		.max_operands = 3,
	};
	struct series_spec spec = { .kind = SERIES_SPAN };
	const char *path;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (o.json && o.svg) {
		complain(COMMAND, "--json and --svg exclude each other");
		return EXIT_USAGE;
	}
	path = operands[1] || trace_input_has_suffix(operands[0]) ? trace_input_path(&operands) : "trace.dat";
	if (!operands[0]) {
		complain(COMMAND, "missing SPAN, or A and B, after '%s' (see 'recorder latency --help')", path);
		return EXIT_USAGE;
	}
	spec.name = operands[0];
	spec.to = operands[1];
	spec.field = o.key;
	if (operands[1] && operands[2]) {
		complain(COMMAND, "%s: there is no such file; FILE A B expected", operands[0]);
		return EXIT_USAGE;
	}
	if (spec.field && !spec.to) {
		complain(COMMAND, "-k is for two events; SPAN needs no key");
		return EXIT_USAGE;
	}
	if (spec.to)
		spec.kind = SERIES_PAIR;
	terminal_use(o.color);
	return run(&o, path, &spec);
}
