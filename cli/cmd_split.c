/* SPDX-License-Identifier: MIT */
/*
 * recorder split: writes some of a trace.dat's events, or all of them in several files. Pages are made anew; everything
 * else is copied to each file. Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"
#include "cli/common/missing_parts.h"
#include "cli/common/output_error.h"
#include "cli/common/trace_events.h"
#include "cli/files/event_select.h"
#include "cli/files/split_pieces.h"
#include "format/dat/dat_compress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "split"

/*
 * Read a time: "12.000345" is converted to nanoseconds; if the file's times are not in seconds, it is a whole number.
 * False: the text is not a time.
 */
static bool read_time(const char *text, bool seconds, uint64_t *ret_time)
{
	uint64_t time, unit = 1000000000;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	time = strtoull(text, &end, 10);
	if (errno || (seconds && time > UINT64_MAX / unit - 1))
		return false;
	if (!seconds) {
		*ret_time = time;
		return !*end;
	}
	time *= unit;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9' && unit > 1; end++) {
			unit /= 10;
			time += (uint64_t)(*end - '0') * unit;
		}
	}
	*ret_time = time;
	return !*end;
}

static bool refuse_time(const char *text)
{
	if (!access(text, F_OK))
		complain(COMMAND, "'%s' is a file, where START is expected: did you mean -i %s?", text, text);
	else
		complain(COMMAND, "'%s' is not a time as 'recorder report -t' prints it", text);
	return false;
}

/* Check what can be checked before the file is open: whether each operand is a time, in seconds or other units. */
static bool are_times(char **operands)
{
	uint64_t time;

	for (int i = 0; i < 2 && operands[0] && operands[i]; i++) {
		if (!read_time(operands[i], true, &time) && !read_time(operands[i], false, &time))
			return refuse_time(operands[i]);
	}
	return true;
}

static bool read_times(struct split *split, char **operands, bool seconds)
{
	split->end = UINT64_MAX;
	for (int i = 0; i < 2 && operands[0] && operands[i]; i++) {
		if (!read_time(operands[i], seconds, i ? &split->end : &split->start)) {
			return refuse_time(operands[i]);
		}
	}
	return true;
}

/* The name of a file: FILE.1, or FILE.0001 and so on if there may be several. */
static char *name_piece(const struct split *split, unsigned int number)
{
	char *name = NULL;

	return asprintf(&name, split->repeat ? "%s.%04u" : "%s.%u", split->output, number) < 0 ? NULL : name;
}

/* 1: a file was written; 0: there are no more events; or -1, and one line was printed. */
static int write_piece(struct split *split, unsigned int number)
{
	struct dat_error error = { 0 };
	char *name = name_piece(split, number);
	uint64_t events = 0;
	int ret;

	if (name && complain_in_place(COMMAND, split->input, split->file, name)) {
		free(name);
		return -1;
	}
	ret = name ? split_piece(split, name, &events, &error) : -ENOMEM;
	if (ret < 0 && error.text[0])
		complain(COMMAND, "%s: %s", split->input, error.text);
	else if (ret < 0)
		complain(COMMAND, "cannot write '%s': %s", name ? name : split->output,
			 output_error(name ? name : split->output, ret));
	else if (ret > 0)
		printf("%s: %" PRIu64 " event%s\n", name, events, events == 1 ? "" : "s");
	free(name);
	return ret < 0 ? -1 : ret;
}

/* Report damaged or missing parts of the input. The exit status; 0: there are none. */
static int report_damage(const struct split *split)
{
	struct dat_error error;
	uint32_t cpu;
	const uint64_t damaged = split_damaged(split, &error, &cpu);

	return complain_incomplete(COMMAND, split->input, split->file, damaged, cpu, &error);
}

static int write_pieces(struct split *split)
{
	unsigned int number = 0;
	int ret, status;

	do
		ret = write_piece(split, ++number);
	while (ret > 0 && split->repeat);
	if (ret < 0)
		return EXIT_FAILURE;
	fflush(stdout);
	status = report_damage(split);
	if (ret || number > 1)
		return status;
	complain(COMMAND, "%s: no event is selected", split->input);
	return EXIT_FAILURE;
}

/* Whether the file's clock counts nanoseconds, which limits in seconds need. */
static bool has_nanoseconds(const struct split *split)
{
	char clock[64] = "";

	if (dat_time_counts_ns(split->file, &split->time))
		return true;
	dat_clock_name(split->file, clock, sizeof(clock));
	complain(COMMAND, "%s: the clock '%s' does not count nanoseconds: use -e, -p or --size, not -s, -m or -u",
		 split->input, clock);
	return false;
}

