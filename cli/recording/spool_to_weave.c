/* SPDX-License-Identifier: MIT */
#include "cli/recording/spool_to_weave.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct weave_text text_of(const struct spool_entry *entry, enum spool_text_kind kind, const char *name)
{
	const struct spool_text *text = spool_text(entry, kind, name);

	return text ? (struct weave_text){ text->text, text->size } : (struct weave_text){ NULL, 0 };
}

/* 0 or -ENOMEM. */
static int add_formats(struct spool_to_weave_texts *texts, const struct spool_entry *entry)
{
	struct weave_kernel *kernel = &texts->kernel;

	texts->formats = calloc(entry->nr_texts + 1, sizeof(*texts->formats));
	kernel->formats = texts->formats;
	for (unsigned int i = 0; i < entry->nr_texts && texts->formats; i++) {
		const struct spool_text *text = &entry->texts[i];
		struct weave_format *format = &texts->formats[kernel->nr_formats];

		if (text->kind != SPOOL_TEXT_FORMAT)
			continue;
		format->system = strndup(text->name, strcspn(text->name, "/"));
		if (!format->system)
			return -ENOMEM;
		format->text = (struct weave_text){ text->text, text->size };
		kernel->nr_formats++;
	}
	return texts->formats ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM. */
static int add_kernel(struct spool_to_weave_texts *texts, const struct spool_entry *entry)
{
	const struct spool_text *depth = spool_text(entry, SPOOL_TEXT_SOME, "graph depth");
	struct weave_kernel *kernel = &texts->kernel;
	char cpu[16];

	kernel->buffer = spool_buffer(entry);
	kernel->clock = text_of(entry, SPOOL_TEXT_CLOCK, "").data;
	kernel->uname = text_of(entry, SPOOL_TEXT_UNAME, "").data;
	kernel->printk = text_of(entry, SPOOL_TEXT_PRINTK, "");
	kernel->kallsyms = text_of(entry, SPOOL_TEXT_KALLSYMS, "");
	kernel->cmdlines = text_of(entry, SPOOL_TEXT_CMDLINES, "");
	kernel->graph_depth = depth ? (uint32_t)strtoul(depth->text, NULL, 10) : 0;
	texts->cpu_stats = calloc(entry->nr_lanes + 1, sizeof(*texts->cpu_stats));
	if (!texts->cpu_stats)
		return -ENOMEM;
	kernel->cpu_stats = texts->cpu_stats;
	kernel->nr_cpu_stats = entry->nr_lanes;
	for (unsigned int i = 0; i < entry->nr_lanes; i++) {
		snprintf(cpu, sizeof(cpu), "%u", i);
		texts->cpu_stats[i] = text_of(entry, SPOOL_TEXT_STATS, cpu);
	}
	return add_formats(texts, entry);
}

/* Collect the maps of processes, which are texts of any of the spool's entries. 0 or -ENOMEM. */
static int add_maps(struct spool_to_weave *to_weave, const struct spool *spool)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		nr += spool->entries[i].nr_texts;
	to_weave->maps = calloc(nr + 1, sizeof(*to_weave->maps));
	for (unsigned int i = 0; i < spool->nr_entries && to_weave->maps; i++)
		for (unsigned int j = 0; j < spool->entries[i].nr_texts; j++) {
			const struct spool_text *text = &spool->entries[i].texts[j];

			if (text->kind == SPOOL_TEXT_MAP)
				to_weave->maps[to_weave->nr_maps++] = (struct weave_text){ text->text, text->size };
		}
	return to_weave->maps ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM. */
static int add_processes(struct spool_to_weave *to_weave, const struct spool *spool)
{
	bool given[REC_CLOCK_MONO + 1] = { false };
	int err = 0;

	for (unsigned int i = 0; i < spool->nr_entries && !err; i++) {
		const struct spool_entry *entry = &spool->entries[i];
		const struct rec_view_info *info = &entry->process.info;
		/* The weave refuses a clock that this version does not know. */
		const uint32_t clock = info->clock <= REC_CLOCK_MONO ? info->clock : 0;

		to_weave->processes[i] = (struct weave_process){
			.pid = info->pid,
			.clock = info->clock,
			.subbuf_size = entry->subbuf_size,
			.other_pids = entry->process.other_pids,
			.comm = info->comm,
			.log = entry->log,
			.log_size = entry->log_size,
			/* The anchors of one process are used for all with the same clock. */
			.anchors = given[clock] ? NULL : spool->anchors[clock].anchors,
			.nr_anchors = given[clock] ? 0 : spool->anchors[clock].nr,
			.lost = entry->ended && !spool_is_kernel(entry) ? entry->losses.no_lane : 0,
		};
		given[clock] = true;
		/* If the top buffer is there twice, the spool is forged. */
		if (spool_is_kernel(entry) && (spool_buffer(entry) || !to_weave->has_top)) {
			struct spool_to_weave_texts *texts = &to_weave->kernels[to_weave->nr_kernels++];

			to_weave->processes[i].kernel = &texts->kernel;
			to_weave->has_top |= !spool_buffer(entry);
			err = add_kernel(texts, entry);
		}
		for (unsigned int j = 0; j < entry->nr_lanes; j++)
			to_weave->pages += entry->lanes[j].pages;
	}
	return err;
}

int spool_to_weave_open(struct spool_to_weave *to_weave, struct spool *spool)
{
	unsigned int nr;
	int err;

	err = spool_source_open(spool, &to_weave->source, &to_weave->lanes);
	if (err)
		return err;
	nr = to_weave->source->nr_streams;
	to_weave->processes = calloc(spool->nr_entries + 1, sizeof(*to_weave->processes));
	to_weave->kernels = calloc(spool->nr_entries + 1, sizeof(*to_weave->kernels));
	to_weave->streams = calloc(nr + 1, sizeof(*to_weave->streams));
	to_weave->files = calloc(nr + 1, sizeof(*to_weave->files));
	if (!to_weave->processes || !to_weave->kernels || !to_weave->streams || !to_weave->files)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		struct spool_stream *from = &to_weave->lanes[i];
		const struct spool_lane *lane = &spool->entries[from->process].lanes[from->lane];
		struct weave_stream *stream = &to_weave->streams[i];

		stream->process = from->process;
		stream->lost = lane->ended ? lane->stats.lost_unread : 0;
		if (!lane->side)
			continue;
		stream->cpu = from->lane;
		stream->not_kept = from->not_kept;
		to_weave->pages += from->pages;
		from->lost = &stream->lost;
		to_weave->files[i].fd = from->side;
		stream->file = from->side < 0 || from->goes_round ? NULL : &to_weave->files[i];
	}
	err = add_maps(to_weave, spool);
	return err ? err : add_processes(to_weave, spool);
}

