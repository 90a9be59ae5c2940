/* SPDX-License-Identifier: MIT */
/* The running programs of this user that use librecorder, found by their buffers. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include <librecorder/reader.h>

/*
 * For every running program that `word` means print a line of its own (pid, name, binary), and let `print` add what it
 * has to say. `word`: pids separated by commas, or a name (the kernel's or the binary's); NULL: all. `print` returns 0 or
 * -errno, which ends it. Returns how many there were, 0 only where `word` means none, which is for the caller to say; or -1,
 * and what was wrong was said in one line.
 */
int programs_print(const char *command, const char *word, int (*print)(struct rec_view *view, void *data), void *data);

/* The same with one line `head` before all of them, and none for each. */
int programs_table(const char *command, const char *head, const char *word,
		   int (*print)(struct rec_view *view, void *data));

/* The same without a word: `take` is given the path of each program's buffer. */
int programs_paths(const char *command, const char *word, int (*take)(const char *path, void *data), void *data);

/* A copy of a program's whole log, to be freed by the caller; NULL: no memory. */
unsigned char *programs_log(const struct rec_view *view, size_t *ret_size);

#endif
