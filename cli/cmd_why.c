/* SPDX-License-Identifier: MIT */
/*
 * recorder why: shows why a span took its time. Every nanosecond of it belongs to one class, and the chain of wake-ups
 * shows for which thread it waited.
 */
#include "cli/cmd.h"

#include "cli/ask/why_choose.h"
#include "cli/ask/why_print.h"
#include "cli/base/duration.h"
#include "cli/common/missing_parts.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "why"

struct options {
	struct why_wanted wanted;
	const char *over;
	bool json;
	bool path;
	unsigned int color;
};

/* ------------------------------------------------------------------------------------------------------------- main */

static bool is_number(const char *text)
{
	text += *text == '-';
	return *text && !text[strspn(text, "0123456789")];
}

/* Read --over as a number of ticks: digits alone. */
static bool read_ticks(const char *text, uint64_t *ret_ticks)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_ticks = strtoull(text, &end, 10);
	return !errno && !*end;
}

/* Read --over, whose unit depends on the clock of the file. 0; or the exit status, and one line was printed. */
static int read_over(const struct options *o, const struct why *why, uint64_t *ret_over)
{
	const bool counts_ns = why_counts_ns(why);
	uint64_t over;

	if (!o->over)
		return 0;
	if (counts_ns ? !duration_read_ns(o->over, &over) : !read_ticks(o->over, &over)) {
		complain(COMMAND, "--over: a %s expected, not '%s'",
			 counts_ns ? "time such as 5ms" : "whole number of the clock's ticks", o->over);
		return EXIT_USAGE;
	}
	*ret_over = over;
	return 0;
}

/* Report what would improve the answers, and what may make them wrong. Returns the exit status. */
static int print_notes(const struct options *o, const char *path, const struct why_trace *trace)
{
	const struct trace_input input = {
		.command = COMMAND, .path = path, .file = trace->file, .time = trace->time
	};
	struct why *why = trace->why;
	const char *missing = why_missing(why);

	if (*missing && o->json)
		complain(COMMAND, "for better answers record these events, too: %s", missing);
	else if (*missing)
		printf("For better answers record these events, too: %s\n", missing);
	if (why_lacks_threads(why) && o->json)
		complain(COMMAND, "for better answers keep all threads: record without -F and -P, split without --pid "
				  "and --comm");
	else if (why_lacks_threads(why))
		printf("For better answers keep all threads: record without -F and -P, split without --pid and "
		       "--comm\n");
	trace_input_counts_ns(&input);
	return trace_input_report_gaps(&input, why_gaps(why));
}

static int run(const struct options *o, const char *path)
{
	struct why_trace trace = { 0 };
	struct why_chosen chosen = { 0 };
	struct why_wanted wanted = o->wanted;
	int status = why_trace_open(COMMAND, path, 0, &trace);

	trace_report_left_out(COMMAND, path, trace.table);
	if (!status)
		status = read_over(o, trace.why, &wanted.over);
	if (!status)
		status = why_choose(COMMAND, trace.why, &wanted, &chosen);
	signal(SIGPIPE, SIG_IGN);
	if (!status)
		terminal_start();
	for (size_t i = 0; !status && i < chosen.nr && !ferror(stdout); i++) {
		if (o->json)
			status = why_print_json(trace.why, chosen.spans[i]);
		else
			status = why_print_text(trace.why, chosen.spans[i], o->path);
		if (status)
			complain(COMMAND, "not enough memory");
	}
	if (trace.why) {
		if (print_notes(o, path, &trace) && !status)
			status = EXIT_FAILURE;
		if (complain_missing(COMMAND, path, trace.file) && !status)
			status = EXIT_FAILURE;
	}
	free(chosen.spans);
	why_trace_close(&trace);
	return status;
}

int cmd_why(int argc, char **argv)
{
	struct options o = { .path = false };
	const struct opt table[] = {
		OPT_STRING(0, "span", "SPAN", "explain spans of this name: system:name, or name", &o.wanted.span),
		OPT_NUMBER(0, "slowest", "N", 1, UINT32_MAX,
			   "explain the N that took longest; default 1, with --id or --over all", &o.wanted.slowest),
		OPT_STRING(0, "id", "X", "explain those with this key, field 'id' or first number", &o.wanted.id),
		OPT_STRING(0, "over", "TIME", "explain those that took longer than TIME: 5ms, 20us, 1.5s", &o.over),
		OPT_FLAG(0, "path", "print all pieces in time order", &o.path),
		OPT_FLAG(0, "json", "print a JSON object a line, with all pieces", &o.json),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "--span SPAN [FILE]",
		.about =
			"Explain why a span took its time: every nanosecond of it was spent running, waiting for a "
			"CPU, blocked,\n"
			"interrupted, or is unknown. FILE is trace.dat by default; record it with -e sched -e "
			"raw_syscalls -e irq\n"
			"-e timer -e block beside the program's events.\n",
		.table = table,
		.max_operands = 1,
	};
	uint64_t over;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!o.wanted.span) {
		complain(COMMAND, "which span? --span SYSTEM:NAME expected");
		return EXIT_USAGE;
	}
	if (o.wanted.id && !is_number(o.wanted.id)) {
		complain(COMMAND, "--id: a number expected, not '%s'", o.wanted.id);
		return EXIT_USAGE;
	}
	if (o.over && !duration_read_ns(o.over, &over) && !read_ticks(o.over, &over)) {
		complain(COMMAND, "--over: a time such as 5ms expected, not '%s'", o.over);
		return EXIT_USAGE;
	}
	o.wanted.is_over = o.over;
	terminal_use(o.color);
	return run(&o, operands[0] ? operands[0] : "trace.dat");
}
