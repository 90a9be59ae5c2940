/* SPDX-License-Identifier: MIT */
/* Reads a small text file at once. */
#ifndef READ_TEXT_H
#define READ_TEXT_H

#include <stddef.h>

/*
 * A text file that one read(2) returns completely, `path` relative to the directory `dir`. A text that does not fit is
 * cut off. It is terminated with a NUL. 0, or the errno of open or read.
 */
int read_text_at(int dir, const char *path, char *text, size_t size);

#endif
