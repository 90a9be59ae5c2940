/* SPDX-License-Identifier: MIT */
/* The settings of a buffer: the program's options, then the environment. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <librecorder/buffer.h>
#include <stdbool.h>

/*
 * Whether `given` has a valid size, and requests nothing that this version does not know: a program built with a newer
 * header passes more options, which must be zero.
 */
bool rec_options_are_known(const struct rec_options *given);

/* `given` (NULL: nothing; one of an older header is shorter), completed from the environment; 0 means not set. */
struct rec_options rec_options_complete(const struct rec_options *given);

/* RECORDER_DIR_MAX_KB: bytes that all buffers of the directory may take; 0: not set. */
size_t rec_options_dir_max(void);

/* RECORDER_KEEP: leave the file when the program exits normally. */
bool rec_options_keep(void);

#endif
