/* SPDX-License-Identifier: MIT */
/* How a buffer is to be made: what the program asks for, then the environment. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <librecorder/buffer.h>
#include <stdbool.h>

struct rec_process;

/*
 * Whether `given` has a size that makes sense, and asks for nothing that this version does not know: a program built
 * with a newer header gives more options, which must be zero.
 */
bool rec_options_are_known(const struct rec_options *given);

/* `given` (NULL: nothing; one of an older header is shorter), filled up from the environment; what is 0 stays open. */
struct rec_options rec_options_complete(const struct rec_options *given);

/* Such that another buffer will be like this process's present one. */
struct rec_options rec_options_present(const struct rec_process *process);

/* RECORDER_DIR_MAX_KB: bytes that all buffers of the directory may take; 0: not said. */
size_t rec_options_dir_max(void);

/* RECORDER_KEEP: leave the file when the program ends in order. */
bool rec_options_keep(void);

#endif
