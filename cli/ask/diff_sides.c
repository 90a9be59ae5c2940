/* SPDX-License-Identifier: MIT */
#include "cli/ask/diff_sides.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"
#include "format/io/number_map.h"
#include "format/io/text_pool.h"

/* The number of names in a message. */
#define NAMES_MAX 8u

/* All events of one system. */
struct system {
	size_t length;	 /* of its name */
	size_t first;	 /* place of its first series */
	bool is_on[2];	 /* whether a run of this side has one of its events */
	bool is_changed; /* a changed row names one of its events */
};

/* What is known of a series of DIFF_COUNT. */
struct counted {
	struct system *system; /* NULL: the series is of another kind */
	bool is_on[2];
	bool is_changed;
};

struct sides {
	const struct diff_series *series;
	size_t nr;
	const unsigned int *runs;
	struct counted *counted; /* by place in `series` */
	struct system *systems;
	size_t nr_systems;
	struct text_pool names;
	struct number_map by_name; /* address of a system's name in the pool: place in `systems` plus one */
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

/* The system of a series, which is made if it is new. NULL: not enough memory. */
static struct system *system_of(struct sides *sides, size_t place)
{
	const char *name = sides->series[place].name;
	const size_t length = strcspn(name, ":");
	const struct pooled_text *pooled = text_pool_add(&sides->names, name, length);
	const uint64_t known = pooled ? number_map_get(&sides->by_name, (uint64_t)(uintptr_t)pooled) : 0;
	struct system *system;

	if (known)
		return &sides->systems[known - 1];
	if (!pooled || number_map_set(&sides->by_name, (uint64_t)(uintptr_t)pooled, sides->nr_systems + 1))
		return NULL;
	system = &sides->systems[sides->nr_systems++];
	*system = (struct system){ .length = length, .first = place };
	return system;
}

/* Fill in `counted` and `systems`, once for both sides: a file may have very many types of events. 0; -ENOMEM. */
static int examine(struct sides *sides, const struct diff_result *result)
{
	sides->counted = calloc(sides->nr + 1, sizeof(*sides->counted));
	sides->systems = calloc(sides->nr + 1, sizeof(*sides->systems));
	if (!sides->counted || !sides->systems)
		return -ENOMEM;
	for (size_t i = 0; i < result->nr_changed; i++)
		if (result->rows[i].series)
			sides->counted[result->rows[i].series - sides->series].is_changed = true;
	for (size_t i = 0; i < sides->nr; i++) {
		struct counted *counted = &sides->counted[i];

		if (sides->series[i].kind != DIFF_COUNT)
			continue;
		counted->system = system_of(sides, i);
		if (!counted->system)
			return -ENOMEM;
		counted->system->is_changed |= counted->is_changed;
		for (unsigned int side = 0; side < 2; side++) {
			counted->is_on[side] = has(sides, &sides->series[i], side);
			counted->system->is_on[side] |= counted->is_on[side];
		}
	}
	return 0;
}

/*
 * What the message calls an event that only this side has: its system, the length of which is *ret_system, or, if that
 * is 0, its name. False: it is not named, or an event before it stands for the system.
 */
static bool is_named(const struct sides *sides, size_t place, unsigned int side, size_t *ret_system)
{
	const struct counted *counted = &sides->counted[place];
	const struct system *system = counted->system;

	*ret_system = system->is_on[!side] ? 0 : system->length;
	if (system->is_on[!side])
		return !sides->series[place].is_kernel && !counted->is_changed;
	return system->first == place && !system->is_changed;
}

static void report_side(const char *command, const struct sides *sides, unsigned int side)
{
	char names[768] = "", more[32] = "";
	unsigned int nr = 0;
	size_t system;

	for (size_t i = 0; i < sides->nr; i++) {
		const struct counted *counted = &sides->counted[i];
		const char *name = sides->series[i].name;
		const size_t used = strlen(names);

		/* A program has recorder:end if its lanes lost events at their ends. */
		if (!counted->system || !strcmp(name, "recorder:end") || !counted->is_on[side] ||
		    counted->is_on[!side] || !is_named(sides, i, side, &system))
			continue;
		if (nr++ < NAMES_MAX)
			snprintf(names + used, sizeof(names) - used, "%s%.*s%s", used ? ", " : "",
				 system ? (int)system : 80, name, system ? ":*" : "");
	}
	if (nr > NAMES_MAX)
		snprintf(more, sizeof(more), " and %u more", nr - NAMES_MAX);
	if (nr)
		complain(command, "side %c has events that side %c lacks: %s%s",
			 'A' + (char)side, 'B' - (char)side, names, more);
}

int diff_sides_report(const char *command, const struct diff_series *series, size_t nr, const unsigned int runs[2],
		      const struct diff_result *result)
{
	struct sides sides = { .series = series, .nr = nr, .runs = runs };
	const int err = examine(&sides, result);

	for (unsigned int side = 0; !err && side < 2; side++)
		report_side(command, &sides, side);
	number_map_free(&sides.by_name);
	text_pool_close(&sides.names);
	free(sides.systems);
	free(sides.counted);
	return err;
}
