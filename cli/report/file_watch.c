/* SPDX-License-Identifier: MIT */
/*
 * See file_watch.h. A file has no writers if the kernel grants a read lease for it. The lease is given up at once,
 * because a program that opens the file for writing waits for that.
 */
#include "cli/report/file_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#define CHANGES (IN_MODIFY | IN_CLOSE_WRITE)

/* The kernel reports the close a moment before the writer is gone: check repeatedly, with growing pauses. */
#define PACE_MAX_MS 1000u

int file_watch_open(struct file_watch *watch, const char *path)
{
	struct file_watch w = { .open = true, .pace_ms = 1 };
	char name[48];
	int err;

	w.file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (w.file < 0)
		return -errno;
	/* The signal sent when another program breaks the lease: one that has no effect by default. */
	fcntl(w.file, F_SETSIG, SIGURG);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", w.file);
	w.events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w.events < 0 || inotify_add_watch(w.events, name, CHANGES) < 0) {
		err = -errno;
		if (w.events >= 0)
			close(w.events);
		close(w.file);
		return err;
	}
	*watch = w;
	return 0;
}

void file_watch_close(struct file_watch *watch)
{
	if (!watch->open)
		return;
	close(watch->events);
	close(watch->file);
	watch->open = false;
}

static bool has_events(struct file_watch *watch)
{
	_Alignas(struct inotify_event) char events[4096];
	const struct inotify_event *event;
	bool any = false;
	ssize_t n;

	while ((n = read(watch->events, events, sizeof(events))) > 0) {
		any = true;
		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const struct inotify_event *)(const void *)(events + at);
			watch->closed = watch->closed || event->mask & IN_CLOSE_WRITE;
		}
	}
	return any;
}

static bool has_writer(const struct file_watch *watch)
{
	if (!fcntl(watch->file, F_SETLEASE, F_RDLCK)) {
		fcntl(watch->file, F_SETLEASE, F_UNLCK);
		return false;
	}
	return errno == EAGAIN || !watch->closed;
}

/* Sleeps until an event, a signal or the end of the pause. 0, -EPIPE. */
static int sleep_on(struct file_watch *watch, int out, const sigset_t *mask)
{
	struct pollfd fds[] = { { .fd = watch->events, .events = POLLIN }, { .fd = out } };
	const struct timespec pace = { watch->pace_ms / 1000, (long)(watch->pace_ms % 1000) * 1000000 };
	const int n = ppoll(fds, 2, watch->closed ? &pace : NULL, mask);

	if (n > 0 && fds[1].revents)
		return -EPIPE;
	if (!n)
		watch->pace_ms = watch->pace_ms < PACE_MAX_MS / 2 ? 2 * watch->pace_ms : PACE_MAX_MS;
	return 0;
}

int file_watch_wait(struct file_watch *watch, int out, const sigset_t *signals, const volatile sig_atomic_t *stopped)
{
	sigset_t before;
	int ret = 0;
	bool any;

	/* Signals are blocked except during the sleep, so that a signal after the check of *stopped ends the sleep. */
	sigprocmask(SIG_BLOCK, signals, &before);
	while (!ret && !(any = has_events(watch)) && has_writer(watch))
		ret = *stopped ? -EINTR : sleep_on(watch, out, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (*stopped)
		return -EINTR;
	return ret ? ret : any;
}
