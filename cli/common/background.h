/* SPDX-License-Identifier: MIT */
/*
 * A command that continues in the background: it forks, and the process that was started waits until the other one
 * reports that it has begun, or that it cannot. So when the shell runs its next command, the work has begun.
 */
#ifndef CLI_BACKGROUND_H
#define CLI_BACKGROUND_H

#include <stdbool.h>
#include <sys/types.h>

struct background {
	int tell;  /* in the process that continues: the pipe to the other one; -1: none */
	pid_t pid; /* in the process that was started: the pid of the other one */
};

#define BACKGROUND_INIT { .tell = -1 }

/*
 * Call it before there are threads. 1: this is the process that continues, in a session of its own; it must call
 * background_begun() or exit. 0: this is the process that was started, and *ret_status is its exit status: 0 if the
 * other one, background->pid, has begun, otherwise that one's own status. Or -errno.
 */
int background_fork(struct background *background, int *ret_status);

/*
 * Report that the work has begun: the first process ends, and this one closes the terminal, so what it prints from now
 * on is lost unless it goes to a file. If the first process was killed while it waited, this process gets SIGTERM. Does
 * nothing without a fork.
 */
void background_begun(struct background *background);

#endif
