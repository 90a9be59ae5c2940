/* SPDX-License-Identifier: MIT */
#include "cli/recording/child_trace.h"

#include <errno.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

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

bool child_trace_end(const struct child *child, int *ret_status)
{
	int status = 0;
	pid_t got;

	ptrace(PTRACE_INTERRUPT, child->pid, 0, 0);
	do
		got = waitpid(child->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got == child->pid && WIFSTOPPED(status)) {
		child->at_end(child->pid, child->at_end_arg);
		ptrace(PTRACE_DETACH, child->pid, 0, event_of(status) ? 0 : WSTOPSIG(status));
		return false;
	}
	*ret_status = status;
	return got == child->pid;
}
