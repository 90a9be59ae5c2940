/* SPDX-License-Identifier: MIT */
/*
 * A file covers the times from its first event to its last one, except those that its own notes exclude; all other
 * times are the file's absence. The result lacks the times that are in the absences of all files. For switches, only
 * files with sched_switch count; for the kernel's events, only files with a format of such an event, and the same for
 * programs' events. A file that recorded only a few of the kernel's events counts as if it had all.
 *
 * A piece that 'recorder split' made covers the time since the last event of the piece before, too. It counts as having
 * switches if another piece of the recording has them: a short piece may have none.
 *
 * The result lacks a CPU if one of the files lacks it, unless another file has the CPU at all times of that file. Files
 * that 'recorder split -C' made of one recording have the same times, although their first events differ.
 *
 * Notes and readers do not distinguish the machines of threads. If the files are of several machines, a file never
 * supplies a CPU that a file of another machine lacks; and if one file has only the switches of some threads, the
 * result states this for all times. But a time counts as lacking only if no file of any machine covers it: where only
 * another machine's file covers it, spans seem to continue. If files of different machines cover the same time, the
 * result states that it is of several machines, and readers take the states of all threads for unknown.
 */
#include "cli/files/merge_cover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/text/event_parse.h"

void merge_cover_open(struct merge_file *file)
{
	file->cover = (struct merge_cover){ .switch_type = UINT32_MAX };
	for (size_t i = 0; i < file->file->nr_formats; i++) {
		const struct dat_format *format = &file->file->formats[i];
		const char *id = format->text.text ? dat_line_id(format->text.text) : NULL;
		unsigned long type;

		if (!id)
			continue;
		type = strtoul(id, NULL, 10);
		if (event_is_programs((int)type))
			file->cover.has_programs = true;
		else
			file->cover.has_kernel = true;
		if (!strcmp(format->system, "sched") && dat_line_is_named(format->text.text, "sched_switch"))
			file->cover.switch_type = (uint32_t)type;
	}
}

void merge_cover_event(struct merge_file *file, uint16_t type, uint64_t time)
{
	struct merge_cover *cover = &file->cover;

	if (!cover->has_event)
		cover->first = time;
	cover->has_event = true;
	cover->last = time > cover->last ? time : cover->last;
	cover->has_switch = cover->has_switch || type == cover->switch_type;
}

