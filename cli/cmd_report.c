/* SPDX-License-Identifier: MIT */
/*
 * recorder report: the events of a trace.dat as text, byte for byte what trace-cmd report prints for the same file and
 * flags. Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"
#include "format/bytes.h"
#include "format/dat_compress.h"
#include "format/event_print.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "report"

/* The flags of an event that -I and -S leave out (facts trace-dat 1.7). */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

struct report {
	const char *path;
	const char *input;
	const char *cpus;
	struct opt_list filters;
	bool no_hardirq;
	bool no_softirq;
	bool no_plugins;
	bool no_date;
	bool raw_ts;
	bool quiet;
	struct event_print_options print;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct dat_merge *merge;
	struct tep_event_filter **filter;
	unsigned int nr_filters;
	bool *stack_follows; /* by CPU: an event was shown, so stacks are too */
	uint32_t nr_stack_cpus;
	int stack_id;
	bool *wanted; /* by CPU; NULL: all */
	uint32_t nr_wanted;
	int write_error; /* errno of the first write that failed */
};

/* Everything that goes wrong with the file is said here, in one line. */
static int fail(const struct report *r, const struct dat_error *error)
{
	fflush(stdout);
	complain(COMMAND, "%s: %s", r->path, error->text);
	return 1;
}

static int fail_memory(const struct report *r)
{
	const struct dat_error error = { .text = "not enough memory" };

	return fail(r, &error);
}

/* ---------------------------------------------------------------------------------------------------- selection */

static bool parse_number(const char **text, uint32_t *ret_number)
{
	unsigned long number;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	number = strtoul(*text, &end, 10);
	if (errno || number >= 1u << 20)
		return false;
	*text = end;
	*ret_number = (uint32_t)number;
	return true;
}

static int want_cpus(struct report *r, uint32_t first, uint32_t last)
{
	if (last >= r->nr_wanted) {
		bool *wanted = realloc(r->wanted, last + 1);

		if (!wanted)
			return fail_memory(r);
		memset(wanted + r->nr_wanted, 0, last + 1 - r->nr_wanted);
		r->wanted = wanted;
		r->nr_wanted = last + 1;
	}
	memset(r->wanted + first, true, last - first + 1);
	return 0;
}

/* "0,2-5" */
static int parse_cpus(struct report *r)
{
	const char *at = r->cpus;
	uint32_t first, last;
	int status;

	for (;;) {
		if (!parse_number(&at, &first))
			break;
		last = first;
		if (*at == '-') {
			at++;
			if (!parse_number(&at, &last) || last < first)
				break;
		}
		status = want_cpus(r, first, last);
		if (status)
			return status;
		if (!*at)
			return 0;
		if (*at != ',' && *at != ':')
			break;
		at++;
	}
	complain(COMMAND, "--cpu '%s' is not a list of CPUs such as 0,2-5", r->cpus);
	return EXIT_USAGE;
}

static bool is_wanted(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct report *r = arg;

	(void)buffer;
	return cpu < r->nr_wanted && r->wanted[cpu];
}

/*
 * Whether an operator has nothing on its right: at the end, or in front of a closing parenthesis. libtraceevent 1.7.1
 * dereferences a null pointer then.
 */
static bool lacks_operand(const char *filter)
{
	bool operator = false;
	char quote = 0;

	for (const char *at = filter; *at; at++) {
		if (quote) {
			quote = *at == quote ? 0 : quote;
		} else if (*at == ')' && operator) {
			return true;
		} else if (!strchr(" \t\n", *at)) {
			quote = *at == '"' || *at == '\'' ? *at : 0;
			operator = strchr("=<>!~&|^+-*/%", *at);
		}
	}
	return operator;
}

static int open_filters(struct report *r)
{
	char text[128];

	r->filter = calloc(r->filters.nr ? r->filters.nr : 1, sizeof(struct tep_event_filter *));
	if (!r->filter)
		return fail_memory(r);
	for (unsigned int i = 0; i < r->filters.nr; i++) {
		struct tep_event_filter *filter = tep_filter_alloc(r->table->tep);
		int err;

		if (!filter)
			return fail_memory(r);
		r->filter[r->nr_filters++] = filter;
		if (lacks_operand(r->filters.items[i])) {
			complain(COMMAND, "filter '%s': an operator has nothing on its right", r->filters.items[i]);
			return EXIT_USAGE;
		}
		err = tep_filter_add_filter_str(filter, r->filters.items[i]);
		if (err < 0) {
			tep_strerror(r->table->tep, err, text, sizeof(text));
			complain(COMMAND, "filter '%s': %s", r->filters.items[i], text);
			return EXIT_USAGE;
		}
	}
	return 0;
}

/* The first filter that takes the event counts; without one, what the last of them said. */
static enum tep_errno match_filters(const struct report *r, struct tep_record *record)
{
	enum tep_errno match = TEP_ERRNO__NO_FILTER;

