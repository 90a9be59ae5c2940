/* SPDX-License-Identifier: MIT */
/*
 * The files of a report: checks that the options fit them, opens them, prints them in the requested form, and closes
 * them.
 */
#include "cli/report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/file_limit.h"
#include "cli/common/opts.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/report/profile.h"
#include "format/dat/dat_compress.h"

/* Flush the output and return the exit status. It is not a failure if the reader is gone. */
static int check_output(struct report *r)
{
	fflush(stdout);
	if (report_written(r))
		return 0;
	if (r->lines.write_error == EPIPE) {
		/* The reader of the output is gone. Without this, main() would report a failure. */
		__fpurge(stdout);
		clearerr(stdout);
		return 0;
	}
	complain(opts_command(), "%s: cannot write the report: %s", r->path, strerror(r->lines.write_error));
	return 1;
}

static bool is_top(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	(void)arg;
	(void)cpu;
	return !buffer->name[0];
}

/* Make times relative to the first event of all files, in the buffers without names, as with trace-cmd. */
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
	unsigned int parse, flags = (r->no_date ? DAT_TIME_NO_DATE : 0) | (r->raw_ts ? DAT_TIME_RAW : 0);
	int err = 0, status = report_select_cpus(&r->select);

	if (status)
		return status;
	if (r->follow.wanted)
		status = report_follow_open(r);
	else
		err = dat_open_rest(r->path, dat_compress_zstd(), &r->file, &error);
	if (err)
		return report_fail_open(r, err, &error);
	if (status)
		return status;
	if (dat_time_open(r->file, flags, &r->time, &error))
		return report_fail(r, &error);
	dat_time_adjust(&r->time, r->ts_offset, r->hz);
	r->print.hz_given = r->hz;
	r->print.boundary = r->print.boundary || r->print.places;
	report_verbose(r);
	parse = (r->no_plugins ? EVENT_NO_PLUGINS : 0) | (r->local_plugins ? EVENT_LOCAL_PLUGINS : 0) |
		EVENT_FUNCTIONS_LATER | EVENT_NAMES |
		EVENT_LOG(r->verbosity > VERBOSITY_CRITICAL ? r->verbosity : VERBOSITY_NONE);
	err = trace_events_open(opts_command(), r->path, r->file, parse, &r->table);
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

/* Check that the text of a latency tracer is the only file, because it cannot be merged. */
static int check_latency(const struct report *r, report_form form, unsigned int nr)
{
	const struct report_window *window = &r->select.window;

	if (form == report_text && nr == 1 && !window->since_text && !window->until_text && !window->head &&
	    !window->tail)
		return 0;
	complain(opts_command(), "%s: the file has the text of a latency tracer, of which no events can be selected",
		 r->path);
	return EXIT_FAILURE;
}

