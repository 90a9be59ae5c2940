/* SPDX-License-Identifier: MIT */
#include "cli/ask/diff_sides.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/opts.h"

/* The number of names in a message. */
#define NAMES_MAX 8u

struct sides {
	const struct diff_series *series;
	size_t nr;
	const unsigned int *runs;
	const struct diff_result *result;
};

/* Whether a run of the side has such an event. */
static bool has(const struct sides *sides, const struct diff_series *series, unsigned int side)
{
	const unsigned int first = side ? sides->runs[0] : 0;

	for (unsigned int run = first; run < first + sides->runs[side]; run++) {
		const struct blob *values = &series->runs[run];
		const double *numbers = (const double *)(const void *)values->data;

		for (size_t i = 0; i < values->size / sizeof(*numbers); i++)
			if (numbers[i] > 0)
				return true;
	}
	return false;
}

static bool is_changed(const struct sides *sides, const struct diff_series *series)
{
	for (size_t i = 0; i < sides->result->nr_changed; i++)
		if (sides->result->rows[i].series == series)
			return true;
	return false;
}

static bool is_of(const struct diff_series *series, const char *name, size_t system)
{
	return series->kind == DIFF_COUNT && !strncmp(series->name, name, system) && series->name[system] == ':';
}

/*
 * What the message calls an event that only this side has: its system, the length of which is *ret_system, or, if that
 * is 0, its name. False: it is not named, or an event before it stands for the system.
 */
static bool is_named(const struct sides *sides, const struct diff_series *series, unsigned int side, size_t *ret_system)
{
	const size_t system = strcspn(series->name, ":");
	bool is_first = true, is_row = false;

	for (size_t i = 0; i < sides->nr; i++) {
		const struct diff_series *other = &sides->series[i];

		if (!is_of(other, series->name, system))
			continue;
		if (has(sides, other, !side)) {
			*ret_system = 0;
			return !series->is_kernel && !is_changed(sides, series);
		}
		is_row |= is_changed(sides, other);
		is_first = is_first && other >= series;
	}
	*ret_system = system;
	return is_first && !is_row;
}

static void report_side(const char *command, const struct sides *sides, unsigned int side)
{
	char names[768] = "", more[32] = "";
	unsigned int nr = 0;
	size_t system;

	for (size_t i = 0; i < sides->nr; i++) {
		const struct diff_series *series = &sides->series[i];
		const size_t used = strlen(names);

		/* A program has recorder:end if its lanes lost events at their ends. */
		if (series->kind != DIFF_COUNT || !strcmp(series->name, "recorder:end") ||
		    !has(sides, series, side) || has(sides, series, !side) || !is_named(sides, series, side, &system))
			continue;
		if (nr++ < NAMES_MAX)
			snprintf(names + used, sizeof(names) - used, "%s%.*s%s", used ? ", " : "",
				 system ? (int)system : 80, series->name, system ? ":*" : "");
	}
	if (nr > NAMES_MAX)
		snprintf(more, sizeof(more), " and %u more", nr - NAMES_MAX);
	if (nr)
		complain(command, "side %c has events that side %c lacks: %s%s",
			 'A' + (char)side, 'B' - (char)side, names, more);
}

void diff_sides_report(const char *command, const struct diff_series *series, size_t nr, const unsigned int runs[2],
		       const struct diff_result *result)
{
	const struct sides sides = { series, nr, runs, result };

	for (unsigned int side = 0; side < 2; side++)
		report_side(command, &sides, side);
}
