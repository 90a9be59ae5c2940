/* SPDX-License-Identifier: MIT */
/* The directories in which running programs have their buffers. */
#ifndef CLI_DIRS_H
#define CLI_DIRS_H

#include "cli/base/message.h"

/*
 * Open each directory and call `each` with its descriptor, which is closed afterwards, and its path, for messages.
 * They are: `dir` alone, unless it is NULL; else $RECORDER_DIR alone, if it is set; else all that the user's programs
 * may choose, and for root those of all users. One that another user could write to, or that belongs to one, if we
 * are not root, is refused.
 *
 * `each` returns 0, anything else ends it. Returns how many directories there are; or -1, and one line was printed.
 */
int dirs_each(const struct message_sink *sink, const char *dir, int (*each)(int fd, const char *path, void *data),
	      void *data);

/* A directory in one of these that is its owner's, too: a descriptor, or -errno. */
int dirs_open_below(int dir, const char *name);

/* Why a directory was refused, by the -errno. */
const char *dirs_reason(int err);

#endif
