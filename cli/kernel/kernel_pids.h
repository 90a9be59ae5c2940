/* SPDX-License-Identifier: MIT */
/* Restricts the recording to events of certain running processes. */
#ifndef CLI_KERNEL_PIDS_H
#define CLI_KERNEL_PIDS_H

#include <stdbool.h>

#include "cli/base/message.h"
#include "cli/kernel/kernel_request.h"
#include "cli/recording/programs.h"
#include "format/io/number_map.h"

struct kernel;

struct kernel_pids {
	struct kernel_pid {
		int dir; /* /proc/PID: the descriptor keeps referring to this process */
		bool has_all; /* all its threads are recorded */
	} *list;
	unsigned int nr;
	unsigned long *before; /* all processes that existed before the search, in ascending order */
	unsigned int nr_before;
	struct number_map known; /* the threads that were put into the request */
};

/*
 * Put the threads of the processes with these pids, or of this name, into the request; if an id is a thread's, only
 * that thread. With `programs`, the processes must use librecorder, unless which->ret_lacks is set. False: one line was
 * printed. The caller closes the pids in any case.
 */
bool kernel_pids_find(const struct message_sink *sink, const struct programs *which, bool programs,
		      struct kernel_request *request, struct kernel_pids *pids);

/* Instead, put the threads with these ids, separated by commas, into the request. */
bool kernel_pids_threads(const struct message_sink *sink, const char *tids, struct kernel_request *request,
			 struct kernel_pids *pids);

/*
 * Also record the threads and children that these processes began between kernel_pids_find() and kernel_open(), and
 * their descendants: add them to the request. From kernel_open() on the kernel itself follows forks. False: one line
 * was printed, and the recording must not begin, because it would lack some; for example, too few descriptors are left.
 */
bool kernel_pids_catch_up(const struct message_sink *sink, struct kernel_pids *pids,
			  struct kernel_request *request, struct kernel *kernel);

/* Call `each` with the pid of every process that still exists. */
void kernel_pids_each(const struct kernel_pids *pids, void (*each)(pid_t pid, void *arg), void *arg);

/* Whether one of them is still running. */
bool kernel_pids_alive(const struct kernel_pids *pids);
void kernel_pids_close(struct kernel_pids *pids);

/* Whether the kernel's ids of processes are the same as ours. False: one line was printed, unless `sink` is NULL. */
bool kernel_pids_are_ours(const struct message_sink *sink);

#endif
