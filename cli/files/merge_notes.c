/* SPDX-License-Identifier: MIT */
/*
 * See merge_notes.h. A file does not state the machine of a thread's id. If two files have a thread of the same id,
 * readers use the process of the first file's thread, and its name. In a file's list, the last process of a thread is
 * valid, so the lists are joined from the last file to the first.
 */
#include "cli/files/merge_notes.h"

#include "cli/files/merge_cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_notes.h"
#include "format/io/blob.h"
#include "format/io/number_map.h"

struct collected {
	struct dat_notes notes; /* the notes of the result; their strings are the blobs below */
	struct dat_losses kernel_losses, program_losses;
	struct dat_absent absent;
	struct blob program, listed, hidden, other_pids, processes, kernel_lost, program_lost;
	struct blob some_times, no_cpus, no_switches, no_kernel, no_programs;
	struct number_map listed_seen, hidden_seen, others_seen; /* by thread: 1 */
	struct clock_offset *offsets;
	unsigned int nr_offsets;
	char *offset_text;
	bool has_unlisted; /* a file has only the switches of some threads, and does not list them */
};

static const char *text_of(const struct merge_file *file)
{
	const struct dat_option *version = dat_option(file->file, DAT_VERSION);

	return version ? version->data : "";
}

/*
 * Add a file's losses, with their times converted to the result's. If each CPU's times are converted in another way,
 * each loss is added once for each CPU.
 */
static int add_losses(const struct merge *merge, const struct merge_file *file, const char *text,
		      struct dat_losses *all)
{
	const uint32_t nr_cpus = file->time.nr_cpus ? file->time.nr_cpus : 1;
	struct dat_losses losses = { 0 };
	int err = dat_losses_read(text, &losses);

	for (size_t i = 0; i < losses.nr && !err; i++) {
		const struct dat_loss_time *loss = &losses.all[i];

		for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
			const uint64_t since = loss->since ? merge_raw_time(merge, file, cpu, loss->since) : 0;
			const uint64_t until = loss->until == DAT_LOSS_NO_END
						       ? DAT_LOSS_NO_END
						       : merge_raw_time(merge, file, cpu, loss->until);

			if (until)
				dat_losses_add(all, since, until);
		}
	}
	if (!err)
		dat_losses_free(&losses);
	return err;
}

/* Add the threads of a list that are not in the result's list yet. */
static int add_threads(const char *threads, struct number_map *seen, struct blob *list)
{
	int32_t tid;

	while (threads && dat_notes_next_thread(&threads, &tid)) {
		if (number_map_get(seen, (uint32_t)tid))
			continue;
		blob_printf(list, " %d", tid);
		if (number_map_set(seen, (uint32_t)tid, 1))
			return -ENOMEM;
	}
	return list->error;
}

/* A file's list of processes, up to the next note; ret_size is 0 if it has none. */
static const char *processes_of(const struct merge_file *file, size_t *ret_size)
{
	struct dat_notes notes;
	const char *list;

	dat_notes_of(file->file, &notes);
	list = notes.processes ? notes.processes + strspn(notes.processes, " ") : "";
	*ret_size = strcspn(list, ";");
	return list;
}

/* Put the lists of all files. If lists are equal, as those of a file's parts, the first file's suffices. */
static int add_processes(const struct merge *merge, struct blob *list)
{
	for (unsigned int i = merge->nr; i-- > 0;) {
		size_t size, other_size;
		const char *processes = processes_of(&merge->files[i], &size), *other;
		bool is_new = size > 0;

		for (unsigned int j = 0; j < i && is_new; j++) {
			other = processes_of(&merge->files[j], &other_size);
			is_new = size != other_size || memcmp(processes, other, size) != 0;
		}
		if (is_new)
			blob_printf(list, "%s%.*s", list->size ? ", " : "", (int)size, processes);
	}
	return list->error;
}

/* Add a file's offsets. The interval of a CPU number contains the intervals of all files. */
static int add_offsets(struct collected *all, const char *text)
{
	struct clock_offset offset, *offsets;
	unsigned int i;

	while (text && clock_offsets_next(&text, &offset)) {
		for (i = 0; i < all->nr_offsets && all->offsets[i].cpu != offset.cpu; i++)
			;
		if (i < all->nr_offsets) {
			clock_offset_join(&all->offsets[i], &offset);
			continue;
		}
		offsets = realloc(all->offsets, (all->nr_offsets + 1) * sizeof(*offsets));
		if (!offsets)
			return -ENOMEM;
		all->offsets = offsets;
		offsets[all->nr_offsets++] = offset;
	}
	return 0;
}

static int add_file(struct collected *all, const struct merge *merge, const struct merge_file *file)
{
	struct dat_notes notes;
	int err;

	dat_notes_of(file->file, &notes);
	all->notes.is_listed_only = all->notes.is_listed_only || notes.is_listed_only;
	all->has_unlisted = all->has_unlisted || (notes.some_threads && !notes.listed);
	if (notes.time_error > all->notes.time_error)
		all->notes.time_error = notes.time_error; /* UINT64_MAX: not known */
	err = add_threads(notes.listed, &all->listed_seen, &all->listed);
	if (!err)
		err = add_threads(notes.hidden, &all->hidden_seen, &all->hidden);
	if (!err)
		err = add_threads(notes.other_pids, &all->others_seen, &all->other_pids);
	if (!err)
		err = add_offsets(all, notes.offsets);
	if (!err)
		err = add_losses(merge, file, notes.kernel_losses, &all->kernel_losses);
	return err ? err : add_losses(merge, file, notes.program_losses, &all->program_losses);
}

