/* SPDX-License-Identifier: MIT */
/*
 * recorder check: checks whether a trace.dat keeps the rules of its format, and reports where it does not
 * (format/verify/file_check.h). Streams: memory does not grow with the file.
 */
#include "cli/cmd.h"
#include "cli/common/show_text.h"
#include "format/dat/dat_compress.h"
#include "format/verify/file_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "check"

struct printing {
	uint64_t limit;
	uint64_t printed;
	bool escapes; /* on a terminal */
	bool strict;
};

static void print_problem(void *arg, const struct check_problem *problem)
{
	struct printing *printing = arg;

	if (printing->printed == printing->limit)
		return;
	printing->printed++;
	if (problem->buffer && problem->buffer->name[0]) {
		fputs("buffer \"", stdout);
		show_name(stdout, problem->buffer->name, printing->escapes);
		fputs("\", ", stdout);
	}
	if (problem->buffer)
		printf("CPU %" PRIu32 ", page at %" PRIu64 ": ", problem->cpu, problem->offset);
	else
		printf("at %" PRIu64 ": ", problem->offset);
	show_name(stdout, problem->text, printing->escapes);
	putchar('\n');
}

static int check(const char *path, const struct dat_file *file, struct printing *printing)
{
	struct file_check check = { .report = print_problem, .arg = printing, .strict = printing->strict };
	struct event_table *table;
	int err = event_table_open(file, EVENT_NO_PLUGINS | EVENT_FUNCTIONS_LATER, &table);

	if (!err) {
		err = file_check(file, table, &check);
		event_table_close(table);
	}
	if (err) {
		complain(COMMAND, "%s: %s", path, strerror(-err));
		return EXIT_FAILURE;
	}
	if (check.problems > printing->printed)
		printf("only the first %" PRIu64 " are shown (--limit)\n", printing->printed);
	printf("%s: %s: %" PRIu64 " pages, %" PRIu64 " events, %" PRIu64 " counted lost", path,
	       check.problems ? "not valid" : "valid", check.pages, check.events, check.lost);
	if (check.gaps)
		printf(", %" PRIu64 " losses without a number", check.gaps);
	if (check.unparsed)
		printf(", %" PRIu64 " print formats that viewers cannot parse", check.unparsed);
	putchar('\n');
	if (!check.problems)
		return 0;
	complain(COMMAND, "%s: %" PRIu64 " problem%s", path, check.problems, check.problems == 1 ? "" : "s");
	return EXIT_FAILURE;
}

int cmd_check(int argc, char **argv)
{
	struct printing printing = { .limit = 20, .escapes = show_escapes(stdout) };
	struct dat_error error = { 0 };
	const char *path = NULL;
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "check FILE; same as the operand", &path),
		OPT_NUMBER(0, "limit", "N", 0, UINT32_MAX, "show at most N problems, count the others (20)",
			   &printing.limit),
		OPT_FLAG(0, "strict", "also report what viewers accept although no writer should write it",
			 &printing.strict),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about =
			"Check that FILE (by default trace.dat) keeps the rules of its format: sections, formats, "
			"pages,\n"
			"times, records. Exit status 1 if it does not.\n",
		.table = table,
		.max_operands = 1,
	};
	struct dat_file *file;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (path && operands[0]) {
		complain(COMMAND, "both '-i %s' and '%s' name the file", path, operands[0]);
		return EXIT_USAGE;
	}
	path = path ? path : operands[0] ? operands[0] : "trace.dat";
	if (dat_open(path, dat_compress_zstd(), &file, &error)) {
		complain(COMMAND, "%s: %s (at byte %" PRIu64 ")", path, error.text, error.offset);
		return EXIT_FAILURE;
	}
	status = check(path, file, &printing);
	dat_close(file);
	return status;
}
