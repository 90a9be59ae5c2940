/* SPDX-License-Identifier: MIT */
/* The processes of a recording that attached to programs: those that the user named, and all that came of them. */
#ifndef CLI_FAMILY_H
#define CLI_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* A process, for good. */
struct process {
	uint32_t pid;
	uint64_t start_time; /* 0: not known */
	uint64_t pid_ns;     /* where the pid counts; 0: not known */
};

/* All there ever were; empty: zeros. */
struct family {
	struct process *list;
	unsigned int nr;
};

/* 0 or -ENOMEM. */
int family_add(struct family *family, const struct process *process);

/* Whether a program belongs to it: its process does, and has another program now, or its parent. */
bool family_has(const struct family *family, const struct process *self, const struct process *parent);

/*
 * Whether one of them still runs, whatever became of its buffer. Of those in other pid
 * namespaces it is not known: they do not.
 */
bool family_runs(const struct family *family);

void family_free(struct family *family);

#endif
