/* SPDX-License-Identifier: MIT */
/* The running processes whose events alone the kernel is to record. */
#ifndef CLI_KERNEL_PIDS_H
#define CLI_KERNEL_PIDS_H

#include <stdbool.h>

#include "cli/base/message.h"
#include "cli/kernel/kernel_request.h"
#include "cli/recording/programs.h"

struct kernel_pids {
	int *dirs; /* /proc/PID of each: it stays that of this very process */
	unsigned int nr;
};

/*
 * Put the threads of these processes into the request; of an id that is a thread's, this one. With `programs` they
 * are those that use librecorder, so that a name may stand for them, else pids. False: one line was printed. The
 * caller closes the pids in any case.
 */
bool kernel_pids_find(const struct message_sink *sink, const struct programs *which, bool programs,
		      struct kernel_request *request, struct kernel_pids *pids);

/* The threads with these ids, separated by commas, instead. */
bool kernel_pids_threads(const struct message_sink *sink, const char *tids, struct kernel_request *request,
			 struct kernel_pids *pids);

/* Whether one of them still runs. */
bool kernel_pids_alive(const struct kernel_pids *pids);
void kernel_pids_close(struct kernel_pids *pids);

/* Whether the kernel knows processes by the ids that we know them by. False: one line was printed, if `command`. */
bool kernel_pids_are_ours(const struct message_sink *sink);

#endif
