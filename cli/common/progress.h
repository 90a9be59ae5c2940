/* SPDX-License-Identifier: MIT */
/*
 * A progress line on the terminal, which the next one overwrites; nothing is printed unless stderr is a terminal.
 * However often it is called, it prints four a second.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recording/output.h"

struct progress {
	bool on;
	bool shown;
	uint64_t shown_at; /* ns */
};

void progress_init(struct progress *progress, bool quiet);

/* Whether progress_show() would print now. */
bool progress_is_due(const struct progress *progress);
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remove the line, so that other text can be printed. */
void progress_clear(struct progress *progress);

/* output_finish(), with a progress line during the weave. */
bool progress_finish(struct output *output, struct spool *spool, const struct selections *selections,
		     const struct drain_trouble *trouble);

#endif
