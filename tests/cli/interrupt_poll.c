/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: SIGINT arrives immediately before the first poll() or ppoll() for standard input begins. A program that
 * has just looked whether it was interrupted, and then waits by poll() with the signal open, misses it.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void interrupt(const struct pollfd *fds, nfds_t nr)
{
	static bool is_done;

	if (is_done || nr != 1 || fds->fd != STDIN_FILENO)
		return;
	is_done = true;
	raise(SIGINT);
}

int poll(struct pollfd *fds, nfds_t nr, int milliseconds)
{
	const struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	interrupt(fds, nr);
	return (int)syscall(SYS_ppoll, fds, nr, milliseconds < 0 ? NULL : &limit, NULL, 0);
}

int ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *limit, const sigset_t *mask)
{
	interrupt(fds, nr);
	return (int)syscall(SYS_ppoll, fds, nr, limit, mask, _NSIG / 8);
}
