/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether a process still exists.
 *
 * In its own pid namespace a process is identified by its pid and its start time. In another namespace neither has a
 * meaning; and if /proc is missing, hidden or that of another namespace, they cannot be looked up. So a program holds
 * a lock on its buffer that belongs to the open file and not to the process: the mapping keeps it when the descriptor
 * is closed, and the kernel releases it when the process ends in any way. Every process that can open the file can
 * test the lock.
 *
 * File systems that map a file of their own instead (overlayfs) release the lock at once. So a held lock always shows
 * that the program exists. A free lock has a meaning only if the program found that its directory is on a file system
 * without this behaviour (tmpfs, ext4, XFS, Btrfs).
 */
#include "librecorder/os/identity.h"
#include "librecorder/core/decimal.h"
#include "librecorder/core/proc_stat.h"
#include "librecorder/os/pid_namespace.h"

#include <librecorder/buffer_dir.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 5.3. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/*
 * The maximum number of processes that are examined in search of one: the default maximum of a machine (pid_max for 32
 * CPUs).
 */
#define SEARCH_MAX 32768u

/* ----------------------------------------------------------------------------------------------------------- /proc */

/* Read a small file of /proc, as text. 0 or -errno. */
static int read_file(int dir, const char *path, char *text, size_t size)
{
	const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	return 0;
}

static int read_start_time(int dir, const char *path, uint64_t *ret_start_time)
{
	struct rec_proc_stat stat;
	char text[1024];
	const int r = read_file(dir, path, text, sizeof(text));

	if (r < 0)
		return r;
	if (!rec_proc_stat_parse(text, &stat))
		return -EIO;
	if (rec_proc_stat_is_dead(&stat))
		return -ESRCH;
	*ret_start_time = stat.start_time;
	return 0;
}

int rec_process_start_time(pid_t pid, uint64_t *ret_start_time)
{
	char path[48], *at;

	/*
	 * The first thread started with the process, so its file has the same time. The file of the process itself
	 * would be wrong under qemu-user, which makes a /proc/PID/stat of its own for the process that it runs.
	 */
	at = rec_put_decimal(stpcpy(path, "/proc/"), (uint32_t)pid);
	at = rec_put_decimal(stpcpy(at, "/task/"), (uint32_t)pid);
	strcpy(at, "/stat");
	return read_start_time(AT_FDCWD, path, ret_start_time);
}

/*
 * Returns a descriptor of this process's directory in /proc, or a negative number. It is found by way of /proc/self or
 * /proc/thread-self, because this /proc may belong to another namespace, in which our pid is different.
 *
 * If this is the first thread, the first thread's directory is opened: that thread started with the process. If a
 * program reads the stat of the whole process, the scheduler charges the process for the time used so far; if its
 * first time slice is then over, the program loses its CPU at once. On a busy machine most programs lost milliseconds
 * at each start in this way.
 */
