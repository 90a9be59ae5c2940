/* SPDX-License-Identifier: MIT */
/*
 * recorder report: the events of a trace.dat as text, byte for byte what trace-cmd report prints for the same file and
 * flags; or as JSON, CSV or a summary. Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/report/profile.h"
#include "cli/report/report.h"
#include "format/dat/dat_compress.h"

#define COMMAND "report"

/* What is printed; at most one can be requested. */
struct forms {
	bool json;
	bool csv;
	bool summary;
	bool clock;
	bool spans;
	bool profile;
};

/* The exit status of the output: it is not a failure if its reader is gone. */
static int check_output(struct report *r)
{
	fflush(stdout);
	if (report_written(r))
		return 0;
	if (r->lines.write_error == EPIPE) {
		/* The reader of the output is gone; otherwise main() would report a failure. */
		__fpurge(stdout);
		clearerr(stdout);
		return 0;
	}
	complain(COMMAND, "%s: cannot write the report: %s", r->path, strerror(r->lines.write_error));
	return 1;
}

static bool is_top(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	(void)arg;
	(void)cpu;
	return !buffer->name[0];
}

/* Times from the first event of all files on: of the buffers without names, as trace-cmd. */
static int align(struct report *all, unsigned int nr)
{
	uint64_t first = UINT64_MAX;

	for (unsigned int i = 0; i < nr; i++) {
		struct dat_merge *merge;
		struct dat_event event;

		if (dat_merge_open(all[i].file, &all[i].time, is_top, NULL, &merge))
			return -ENOMEM;
		if (dat_merge_next(merge, &event) && event.ts < first)
			first = event.ts;
		dat_merge_close(merge);
	}
	for (unsigned int i = 0; i < nr && first != UINT64_MAX; i++)
		dat_time_adjust(&all[i].time, (int64_t)(0 - first), 0);
	return 0;
}

static int open_report(struct report *r)
{
	struct dat_error error = { 0 };
	const unsigned int flags = (r->no_date ? DAT_TIME_NO_DATE : 0) | (r->raw_ts ? DAT_TIME_RAW : 0);
	int err, status = report_select_cpus(&r->select);

	if (status)
		return status;
	if (r->follow.wanted)
		status = report_follow_open(r);
	else if (dat_open_rest(r->path, dat_compress_zstd(), &r->file, &error))
		return report_fail(r, &error);
	if (status)
		return status;
	if (dat_time_open(r->file, flags, &r->time, &error))
		return report_fail(r, &error);
	dat_time_adjust(&r->time, r->ts_offset, r->hz);
	r->print.hz_given = r->hz;
	report_verbose(r);
	err = event_table_open(r->file,
			       (r->no_plugins ? EVENT_NO_PLUGINS : 0) | (r->local_plugins ? EVENT_LOCAL_PLUGINS : 0) |
				       EVENT_LOG(r->verbosity > VERBOSITY_CRITICAL ? r->verbosity : VERBOSITY_NONE),
			       &r->table);
	if (err) {
		snprintf(error.text, sizeof(error.text), "cannot parse the event formats: %s", strerror(-err));
		return report_fail(r, &error);
	}
	status = report_handlers_apply(&r->handlers, r->table);
	if (status)
		return status;
	if (event_printer_open(&r->printer, r->file, &r->time, r->table, &r->print))
		return report_fail_memory(r);
	return report_select_open(&r->select, r->file, &r->time, r->table);
}

static void close_report(struct report *r)
{
	report_select_close(&r->select);
	if (r->table)
		event_printer_close(&r->printer);
	event_table_close(r->table);
	dat_time_close(&r->time);
	dat_close(r->file);
	report_follow_close(&r->follow);
}

void report_options_free(struct report *r)
{
	opt_list_free(&r->choice.filters);
	opt_list_free(&r->choice.buffers);
	opt_list_free(&r->choice.cpus);
	opt_list_free(&r->choice.pids);
	opt_list_free(&r->choice.comms);
	report_handlers_free(&r->handlers);
	opt_list_free(&r->profile_hooks);
}

/* A latency tracer's text is one piece, and the only one. */
static int check_latency(const struct report *r, report_form form, unsigned int nr)
{
	const struct report_window *window = &r->select.window;

	if (form == report_text && nr == 1 && !window->since_text && !window->until_text && !window->head &&
	    !window->tail)
		return 0;
	complain(COMMAND, "%s: the file has the text of a latency tracer, of which no events can be selected", r->path);
	return EXIT_FAILURE;
}