/* Print the lines before the first event of each file. */
static int open_all(struct report *all, unsigned int nr, report_form form)
{
	const bool events = form != report_clock && form != report_list;
	int status = report_handlers_options(&all->handlers);

	for (unsigned int i = 0; !status && i < nr; i++) {
		status = open_report(&all[i]);
		if (!status && (events || all->lists.cpus))
			report_verbose_cpus(&all[i], false);
	}
	/* --first-event and --last-event print the times of the file, as with trace-cmd. */
	if (!status && all->align && form != report_list && align(all, nr))
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

/*
 * Report that the tasks or times that were given select nothing: otherwise there would be no output, without a reason.
 * This is no failure, as with trace-cmd.
 */
static void report_nothing(const struct report *all, unsigned int nr, report_form form)
{
	const struct report_window *window = &all->select.window;

	if (form == report_list || form == report_clock || all->lines.write_error ||
	    (!all->select.tasks.nr && !window->since_text && !window->until_text))
		return;
	for (unsigned int i = 0; i < nr; i++)
		if (all[i].select.window.selected || report_is_latency(&all[i]))
			return;
	complain(opts_command(), "%s: no %s is selected", nr == 1 ? all->path : "all files",
		 form == report_spans ? "span" : "event");
}

static int run(struct report *all, unsigned int nr, report_form form)
{
	int status;

	if (nr > 1)
		file_limit_raise();
	status = open_all(all, nr, form);
	if (status)
		return all->follow.ended ? 0 : status;
	if (all->test_filters && (all->choice.filters.nr || all->select.tasks.nr))
		return report_handlers_test(&all->choice.filters, &all->select.tasks, all->table);
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
	if (!status)
		status = check_output(all);
	if (!status)
		report_nothing(all, nr, form);
	return status;
}

/* Read a number with its sign. */
static bool read_number(const char *option, const char *text, int64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoll(text, &end, 10);
	if (!errno && end != text && !*end)
		return true;
	complain(opts_command(), "--%s '%s' is not a whole number", option, text);
	return false;
}

/* Read the files, with the options for each: a time option applies to the file before it. */
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
			complain(opts_command(), "--ts2secs '%s' is not a frequency", text);
			return EXIT_USAGE;
		}
		/*
		 * A time option before the second file applies to all files without one of their own, as with
		 * trace-cmd.
		 */
		for (unsigned int n = next > 1 ? next - 1 : 0; n < (next > 1 ? next : nr); n++)
			all[n].hz = (uint64_t)number;
	}
	if (!next)
		all->path = operand ? operand : "trace.dat";
	else if (operand) {
		complain(opts_command(), "both '-i %s' and '%s' name the file", all->path, operand);
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

/* The forms of the report, as bits. */
enum {
	TEXT = 1 << 0,
	SPANS = 1 << 1,
	JSON = 1 << 2,
	CSV = 1 << 3,
	SUMMARY = 1 << 4,
	PROFILE = 1 << 5,
	CLOCK = 1 << 6,
	LISTS = 1 << 7,
	EVENTS = TEXT | SPANS | JSON | CSV | SUMMARY | PROFILE,
};

static const struct form {
	report_form print;
	unsigned int bit;
	const char *name;
} forms[] = {
	{ report_text, TEXT, "the text" },
	{ report_spans, SPANS, "--spans" },
	{ report_json, JSON, "--json" },
	{ report_csv, CSV, "--csv" },
	{ report_summary, SUMMARY, "--summary" },
	{ report_profile, PROFILE, "--profile" },
	{ report_clock, CLOCK, "--clock" },
	{ report_list, LISTS, "an option that lists parts of the file" },
};

/*
 * An option that would have no effect on the form; NULL: there is none. With a list, trace-cmd's options are accepted,
 * because trace-cmd accepts them.
 */
static const char *ignored(const struct report *r, unsigned int form)
{
	const struct report_window *window = &r->select.window;
	const struct {
		const char *option;
		bool given;
		unsigned int forms; /* those that take it */
	} all[] = {
		{ "-R", r->print.raw, TEXT | SPANS | JSON | LISTS },
		{ "-r", r->handlers.raw.nr, TEXT | SPANS | JSON | LISTS },
		{ "-n", r->handlers.formats.nr, TEXT | SPANS | JSON | LISTS },
		{ "-l", r->print.latency, TEXT | SPANS | LISTS },
		{ "-t", r->print.full_ts, TEXT | SPANS | SUMMARY | LISTS },
		{ "--ts-diff", r->print.ts_diff, TEXT | SPANS | LISTS },
		{ "-w", r->wakeups, TEXT | LISTS },
		{ "-T", r->test_filters, TEXT | LISTS },
		{ "--boundary", r->print.boundary, TEXT | LISTS },
		{ "--ts-check", r->ts_check, TEXT | LISTS },
		{ "--stats", r->stats, TEXT },
		{ "-B", r->choice.buffers.nr, EVENTS },
		{ "--since", window->since_text, EVENTS },
		{ "--until", window->until_text, EVENTS },
		{ "--head", window->head, EVENTS },
		{ "--tail", window->tail, EVENTS },
		{ "-F", r->choice.filters.nr, EVENTS | LISTS },
		{ "--pid", r->choice.pids.nr, EVENTS | LISTS },
		{ "--comm", r->choice.comms.nr, EVENTS | LISTS },
		{ "--cpu", r->choice.cpus.nr, EVENTS | LISTS },
		{ "-I", r->choice.no_hardirq, EVENTS | LISTS },
		{ "-S", r->choice.no_softirq, EVENTS | LISTS },
		{ "--align-ts", r->align, EVENTS | LISTS },
		{ "--nodate", r->no_date, EVENTS | LISTS },
		{ "--raw-ts", r->raw_ts, EVENTS | LISTS },
		{ "--ts-offset", r->ts_offset, EVENTS | LISTS },
		{ "--ts2secs", r->hz, EVENTS | LISTS },
	};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].given && !(all[i].forms & form))
			return all[i].option;
	return NULL;
}

/* Whether each option has an effect on the form. Otherwise one line is printed. */
static bool check_form(const struct report *r, report_form print)
{
	const struct form *form = forms;
	const char *option;

	while (form->print != print)
		form++;
	option = ignored(r, form->bit);
	if (option)
		complain(opts_command(), "%s has no effect with %s", option, form->name);
	return !option;
}

/* Check that the options do not contradict each other. 0 or the exit status. */
static int check_options(const struct report *r, report_form form, unsigned int nr)
{
	const char *unfit = r->follow.wanted ? unfollowed(r, form, nr) : NULL;

	if (unfit) {
		complain(opts_command(), "--follow prints events as they arrive; it cannot be used with %s", unfit);
		return EXIT_USAGE;
	}
	if (r->select.window.head && r->select.window.tail) {
		complain(opts_command(), "--head and --tail exclude each other");
		return EXIT_USAGE;
	}
	if (form != report_profile && (r->profile_global || r->profile_by_comm || r->profile_hooks.nr)) {
		complain(opts_command(), "-G, -H and --by-comm need --profile");
		return EXIT_USAGE;
	}
	if (form == report_profile && profile_hooks_check(&r->profile_hooks))
		return EXIT_USAGE;
	if (!check_form(r, form))
		return EXIT_USAGE;
	if (nr > 1 && ((form != report_text && form != report_list) || r->select.window.tail || r->wakeups ||
		       r->ts_check || r->stats)) {
		complain(opts_command(),
			 "several files can only be printed as text, without --tail, -w, --ts-check and --stats");
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
		status = check_options(all, form, nr);
	if (!status)
		status = run(all, nr, form);
	for (unsigned int i = 0; all && i < nr; i++)
		close_report(&all[i]);
	free(all);
	return status;
}
