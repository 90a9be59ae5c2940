/* SPDX-License-Identifier: MIT */
#include "cli/recording/child_trace.h"

#include <errno.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/*
 * How often the recorder checks whether the process has stopped, and the pause between. It does not stop if its first
 * thread has ended before the others, or waits for a child of vfork().
 */
#define STOP_TRIES   50u
#define STOP_WAIT_NS 1000000

/* The PTRACE_EVENT_ of a stop; 0: the process stopped because a signal is about to be delivered. */
static int event_of(int status)
{
	return (int)((unsigned int)status >> 16);
}

int child_trace_begin(const struct child *child)
{
	return ptrace(PTRACE_SEIZE, child->pid, 0, PTRACE_O_TRACEEXIT) < 0 ? -errno : 0;
}

/* Whether this is a stop of the whole process, by SIGSTOP or the terminal: it stays stopped until SIGCONT. */
static bool is_group_stop(int status)
{
	const int sig = WSTOPSIG(status);

	return event_of(status) == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/* Until its exec it has our map, and the pipe, which a successful exec closes. */
static bool has_executed(const struct child *child)
{
	struct pollfd tell = { .fd = child->tell, .events = POLLIN };

	return child->tell < 0 || (poll(&tell, 1, 0) > 0 && tell.revents == POLLHUP);
}

void child_trace_stopped(const struct child *child, int status)
{
	const int event = event_of(status);

	if (event == PTRACE_EVENT_EXIT && has_executed(child))
		child->at_end(child->pid, child->at_end_arg);
	if (is_group_stop(status))
		ptrace(PTRACE_LISTEN, child->pid, 0, 0);
	else
		ptrace(PTRACE_CONT, child->pid, 0, event ? 0 : WSTOPSIG(status));
}

/* False: the process has neither stopped nor ended meanwhile. */
static bool wait_stop(const struct child *child, int *ret_status)
{
	const struct timespec wait = { .tv_nsec = STOP_WAIT_NS };
	pid_t got = 0;

	for (unsigned int tries = 0; !got && tries < STOP_TRIES; tries++) {
		got = waitpid(child->pid, ret_status, WNOHANG);
		if (!got)
			nanosleep(&wait, NULL);
	}
	return got == child->pid;
}

bool child_trace_end(const struct child *child, int *ret_status)
{
	int status = 0;

	/* If another thread has executed a program, that program is not traced. */
	if (ptrace(PTRACE_INTERRUPT, child->pid, 0, 0) < 0 || !wait_stop(child, &status)) {
		child->at_end(child->pid, child->at_end_arg);
		return false;
	}
	if (WIFSTOPPED(status)) {
		child->at_end(child->pid, child->at_end_arg);
		ptrace(PTRACE_DETACH, child->pid, 0, event_of(status) ? 0 : WSTOPSIG(status));
		return false;
	}
	*ret_status = status;
	return true;
}