uint64_t merge_raw_time(const struct merge *merge, const struct merge_file *file, uint32_t cpu, uint64_t time)
{
	const uint64_t shown = dat_time(&file->time, cpu, time);
	const __int128 moved = (__int128)shown + file->clock.move - merge->date;

	return moved < 0 ? 0 : moved >= (__int128)DAT_LOSS_NO_END ? DAT_LOSS_NO_END - 1 : (uint64_t)moved;
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

static bool is_same_recording(const struct merge_file *a, const struct merge_file *b)
{
	const struct merge_machine *x = &a->machine, *y = &b->machine;

	return x->nr_readings && x->nr_readings == y->nr_readings && x->reading.mono == y->reading.mono &&
	       x->reading.realtime == y->reading.realtime;
}

/* Read what a piece notes about itself. */
static void read_piece(const struct merge *merge, struct merge_file *file, const struct dat_notes *notes)
{
	struct merge_cover *cover = &file->cover;
	uint64_t since, first;

	cover->since = cover->first;
	cover->is_whole = notes->whole && sscanf(notes->whole, "%" SCNu64 " to %" SCNu64, &since, &first) == 2;
	if (!cover->is_whole || merge_raw_time(merge, file, 0, first) < cover->first)
		return;
	since = merge_raw_time(merge, file, 0, since);
	cover->since = since < cover->since ? since : cover->since;
}

/* Whether other pieces of its recording have switches. */
static bool has_piece_switches(const struct merge *merge, const struct merge_file *file)
{
	for (unsigned int i = 0; i < merge->nr && file->cover.is_whole; i++) {
		if (merge->files[i].cover.has_switch && is_same_recording(file, &merge->files[i]))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ times */

/* Add a file's times, converted to those of the result. */
static void add_times(const struct merge *merge, const struct merge_file *file, const struct dat_losses *times,
		      struct dat_losses *all)
{
	for (size_t i = 0; i < times->nr; i++) {
		const struct dat_loss_time *time = &times->all[i];

		dat_losses_add(all, merge_raw_time(merge, file, 0, time->since),
			       time->until == DAT_LOSS_NO_END ? DAT_LOSS_NO_END
							      : merge_raw_time(merge, file, 0, time->until));
	}
}

enum what { KERNEL, PROGRAMS, SWITCHES, ALL_SWITCHES };

static bool has(const struct merge_cover *cover, enum what what)
{
	return cover->has_event && (what == KERNEL     ? cover->has_kernel
				    : what == PROGRAMS ? cover->has_programs
						       : cover->has_switch);
}

/* The times at which a file lacks something. */
static void add_absence(const struct merge *merge, const struct merge_file *file, enum what what,
			struct dat_losses *all)
{
	const struct dat_absent *absent = &file->cover.absent;

	if (file->cover.since)
		dat_losses_add(all, 0, file->cover.since - 1);
	dat_losses_add(all, file->cover.last + 1, DAT_LOSS_NO_END);
	add_times(merge, file, what == PROGRAMS ? &absent->no_programs : &absent->no_kernel, all);
	if (what == SWITCHES || what == ALL_SWITCHES)
		add_times(merge, file, &absent->no_switches, all);
	if (what == ALL_SWITCHES && absent->some_threads && !absent->some_times.nr)
		dat_losses_add(all, 0, DAT_LOSS_NO_END);
	else if (what == ALL_SWITCHES)
		add_times(merge, file, &absent->some_times, all);
	dat_losses_join(all);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The times that are in all of the lists, whose times were put together. Within a list, times do not overlap. */
static int find_common(const struct dat_losses *times, size_t nr_lists, struct dat_losses *ret_common)
{
	uint64_t *begins = reallocarray(NULL, times->nr, sizeof(*begins));
	uint64_t *ends = reallocarray(NULL, times->nr, sizeof(*ends));
	const bool is_done = begins && ends;

	for (size_t i = 0; i < times->nr && is_done; i++) {
		begins[i] = times->all[i].since;
		ends[i] = times->all[i].until;
	}
	if (is_done) {
		qsort(begins, times->nr, sizeof(*begins), by_time);
		qsort(ends, times->nr, sizeof(*ends), by_time);
	}
	for (size_t i = 0, j = 0; is_done && i < times->nr && j < times->nr;) {
		if (begins[i] >= ends[j]) {
			j++;
			continue;
		}
		i++;
		if (i - j == nr_lists)
			dat_losses_add(ret_common, begins[i - 1], ends[j]);
	}
	free(begins);
	free(ends);
	return is_done ? ret_common->error : -ENOMEM;
}

/* Put the absences of all files that have such events together. *ret_nr: the number of these files. */
static int add_absences(const struct merge *merge, enum what what, struct dat_losses *all, size_t *ret_nr)
{
	*ret_nr = 0;
	for (unsigned int i = 0; i < merge->nr && !all->error; i++) {
		const struct merge_file *file = &merge->files[i];
		struct dat_losses absence = { .is_exact = true };

		if (!has(&file->cover, what))
			continue;
		add_absence(merge, file, what, &absence);
		for (size_t j = 0; j < absence.nr; j++)
			dat_losses_add(all, absence.all[j].since, absence.all[j].until);
		all->error = absence.error ? absence.error : all->error;
		dat_losses_free(&absence);
		++*ret_nr;
	}
	return all->error;
}

/*
 * Find the times that are in the absences of all files that have such events at all; no times if no file has such
 * events. Times outside the result are not in the list.
 */
static int find_times(const struct merge *merge, enum what what, struct dat_losses *ret_times)
{
	struct dat_losses all = { .is_exact = true };
	uint64_t first = UINT64_MAX, last = 0;
	size_t nr;
	int err;

	ret_times->is_exact = true;
	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_cover *cover = &merge->files[i].cover;

		if (cover->has_event) {
			first = cover->first < first ? cover->first : first;
			last = cover->last > last ? cover->last : last;
		}
	}
	err = add_absences(merge, what, &all, &nr);
	if (!err && nr && first < last) {
		dat_losses_add(&all, first, last);
		err = all.error ? all.error : find_common(&all, nr + 1, ret_times);
	}
	dat_losses_free(&all);
	return err;
}

/* Find the times of switches. */
static int find_switches(const struct merge *merge, struct dat_absent *absent)
{
	bool has_all = false;
	int err;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_cover *cover = &merge->files[i].cover;
		const bool is_always_some = cover->absent.some_threads && !cover->absent.some_times.nr;

		has_all = has_all || (cover->has_switch && !is_always_some);
		absent->some_threads = absent->some_threads || cover->absent.some_threads;
	}
	err = find_times(merge, SWITCHES, &absent->no_switches);
	if (err || !has_all || merge->has_machines || !absent->some_threads)
		return err;
	err = find_times(merge, ALL_SWITCHES, &absent->some_times);
	absent->some_threads = absent->some_times.nr > 0;
	return err;
}

/* ------------------------------------------------------------------------------------------------------------- CPUs */

static bool has_cpu(const struct merge *merge, const struct merge_file *file, uint32_t cpu)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_file *other = &merge->files[i];
		const struct merge_cover *a = &file->cover, *b = &other->cover;

		if (merge_machine_is_other(&file->machine, &other->machine))
			continue;
		if (!b->has_event || dat_absent_has_cpu(&b->absent, cpu) || (a->has_switch && !b->has_switch))
			continue;
		if ((b->first <= a->first && b->last >= a->last) ||
		    (b->first <= a->last && b->last >= a->first && is_same_recording(file, other)))
			return true;
	}
	return false;
}

