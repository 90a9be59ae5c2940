/* SPDX-License-Identifier: MIT */
/* The processes of a recording that attached to programs: those that the user named, and all their descendants. */
#ifndef CLI_FAMILY_H
#define CLI_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* A process, identified uniquely. */
struct process {
	uint32_t pid;
	uint64_t start_time; /* 0: not known */
	uint64_t pid_ns;     /* namespace of the pid; 0: not known */
};

struct member {
	struct process process;
	bool is_gone; /* when the list was last tidied */
};

/*
 * The processes that belong to the recording, and some that have ended: a child may be found after its parent has
 * ended. Zeros are an empty set.
 */
struct family {
	struct member *list;
	unsigned int nr, room;
	unsigned int tidy_at; /* the number of members from which on the list is tidied */
};

/* 0 or -ENOMEM. */
int family_add(struct family *family, const struct process *process);

/*
 * Drop the members that were gone the last time and still are, if the list has grown much since then. Call this only
 * when all buffers that exist were compared with the list.
 */
void family_tidy(struct family *family);

/*
 * Whether a program belongs to the recording: because its parent does, or because its process does and has executed
 * another program.
 */
bool family_has(const struct family *family, const struct process *self, const struct process *parent);

/*
 * Whether one of them is still running, even without its buffer. Processes in other pid namespaces cannot be checked;
 * they count as ended.
 */
bool family_runs(const struct family *family);

void family_free(struct family *family);

#endif
