/* SPDX-License-Identifier: MIT */
/*
 * recorder verify: checks that a trace.dat satisfies the rules of a timeline that programs and the kernel share
 * (format/verify/verify.h). Violations go to stdout, with their neighbours, then a summary as one line of JSON.
 * Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"
#include "cli/common/missing_parts.h"
#include "cli/common/result_file.h"
#include "cli/common/show_text.h"
#include "cli/common/trace_events.h"
#include "format/dat/dat_compress.h"
#include "format/text/event_print.h"
#include "format/verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "verify"

struct checking {
	const char *path;
	const char *json; /* file of the summary; NULL: stdout, after the text; "-": stdout, without the text */
	uint64_t limit;
	FILE *text;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct dat_merge *merge;
	struct verify *verify;
	struct verify_figures figures;
	uint64_t shown, contradictions_shown;
	bool is_limited; /* some were not shown */
	uint64_t damaged;
	bool no_memory;
};

static int fail(const struct checking *c, const char *text)
{
	fflush(stdout);
	complain(COMMAND, "%s: %s", c->path, text);
	return EXIT_FAILURE;
}

/* ---------------------------------------------------------------------------------------------------- violations */

/* Print the distance from the event in nanoseconds, then the event's line as report prints it. */
static void print_line(struct checking *c, const struct dat_event *event, const struct dat_event *from)
{
	char distance[32] = "";

	if (!event)
		return;
	if (event_print(&c->printer, event)) {
		c->no_memory = true;
		return;
	}
	if (event != from)
		snprintf(distance, sizeof(distance), "%+" PRId64 " ns", (int64_t)(event->ts - from->ts));
	fprintf(c->text, "  %16s  ", distance);
	show_event(c->text, &c->printer, show_escapes(c->text));
	fputc('\n', c->text);
}

static void say(void *arg, const struct verify_violation *violation)
{
	const bool is_violation = violation->kind != VERIFY_CONTRADICTION;
	struct checking *c = arg;
	uint64_t *shown = is_violation ? &c->shown : &c->contradictions_shown;

	if (*shown == c->limit) {
		c->is_limited = true;
		return;
	}
	++*shown;
	fprintf(c->text, "%s: %s\n", is_violation ? verify_kind_names[violation->kind] : "contradiction",
		violation->text);
	print_line(c, violation->before, violation->event);
	print_line(c, violation->event, violation->event);
	print_line(c, violation->after, violation->event);
}

/* ------------------------------------------------------------------------------------------------------- summary */

static void put_number(FILE *out, const char *name, uint64_t number)
{
	fprintf(out, "\"%s\":%" PRIu64 ",", name, number);
}

static void put_summary(const void *arg, FILE *out)
{
	const struct checking *c = arg;
	const struct verify_figures *f = &c->figures;

	fputc('{', out);
	put_number(out, "events", f->events);
	put_number(out, "user_events", f->user_events);
	put_number(out, "checked", f->checked);
	put_number(out, "unchecked", f->unchecked);
	put_number(out, "from_idle", f->from_idle);
	put_number(out, "from_idle_stays", f->from_idle_stays);
	put_number(out, "switches", f->switches);
	put_number(out, "contradictions", f->contradictions);
	put_number(out, "migrations", f->migrations);
	put_number(out, "wakeups", f->wakeups);
	put_number(out, "woken", f->woken);
	put_number(out, "losses", f->losses);
	put_number(out, "counts", f->counts);
	put_number(out, "damaged_pages", c->damaged);
	put_number(out, "violations", f->violations);
	for (unsigned int kind = 0; kind < VERIFY_KINDS; kind++)
		put_number(out, verify_kind_names[kind], f->of_kind[kind]);
	if (f->nearest_ns == UINT64_MAX)
		fputs("\"nearest_ns\":null}\n", out);
	else
		fprintf(out, "\"nearest_ns\":%" PRIu64 "}\n", f->nearest_ns);
}

/* Write the summary. False: one line was printed. */
static bool write_summary(const struct checking *c)
{
	int err;

	if (!c->json || !strcmp(c->json, "-")) {
		put_summary(c, stdout);
		return true;
	}
	err = result_file_write(c->json, put_summary, c);
	if (err)
		complain(COMMAND, "cannot write '%s': %s", c->json, strerror(-err));
	return !err;
}

