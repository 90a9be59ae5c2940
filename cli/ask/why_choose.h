/* SPDX-License-Identifier: MIT */
/* Chooses the spans of a trace that are explained. Messages begin with `command`. */
#ifndef CLI_WHY_CHOOSE_H
#define CLI_WHY_CHOOSE_H

#include "format/why/why.h"

#include <stdbool.h>

struct why_trace {
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct why *why;
};

/*
 * `time_flags`: as for dat_time_open(). 0; an exit status. Call why_trace_close() in any case; set it to 0 before. The
 * caller reports formats that the table does not have, and parts that the file does not have.
 */
int why_trace_open(const char *command, const char *path, unsigned int time_flags, struct why_trace *t);
void why_trace_close(struct why_trace *t);

struct why_wanted {
	const char *span; /* system:name, or name */
	/* maximum number of spans; 0: all that match `id` or `over`, or the slowest one if neither is given */
	uint64_t slowest;
	const char *id;	  /* a number; NULL: any */
	bool is_over;
	uint64_t over; /* ns: only spans that took longer */
};

struct why_chosen {
	const struct why_span **spans; /* the longest first; the caller frees it */
	size_t nr;
};

/* 0; an exit status, also if no span is chosen. */
int why_choose(const char *command, const struct why *why, const struct why_wanted *o, struct why_chosen *ret_chosen);

#endif