static int run(struct split *split, char **operands)
{
	struct dat_error error = { 0 };
	int err;

	if (!are_times(operands))
		return EXIT_USAGE;
	if (dat_open_rest(split->input, dat_compress_zstd(), &split->file, &error) ||
	    dat_time_open(split->file, 0, &split->time, &error)) {
		complain(COMMAND, "%s: %s", split->input, error.text);
		return EXIT_FAILURE;
	}
	if (!read_times(split, operands, split->time.seconds))
		return EXIT_USAGE;
	if (split->duration && !has_nanoseconds(split))
		return EXIT_FAILURE;
	err = event_select_open(&split->select, COMMAND, split->file);
	trace_report_left_out(COMMAND, split->input, split->select.table);
	if (err == -ENOENT)
		return EXIT_FAILURE;
	if (!err)
		err = split_open(split);
	if (err) {
		complain(COMMAND, "%s: %s", split->input, strerror(-err));
		return EXIT_FAILURE;
	}
	return write_pieces(split);
}

/* Check the options: there is at most one limit. Pages are counted for each CPU. */
static bool is_valid(struct split *split, const uint64_t times[3])
{
	static const uint64_t units[3] = { 1000000000, 1000000, 1000 };
	int limits = (split->events > 0) + (split->pages > 0) + (split->size > 0);

	for (int i = 0; i < 3; i++) {
		limits += times[i] > 0;
		split->duration += times[i] * units[i];
	}
	if (split->output && complain_standard_output(COMMAND, split->output))
		return false;
	if (limits > 1) {
		complain(COMMAND, "only one of -s, -m, -u, -e, -p and --size can be given");
		return false;
	}
	if (split->repeat && !limits) {
		complain(COMMAND, "-r needs one of -s, -m, -u, -e, -p and --size");
		return false;
	}
	split->output = split->output ? split->output : split->input;
	split->per_cpu = split->per_cpu || split->pages;
	return event_select_check(&split->select, COMMAND);
}

#define SECONDS_MAX (UINT64_MAX / 1000000000)

int cmd_split(int argc, char **argv)
{
	struct split split = { .input = "trace.dat" };
	uint64_t times[3] = { 0 };
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "read FILE (trace.dat)", &split.input),
		OPT_STRING('o', "output", "FILE",
			   "write FILE.1 or, with -r, FILE.0001, FILE.0002 ... (the input's name)", &split.output),
		OPT_NUMBER('s', "seconds", "N", 1, SECONDS_MAX, "end a file N seconds after its first event",
			   &times[0]),
		OPT_NUMBER('m', "milliseconds", "N", 1, SECONDS_MAX, "the same in milliseconds", &times[1]),
		OPT_NUMBER('u', "microseconds", "N", 1, SECONDS_MAX, "the same in microseconds", &times[2]),
		OPT_NUMBER('e', "events", "N", 1, UINT64_MAX, "end a file after N events", &split.events),
		OPT_NUMBER('p', "pages", "N", 1, UINT32_MAX, "end a file after N pages of each CPU", &split.pages),
		OPT_NUMBER(0, "size", "KB", 1, UINT32_MAX, "end a file before its pages take more than this",
			   &split.size),
		OPT_FLAG('r', "repeat", "write further files until the end", &split.repeat),
		OPT_FLAG('c', "per-cpu", "apply the limit to each CPU by itself", &split.per_cpu),
		OPT_STRING('C', "cpu", "LIST", "only the events of these CPUs", &split.select.cpus),
		OPT_STRING(0, "event", "PATTERN", "only events whose names match", &split.select.patterns),
		OPT_LIST(0, "pid", "LIST", "only events of these threads", &split.select.pids),
		OPT_LIST(0, "comm", "NAME", "only events of threads of this name", &split.select.comms),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[START [END]]",
		.about =
			"Write the events of a trace.dat from START to END, times as 'recorder report -t' prints them, "
			"to\n"
			"a file, or in parts to several files.\n",
		.table = table,
		.max_operands = 2,
	};
	char **operands;
	int status;

	if (opts_parse(&opts, argc, argv, &operands, &status))
		status = is_valid(&split, times) ? run(&split, operands) : EXIT_USAGE;
	split_close(&split);
	event_select_close(&split.select);
	dat_time_close(&split.time);
	dat_close(split.file);
	return status;
}
