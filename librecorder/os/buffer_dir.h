/* SPDX-License-Identifier: MIT */
/* The directory of buffer files, opened; and which of its files belong to us. */
#ifndef BUFFER_DIR_H
#define BUFFER_DIR_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>
#include <stddef.h>

/* As rec_buffer_dir(), but returns the directory's descriptor. */
int rec_buffer_dir_open(bool create, char *path, size_t size);

/* The same for the user's directory, whatever RECORDER_DIR names. */
int rec_buffer_dir_open_users(bool create, char *path, size_t size);

/* The same for the directory with this path. */
int rec_buffer_dir_open_path(bool create, const char *path);

/* Whether the environment names the directory; otherwise it depends on the user. */
bool rec_buffer_dir_is_given(void);

/*
 * Whether this version understands a buffer with this header: it has feature bits, and no incompatible bit that is
 * unknown here. A buffer that is not understood is neither read nor removed.
 */
bool rec_buffer_is_known(const struct rec_buffer_header *header);

#endif