static void say_what_was_not_checked(const struct checking *c)
{
	const struct verify_figures *f = &c->figures;

	if (!f->events) {
		fprintf(c->text, "the file has no events: nothing could be checked\n");
		return;
	}
	if (!f->switches)
		fprintf(c->text,
			"no sched_switch was recorded (record -e sched): where threads ran could not be checked\n");
	else if (!f->user_events)
		fprintf(c->text, "no events of programs were recorded: only those of the kernel could be checked\n");
	if (f->switches && !f->wakeups)
		fprintf(c->text, "no sched_waking was recorded: whether threads were woken could not be checked\n");
	if (!f->counts)
		fprintf(c->text, "the file has no statistics of CPUs: whether counts add up could not be checked\n");
	if (f->contradictions)
		fprintf(c->text,
			"%" PRIu64 " contradiction%s: events of programs between such switches could not be checked\n",
			f->contradictions, f->contradictions == 1 ? "" : "s");
	if (c->is_limited)
		fprintf(c->text, "only the first %" PRIu64 " are shown (--limit)\n", c->limit);
}

/* Print the summary as text for people. */
static void say_what_was_checked(const struct checking *c)
{
	const struct verify_figures *f = &c->figures;

	if (f->user_events)
		fprintf(c->text, "%" PRIu64 " of %" PRIu64 " events of programs lie between known switches; ",
			f->checked, f->user_events);
	fprintf(c->text,
		"%" PRIu64 " events, %" PRIu64 " switches, %" PRIu64 " wake-ups, statistics of %" PRIu64 " %s: ",
		f->events, f->switches, f->wakeups, f->counts, f->counts == 1 ? "CPU" : "CPUs");
	if (f->violations)
		fprintf(c->text, "%" PRIu64 " violation%s\n", f->violations, f->violations == 1 ? "" : "s");
	else
		fputs("nothing is wrong\n", c->text);
}

/* --------------------------------------------------------------------------------------------------- the command */

static int open_file(struct checking *c)
{
	const struct event_print_options print = { .full_ts = true };
	struct dat_error error = { 0 };
	int err;

	if (dat_open(c->path, dat_compress_zstd(), &c->file, &error) || dat_time_open(c->file, 0, &c->time, &error))
		return fail(c, error.text);
	err = trace_events_open(COMMAND, c->path, c->file, 0, &c->table);
	if (!err)
		err = event_printer_open(&c->printer, c->file, &c->time, c->table, &print);
	if (!err)
		err = dat_merge_open(c->file, &c->time, NULL, NULL, &c->merge);
	if (!err)
		err = verify_open(c->file, c->table, say, c, &c->verify);
	return err ? fail(c, strerror(-err)) : 0;
}

static int check_damage(struct checking *c)
{
	struct dat_error error;
	uint32_t cpu;

	c->damaged = dat_merge_damaged(c->merge, &error, &cpu);
	if (!c->damaged)
		return 0;
	fflush(stdout);
	return complain_damaged(COMMAND, c->path, c->damaged, cpu, &error);
}

static int run(struct checking *c)
{
	struct dat_event event;
	int status = open_file(c);
	int err = 0;

	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	while (!err && dat_merge_next(c->merge, &event))
		err = verify_event(c->verify, &event);
	if (!err)
		err = verify_finish(c->verify, &c->figures);
	if (err || c->no_memory)
		return fail(c, strerror(err ? -err : ENOMEM));
	status = check_damage(c);
	say_what_was_not_checked(c);
	say_what_was_checked(c);
	if (!write_summary(c))
		return EXIT_FAILURE;
	if (!status && c->figures.violations) {
		fflush(stdout);
		complain(COMMAND, "%s: %" PRIu64 " violation%s", c->path, c->figures.violations,
			 c->figures.violations == 1 ? "" : "s");
		status = EXIT_FAILURE;
	}
	return status;
}

static void close_file(struct checking *c)
{
	verify_close(c->verify);
	dat_merge_close(c->merge);
	if (c->table)
		event_printer_close(&c->printer);
	event_table_close(c->table);
	dat_time_close(&c->time);
	dat_close(c->file);
}

int cmd_verify(int argc, char **argv)
{
	struct checking c = { .limit = 20 };
	const struct opt table[] = {
		OPT_STRING(0, "json", "FILE", "write the summary to FILE; -: only the summary to standard output",
			   &c.json),
		OPT_NUMBER(0, "limit", "N", 0, UINT32_MAX, "show at most N violations, and N contradictions (20)",
			   &c.limit),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about =
			"Check that FILE (by default trace.dat) satisfies what must be true on one timeline of\n"
			"programs and the kernel: a thread's events lie where sched_switch shows it, wake-ups come\n"
			"before switches, no CPU's time goes back, counts add up. Needs -e sched in the recording.\n"
			"Exit status 1 if a check fails.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	c.text = c.json && !strcmp(c.json, "-") ? stderr : stdout;
	c.path = operands[0] ? operands[0] : "trace.dat";
	/* Elsewhere --json takes no FILE, so FILE is easily given as the file to be checked. */
	if (c.json && c.text == stdout && complain_replaces_input(COMMAND, c.path, c.json))
		return EXIT_USAGE;
	status = run(&c);
	close_file(&c);
	return status;
}
