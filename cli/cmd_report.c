/* SPDX-License-Identifier: MIT */
/*
 * recorder report: prints the events of a trace.dat as text, byte for byte what trace-cmd report prints for the same
 * file and flags; or as JSON, CSV or a summary. Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"

#include "cli/common/terminal.h"
#include "cli/report/report.h"

#define COMMAND "report"

/* The forms of output; at most one can be requested. */
struct forms {
	bool json;
	bool csv;
	bool summary;
	bool clock;
	bool spans;
	bool profile;
};

/* The requested form. NULL: several were requested, which was reported. */
static report_form choose_form(const struct forms *forms, const struct report_lists *lists)
{
	const struct {
		const char *option;
		bool wanted;
		report_form form;
	} all[] = {
		{ "--json", forms->json, report_json },
		{ "--csv", forms->csv, report_csv },
		{ "--summary", forms->summary, report_summary },
		{ "--clock", forms->clock, report_clock },
		{ "--spans", forms->spans, report_spans },
		{ "--profile", forms->profile, report_profile },
		{ "a list", report_lists_any(lists), report_list },
	};
	report_form form = report_text;
	const char *option = NULL;

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].wanted)
			continue;
		if (option) {
			complain(COMMAND, "%s and %s print different things; use one of them", option, all[i].option);
			return NULL;
		}
		option = all[i].option;
		form = all[i].form;
	}
	return form;
}

/* Options: the files that are read, and the columns of an event's line. */
#define OPT_REPORT_LINES(r, inputs)                                                                                    \
	OPT_LIST('i', "input", "FILE", "read FILE, same as the operand; several: merged by time", &(inputs)),          \
	OPT_FLAG('t', NULL, "print times in full nanoseconds", &(r).print.full_ts),                                    \
	OPT_FLAG('R', NULL, "print the fields, not the event's own format", &(r).print.raw),                           \
	OPT_LIST('r', NULL, "EVENTS", "print the fields of events whose name or system matches",                       \
		 &(r).handlers.raw),                                                                                   \
	OPT_LIST('n', NULL, "EVENTS", "print matching events by their formats, not by plugins",                        \
		 &(r).handlers.formats),                                                                               \
	OPT_FLAG('l', NULL, "print the latency columns", &(r).print.latency),                                          \
	OPT_FLAG('w', NULL, "print how long tasks waited after their wake-up", &(r).wakeups),                          \
	OPT_FLAG(0, "boundary", "print a line where a sub-buffer begins", &(r).print.boundary)

/* Options: which events are printed. */
#define OPT_REPORT_EVENTS(r, window)                                                                                   \
	OPT_LIST('F', NULL, "FILTER",                                                                                  \
		 "print events that match: 'io:* if fd == 3', or as trace-cmd: 'io/submit:fd == 3'",                   \
		 &(r).choice.filters),                                                                                 \
	OPT_LIST('v', NULL, NULL, "leave out the events that match the filters after it", &(r).choice.filters),        \
	OPT_FLAG('T', "filter-test", "instead of the events, print the filters for each event",                        \
		 &(r).test_filters),                                                                                   \
	OPT_LIST(0, "pid", "LIST", "print events of these tasks, and about them", &(r).choice.pids),                   \
	OPT_LIST(0, "comm", "LIST", "print events of the tasks with these names, and about them",                      \
		 &(r).choice.comms),                                                                                   \
	OPT_LIST(0, "cpu", "LIST", "print events of these CPUs: 0,2-5", &(r).choice.cpus),                             \
	OPT_LIST('B', NULL, "BUFFER",                                                                                  \
		 "print events of this buffer, or of those that match; 'top': the one without a name",                 \
		 &(r).choice.buffers),                                                                                 \
	OPT_FLAG('I', NULL, "leave out events of hard interrupts", &(r).choice.no_hardirq),                            \
	OPT_FLAG('S', NULL, "leave out events of soft interrupts", &(r).choice.no_softirq),                            \
	OPT_STRING(0, "since", "TIME",                                                                                 \
		   "begin at TIME: 12.5, +2s (from the start), -2s (from the end), 14:03:05, @EVENT",                  \
		   &(window)->since_text),                                                                             \
	OPT_STRING(0, "until", "TIME", "end at TIME; +2s is 2 seconds after the start, or after --since",              \
		   &(window)->until_text),                                                                             \
	OPT_NUMBER(0, "head", "N", 1, UINT64_MAX / 4, "print the first N of the selected events",                      \
		   &(window)->head),                                                                                   \
	OPT_NUMBER(0, "tail", "N", 1, UINT64_MAX / 4, "print the last N of the selected events", &(window)->tail),     \
	OPT_FLAG(0, "follow", "print events of a file that is being written, as they arrive",                          \
		 &(r).follow.wanted)

/* Options: the form of the output, and of times. */
#define OPT_REPORT_TIMES(r, forms, inputs, color)                                                                      \
	OPT_FLAG(0, "json", "print events as JSON, one object a line", &(forms).json),                                 \
	OPT_FLAG(0, "csv", "print events as CSV, one column for each field", &(forms).csv),                            \
	OPT_FLAG(0, "summary", "print numbers of events by event, task, process and CPU", &(forms).summary),           \
	OPT_FLAG(0, "ts-diff", "print the time since the previous event", &(r).print.ts_diff),                         \
	OPT_FLAG(0, "ts-check", "report times that are earlier than the previous one of the CPU", &(r).ts_check),      \
	OPT_LIST(0, "ts-offset", "N", "add N to the times of the file before it, in the unit of the clock",            \
		 &(inputs)),                                                                                           \
	OPT_LIST(0, "ts2secs", "HZ",                                                                                   \
		 "the clock of the file before it ticks at HZ; before the second -i: of all files", &(inputs)),        \
	OPT_FLAG(0, "align-ts", "print times from the first event on", &(r).align),                                    \
	OPT_FLAG(0, "nodate", "ignore the file's date offset", &(r).no_date),                                          \
	OPT_FLAG(0, "raw-ts", "print times as stored in the file", &(r).raw_ts),                                       \
	OPT_COLOR(color),                                                                                              \
	OPT_FLAG(0, "raw-strings", "do not escape control characters on a terminal", &(r).raw_strings),                \
	OPT_FLAG(0, "stats", "at the end, print on standard error how many events libtraceevent printed",              \
		 &(r).stats)