static int find_cpus(const struct merge *merge, struct dat_absent *absent)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		const uint32_t nr = merge->files[i].cover.absent.nr_no_cpus;

		absent->nr_no_cpus = nr > absent->nr_no_cpus ? nr : absent->nr_no_cpus;
	}
	absent->no_cpus = calloc(absent->nr_no_cpus + 1u, sizeof(*absent->no_cpus));
	if (!absent->no_cpus)
		return -ENOMEM;
	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_file *file = &merge->files[i];

		for (uint32_t cpu = 0; cpu < absent->nr_no_cpus; cpu++) {
			if (file->cover.has_event && dat_absent_has_cpu(&file->cover.absent, cpu) &&
			    !has_cpu(merge, file, cpu))
				absent->no_cpus[cpu] = true;
		}
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- machines */

/* Whether two files, at least one of which has events of the kernel, are of different machines at the same time. */
static bool are_mixed(const struct merge_file *one, const struct merge_file *other)
{
	const struct merge_cover *a = &one->cover, *b = &other->cover;

	return a->has_event && b->has_event && (a->has_kernel || b->has_kernel) && a->first <= b->last &&
	       b->first <= a->last && merge_machine_is_other(&one->machine, &other->machine);
}

static bool has_several_machines(const struct merge *merge)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		if (merge->files[i].cover.absent.several_machines)
			return true;
		for (unsigned int j = 0; j < i; j++) {
			if (are_mixed(&merge->files[i], &merge->files[j]))
				return true;
		}
	}
	return false;
}

int merge_cover(const struct merge *merge, struct dat_absent *ret_absent)
{
	int err = 0;

	*ret_absent = (struct dat_absent){ .some_threads = false };
	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		struct merge_file *file = &merge->files[i];
		struct dat_notes notes;

		dat_notes_of(file->file, &notes);
		err = dat_absent_read(&notes, &file->cover.absent);
		read_piece(merge, file, &notes);
		file->cover.has_switch = file->cover.has_switch || has_piece_switches(merge, file);
	}
	ret_absent->several_machines = !err && has_several_machines(merge);
	if (!err)
		err = find_times(merge, KERNEL, &ret_absent->no_kernel);
	if (!err)
		err = find_times(merge, PROGRAMS, &ret_absent->no_programs);
	if (!err)
		err = find_switches(merge, ret_absent);
	return err ? err : find_cpus(merge, ret_absent);
}
