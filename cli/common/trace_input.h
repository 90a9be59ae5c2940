/* SPDX-License-Identifier: MIT */
/*
 * The trace that a command examines: the FILE of the command line, opened, with the number of events that are missing
 * from it. Of a file that was cut off or never finished, the rest is examined.
 */
#ifndef CLI_TRACE_INPUT_H
#define CLI_TRACE_INPUT_H

#include "format/dat/dat_time.h"
#include "format/series/series.h"
#include "format/text/event_parse.h"

struct trace_input {
	const char *command;
	const char *path;
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
};

/*
 * Whether the operand ends in ".dat". Spans, events and assertions do not, so it means a file, and a missing file is
 * reported by its name.
 */
bool trace_input_has_suffix(const char *operand);

/*
 * The first operand, if it names an existing file, not a directory, or ends in ".dat"; *operands then begins after it.
 * Otherwise "trace.dat".
 */
const char *trace_input_path(char ***operands);

/* 0; or the exit status, and one line was printed. */
int trace_input_open(const char *command, const char *path, struct trace_input *ret_input);

/*
 * Call it also for a trace that could not be opened. Reports it if parts of the file are missing. Returns `status`, the
 * exit status so far; if that is 0 and parts are missing, a failure.
 */
int trace_input_close(struct trace_input *input, int status);

/*
 * Whether the times of the trace are nanoseconds. If they are not, reports on standard error that results are in ticks
 * of the file's clock.
 */
bool trace_input_counts_ns(const struct trace_input *input);

/* Reports that memory is short. The exit status. */
int trace_input_fail_memory(const struct trace_input *input);

/*
 * If events are missing from the trace, reports on standard error how many, and that results may lack them. The exit
 * status: losses are part of a recording, but damaged pages are a failure.
 */
int trace_input_report_gaps(const struct trace_input *input, const struct dat_gaps *gaps);

#endif