static int open_own_directory(void)
{
	const char *path = syscall(SYS_gettid) == getpid() ? "/proc/thread-self" : "/proc/self";

	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void rec_identity_and_exe(struct rec_identity *ret_self, char *ret_exe, size_t size)
{
	const int dir = open_own_directory();
	ssize_t n = 0;

	*ret_self = (struct rec_identity){ .pid = (uint32_t)getpid() };
	if (dir >= 0) {
		ret_self->pid_ns = rec_pid_namespace(dir, "ns/pid");
		read_start_time(dir, "stat", &ret_self->start_time);
		n = size ? readlinkat(dir, "exe", ret_exe, size - 1) : 0;
		close(dir);
	}
	if (size)
		ret_exe[n > 0 ? n : 0] = '\0';
}

void rec_identity_self(struct rec_identity *ret_self)
{
	rec_identity_and_exe(ret_self, NULL, 0);
}

/*
 * The pid that a process of /proc has in its own namespace: the last number of that line of its status; 0: not
 * visible.
 */
static uint32_t innermost_pid(const char *process)
{
	char path[32], text[4096], *line;

	snprintf(path, sizeof(path), "/proc/%.16s/status", process);
	if (read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nNStgid:");
	if (!line)
		return 0;
	line = strchr(line + 1, '\t');
	if (!line)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	return (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
}

static bool is_in_namespace(const char *process, uint64_t pid_ns)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%.16s/ns/pid", process);
	return rec_pid_namespace(AT_FDCWD, path) == pid_ns;
}

static pid_t find(const struct rec_identity *who)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	unsigned int looked = 0;
	uint64_t start_time = 0;
	pid_t found = 0;

	while (dir && !found && looked < SEARCH_MAX && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		looked++;
		if (is_in_namespace(entry->d_name, who->pid_ns) && innermost_pid(entry->d_name) == who->pid &&
		    rec_process_start_time(pid, &start_time) == 0 && start_time == who->start_time)
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

pid_t rec_identity_pid_here(const struct rec_identity *who)
{
	const uint64_t here = rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE);

	/* If one of the namespaces is unknown, because there is no /proc, assume that both are the same. */
	if (!who->pid_ns || !here || who->pid_ns == here)
		return (pid_t)who->pid;
	return find(who);
}

/* ----------------------------------------------------------------------------------------------------------- locks */

static struct flock byte_lock(short type, unsigned int byte)
{
	/* l_pid must be 0 for this kind of lock. */
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
}

int rec_lock_take(int fd, unsigned int byte)
{
	struct flock lock = byte_lock(F_WRLCK, byte);

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

void rec_lock_give(int fd, unsigned int byte)
{
	struct flock lock = byte_lock(F_UNLCK, byte);

	fcntl(fd, F_OFD_SETLK, &lock);
}

int rec_lock_ask(int fd, unsigned int byte)
{
	struct flock lock = byte_lock(F_WRLCK, byte);

	return fcntl(fd, F_OFD_GETLK, &lock) < 0 ? -errno : lock.l_type != F_UNLCK;
}

/* ------------------------------------------------------------------------------------------------------------ life */

void rec_identity_read(const struct rec_buffer_header *header, struct rec_identity *ret_who)
{
	*ret_who = (struct rec_identity){ .pid = header->pid,
					   .pid_ns = header->pid_ns,
					   .start_time = header->start_time,
					   .locked = header->locked == 1 };
}

/* 1: the process is alive; 0: it is gone; -ENODATA: this cannot be determined from here. */
static int look_for(const struct rec_identity *who, int fd)
{
	const bool near = who->pid_ns && who->pid_ns == rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE);
	uint64_t start_time = 0;
	bool sure;
	int r = -ENOENT;

	if ((pid_t)who->pid <= 0)
		return 0;
	if (near && kill((pid_t)who->pid, 0) < 0 && errno == ESRCH)
		return 0;
	if (near)
		r = rec_process_start_time((pid_t)who->pid, &start_time);
	if (r == 0 && start_time == who->start_time)
		return 1;
	if (r == -ESRCH)
		return 0;
	/* In another time namespace the start time is different, so the lock must be tested even then. */
	sure = r == 0;
	r = rec_lock_ask(fd, REC_LOCK_PROGRAM);
	if (r == 1)
		return 1;
	return sure || (r == 0 && who->locked) ? 0 : -ENODATA;
}

bool rec_identity_is_alive(const struct rec_identity *who, int fd)
{
	return look_for(who, fd) != 0;
}

bool rec_identity_is_certain(const struct rec_identity *who, int fd)
{
	return look_for(who, fd) == 1;
}

/* The pidfd is opened first and the process checked afterwards, so it is that of the intended process. */
int rec_identity_watch(const struct rec_identity *who)
{
	uint64_t start_time = 0;
	int fd;

	if (!who->pid_ns || who->pid_ns != rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE) || (pid_t)who->pid <= 0)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)who->pid, 0);
	if (fd < 0)
		return -1;
	if (rec_process_start_time((pid_t)who->pid, &start_time) == 0 && start_time == who->start_time)
		return fd;
	close(fd);
	return -1;
}

/*
 * A held lock on the file shows that its maker is alive, because a program takes this lock before anything else. If the
 * lock is free, the pid and start time in the file's name decide (process_file.c).
 */
bool rec_buffer_has_maker(int dir, const char *name)
{
	const char *start = strchr(name, '-');
	const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	uint64_t start_time = 0;
	bool has;

	if (fd < 0)
		return false;
	has = rec_lock_ask(fd, REC_LOCK_PROGRAM) == 1 ||
	      (start && rec_process_start_time((pid_t)rec_get_decimal(name), &start_time) == 0 &&
	       start_time == rec_get_decimal(start + 1));
	close(fd);
	return has;
}

bool rec_identity_is_seen(const struct rec_identity *who)
{
	return who->pid_ns && who->pid_ns != rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE) && find(who);
}
