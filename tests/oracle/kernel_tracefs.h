/* SPDX-License-Identifier: MIT */
/*
 * An ftrace instance for this test alone, on a tracefs mounted in a mount namespace of its own. Nothing outside the
 * instance is written to. A guard process, in a session of its own, removes instance and mount when the test ends, even
 * if it is killed: it sleeps in a read of a pipe that only the test and its children hold open.
 */
#ifndef KERNEL_TRACEFS_H
#define KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tracefs {
	char root[64]; /* where it is mounted, visible to this process and its children only */
	char name[64]; /* of the instance */
	int alive;     /* the test's end of the pipe; the kernel closes it when the test is gone */
	pid_t guard;
};

/*
 * Mount and make the instance. NULL, or why it cannot be done here: not root, no tracefs. If the instance cannot be
 * made although it is permitted, the test is aborted. The calling process is in a new mount namespace afterwards.
 */
const char *tracefs_open(struct tracefs *fs, const char *name);

/* The guard removes everything; returns once it has. False: it could not. */
bool tracefs_close(struct tracefs *fs);

/* Whether an instance of this name exists. */
bool tracefs_exists(const struct tracefs *fs, const char *name);

/* A file of the instance, opened; negative errno if not. */
int tracefs_fd(const struct tracefs *fs, int flags, const char *file);

/* The file that belongs to one CPU, "trace_pipe_raw" for example. */
int tracefs_cpu_fd(const struct tracefs *fs, int cpu, int flags, const char *file);

/* Write `value` and a newline to a file of the instance. 0 or negative errno. */
int tracefs_set(const struct tracefs *fs, const char *file, const char *value);

/* Reads the contents of a file, ended with NUL and cut to size. Returns the bytes, or negative errno. */
int tracefs_get(const struct tracefs *fs, const char *file, char *text, size_t size);

/* Bind the calling thread to one CPU, the last one that it may use; returns it. */
int tracefs_pin(void);

#endif
