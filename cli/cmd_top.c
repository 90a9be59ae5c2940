/* SPDX-License-Identifier: MIT */
/* recorder top: shows the processes, threads, events and spans that took most of a recording. */
#include "cli/cmd.h"

#include "cli/ask/top_count.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "top"

struct list_style {
	size_t most; /* rows of a list */
	bool json;
	bool is_ns; /* times are nanoseconds, not ticks of another clock */
};

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_row(enum top_kind kind, const struct top_row *row)
{
	static const char *const kinds[TOP_KINDS] = { "process", "thread", "event", "span" };

	printf("{\"kind\": \"%s\", \"name\": ", kinds[kind]);
	show_json(stdout, row->name);
	if (kind == TOP_PROCESSES)
		printf(", \"pid\": %" PRId32, row->pid);
	if (kind == TOP_THREADS)
		printf(", \"tid\": %" PRId32, row->tid);
	if (kind == TOP_THREADS && row->pid >= 0)
		printf(", \"pid\": %" PRId32, row->pid);
	if (kind == TOP_SPANS)
		printf(", \"count\": %" PRIu64 ", \"dur\": %" PRIu64 ", \"own\": %" PRIu64 ", \"max\": %" PRIu64,
		       row->events, row->running, row->runnable, row->longest);
	else
		printf(", \"events\": %" PRIu64, row->events);
	if ((kind == TOP_PROCESSES || kind == TOP_THREADS) && row->has_times)
		printf(", \"running\": %" PRIu64 ", \"runnable\": %" PRIu64, row->running, row->runnable);
	puts("}");
}

/* ------------------------------------------------------------------------------------------------------------- text */

/*
 * Print a time in 11 columns, in the unit in which it has one to three digits before the point; a bare number if the
 * clock does not count nanoseconds.
 */
