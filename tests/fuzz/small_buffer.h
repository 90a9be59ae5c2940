/* SPDX-License-Identifier: MIT */
/* Valid buffers for the targets of libfuzzer.sh: with the smallest lanes, made by the library. */
#ifndef SMALL_BUFFER_H
#define SMALL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#define SMALL_BUFFERS 8u

/*
 * Make buffer `which` of SMALL_BUFFERS in RECORDER_DIR, in a child that calls `use` with the file's bytes and then
 * ends. Bits of `which`: 0: the ring overwrites, and events were overwritten; 1: a second thread has a lane; 2: a page
 * was read. Aborts if anything fails.
 */
void small_buffer(unsigned int which, void (*use)(const unsigned char *bytes, size_t size, void *arg), void *arg);

/*
 * Finds the next part of the bytes, from *at on, that is not only zeros, because a buffer file is mostly holes. Returns
 * its size, and sets *at to its beginning; 0: there is no further part. `size` must be a multiple of 64.
 */
size_t small_buffer_part(const unsigned char *bytes, size_t size, size_t *at);

#endif
