/* SPDX-License-Identifier: MIT */
/* The reason for which an output file could not be written. */
#ifndef CLI_OUTPUT_ERROR_H
#define CLI_OUTPUT_ERROR_H

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The text for an error of opening, writing or committing an out_file; err: -errno. */
static inline const char *output_error(const char *path, int err)
{
	struct stat st;

	/* A file is replaced when it is complete, which a device or a pipe cannot be. */
	if (err == -EINVAL && !stat(path, &st) && !S_ISREG(st.st_mode))
		return "it is not a regular file";
	return strerror(-err);
}

#endif
