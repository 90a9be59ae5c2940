/* SPDX-License-Identifier: MIT */
/*
 * recorder merge: merges several trace.dat files into one. Events of the same name and fields get one id. Streams:
 * memory does not grow with the events of the files, but each file has its texts in memory, such as the symbols of the
 * kernel.
 */
#include "cli/base/file_limit.h"
#include "cli/cmd.h"
#include "cli/common/compression.h"
#include "cli/common/missing_parts.h"
#include "cli/common/output_error.h"
#include "cli/files/merge_files.h"
#include "format/dat/dat_compress.h"
#include "format/dat/dat_pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COMMAND "merge"

static bool open_files(struct merge *merge, char **paths)
{
	struct dat_error error = { 0 };

	for (; paths[merge->nr]; merge->nr++) {
		struct merge_file *file = &merge->files[merge->nr];

		file->path = paths[merge->nr];
		if (dat_open_rest(file->path, dat_compress_zstd(), &file->file, &error) ||
		    dat_time_open(file->file, 0, &file->time, &error))
			complain(COMMAND, "%s: %s", file->path, error.text);
		else if (!complain_in_place(COMMAND, file->path, file->file, merge->output))
			continue;
		dat_time_close(&file->time);
		dat_close(file->file);
		return false;
	}
	return true;
}

#define NS_PER_S UINT64_C(1000000000)

static void print_error(uint64_t error, bool is_open)
{
	printf("within %" PRIu64 " ns%s\n", error, is_open ? ", plus errors that the files do not state" : "");
}

/* If the files have several clocks, report how they were put on one timeline. */
static void report_clocks(const struct merge *merge)
{
	uint64_t printed = 0;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_clock *clock = &merge->files[i].clock;
		const uint64_t move = clock->move < 0 ? -(uint64_t)clock->move : (uint64_t)clock->move;

		if (clock->is_guessed)
			printf("%s: assumed to be of the first file's boot: there is no boot id to compare, "
			       "but the boots began at most 60 s apart\n",
			       merge->files[i].path);
		if (!clock->by_readings)
			continue;
		printf("%s: moved by %s%" PRIu64 ".%09" PRIu64 " s, by %s, ", merge->files[i].path,
		       clock->move < 0 ? "-" : "", move / NS_PER_S, move % NS_PER_S,
		       clock->by_day ? "the time of day" : "CLOCK_BOOTTIME");
		print_error(clock->error, clock->is_open);
		printed = clock->error;
	}
	if (merge->is_moved && merge->error != printed) {
		printf("times of different files: ");
		print_error(merge->error, merge->is_open);
	}
}

/* Report that addresses which mean different things in the files have no text. */
static void report_texts(const struct merge *merge)
{
	if (merge->hides_symbols)
		complain(COMMAND,
			 "the files' kernels have different symbols: the result has addresses instead of symbols");
	if (merge->ambiguous.used)
		complain(COMMAND, "%zu printk format%s left out: the files have different ones at the same address",
			 merge->ambiguous.used, merge->ambiguous.used == 1 ? " is" : "s are");
}

/* Report damage and missing parts, which do not end the merge. */
static int report_damage(const struct merge *merge)
{
	int status = 0;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_file *file = &merge->files[i];
		struct dat_error error;
		uint32_t cpu;
		const uint64_t damaged = dat_merge_damaged(file->merge, &error, &cpu);

		if (complain_incomplete(COMMAND, file->path, file->file, damaged, cpu, &error))
			status = EXIT_FAILURE;
	}
	return status;
}

static int run(struct merge *merge, char **paths)
{
	struct dat_error error = { 0 };
	unsigned int file = 0;
	int err;

	if (!open_files(merge, paths))
		return EXIT_FAILURE;
	err = merge_files(merge, &file, &error);
	if (err && error.text[0])
		complain(COMMAND, "%s: %s", merge->files[file].path, error.text);
	else if (err)
		complain(COMMAND, "cannot write '%s': %s", merge->output, output_error(merge->output, err));
	if (err)
		return EXIT_FAILURE;
	printf("%s: %" PRIu64 " event%s of %u files\n", merge->output, merge->events, merge->events == 1 ? "" : "s",
	       merge->nr);
	report_clocks(merge);
	fflush(stdout);
	report_texts(merge);
	return report_damage(merge);
}

static int merge_all(struct merge *merge, char **paths, int level)
{
	const struct dat_packing packing = dat_pack_zstd(level);
	unsigned int nr = 0;
	int status;

	while (paths[nr])
		nr++;
	merge->packing = level == COMPRESSION_NONE ? NULL : &packing;
	merge->files = calloc(nr, sizeof(*merge->files));
	if (!merge->files) {
		complain(COMMAND, "out of memory");
		return EXIT_FAILURE;
	}
	file_limit_raise();
	status = run(merge, paths);
	merge_close(merge);
	free(merge->files);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	struct merge merge = { .nr = 0 };
	const char *compression = "any";
	unsigned int version = 1, buffers = MERGE_BY_MACHINE;
	const struct opt table[] = {
		OPT_STRING('o', "output", "FILE", "write to FILE", &merge.output),
		OPT_CHOICE(0, "buffers", "woven|split",
			   "put events of a CPU together, or keep each file's buffers (several machines: split)",
			   &buffers),
		OPT_CHOICE(0, "file-version", "6|7", "version of the output (7)", &version),
		OPT_STRING(0, "compression", "METHOD", "none, any, zstd, or zstd:LEVEL (any; version 6: none)",
			   &compression),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "FILE FILE...",
		.about = "Write the events of several trace.dat files to one file, by time.\n",
		.table = table,
		.min_operands = 2,
		.max_operands = UINT32_MAX,
	};
	char **operands;
	int level, status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!merge.output) {
		complain(COMMAND, "missing -o FILE (see 'recorder merge --help')");
		return EXIT_USAGE;
	}
	if (complain_standard_output(COMMAND, merge.output))
		return EXIT_USAGE;
	merge.version = version + 6;
	merge.buffers = (enum merge_buffers)buffers;
	if (!compression_read(COMMAND, compression, merge.version, &level))
		return EXIT_USAGE;
	return merge_all(&merge, operands, level);
}
