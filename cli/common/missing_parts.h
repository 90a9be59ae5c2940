/* SPDX-License-Identifier: MIT */
/*
 * Messages about a file that was cut off, never finished, or damaged, whose other parts are read; and about an output
 * that would replace it, or is not a file.
 */
#ifndef CLI_MISSING_PARTS_H
#define CLI_MISSING_PARTS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/opts.h"
#include "format/dat/dat_read.h"

/*
 * Print one line if the meaning of events is incomplete because more spans were open, or more states known, than are
 * kept; see struct model_sink.
 */
static inline void complain_given_up(const char *command, const char *path, uint64_t given_up)
{
	if (given_up)
		complain(command, "%s: the ends of %" PRIu64 " spans and states were not awaited: too many were open",
			 path, given_up);
}

/* The exit status: 0 if the file has all its parts; else one line was printed. */
static inline int complain_missing(const char *command, const char *path, const struct dat_file *file)
{
	if (!file->missing.text[0])
		return 0;
	complain(command, "%s: %s; the rest of the file was read", path, file->missing.text);
	return EXIT_FAILURE;
}

/* The exit status: 0 if no pages are damaged; else one line was printed, about the first of them. */
static inline int complain_damaged(const char *command, const char *path, uint64_t pages, uint32_t cpu,
				   const struct dat_error *error)
{
	if (!pages)
		return 0;
	complain(command,
		 "%s: damaged: events of %" PRIu64 " page%s are missing; CPU %" PRIu32 ", page at %" PRIu64 ": %s",
		 path, pages, pages == 1 ? "" : "s", cpu, error->offset, error->text);
	return EXIT_FAILURE;
}

/* The exit status: 0 if the file is neither damaged nor lacks parts; else a line was printed for each of the two. */
static inline int complain_incomplete(const char *command, const char *path, const struct dat_file *file,
				      uint64_t pages, uint32_t cpu, const struct dat_error *error)
{
	const int status = complain_damaged(command, path, pages, cpu, error);

	return complain_missing(command, path, file) ? EXIT_FAILURE : status;
}

/* Whether both paths lead to the same file. */
static inline bool is_in_place(const char *input, const char *output)
{
	struct stat in, out;

	return !stat(input, &in) && !stat(output, &out) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* Whether the output of a command that writes only files is "-". Then one line was printed. */
static inline bool complain_standard_output(const char *command, const char *output)
{
	if (strcmp(output, "-") != 0)
		return false;
	complain(command, "the output cannot be standard output: name a file, or ./- for a file of this name");
	return true;
}

/* Whether the output would replace the input of a command that must not do this. Then one line was printed. */
static inline bool complain_replaces_input(const char *command, const char *input, const char *output)
{
	if (!is_in_place(input, output))
		return false;
	complain(command, "'%s' is the file that is read; it is not replaced: name another output", output);
	return true;
}

/*
 * Whether the output would replace an input that lacks parts: another program may be able to read more of it. Then one
 * line was printed.
 */
static inline bool complain_in_place(const char *command, const char *path, const struct dat_file *file,
				     const char *output)
{
	if (!file->missing.text[0] || !is_in_place(path, output))
		return false;
	complain(command, "%s: %s; it is not replaced: name another output", path, file->missing.text);
	return true;
}

#endif