	for (unsigned int i = 0; i < r->nr_filters; i++) {
		match = tep_filter_match(r->filter[i], record);
		if (match == TEP_ERRNO__FILTER_MATCH || match == TEP_ERRNO__NO_FILTER)
			break;
	}
	return match;
}

/*
 * A stack belongs to the event in front of it on its CPU. trace-cmd 3.1.6 shows every stack of a CPU, whatever the
 * filters say of it, once an event of that CPU was shown.
 */
static bool is_selected(struct report *r, const struct dat_event *event, struct tep_record *record)
{
	bool has_stacks = event->cpu < r->nr_stack_cpus;
	enum tep_errno match;

	if (r->no_hardirq || r->no_softirq) {
		int flags = tep_data_flags(r->table->tep, record);

		if ((r->no_hardirq && flags & FLAG_HARDIRQ) || (r->no_softirq && flags & FLAG_SOFTIRQ))
			return false;
	}
	match = match_filters(r, record);
	if (match == TEP_ERRNO__FILTER_MATCH || match == TEP_ERRNO__NO_FILTER) {
		if (has_stacks)
			r->stack_follows[event->cpu] = true;
		return true;
	}
	return has_stacks && r->stack_follows[event->cpu] &&
	       event_id(r->table, record->data, (uint32_t)record->size) == r->stack_id;
}

static int open_stacks(struct report *r)
{
	struct tep_event *event = tep_find_event_by_name(r->table->tep, "ftrace", "kernel_stack");

	r->stack_id = event ? event->id : -1;
	for (size_t i = 0; i < r->file->nr_buffers; i++) {
		if (r->file->buffers[i].cpus > r->nr_stack_cpus)
			r->nr_stack_cpus = r->file->buffers[i].cpus;
	}
	r->stack_follows = calloc(r->nr_stack_cpus ? r->nr_stack_cpus : 1, sizeof(bool));
	return r->stack_follows ? 0 : fail_memory(r);
}

/* ------------------------------------------------------------------------------------------------------- output */

/*
 * Keeps the reason of a write that failed: stdout remembers that one did, not why. True: go on. Called directly behind
 * what writes, before anything else can change errno.
 */
static bool written(struct report *r)
{
	if (!ferror(stdout))
		return true;
	if (!r->write_error)
		r->write_error = errno;
	return false;
}

/* The exit status of what was written: a reader that went away is no failure. */
static int check_output(struct report *r)
{
	fflush(stdout);
	if (written(r))
		return 0;
	if (r->write_error == EPIPE) {
		/* What is left has no reader; main() would take it for a failure. */
		__fpurge(stdout);
		clearerr(stdout);
		return 0;
	}
	complain(COMMAND, "%s: cannot write the report: %s", r->path, strerror(r->write_error));
	return 1;
}

/* The highest that options CPUCOUNT say; 0 without one. */
static uint32_t machine_cpus(const struct report *r)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < r->file->nr_options; i++) {
		const struct dat_option *option = &r->file->options[i];

		if (option->id == DAT_CPUCOUNT && option->size >= 4 && bytes_get32(option->data, r->file->big) > cpus)
			cpus = bytes_get32(option->data, r->file->big);
	}
	return cpus;
}

/* The number in the first line: CPUs of the top buffer, and in version 7 no fewer than the machine's. */
static bool print_head(struct report *r)
{
	const struct dat_buffer *top = NULL;
	uint32_t cpus = r->file->cpus;

	for (size_t i = 0; !top && i < r->file->nr_buffers; i++) {
		if (!r->file->buffers[i].name[0])
			top = &r->file->buffers[i];
	}
	if (r->file->version == 7)
		cpus = top && top->cpus > machine_cpus(r) ? top->cpus : machine_cpus(r);
	printf("cpus=%" PRIu32 "\n", cpus);
	return written(r);
}

static int print_latency_text(struct report *r)
{
	struct dat_error error = { 0 };
	char text[65536];
	ssize_t n;

	for (uint64_t at = r->file->latency_offset; at < r->file->size; at += (uint64_t)n) {
		n = dat_read_raw(r->file, at, text, sizeof(text), &error);
		if (n < 0)
			return fail(r, &error);
		fwrite(text, 1, (size_t)n, stdout);
		if (!n || !written(r))
			break;
	}
	return 0;
}

static bool print_line(struct report *r, const struct dat_event *event, struct tep_record *record)
{
	event_print_prefix(&r->printer, stdout, event->buffer);
	if (!written(r))
		return false;
	event_print(&r->printer, event, record);
	fwrite(r->printer.seq.buffer, 1, r->printer.seq.len, stdout);
	putchar('\n');
	return written(r);
}

