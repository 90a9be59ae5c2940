/* SPDX-License-Identifier: MIT */
/*
 * Stops the command at its end, by ptrace(2), so that its memory map can be read while it still exists. Only its first
 * thread is traced. A command that is traced cannot be traced by others, and a set-user-ID program gets no rights
 * unless the recorder is root.
 */
#ifndef CLI_CHILD_TRACE_H
#define CLI_CHILD_TRACE_H

#include "cli/recording/child.h"

/* Trace the process. From now on only the thread that called this waits for it. 0 or the errno of ptrace. */
int child_trace_begin(const struct child *child);

/*
 * waitpid() has returned this status, a stop: call child->at_end if the stop is the process's end; in any case let the
 * process continue.
 */
void child_trace_stopped(const struct child *child, int status);

/*
 * The recording ends before the command: call child->at_end and stop tracing. If the first thread cannot be stopped, it
 * remains traced until the recorder ends. Returns whether the process has ended meanwhile, with *ret_status as of
 * waitpid().
 */
bool child_trace_end(const struct child *child, int *ret_status);

#endif
