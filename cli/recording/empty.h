/* SPDX-License-Identifier: MIT */
/* The reason why a recording, recovery or snapshot has no events. */
#ifndef CLI_EMPTY_H
#define CLI_EMPTY_H

#include "cli/recording/output.h"
#include "format/weave/weave.h"

/*
 * Print one line: that nothing was recorded, why, and that the output was not written. `selections` NULL: programs were
 * not recorded, or nothing is known about their selections; the reason is output->why_empty.
 */
void say_empty(const struct output *output, const struct spool *spool, const struct selections *selections,
	       const struct drain_trouble *trouble, const struct weave_stats *stats);

#endif
