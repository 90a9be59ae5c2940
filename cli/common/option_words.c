/* SPDX-License-Identifier: MIT */
/*
 * The options of the settings that messages name. The code below the commands does not know options, so its messages
 * name each setting by a number, which is looked up here. A setting without an option has the word of
 * cli/base/message.c.
 */
#include "cli/common/opts.h"

static const char *const options[WORDS] = {
	[WORD_CLOCK] = "-C",
	[WORD_COMMAND_ALONE] = "-F",
	[WORD_CPUS] = "-M",
	[WORD_DRAIN_BY_MAPPING] = "--drain mmap",
	[WORD_FILTER] = "-f",
	[WORD_FOLLOW] = "-c",
	[WORD_FUNCTION] = "-l",
	[WORD_GRAPH_DEPTH] = "--max-graph-depth",
	[WORD_GRAPH_FUNCTION] = "-g",
	[WORD_KEEP_LAST] = "-m",
	[WORD_LANE_SIZE] = "-b",
	[WORD_LEAVE_OUT] = "-x",
	[WORD_MODULE] = "--module",
	[WORD_NO_FUNCTION] = "-n",
	[WORD_OPTION] = "-O",
	[WORD_OUTPUT] = "-o",
	[WORD_PATTERN] = "-u",
	[WORD_PROCESSES] = "-P",
	[WORD_RATE] = "--rate",
	[WORD_RING_SIZE] = "-b",
	[WORD_SKIP_MISSING] = "-i",
	[WORD_STACKS] = "-T",
	[WORD_START] = "recorder start",
	[WORD_START_PROGRAM] = "recorder start -P",
	[WORD_STDOUT] = "-o -",
	[WORD_SUBBUF_SIZE] = "--subbuf-size",
	[WORD_THREADS] = "--tid",
	[WORD_TRACER] = "-p",
	[WORD_USER] = "--user",
	[WORD_WAKE_EACH] = "-s",
};

const char *command_word(enum message_word word)
{
	return options[word];
}
