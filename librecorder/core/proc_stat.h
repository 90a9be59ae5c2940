/* SPDX-License-Identifier: MIT */
/* The data about a process or thread in the text of /proc/PID/stat. */
#ifndef PROC_STAT_H
#define PROC_STAT_H

#include "librecorder/core/decimal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rec_proc_stat {
	char state; /* a letter, see proc(5) */
	uint64_t nr_threads;
	uint64_t start_time; /* in clock ticks since the machine's start */
};

/*
 * Field `field` (from 3 on). The name may contain anything, brackets too; the fields begin after its last bracket.
 * NULL: the text ends before it.
 */
static inline const char *rec_proc_stat_field(const char *text, unsigned int field)
{
	const char *at = strrchr(text, ')');

	for (; at && field > 2; field--)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

/* False: the text is not that of such a file. */
static inline bool rec_proc_stat_parse(const char *text, struct rec_proc_stat *ret_stat)
{
	const char *start = rec_proc_stat_field(text, 22);

	if (!start)
		return false;
	ret_stat->state = *rec_proc_stat_field(text, 3);
	ret_stat->nr_threads = rec_get_decimal(rec_proc_stat_field(text, 20));
	ret_stat->start_time = rec_get_decimal(start);
	return true;
}

/*
 * Whether the process or thread has ended, even if its parent has not waited for it yet. A first thread that ended
 * before the others is a zombie, but its process is alive.
 */
static inline bool rec_proc_stat_is_dead(const struct rec_proc_stat *stat)
{
	return stat->state == 'X' || (stat->state == 'Z' && stat->nr_threads <= 1);
}

#endif
