/* SPDX-License-Identifier: MIT */
/* The directory where programs put their buffer files: its path, and which of its files are buffers. */
#ifndef LIBRECORDER_BUFFER_DIR_H
#define LIBRECORDER_BUFFER_DIR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * The directory where this user's programs put their buffers: $RECORDER_DIR, else $XDG_RUNTIME_DIR/librecorder if that
 * variable names a directory of the user, else /dev/shm/librecorder-UID. It is stored in the `size` bytes at `path`.
 * With `create` a missing directory is made with mode 0700. Its owner is checked, and its last part must not be a
 * symbolic link. Returns 0; -EPERM: it belongs to another user, or others may write to it; -ELOOP: it is a link;
 * -EINVAL: the path is not absolute; -ENOTDIR: it, or a part of its path, is not a directory; -ENAMETOOLONG: `size` is
 * too small; or the errno of mkdir or open, such as -ENOENT: it does not exist. The path is stored in every case except
 * -ENAMETOOLONG, so that a message can name it. Any thread, as long as none changes the environment; not signal-safe.
 */
int rec_buffer_dir(bool create, char *path, size_t size);

/* Suffixes of the files in it: of a buffer, and of the reason that a program leaves if it cannot make its buffer. */
#define REC_BUFFER_SUFFIX ".rec"
#define REC_REASON_SUFFIX ".why"

/* True if `name` is the file name of a buffer. Any thread; signal-safe. */
bool rec_buffer_is_name(const char *name);

/*
 * In seconds. A program makes its buffer within microseconds. So if an unfinished buffer is older than this, its
 * program is dead, unless rec_buffer_has_maker() returns true.
 */
#define REC_BUFFER_UNFINISHED_AGE 60

/*
 * Use this for a file `name` in the directory with the descriptor `dir` that rec_view_open_at() refuses with -EAGAIN.
 * True: the program that makes it is certainly alive, though it may be stopped. False: the program is dead, or this is
 * unknown. Any thread; not signal-safe.
 */
bool rec_buffer_has_maker(int dir, const char *name);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
