/* SPDX-License-Identifier: MIT */
/* The events around a point of a trace, as recorder report prints them. */
#ifndef CLI_ASSERT_CONTEXT_H
#define CLI_ASSERT_CONTEXT_H

#include <stdio.h>

#include "cli/common/trace_input.h"

/* The id of a thread, or all threads. */
#define ASSERT_ANY_THREAD (-1)

struct assert_place {
	uint64_t begin, end;
	int32_t tid, end_tid; /* ASSERT_ANY_THREAD */
};

/* Append some events of the place's threads from before, within and after the place. 0; -ENOMEM. */
int assert_context_print(const struct trace_input *input, const struct assert_place *place, FILE *out);

#endif
