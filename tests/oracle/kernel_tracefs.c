/* SPDX-License-Identifier: MIT */
#include "kernel_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An instance is busy while a file of it is open, and a killed process takes a moment to close its files. There is no
 * notification of that, so the removal is retried, for half a minute at the most.
 */
#define REMOVE_TRIES	3000
#define REMOVE_PAUSE_US 10000

static void instance_path(const struct tracefs *fs, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/instances/%s", fs->root, name);
}

/* Returns the guard's exit status. */
static int remove_all(const struct tracefs *fs)
{
	char path[192];
	int tries = REMOVE_TRIES, r;

	instance_path(fs, fs->name, path, sizeof(path));
	do {
		r = rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
		if (r < 0)
			usleep(REMOVE_PAUSE_US);
	} while (r < 0 && --tries);
	umount2(fs->root, MNT_DETACH);
	rmdir(fs->root);
	return r < 0;
}

static void run_guard(const struct tracefs *fs, int pipe_end)
{
	const int null = open("/dev/null", O_RDWR);
	int fd;
	char byte;

	/* A reader of the test's output must not wait for us, and a signal to the test's group must not reach us. */
	setsid();
	for (fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (fd = 3; fd < 256; fd++)
		if (fd != pipe_end)
			close(fd);
	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
	/* Not _exit(): in a program that records, a forked child has a buffer's file to remove. */
	exit(remove_all(fs));
}

static const char *mount_private(struct tracefs *fs)
{
	if (geteuid() != 0)
		return "needs root";
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "no mount namespace to be had";
	snprintf(fs->root, sizeof(fs->root), "/tmp/recorder-tracefs.XXXXXX");
	if (!mkdtemp(fs->root))
		return "no directory in /tmp to be had";
	if (mount("none", fs->root, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		rmdir(fs->root);
		return "tracefs cannot be mounted";
	}
	return NULL;
}

const char *tracefs_open(struct tracefs *fs, const char *name)
{
	const char *reason;
	int ends[2];
	char path[192];

	snprintf(fs->name, sizeof(fs->name), "%s", name);
	reason = mount_private(fs);
	if (reason)
		return reason;
	/* The guard comes first: so there is always a process that will remove the instance. */
	if (pipe2(ends, O_CLOEXEC) < 0)
		abort();
	fs->guard = fork();
	if (fs->guard < 0)
		abort();
	if (fs->guard == 0)
		run_guard(fs, ends[0]);
	close(ends[0]);
	fs->alive = ends[1];
	instance_path(fs, name, path, sizeof(path));
	if (mkdir(path, 0700) < 0) {
		const int err = errno;

		tracefs_close(fs);
		if (err != EACCES && err != EPERM) {
			fprintf(stderr, "mkdir %s: %s\n", path, strerror(err));
			abort();
		}
		return "no instance to be had";
	}
	return NULL;
}

bool tracefs_close(struct tracefs *fs)
{
	int status = -1;

	close(fs->alive);
	while (waitpid(fs->guard, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tracefs_exists(const struct tracefs *fs, const char *name)
{
	char path[192];

	instance_path(fs, name, path, sizeof(path));
	return access(path, F_OK) == 0;
}

int tracefs_fd(const struct tracefs *fs, int flags, const char *file)
{
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/instances/%s/%s", fs->root, fs->name, file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tracefs_cpu_fd(const struct tracefs *fs, int cpu, int flags, const char *file)
{
	char name[96];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/%s", cpu, file);
	return tracefs_fd(fs, flags, name);
}

int tracefs_set(const struct tracefs *fs, const char *file, const char *value)
{
	char line[256];
	const int n = snprintf(line, sizeof(line), "%s\n", value);
	const int fd = tracefs_fd(fs, O_WRONLY | O_TRUNC, file);
	int r = 0;

	if (fd < 0)
		return fd;
	if (write(fd, line, (size_t)n) < 0)
		r = -errno;
	close(fd);
	return r;
}

int tracefs_get(const struct tracefs *fs, const char *file, char *text, size_t size)
{
	const int fd = tracefs_fd(fs, O_RDONLY, file);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return (int)n;
}

int tracefs_pin(void)
{
	cpu_set_t set;
	size_t cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		abort();
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		abort();
	return (int)cpu;
}
