/* SPDX-License-Identifier: MIT */
/*
 * See merge_clocks.h. CLOCK_REALTIME minus CLOCK_MONOTONIC is constant on a machine, unless the time of day is set;
 * CLOCK_BOOTTIME minus CLOCK_MONOTONIC is constant, unless the machine sleeps. So a file is moved as a whole, which
 * keeps its order and its durations. If such a difference changes between the first and the last reading, the moment of
 * the change is not known: the middle is used, and half the change is part of the error.
 */
#include "cli/files/merge_clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/dat/dat_notes.h"
#include "format/dat/dat_time.h"

/* What a file states about its clock. */
struct facts {
	const struct dat_file *file;
	struct dat_notes notes;
	struct merge_machine machine;
	char clock[64];
	struct clock_reading readings[CLOCK_READINGS]; /* their `mono` is the clock of the file */
	unsigned int nr_readings;
	int64_t date;
};

/* Whether the file's options convert the TSC to CLOCK_MONOTONIC: recorder writes such options, and readings. */
static bool is_converted_to_mono(const struct dat_file *file)
{
	struct clock_reading readings[CLOCK_READINGS];

	return dat_option(file, DAT_TSC2NSEC) && dat_time_readings(file, readings);
}

static struct facts facts_of(const struct dat_file *file)
{
	struct facts facts = { .file = file };

	dat_notes_of(file, &facts.notes);
	facts.machine = merge_machine_of(file);
	merge_clock_name(file, facts.clock, sizeof(facts.clock));
	facts.nr_readings = dat_time_readings(file, facts.readings);
	dat_time_date(file, &facts.date);
	return facts;
}

void merge_clock_name(const struct dat_file *file, char *ret_name, size_t size)
{
	if (is_converted_to_mono(file))
		snprintf(ret_name, size, "mono");
	else if (dat_option(file, DAT_TSC2NSEC))
		snprintf(ret_name, size, "tsc2nsec");
	else if (!dat_clock_name(file, ret_name, size))
		snprintf(ret_name, size, "local"); /* a file without a clock: nanoseconds */
}

/* Whether the times include an offset that is not part of their conversion. */
static bool has_offset(const struct dat_file *file)
{
	return dat_option(file, DAT_OFFSET) && !is_converted_to_mono(file);
}

static int refuse(struct dat_error *error, const char *reason)
{
	snprintf(error->text, sizeof(error->text), "%s", reason);
	return -EOPNOTSUPP;
}

/* ----------------------------------------------------------------------------------------------- which clock it is */

/* Whether the times of one file were moved to those of the other (TIME_SHIFT names its id). */
static bool is_peer(const struct merge_machine *file, const struct merge_machine *other)
{
	const struct dat_option *shift = file->shift, *id = other->id;

	return shift && id && shift->size >= 8 && id->size == 8 && !memcmp(shift->data, id->data, 8);
}

/* Whether an option of a file moves its times to those of the other one, or the times of both to those of a third. */
static bool are_peers(const struct merge_machine *one, const struct merge_machine *other)
{
	const struct dat_option *a = one->shift, *b = other->shift;

	if (a && b)
		return a->size >= 8 && b->size >= 8 && !memcmp(a->data, b->data, 8);
	return is_peer(one, other) || is_peer(other, one);
}

/* Whether both files are of one recording, such as the parts of a guest's file, whose times were moved alike. */
static bool are_of_one_recording(const struct merge_machine *one, const struct merge_machine *other)
{
	const struct dat_option *a = one->id, *b = other->id;

	return one->file == other->file || (a && b && a->size == 8 && b->size == 8 && !memcmp(a->data, b->data, 8));
}

enum boot { BOOT_UNKNOWN, BOOT_SAME, BOOT_OTHER };

#define BOOTS_APART INT64_C(60000000000) /* ns; a boot takes some seconds, and corrections of a clock are smaller */

/*
 * Whether both files are of one boot of one machine: by the boot ids; if a file has none, because an earlier version
 * wrote it, by the time of day minus CLOCK_BOOTTIME, which is the moment of the boot. That changes if the time of day
 * is set, but seldom by minutes. This is a guess: two machines may be booted at about the same time.
 */
static enum boot compare_boots(const struct merge_machine *one, const struct merge_machine *other)
{
	const struct clock_reading *a = &one->reading, *b = &other->reading;
	int64_t distance;

	if (one->boot && other->boot)
		return strncmp(one->boot, other->boot, DAT_BOOT_ID) ? BOOT_OTHER : BOOT_SAME;
	if (!one->nr_readings || !other->nr_readings)
		return BOOT_UNKNOWN;
	distance = (int64_t)((a->realtime - a->boottime) - (b->realtime - b->boottime));
	return distance > -BOOTS_APART && distance < BOOTS_APART ? BOOT_SAME : BOOT_OTHER;
}

/* ------------------------------------------------------------------------------------------------------- readings */