/* What precedes the first event of each file. */
static int open_all(struct report *all, unsigned int nr, report_form form)
{
	const bool events = form != report_clock && form != report_list;
	int status = report_handlers_options(&all->handlers);

	for (unsigned int i = 0; !status && i < nr; i++) {
		status = open_report(&all[i]);
		if (!status && (events || all->lists.cpus))
			report_verbose_cpus(&all[i], false);
	}
	if (!status && all->align && align(all, nr))
		status = report_fail_memory(all);
	for (unsigned int i = 0; !status && events && i < nr; i++)
		status = report_is_latency(&all[i]) ? check_latency(&all[i], form, nr) : report_window_open(&all[i]);
	return status;
}

static int print_all(struct report *all, unsigned int nr, report_form form)
{
	uint64_t head = all->select.window.head;

	if (nr == 1)
		return form(all);
	if (form == report_list)
		return report_list_several(all, nr);
	return report_several(all, nr, head);
}

static int run(struct report *all, unsigned int nr, report_form form)
{
	int status = open_all(all, nr, form);

	if (status)
		return all->follow.ended ? 0 : status;
	if (all->test_filters && all->choice.filters.nr)
		return report_handlers_test(&all->choice.filters, all->table);
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < nr; i++)
		all[i].lines.escapes = !all->raw_strings && show_escapes(stdout);
	if (!all->follow.wanted)
		terminal_start();
	status = print_all(all, nr, form);
	for (unsigned int i = 0; i < nr; i++) {
		if (!status && report_missing(&all[i]))
			status = EXIT_FAILURE;
	}
	return status ? status : check_output(all);
}

/* A number with its sign. */
static bool read_number(const char *option, const char *text, int64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoll(text, &end, 10);
	if (!errno && end != text && !*end)
		return true;
	complain(COMMAND, "--%s '%s' is not a whole number", option, text);
	return false;
}

/* NULL: several were requested, which was reported. */
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

/* The files, with the options for each: a time option is for the file before it. */
static int read_inputs(struct report *options, const struct opt_list *inputs, const char *operand, struct report *all,
		       unsigned int nr)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < nr; i++)
		all[i] = *options;
	for (unsigned int i = 0; i < inputs->nr; i++) {
		const char *name = inputs->opts[i]->name, *text = inputs->items[i];
		int64_t number = 0;

		if (inputs->opts[i]->letter == 'i') {
			all[next++].path = text;
			continue;
		}
		if (!read_number(name, text, &number))
			return EXIT_USAGE;
		if (!strcmp(name, "ts-offset")) {
			all[next ? next - 1 : 0].ts_offset = number;
			continue;
		}
		if (number <= 0) {
			complain(COMMAND, "--ts2secs '%s' is not a frequency", text);
			return EXIT_USAGE;
		}
		/* Before the second file it is for all that have none of their own, as with trace-cmd. */
		for (unsigned int n = next > 1 ? next - 1 : 0; n < (next > 1 ? next : nr); n++)
			all[n].hz = (uint64_t)number;
	}
	if (!next)
		all->path = operand ? operand : "trace.dat";
	else if (operand) {
		complain(COMMAND, "both '-i %s' and '%s' name the file", all->path, operand);
		return EXIT_USAGE;
	}
	return 0;
}

/* The reason why events cannot be printed as they arrive; NULL: they can. */
static const char *unfollowed(const struct report *r, report_form form, unsigned int nr)
{
	const struct {
		const char *what;
		bool wanted;
	} all[] = {
		{ "several files", nr > 1 },
		{ "--csv", form == report_csv },
		{ "--summary", form == report_summary },
		{ "--spans", form == report_spans },
		{ "--profile", form == report_profile },
		{ "--clock", form == report_clock },
		{ "an option that lists parts of the file", form == report_list },
		{ "--since", r->select.window.since_text },
		{ "--until", r->select.window.until_text },
		{ "--tail", r->select.window.tail },
		{ "--align-ts", r->align },
	};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].wanted)
			return all[i].what;
	return NULL;
}

/* Check that the options do not contradict each other. 0 or the exit status. */
static int check_options(const struct report *r, report_form form, unsigned int nr)
{
	const char *unfit = r->follow.wanted ? unfollowed(r, form, nr) : NULL;

	if (unfit) {
		complain(COMMAND, "--follow prints events as they arrive; it cannot be used with %s", unfit);
		return EXIT_USAGE;
	}
	if (r->select.window.head && r->select.window.tail) {
		complain(COMMAND, "--head and --tail exclude each other");
		return EXIT_USAGE;
	}
	if (form != report_profile && (r->profile_global || r->profile_by_comm || r->profile_hooks.nr)) {
		complain(COMMAND, "-G, -H and --by-comm need --profile");
		return EXIT_USAGE;
	}
	if (form == report_profile && profile_hooks_check(&r->profile_hooks))
		return EXIT_USAGE;
	if (nr > 1 &&
	    ((form != report_text && form != report_list) || r->select.window.tail || r->wakeups || r->ts_check)) {
		complain(COMMAND, "several files can only be printed as text, without --tail, -w and --ts-check");
		return EXIT_USAGE;
	}
	return 0;
}

