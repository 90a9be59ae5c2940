/* SPDX-License-Identifier: MIT */
/*
 * An output to a descriptor, such as a pipe. The head of a trace.dat is written last, so the file is first made in a
 * directory of its own below $TMPDIR or /var/tmp, and copied to the descriptor when it is complete.
 */
#ifndef CLI_OUTPUT_STREAM_H
#define CLI_OUTPUT_STREAM_H

#include <stdbool.h>

struct output;

/* Make the directory. False: one line was printed; a terminal is refused. */
bool output_stream_open(struct output *output);

/* Copy the file and remove it. False: one line was printed, and the file stays. */
bool output_stream_send(const struct output *output);

/* Remove the directory, if nothing is left in it. */
void output_stream_close(const struct output *output);

#endif
