/* SPDX-License-Identifier: MIT */
/* The directories in which running programs have their buffers. */
#ifndef CLI_DIRS_H
#define CLI_DIRS_H

#include "cli/base/message.h"

/*
 * Open each directory and call `each` with its descriptor, which is closed afterwards, and its path, for messages. The
 * directories are: `dir` alone, unless it is NULL; otherwise $RECORDER_DIR alone, if it is set; otherwise all that the
 * user's programs may choose, and for root those of all users. If we are not root, a directory that belongs to another
 * user, or to which other users can write, is refused.
 *
 * `each` returns 0; any other value ends the loop. Returns the number of directories; or -1, and one line was printed.
 */
int dirs_each(const struct message_sink *sink, const char *dir, int (*each)(int fd, const char *path, void *data),
	      void *data);

/* Open a directory inside `dir`; both must have the same owner. Returns a descriptor, or -errno. */
int dirs_open_below(int dir, const char *name);

/* The reason why a directory was refused, from the -errno. */
const char *dirs_reason(int err);

#endif