static uint64_t add_errors(uint64_t one, uint64_t other)
{
	return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

/*
 * The difference between the common clock (the time of day, or CLOCK_BOOTTIME) and that of the file. The possible error
 * of this difference is added to *error, and *ret_open is set if the file does not state one of its errors.
 */
static int64_t distance_of(const struct facts *facts, bool by_day, uint64_t *error, bool *ret_open)
{
	int64_t by[CLOCK_READINGS];
	uint64_t read = 0, day = 0, change;

	for (unsigned int i = 0; i < facts->nr_readings; i++) {
		const struct clock_reading *reading = &facts->readings[i];

		by[i] = (int64_t)((by_day ? reading->realtime : reading->boottime) - reading->mono);
		read = reading->error > read ? reading->error : read;
		day = reading->day_error > day ? reading->day_error : day;
	}
	if (facts->notes.time_error == DAT_TIME_ERROR_UNKNOWN || !read || (by_day && !day))
		*ret_open = true;
	*error = add_errors(*error, read);
	*error = add_errors(*error, by_day ? day : 0);
	if (facts->notes.time_error != DAT_TIME_ERROR_UNKNOWN)
		*error = add_errors(*error, facts->notes.time_error);
	if (facts->nr_readings < 2)
		return by[0];
	change = (uint64_t)by[1] - (uint64_t)by[0];
	*error = add_errors(*error, ((int64_t)change < 0 ? -change : change) / 2 + change % 2);
	return (int64_t)((uint64_t)by[0] + (uint64_t)((int64_t)change / 2));
}

static void join_by_readings(const struct facts *file, const struct facts *first, bool by_day,
			     struct merge_clock *clock)
{
	const int64_t distance = distance_of(file, by_day, &clock->error, &clock->is_open);
	const int64_t first_distance = distance_of(first, by_day, &clock->error, &clock->is_open);

	clock->by_readings = true;
	clock->by_day = by_day;
	clock->move =
		(int64_t)((uint64_t)distance - (uint64_t)first_distance + (uint64_t)first->date - (uint64_t)file->date);
}

/* ------------------------------------------------------------------------------------------------------ one clock */

static int join_one_clock(const struct facts *file, const struct facts *first, bool is_one_boot,
			  struct merge_clock *clock, struct dat_error *error)
{
	if (is_one_boot)
		clock->move = (int64_t)((uint64_t)first->date - (uint64_t)file->date);
	else if (!dat_option(file->file, DAT_DATE) != !dat_option(first->file, DAT_DATE))
		return refuse(error, "only one of this file and the first one has times of day (option date)");
	return 0;
}

struct merge_machine merge_machine_of(const struct dat_file *file)
{
	struct dat_notes notes;

	dat_notes_of(file, &notes);
	return (struct merge_machine){
		.file = file,
		.boot = notes.boot,
		.reading = notes.readings[0],
		.nr_readings = notes.nr_readings,
		.shift = dat_option(file, DAT_TIME_SHIFT),
		.id = dat_option(file, DAT_TRACEID),
	};
}

bool merge_machine_is_other(const struct merge_machine *machine, const struct merge_machine *other)
{
	return compare_boots(machine, other) == BOOT_OTHER ||
	       (are_peers(machine, other) && !are_of_one_recording(machine, other));
}

int merge_clock_find(const struct dat_file *file, const struct dat_file *first, struct merge_clock *ret_clock,
		     struct dat_error *ret_error)
{
	const struct facts a = facts_of(file), b = facts_of(first);
	const bool is_one = !strcmp(a.clock, b.clock);
	const enum boot boot = compare_boots(&a.machine, &b.machine);

	*ret_clock = (struct merge_clock){ .move = 0 };
	if (has_offset(file) != has_offset(first))
		return refuse(ret_error,
			      "only one of this file and the first one has an offset added to its times "
			      "(option offset)");
	if (is_one && are_peers(&a.machine, &b.machine))
		return join_one_clock(&a, &b, false, ret_clock, ret_error);
	if (dat_option(file, DAT_TIME_SHIFT) || dat_option(first, DAT_TIME_SHIFT))
		return refuse(ret_error,
			      "only one of this file and the first one has times of another machine "
			      "(option time_shift)");
	ret_clock->is_guessed = boot == BOOT_SAME && !(a.notes.boot && b.notes.boot);
	if (is_one && boot != BOOT_OTHER)
		return join_one_clock(&a, &b, boot == BOOT_SAME, ret_clock, ret_error);
	if (a.nr_readings && b.nr_readings) {
		join_by_readings(&a, &b, boot != BOOT_SAME, ret_clock);
		return 0;
	}
	if (boot == BOOT_OTHER)
		refuse(ret_error, "it is of another machine or boot than the first file");
	else
		refuse(ret_error, "its clock is not that of the first file");
	snprintf(ret_error->text + strlen(ret_error->text), sizeof(ret_error->text) - strlen(ret_error->text),
		 ", and %s has no readings of its clock, %s", a.nr_readings ? "the first file" : "it",
		 a.nr_readings ? b.clock : a.clock);
	return -EOPNOTSUPP;
}