static unsigned int count_inputs(const struct opt_list *inputs)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < inputs->nr; i++)
		nr += inputs->opts[i]->letter == 'i';
	return nr ? nr : 1;
}

int report_files(struct report *options, const struct opt_list *inputs, const char *operand, report_form form)
{
	const unsigned int nr = count_inputs(inputs);
	struct report *all = calloc(nr, sizeof(*all));
	int status = all ? 0 : report_fail_memory(options);

	if (!status)
		status = read_inputs(options, inputs, operand, all, nr);
	if (!status)
		status = check_options(options, form, nr);
	if (!status)
		status = run(all, nr, form);
	for (unsigned int i = 0; all && i < nr; i++)
		close_report(&all[i]);
	free(all);
	return status;
}

/* The options: what is read, and what the line of an event has. */
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

/* Which events are printed. */
#define OPT_REPORT_EVENTS(r, window)                                                                                   \
	OPT_LIST('F', NULL, "FILTER",                                                                                  \
		 "print events that match: 'io:* if fd == 3', or as trace-cmd: 'io/submit:fd == 3'",                   \
		 &(r).choice.filters),                                                                                 \
	OPT_LIST('v', NULL, NULL, "leave out the events that match the filters after it", &(r).choice.filters),        \
	OPT_FLAG('T', "filter-test", "print the filters as each event has them, instead of the events",                \
		 &(r).test_filters),                                                                                   \
	OPT_LIST(0, "pid", "LIST", "print events of these tasks, and about them", &(r).choice.pids),                   \
	OPT_LIST(0, "comm", "LIST", "print events of the tasks with these names, and about them",                      \
		 &(r).choice.comms),                                                                                   \
	OPT_LIST(0, "cpu", "LIST", "print events of these CPUs, as 0,2-5", &(r).choice.cpus),                          \
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

/* In what form they are printed, and which times they have. */
#define OPT_REPORT_TIMES(r, forms, inputs, color)                                                                      \
	OPT_FLAG(0, "json", "print events as JSON, one object a line", &(forms).json),                                 \
	OPT_FLAG(0, "csv", "print events as CSV, one column for each field", &(forms).csv),                            \
	OPT_FLAG(0, "summary", "print numbers of events by event, task, process and CPU", &(forms).summary),           \
	OPT_FLAG(0, "ts-diff", "print the time since the previous event", &(r).print.ts_diff),                         \
	OPT_FLAG(0, "ts-check", "report times that are earlier than the previous one of the CPU", &(r).ts_check),      \
	OPT_LIST(0, "ts-offset", "N", "add N to the times of the file before it, in the unit of the clock",            \
		 &(inputs)),                                                                                           \
	OPT_LIST(0, "ts2secs", "HZ",                                                                                   \
		 "HZ of the clock of the file before it; before the second -i: of all files", &(inputs)),              \
	OPT_FLAG(0, "align-ts", "print times from the first event on", &(r).align),                                    \
	OPT_FLAG(0, "nodate", "ignore the file's date offset", &(r).no_date),                                          \
	OPT_FLAG(0, "raw-ts", "print times as stored in the file", &(r).raw_ts),                                       \
	OPT_COLOR(color),                                                                                              \
	OPT_FLAG(0, "raw-strings", "do not escape control characters on a terminal", &(r).raw_strings),                \
	OPT_FLAG(0, "stats", "at the end, print on standard error how many events libtraceevent printed",              \
		 &(r).stats)

/* How texts are made; parts of the file that are printed instead of events. */
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
	OPT_FLAG(0, "uname", "print the kernel, and the recorder's version", &(lists)->uname),                         \
	OPT_FLAG(0, "version", "print the recorder's version", &(lists)->version)

/* What is computed from events. */
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
		r.print.boundary = r.print.boundary || r.print.places;
		r.choice.lines = form == report_text;
		if (form == report_json || form == report_csv)
			report_not_verbose(&r);
		terminal_use(color);
		status = form ? report_files(&r, &inputs, operands[0], form) : EXIT_USAGE;
	}
	opt_list_free(&inputs);
	report_options_free(&r);
	return status;
}