static int print_events(struct report *r)
{
	struct tep_record record;
	struct dat_event event;

	while (dat_merge_next(r->merge, &event)) {
		if (event_record(&r->printer, &event, &record))
			return fail_memory(r);
		if (is_selected(r, &event, &record) && !print_line(r, &event, &record))
			break;
	}
	return 0;
}

/* Events of damaged pages are missing from what was printed: that is a failure, though not the end of the report. */
static int check_damage(const struct report *r)
{
	struct dat_error error;
	uint32_t cpu;
	uint64_t pages = dat_merge_damaged(r->merge, &error, &cpu);

	if (!pages)
		return 0;
	fflush(stdout);
	complain(COMMAND, "%s: damaged: events of %" PRIu64 " page%s are missing; CPU %" PRIu32 ", page at %" PRIu64 ": %s",
		 r->path, pages, pages == 1 ? "" : "s", cpu, error.offset, error.text);
	return 1;
}

static bool is_latency(const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (file->buffers[i].latency && !file->buffers[i].name[0])
			return true;
	}
	return false;
}

static int open_report(struct report *r)
{
	struct dat_error error = { 0 };
	unsigned int flags = (r->no_date ? DAT_TIME_NO_DATE : 0) | (r->raw_ts ? DAT_TIME_RAW : 0);
	int status, err;

	if (dat_open(r->path, dat_compress_zstd(), &r->file, &error))
		return fail(r, &error);
	if (dat_time_open(r->file, flags, &r->time, &error))
		return fail(r, &error);
	err = event_table_open(r->file, r->no_plugins ? EVENT_NO_PLUGINS : 0, &r->table);
	if (err) {
		snprintf(error.text, sizeof(error.text), "cannot parse the event formats: %s", strerror(-err));
		return fail(r, &error);
	}
	if (event_printer_open(&r->printer, r->file, &r->time, r->table, &r->print))
		return fail_memory(r);
	status = open_filters(r);
	if (!status)
		status = open_stacks(r);
	if (!status && dat_merge_open(r->file, &r->time, r->wanted ? is_wanted : NULL, r, &r->merge))
		status = fail_memory(r);
	return status;
}

static void close_report(struct report *r)
{
	dat_merge_close(r->merge);
	for (unsigned int i = 0; i < r->nr_filters; i++)
		tep_filter_free(r->filter[i]);
	if (r->table)
		event_printer_close(&r->printer);
	event_table_close(r->table);
	dat_time_close(&r->time);
	dat_close(r->file);
	free(r->filter);
	free(r->stack_follows);
	free(r->wanted);
	opt_list_free(&r->filters);
}

static int run(struct report *r)
{
	int status = r->cpus ? parse_cpus(r) : 0;

	if (!status)
		status = open_report(r);
	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	if (print_head(r))
		status = is_latency(r->file) ? print_latency_text(r) : print_events(r);
	if (!status)
		status = check_output(r);
	return status || r->write_error ? status : check_damage(r);
}

int cmd_report(int argc, char **argv)
{
	struct report r = { 0 };
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "the file, as an option", &r.input),
		OPT_FLAG('t', NULL, "print times in full nanoseconds", &r.print.full_ts),
		OPT_FLAG('R', NULL, "print the fields, not the event's own format", &r.print.raw),
		OPT_FLAG('l', NULL, "print the latency columns", &r.print.latency),
		OPT_LIST('F', NULL, "FILTER", "print events that match, as 'sched/sched_switch:next_pid == 1'", &r.filters),
		OPT_STRING(0, "cpu", "LIST", "print events of these CPUs, as 0,2-5", &r.cpus),
		OPT_FLAG('I', NULL, "leave out events of hard interrupts", &r.no_hardirq),
		OPT_FLAG('S', NULL, "leave out events of soft interrupts", &r.no_softirq),
		OPT_FLAG(0, "ts-diff", "print the time since the event before", &r.print.ts_diff),
		OPT_FLAG(0, "nodate", "ignore the file's date offset", &r.no_date),
		OPT_FLAG(0, "raw-ts", "print times as they stand in the file", &r.raw_ts),
		OPT_FLAG('N', NULL, "load no plugins of libtraceevent", &r.no_plugins),
		OPT_FLAG('q', NULL, "accepted for trace-cmd's sake; there are no warnings to silence", &r.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about = "Print the events of FILE (trace.dat when none is given) as trace-cmd report does.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status)) {
		opt_list_free(&r.filters);
		return status;
	}
	if (r.input && operands[0]) {
		complain(COMMAND, "both '-i %s' and '%s' name the file", r.input, operands[0]);
		opt_list_free(&r.filters);
		return EXIT_USAGE;
	}
	r.path = r.input ? r.input : operands[0] ? operands[0] : "trace.dat";
	status = run(&r);
	close_report(&r);
	return status;
}