/* Options: how texts are made, and parts of the file that are printed instead of events. */
#define OPT_REPORT_LISTS(r, lists)                                                                                     \
	OPT_FLAG('N', NULL, "do not load libtraceevent's plugins", &(r).no_plugins),                                   \
	OPT_FLAG('L', NULL, "load only the user's own plugins", &(r).local_plugins),                                   \
	OPT_LIST('O', NULL, "OPTION", "an option of plugins: [PLUGIN:]NAME[=VALUE]", &(r).handlers.options),           \
	OPT_STRING(0, "kallsyms", "FILE", "functions, in addition to those in the file", &(r).handlers.kallsyms),      \
	OPT_FLAG('e', NULL, "print the byte order of the file, and of this machine", &(lists)->endian),                \
	OPT_FLAG('p', NULL, "print the page size of the file, and of this machine", &(lists)->page_size),              \
	OPT_FLAG('f', NULL, "print the functions in the file", &(lists)->functions),                                   \
	OPT_FLAG('P', NULL, "print the formats of printk in the file", &(lists)->printk),                              \
	OPT_FLAG('E', NULL, "print the names of the events that the file describes", &(lists)->events),                \
	OPT_FLAG(0, "events", "print the descriptions of events", &(lists)->formats),                                  \
	OPT_STRING(0, "event", "REGEX",                                                                                \
		   "print the descriptions of events whose SYSTEM:EVENT, or either name, matches",                     \
		   &(lists)->formats_of),                                                                              \
	OPT_FLAG(0, "check-events", "exit with status 22 if a description cannot be parsed", &(lists)->check),         \
	OPT_FLAG(0, "cpus", "print the CPUs that have events", &(lists)->cpus),                                        \
	OPT_FLAG(0, "first-event", "print the time of the first event of each CPU", &(lists)->first),                  \
	OPT_FLAG(0, "last-event", "print the time of the last event of each CPU", &(lists)->last),                     \
	OPT_FLAG(0, "stat", "print the kernel's statistics of the recording", &(lists)->stat),                         \
	OPT_FLAG(0, "uname", "print the kernel's uname, and the recorder's version", &(lists)->uname),                 \
	OPT_FLAG(0, "version", "print the recorder's version", &(lists)->version)

/* Options: what is computed from events. */
#define OPT_REPORT_SUMS(r, forms, quiet, verbose)                                                                      \
	OPT_FLAG(0, "clock", "instead of the events print their clock, its error, and the kernel's offsets",           \
		 &(forms).clock),                                                                                      \
	OPT_FLAG(0, "spans", "print spans, indented, with durations and own times",                                    \
		 &(forms).spans),                                                                                      \
	OPT_FLAG(0, "profile", "print where tasks spent their time in the kernel, as trace-cmd",                       \
		 &(forms).profile),                                                                                    \
	OPT_FLAG('G', NULL, "with --profile: interrupts belong to CPUs, not to tasks", &(r).profile_global),           \
	OPT_LIST('H', NULL, "HOOK",                                                                                    \
		 "with --profile: two events that begin and end something, EVENT,FIELD/EVENT,FIELD",                   \
		 &(r).profile_hooks),                                                                                  \
	OPT_FLAG(0, "by-comm", "with --profile: tasks of the same name as one", &(r).profile_by_comm),                 \
	OPT_FLAG('q', NULL, "accepted because trace-cmd has it; does nothing", &(quiet)),                              \
	OPT_MAYBE('V', "verbose", "LEVEL", "print messages: " VERBOSITY_WORDS, &(verbose)),                            \
	OPT_FLAG(0, "debug", "print where each event lies, and what lies between events", &(r).print.places)

int cmd_report(int argc, char **argv)
{
	struct report r = { .select.choice = &r.choice };
	struct report_window *window = &r.select.window;
	struct forms forms = { 0 };
	struct report_lists *lists = &r.lists;
	struct opt_list inputs = { 0 };
	const char *verbose = NULL;
	bool quiet = false;
	unsigned int color = 0;
	const struct opt table[] = {
		OPT_REPORT_LINES(r, inputs),
		OPT_REPORT_EVENTS(r, window),
		OPT_REPORT_TIMES(r, forms, inputs, color),
		OPT_REPORT_LISTS(r, lists),
		OPT_REPORT_SUMS(r, forms, quiet, verbose),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Print the events of FILE (by default trace.dat) as trace-cmd report does.\n",
		.table = table,
		.max_operands = 1,
	};
	report_form form = report_text;
	char **operands;
	int status = 0;

	if (opts_parse(&opts, argc, argv, &operands, &status)) {
		form = verbosity_read(verbose, &r.verbosity) ? choose_form(&forms, lists) : NULL;
		r.choice.lines = form == report_text;
		r.choice.spans = form == report_spans;
		if (form == report_json || form == report_csv)
			report_not_verbose(&r);
		terminal_use(color);
		status = form ? report_files(&r, &inputs, operands[0], form) : EXIT_USAGE;
	}
	opt_list_free(&inputs);
	report_options_free(&r);
	return status;
}
