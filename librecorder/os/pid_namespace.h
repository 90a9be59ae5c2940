/* SPDX-License-Identifier: MIT */
/* Which pid namespace a process is in. */
#ifndef PID_NAMESPACE_H
#define PID_NAMESPACE_H

#include "librecorder/core/decimal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define REC_OWN_PID_NAMESPACE "/proc/self/ns/pid"

/* The inode of the first pid namespace, whose numbers the kernel records: PROC_PID_INIT_INO of its proc_ns.h. */
#define REC_FIRST_PID_NAMESPACE UINT64_C(0xeffffffc)

/*
 * The inode of a namespace, taken from the link's text, which is faster than stat(): "pid:[4026531836]". 0: not
 * visible. Signal-safe.
 */
static inline uint64_t rec_pid_namespace(int dir, const char *path)
{
	char text[32];
	const ssize_t n = readlinkat(dir, path, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return strncmp(text, "pid:[", 5) == 0 ? rec_get_decimal(text + 5) : 0;
}

/* Whether ids of threads in this namespace differ from those in the kernel's events. False if it is not known. */
static inline bool rec_pid_namespace_is_other(uint64_t pid_ns)
{
	return pid_ns && pid_ns != REC_FIRST_PID_NAMESPACE;
}

#endif
