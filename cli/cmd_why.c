/* SPDX-License-Identifier: MIT */
/*
 * recorder why: why a span took its time. Every nanosecond of it belongs to one class, and the chain of wake-ups says
 * who the thread waited for.
 */
#include "cli/cmd.h"

#include "cli/why_print.h"
#include "cli/terminal.h"
#include "format/dat/dat_compress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "why"

struct options {
	const char *span;
	uint64_t slowest;
	const char *id;
	const char *over;
	bool json;
	bool path;
	unsigned int color;
};

struct trace {
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct why *why;
};

static int open_trace(const char *path, struct trace *t)
{
	struct dat_error error = { .text = "" };
	int err = dat_open(path, dat_compress_zstd(), &t->file, &error);

	if (!err)
		err = dat_time_open(t->file, 0, &t->time, &error);
	if (!err)
		err = event_table_open(t->file, 0, &t->table);
	if (!err)
		err = why_open(t->file, &t->time, t->table, &t->why);
	if (err)
		complain(COMMAND, "%s: %s", path, error.text[0] ? error.text : strerror(-err));
	return err ? EXIT_FAILURE : 0;
}

static void close_trace(struct trace *t)
{
	why_close(t->why);
	event_table_close(t->table);
	if (t->file)
		dat_time_close(&t->time);
	dat_close(t->file);
}

/* ------------------------------------------------------------------------------------------------------ which spans */

struct wanted {
	const struct why_span **spans;
	size_t nr;
};

/* "system:name", or the name alone. */
static bool is_named(const struct why_span *span, const char *name)
{
	const size_t system = strlen(span->rule->system);

	if (!strcmp(span->rule->name, name))
		return true;
	return !strncmp(name, span->rule->system, system) && name[system] == ':' &&
	       !strcmp(name + system + 1, span->rule->name);
}

static int by_duration(const void *a, const void *b)
{
	const struct why_span *x = *(const struct why_span *const *)a, *y = *(const struct why_span *const *)b;
	const uint64_t left = x->end - x->begin, right = y->end - y->begin;

	if (left != right)
		return left > right ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* 0 or a failure, which is reported. */
static int find_spans(const struct trace *t, const struct options *o, uint64_t over, struct wanted *ret_wanted)
{
	size_t nr;
	const struct why_span *spans = why_spans(t->why, &nr);
	struct wanted wanted = { .spans = calloc(nr + 1, sizeof(struct why_span *)) };
	const uint64_t id = o->id ? strtoull(o->id, NULL, 10) : 0;
	bool is_known = false;

	if (!wanted.spans) {
		complain(COMMAND, "not enough memory");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!is_named(&spans[i], o->span))
			continue;
		is_known = true;
		if ((o->id && spans[i].id != id) || (o->over && spans[i].end - spans[i].begin <= over))
			continue;
		wanted.spans[wanted.nr++] = &spans[i];
	}
	if (wanted.nr)
		qsort(wanted.spans, wanted.nr, sizeof(struct why_span *), by_duration);
	if (!o->id && !o->over && wanted.nr > o->slowest)
		wanted.nr = o->slowest;
	*ret_wanted = wanted;
	if (wanted.nr)
		return 0;
	if (!is_known)
		complain(
			COMMAND,
			"the trace has no span '%s'; 'recorder sql FILE \"SELECT system, name, count(*) FROM spans GROUP BY 1, 2\"' "
			"lists them",
			o->span);
	else
		complain(COMMAND, "no span '%s' %s", o->span, o->id ? "has this id" : "took longer than that");
	return EXIT_FAILURE;
}

/* ------------------------------------------------------------------------------------------------------------- main */

/* "5ms", "20us", "1.5s", "300ns"; without a unit: seconds. False: it is no such time. */
static bool read_ns(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "", 1e9 } };
	char *end;
	const double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(end, units[i].name) && value * units[i].ns < 9e18) {
			*ret_ns = (uint64_t)(value * units[i].ns);
			return true;
		}
	}
	return false;
}

static int run(const struct options *o, const char *path, uint64_t over)
{
	struct trace trace = { 0 };
	struct wanted wanted = { 0 };
	int status = open_trace(path, &trace);

	if (!status)
		status = find_spans(&trace, o, over, &wanted);
	signal(SIGPIPE, SIG_IGN);
	if (!status)
		terminal_start();
	for (size_t i = 0; !status && i < wanted.nr && !ferror(stdout); i++) {
		if (o->json)
			status = why_print_json(trace.why, wanted.spans[i]);
		else
			status = why_print_text(trace.why, wanted.spans[i], o->path);
		if (status)
			complain(COMMAND, "not enough memory");
	}
	if (!status && !o->json && *why_missing(trace.why))
		printf("For better answers record these events, too: %s\n", why_missing(trace.why));
	free(wanted.spans);
	close_trace(&trace);
	return status;
}

int cmd_why(int argc, char **argv)
{
	struct options o = { .slowest = 1 };
	const struct opt table[] = {
		OPT_STRING(0, "span", "SPAN", "explain spans of this name: system:name, or name", &o.span),
		OPT_NUMBER(0, "slowest", "N", 1, UINT32_MAX, "explain the N that took longest; default 1", &o.slowest),
		OPT_STRING(0, "id", "X", "explain those with this key, field 'id' or first number", &o.id),
		OPT_STRING(0, "over", "TIME", "explain those that took longer, as 5ms, 20us, 1.5s", &o.over),
		OPT_FLAG(0, "path", "print all pieces in time order", &o.path),
		OPT_FLAG(0, "json", "print a JSON object a line, with all pieces", &o.json),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about =
			"Explain why a span took its time: every nanosecond of it was spent running, waiting for a CPU, blocked,\n"
			"interrupted, or is unknown. FILE is trace.dat by default; record it with -e sched -e raw_syscalls -e irq\n"
			"-e timer -e block beside the program's events.\n",
		.table = table,
		.max_operands = 1,
	};
	uint64_t over = 0;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!o.span) {
		complain(COMMAND, "which span? --span SYSTEM:NAME expected");
		return EXIT_USAGE;
	}
	if (o.id && (!*o.id || o.id[strspn(o.id, "0123456789")])) {
		complain(COMMAND, "--id: a number expected, not '%s'", o.id);
		return EXIT_USAGE;
	}
	if (o.over && !read_ns(o.over, &over)) {
		complain(COMMAND, "--over: a time such as 5ms expected, not '%s'", o.over);
		return EXIT_USAGE;
	}
	terminal_use(o.color);
	return run(&o, operands[0] ? operands[0] : "trace.dat", over);
}
