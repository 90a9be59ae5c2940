/* SPDX-License-Identifier: MIT */
/*
 * A line for the person at the terminal, written over by the next one; nothing unless stderr is a
 * terminal. Called often, it shows four a second.
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

/* Whether progress_show() would show something now. */
bool progress_is_due(const struct progress *progress);
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Take the line away, so that something else can be printed. */
void progress_clear(struct progress *progress);

/* output_finish(), and while it weaves a line says how far it is. */
bool progress_finish(struct output *output, struct spool *spool, const struct selections *selections,
		     const struct drain_trouble *trouble);

#endif