/* Whether another buffer of the kernel has the same CPU, which was counted there. */
static bool is_in_earlier_buffer(const struct spool *spool, const struct spool_stream *stream)
{
	for (unsigned int i = 0; i < stream->process; i++) {
		const struct spool_entry *entry = &spool->entries[i];

		if (stream->lane < entry->nr_lanes && entry->lanes[stream->lane].side)
			return true;
	}
	return false;
}

void spool_to_weave_kernel(const struct spool_to_weave *to_weave, const struct spool *spool,
			   struct spool_to_weave_kernel *ret_kernel)
{
	struct spool_to_weave_kernel kernel = { .is_there = spool_has_kernel(spool) };

	for (unsigned int i = 0; i < to_weave->source->nr_streams; i++) {
		const struct spool_stream *stream = &to_weave->lanes[i];
		const struct spool_entry *entry = &spool->entries[stream->process];
		struct spool_losses losses;

		if (!entry->lanes[stream->lane].side)
			continue;
		kernel.cpus += !is_in_earlier_buffer(spool, stream);
		kernel.not_kept += stream->not_kept;
		kernel.lost += stream->not_kept;
		if (spool_kernel_losses(entry, stream->lane, &losses)) {
			kernel.gaps_known += stream->gaps;
			kernel.lost += spool_losses_sum(&losses);
			kernel.why.overrun += losses.overrun;
			kernel.why.commit_overrun += losses.commit_overrun;
			kernel.why.dropped += losses.dropped;
			kernel.why.left += losses.left;
		} else {
			kernel.is_cut = true;
			kernel.gaps += stream->gaps;
			kernel.lost += stream->reported;
		}
	}
	*ret_kernel = kernel;
}

