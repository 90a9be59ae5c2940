/* SPDX-License-Identifier: MIT */
/* Sizes, mode and clock of the lanes in programs that a recording starts, passed in their environment. */
#ifndef CLI_RECORD_LANES_H
#define CLI_RECORD_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/message.h"
#include "cli/recording/child.h"

struct record_lanes {
	uint64_t lane_kb;   /* 0: the program's default */
	uint64_t subbuf_kb; /* 0: the program's default */
	const char *mode;   /* "overwrite", "discard"; NULL: the program's default */
	const char *clock;  /* "tsc", "mono"; NULL: the program's default */
	char numbers[3][24];
};

/* Whether the sizes are compatible with each other. False: one line was printed. */
bool record_lanes_check(const struct message_sink *sink, const struct record_lanes *lanes);

#define RECORD_LANES_ENV 9

/*
 * The environment of programs with their buffers in `dir` and these events on. The strings belong to the caller and to
 * `lanes`.
 */
void record_lanes_env(struct record_lanes *lanes, const char *dir, const char *enable,
		      struct child_env env[RECORD_LANES_ENV]);

#endif
