/* SPDX-License-Identifier: MIT */
/* A file with the results of a command, such as a summary or a report, beside what the command prints. */
#ifndef CLI_RESULT_FILE_H
#define CLI_RESULT_FILE_H

#include <stdio.h>

/*
 * Write the file with what `put` prints into `out`. A regular file is replaced only by a complete one; what standard
 * output or standard error lead to, devices and pipes are written in place. 0; -errno.
 */
int result_file_write(const char *path, void (*put)(const void *arg, FILE *out), const void *arg);

#endif
