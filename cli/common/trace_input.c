/* SPDX-License-Identifier: MIT */
/* See trace_input.h. */
#include "cli/common/trace_input.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/missing_parts.h"
#include "cli/common/opts.h"
#include "cli/common/trace_events.h"
#include "format/dat/dat_compress.h"

bool trace_input_has_suffix(const char *operand)
{
	size_t size = strlen(operand);

	return size > 4 && !strcmp(operand + size - 4, ".dat");
}

const char *trace_input_path(char ***operands)
{
	struct stat status;
	/* A directory may have the name of a span or an event. */
	const bool is_file = **operands && !stat(**operands, &status) && !S_ISDIR(status.st_mode);

	if (!**operands || (!is_file && !trace_input_has_suffix(**operands)))
		return "trace.dat";
	return *(*operands)++;
}

int trace_input_open(const char *command, const char *path, struct trace_input *ret_input)
{
	struct trace_input input = { .command = command, .path = path };
	struct dat_error error = { .text = "" };
	int err = dat_open_rest(path, dat_compress_zstd(), &input.file, &error);

	if (!err)
		err = dat_check_events(input.file, &error);
	if (!err)
		err = dat_time_open(input.file, 0, &input.time, &error);
	if (!err)
		err = trace_events_open(command, path, input.file, EVENT_FUNCTIONS_LATER | EVENT_NAMES, &input.table);
	if (err)
		complain(command, "%s: %s", path, error.text[0] ? error.text : strerror(-err));
	*ret_input = input;
	return err ? EXIT_FAILURE : 0;
}

int trace_input_close(struct trace_input *input, int status)
{
	if (input->table && complain_missing(input->command, input->path, input->file) && !status)
		status = EXIT_FAILURE;
	event_table_close(input->table);
	if (input->file)
		dat_time_close(&input->time);
	dat_close(input->file);
	return status;
}

bool trace_input_counts_ns(const struct trace_input *input)
{
	char clock[64] = "";

	if (dat_time_counts_ns(input->file, &input->time))
		return true;
	dat_clock_name(input->file, clock, sizeof(clock));
	complain(input->command, "%s: the clock '%s' does not count nanoseconds; times are in its ticks", input->path,
		 clock);
	return false;
}

int trace_input_fail_memory(const struct trace_input *input)
{
	complain(input->command, "not enough memory");
	return EXIT_FAILURE;
}

int trace_input_report_gaps(const struct trace_input *input, const struct dat_gaps *gaps)
{
	if (gaps->places)
		complain(input->command,
			 "%s: %s%" PRIu64 " events were lost at %" PRIu64 " place%s; results may lack them",
			 input->path, gaps->is_unknown ? "at least " : "", gaps->lost, gaps->places,
			 gaps->places == 1 ? "" : "s");
	if (gaps->damaged)
		complain(input->command, "%s: %" PRIu64 " damaged page%s; results may lack their events", input->path,
			 gaps->damaged, gaps->damaged == 1 ? "" : "s");
	complain_given_up(input->command, input->path, gaps->given_up);
	return gaps->damaged ? EXIT_FAILURE : 0;
}