static void print_time(const struct list_style *style, uint64_t ns, bool is_known)
{
	if (!is_known)
		printf("%11s", "-");
	else if (!style->is_ns)
		printf(" %10" PRIu64, ns);
	else if (ns < 1000)
		printf("%8" PRIu64 " ns", ns);
	else if (ns < 1000000)
		printf("%4" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
	else if (ns < 1000000000)
		printf("%4" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns / 1000 % 1000);
	else
		printf("%4" PRIu64 ".%03" PRIu64 " s ", ns / 1000000000, ns / 1000000 % 1000);
}

static void print_rate(const struct list_style *style, uint64_t events, uint64_t ns)
{
	if (style->is_ns)
		printf(" %12.1f", ns ? (double)events * 1e9 / (double)ns : 0);
	else
		printf(" %12s", "-");
}

static void print_row(const struct list_style *style, const struct top *top, enum top_kind kind,
		      const struct top_row *row)
{
	const uint64_t all = top->end - top->begin;

	if (kind == TOP_PROCESSES || kind == TOP_THREADS) {
		print_time(style, row->running, row->has_times);
		if (row->has_times && all)
			printf(" %6.1f%%", 100.0 * (double)row->running / (double)all);
		else
			printf(" %7s", "-");
		print_time(style, row->runnable, row->has_times);
		printf(" %12" PRIu64 "  ", row->events);
	} else if (kind == TOP_EVENTS) {
		printf("%12" PRIu64, row->events);
		print_rate(style, row->events, all);
		fputs("  ", stdout);
	} else {
		print_time(style, row->running, true);
		print_time(style, row->runnable, true);
		printf(" %12" PRIu64, row->events);
		print_time(style, row->running / row->events, true);
		print_time(style, row->longest, true);
		fputs("  ", stdout);
	}
	fputs(paint(PAINT_NAME), stdout);
	show_text(stdout, row->name, strlen(row->name), false);
	fputs(paint_end(), stdout);
	if (kind == TOP_PROCESSES || kind == TOP_THREADS)
		printf("-%" PRId32, kind == TOP_THREADS ? row->tid : row->pid);
	putchar('\n');
}

static void print_list(const struct list_style *style, const struct top *top, enum top_kind kind)
{
	static const char *const heads[TOP_KINDS] = {
		"    running     CPU   runnable       events  process",
		"    running     CPU   runnable       events  thread",
		"       count      rate/s  event",
		"      total        own        count       mean        max  span",
	};
	const struct top_list *list = &top->lists[kind];

	if (!list->nr)
		return;
	printf("\n%s%s%s\n", paint(PAINT_TITLE), heads[kind], paint_end());
	for (size_t i = 0; i < list->nr && i < style->most; i++)
		print_row(style, top, kind, &list->rows[i]);
	if (list->nr > style->most)
		printf("%s... and %zu more%s\n", paint(PAINT_DIM), list->nr - style->most, paint_end());
}

static void print_head(const struct list_style *style, const struct top *top)
{
	const uint64_t all = top->end - top->begin;

	if (style->is_ns)
		printf("%" PRIu64 " events in %.6f s", top->events, (double)all / 1e9);
	else
		printf("%" PRIu64 " events in %" PRIu64 " ticks", top->events, all);
	if (top->gaps.is_unknown)
		fputs(", and an unknown number of lost ones", stdout);
	else if (top->gaps.lost)
		printf(", and %" PRIu64 " lost ones", top->gaps.lost);
	if (!top->records_switches)
		puts("; for times of threads record sched_switch and sched_waking, too: -e sched");
	else
		puts(top->has_switches ? "" : "; the switches of these threads were not recorded");
}

static void print_top(const struct list_style *style, const struct top *top)
{
	if (!style->json)
		print_head(style, top);
	for (unsigned int kind = 0; kind < TOP_KINDS; kind++) {
		if (!style->json)
			print_list(style, top, (enum top_kind)kind);
		for (size_t i = 0; style->json && i < top->lists[kind].nr && i < style->most; i++)
			json_row((enum top_kind)kind, &top->lists[kind].rows[i]);
	}
}

/* ------------------------------------------------------------------------------------------------------------- main */

/* Count, and print the result. Returns the exit status. */
static int count_and_print(const struct trace_input *input, struct list_style style)
{
	struct dat_error error = { .text = "" };
	struct top top = { 0 };
	const int err = top_open(input->file, &input->time, input->table, &top, &error);

	/* The readable part of a damaged file is printed. */
	if (!err || err == -EBADMSG) {
		signal(SIGPIPE, SIG_IGN);
		style.is_ns = trace_input_counts_ns(input);
		terminal_start();
		print_top(&style, &top);
	}
	trace_input_report_gaps(input, &top.gaps);
	trace_report_absent(input->command, input->path, input->table);
	if (err)
		complain(COMMAND, "%s: %s", input->path, error.text[0] ? error.text : strerror(-err));
	top_close(&top);
	return err ? EXIT_FAILURE : 0;
}

static int run(const char *path, struct list_style style)
{
	struct trace_input input;
	int status = trace_input_open(COMMAND, path, &input);

	if (!status)
		status = count_and_print(&input, style);
	return trace_input_close(&input, status);
}

int cmd_top(int argc, char **argv)
{
	struct list_style style = { 0 };
	uint64_t most = 0;
	unsigned int color = 0;
	const struct opt table[] = {
		OPT_NUMBER('n', NULL, "N", 1, UINT32_MAX, "print N rows of each list; default 10, with --json all",
			   &most),
		OPT_FLAG(0, "json", "print a JSON object a line", &style.json),
		OPT_COLOR(color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Print what took the most of FILE (by default trace.dat): processes and threads by the time\n"
			 "that they ran and waited for a CPU; events by number; spans by duration.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	terminal_use(color);
	style.most = most ? most : style.json ? SIZE_MAX : 10;
	return run(operands[0] ? operands[0] : "trace.dat", style);
}