/* Take what comes from the first file alone: the writer, and the readings of the clock of all times. */
static void take_first(struct collected *all, const struct merge *merge)
{
	const char *text = text_of(&merge->files[0]);
	struct dat_notes first;

	dat_notes_of(merge->files[0].file, &first);
	memcpy(all->notes.readings, first.readings, sizeof(first.readings));
	all->notes.nr_readings = first.nr_readings;
	all->notes.boot = first.boot;
	all->notes.is_merged = merge->is_moved;
	all->notes.merge_error = merge->error;
	all->notes.merge_is_open = merge->is_open;
	if (*text)
		blob_put(&all->program, text, strcspn(text, ";"));
	else
		blob_printf(&all->program, "recorder " PACKAGE_VERSION);
}

static void put_absent(struct collected *all)
{
	const struct dat_absent *absent = &all->absent;

	dat_losses_put(&absent->some_times, &all->some_times);
	dat_losses_put(&absent->no_switches, &all->no_switches);
	dat_losses_put(&absent->no_kernel, &all->no_kernel);
	dat_losses_put(&absent->no_programs, &all->no_programs);
	dat_notes_put_cpus(&all->no_cpus, absent->no_cpus, absent->nr_no_cpus);
	all->notes.some_threads = absent->some_threads;
	all->notes.several_machines = absent->several_machines;
}

static int put(struct collected *all, const struct merge *merge)
{
	struct blob *const texts[] = { &all->program,	   &all->listed,      &all->hidden,	&all->other_pids,
				       &all->processes,	   &all->kernel_lost, &all->program_lost, &all->some_times,
				       &all->no_cpus,	   &all->no_switches, &all->no_kernel,	&all->no_programs };
	struct blob text = BLOB_INIT;
	int err = all->kernel_losses.error ? all->kernel_losses.error : all->program_losses.error;

	take_first(all, merge);
	put_absent(all);
	dat_losses_join(&all->kernel_losses);
	dat_losses_put(&all->kernel_losses, &all->kernel_lost);
	dat_losses_join(&all->program_losses);
	dat_losses_put(&all->program_losses, &all->program_lost);
	all->offset_text = clock_offsets_text(all->offsets, all->nr_offsets);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !err; i++) {
		blob_put(texts[i], "", 1);
		err = texts[i]->error;
	}
	if (err || !all->offset_text)
		return -ENOMEM;
	all->notes.program = (const char *)all->program.data;
	all->notes.listed = all->has_unlisted ? NULL : (const char *)all->listed.data;
	all->notes.hidden = (const char *)all->hidden.data;
	all->notes.other_pids = (const char *)all->other_pids.data;
	all->notes.processes = (const char *)all->processes.data;
	all->notes.kernel_losses = (const char *)all->kernel_lost.data;
	all->notes.program_losses = (const char *)all->program_lost.data;
	all->notes.some_times = (const char *)all->some_times.data;
	all->notes.no_cpus = (const char *)all->no_cpus.data;
	all->notes.no_switches = (const char *)all->no_switches.data;
	all->notes.no_kernel = (const char *)all->no_kernel.data;
	all->notes.no_programs = (const char *)all->no_programs.data;
	all->notes.offsets = *all->offset_text ? all->offset_text : NULL;
	dat_notes_put(&text, &all->notes);
	blob_put(&text, "", 1);
	err = text.error;
	if (!err)
		err = dat_write_option(merge->writer, DAT_VERSION, text.data, text.size);
	blob_free(&text);
	return err;
}

/* Whether a file has notes, or the result lacks something. */
static bool has_notes(const struct merge *merge, const struct dat_absent *absent)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		if (*text_of(&merge->files[i]))
			return true;
	}
	return absent->no_kernel.nr || absent->no_programs.nr || absent->no_switches.nr || absent->some_threads ||
	       absent->several_machines;
}

int merge_put_notes(const struct merge *merge)
{
	struct collected all = { .has_unlisted = false };
	int err = merge_cover(merge, &all.absent);

	for (unsigned int i = 0; i < merge->nr && !err; i++)
		err = add_file(&all, merge, &merge->files[i]);
	if (!err)
		err = add_processes(merge, &all.processes);
	if (!err && has_notes(merge, &all.absent))
		err = put(&all, merge);
	dat_absent_free(&all.absent);
	dat_losses_free(&all.kernel_losses);
	dat_losses_free(&all.program_losses);
	blob_free(&all.program);
	blob_free(&all.listed);
	blob_free(&all.hidden);
	blob_free(&all.other_pids);
	blob_free(&all.processes);
	blob_free(&all.kernel_lost);
	blob_free(&all.program_lost);
	blob_free(&all.some_times);
	blob_free(&all.no_cpus);
	blob_free(&all.no_switches);
	blob_free(&all.no_kernel);
	blob_free(&all.no_programs);
	number_map_free(&all.listed_seen);
	number_map_free(&all.hidden_seen);
	number_map_free(&all.others_seen);
	free(all.offsets);
	free(all.offset_text);
	return err;
}
