/* SPDX-License-Identifier: MIT */
/* This process's own buffer, written to by the test and read through views; and children that do the same. */
#ifndef READER_FIXTURE_H
#define READER_FIXTURE_H

#include "librecorder/process/process.h"
#include "tests/unit/ring_fixture.h"

#include <librecorder/buffer.h>
#include <librecorder/reader.h>
#include <limits.h>

/* A buffer with lanes of `pages` sub-buffers of 4096 bytes and CLOCK_MONOTONIC, in a directory of its own. */
void reader_begin(unsigned int pages, bool discard);

/* Remove the directory. */
void reader_end(void);

/* Add a lane, leased to an idle thread; the caller writes for it. Lanes are numbered from 0. */
struct rec_handle *reader_lane(void);

/* An event as ring_write() makes it. */
bool reader_write(struct rec_handle *handle, uint64_t number, uint32_t size);

/* A view of this process's buffer, or of another. */
struct rec_view *reader_view(void);
struct rec_view *reader_view_of(const char *path);

/*
 * Run `child` in a forked child with a buffer like ours; it may use `lane` and `pipe`, and exits with _exit() when it
 * returns. Returns its pid and the path of its buffer (PATH_MAX); it reads what is written to *ret_pipe from its end of
 * that pipe.
 */
pid_t reader_child(void (*child)(struct rec_handle *lane, int pipe), char *path, int *ret_pipe);

/* Checks that the event is whole; returns its number. */
uint64_t reader_number(const struct rec_view_event *event);

#endif