/* What the buffers of the kernel lack. */
struct lacks {
	bool has_all;	 /* a buffer has all switches */
	bool has_some;	 /* a buffer has those of some threads */
	bool has_filter; /* switches were chosen by a filter or by different lists, so the threads are not known */
	const char *listed;
	bool has_buffer;
	const char *no_cpus; /* of all buffers */
};

/* Whether a buffer has switches; spools of earlier versions do not state it. */
static bool has_switches(const struct spool_entry *entry)
{
	const struct spool_text *text = spool_text(entry, SPOOL_TEXT_SOME, "switches");

	return !text || (text->size && text->text[0] != '0');
}

/*
 * Note whether the kernel was asked to record only the switches of some threads in a buffer, and which threads. If two
 * buffers have different lists, no list holds for the whole recording: then the threads count as not known.
 */
static void note_some_threads(const struct spool_entry *entry, struct lacks *lacks)
{
	static const char *const names[] = { "first pids", "pids" };
	const struct spool_text *text = spool_text(entry, SPOOL_TEXT_SOME, "filter");
	const bool has_filter = text && text->size && strncmp(text->text, "none", 4);
	const char *listed = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !listed; i++) {
		text = spool_text(entry, SPOOL_TEXT_SOME, names[i]);
		listed = text && strpbrk(text->text, "0123456789") ? text->text : NULL;
	}
	lacks->has_filter |= has_filter || (listed && lacks->listed && strcmp(listed, lacks->listed));
	lacks->has_all = lacks->has_all || (!has_filter && !listed);
	lacks->has_some = lacks->has_some || has_filter || listed;
	lacks->listed = listed ? listed : lacks->listed;
}

/*
 * Note the CPUs that a buffer lacks. If another buffer has one of these CPUs, the recording has it. So a list is noted
 * only if all buffers have the same list.
 */
static void note_no_cpus(const struct spool_entry *entry, struct lacks *lacks)
{
	const struct spool_text *text = spool_text(entry, SPOOL_TEXT_SOME, "no cpus");
	const char *no_cpus = text && text->size ? text->text : NULL;

	if (lacks->has_buffer && (!no_cpus || !lacks->no_cpus || strcmp(no_cpus, lacks->no_cpus)))
		no_cpus = NULL;
	lacks->no_cpus = no_cpus;
	lacks->has_buffer = true;
}

struct dat_notes spool_to_weave_notes(const struct spool *spool)
{
	const struct spool_text *offsets = NULL, *hidden = NULL;
	struct dat_notes notes = { .program = "recorder " PACKAGE_VERSION };
	struct lacks lacks = { .has_all = false };

	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];
		const struct spool_text *processes = spool_text(entry, SPOOL_TEXT_SOME, "processes");

		if (spool_text(entry, SPOOL_TEXT_CLOCK, "") && has_switches(entry)) {
			note_some_threads(entry, &lacks);
			note_no_cpus(entry, &lacks);
		}
		if (processes && processes->size)
			notes.processes = processes->text;
		offsets = offsets ? offsets : spool_text(entry, SPOOL_TEXT_OFFSETS, "");
		hidden = hidden ? hidden : spool_text(entry, SPOOL_TEXT_HIDDEN, "");
	}
	notes.some_threads = lacks.has_some && !lacks.has_all;
	notes.listed = notes.some_threads && !lacks.has_filter ? lacks.listed : NULL;
	notes.no_cpus = lacks.no_cpus;
	notes.offsets = offsets ? offsets->text : NULL;
	notes.hidden = hidden ? hidden->text : NULL;
	memcpy(notes.readings, spool->clocks, sizeof(notes.readings));
	notes.nr_readings = spool->nr_clocks;
	notes.boot = spool->head.boot;
	return notes;
}

void spool_to_weave_close(struct spool_to_weave *to_weave)
{
	for (unsigned int i = 0; i < to_weave->nr_kernels; i++) {
		struct spool_to_weave_texts *texts = &to_weave->kernels[i];

		for (unsigned int j = 0; j < texts->kernel.nr_formats; j++)
			free((char *)(uintptr_t)texts->formats[j].system);
		free(texts->formats);
		free(texts->cpu_stats);
	}
	free(to_weave->kernels);
	free(to_weave->maps);
	free(to_weave->files);
	free(to_weave->streams);
	free(to_weave->processes);
	spool_source_close(to_weave->source);
}
