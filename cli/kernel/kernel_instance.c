/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_instance.h"
#include "librecorder/os/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/message.h"
#include "cli/base/proc_stat.h"
#include "cli/kernel/kernel_triggers.h"

/*
 * After a sweep has found an instance, it needs some tens of milliseconds to remove it; this process waits in steps of
 * a millisecond.
 */
#define SWEPT_TRIES 5000u

/* -------------------------------------------------------------------------------------------------------- tracefs */

/*
 * Root can let a group read tracefs, and make the user the owner of `instances`, and so of the instances that they make
 * there. A group cannot get more rights, because the files are not group-writable.
 */
int instance_no_rights(const struct message_sink *sink)
{
	const char *dir = tracefs_tracing_dir();

	message(sink,
		"no rights to trace the kernel; be root (sudo), or let root grant them: "
		"'sudo sh -c \"mount -o remount,gid=%u,mode=750 %s && chown %u %s/instances\"'",
		(unsigned int)getgid(), dir, (unsigned int)getuid(), dir);
	return -EACCES;
}

static int mount_tracefs(const struct message_sink *sink, bool quiet)
{
	if (mount("nodev", REC_TRACEFS_DIR, "tracefs", 0, NULL) == 0) {
		if (!quiet)
			message(sink, "tracefs was not mounted; mounted it at %s", REC_TRACEFS_DIR);
		return 0;
	}
	if (errno == EPERM || errno == EACCES) {
		message(sink,
			"no rights to trace the kernel: tracefs is not mounted; mount it: 'sudo mount -t tracefs nodev "
			"%s'",
			REC_TRACEFS_DIR);
		return -EACCES;
	}
	if (errno == ENOENT) {
		message(sink, "tracefs cannot be mounted: there is no '%s'; mount sysfs: 'mount -t sysfs nodev /sys'",
			REC_TRACEFS_DIR);
		return -ENODEV;
	}
	if (errno == ENODEV) {
		message(sink, "this kernel has no tracefs: it was built without tracing (CONFIG_FTRACE)");
		return -ENODEV;
	}
	message(sink, "cannot mount tracefs at %s: %m", REC_TRACEFS_DIR);
	return -errno;
}

/* Find tracefs without printing or mounting. False: it is not mounted. */
static bool use_mounted(void)
{
	char dir[PATH_MAX];

	tracefs_set_loglevel(TEP_LOG_NONE);
	return rec_tracefs_find(dir, sizeof(dir)) == 0 && tracefs_set_tracing_dir(dir) == 0;
}

int instance_find_tracefs(const struct message_sink *sink, bool quiet)
{
	const int err = use_mounted() ? 0 : mount_tracefs(sink, quiet);

	if (err)
		return err;
	if (use_mounted())
		return 0;
	message(sink, "cannot use tracefs: %m");
	return errno ? -errno : -EIO;
}

/* ---------------------------------------------------------------------------------------------------- an instance */

/* This process's start time; 0: it cannot be read. */
static unsigned long long own_start_time(void)
{
	struct rec_proc_stat stat;

	return proc_stat_read(AT_FDCWD, "/proc/self/stat", &stat) ? 0 : stat.start_time;
}

/*
 * Lock the directory of an instance. 0; -EWOULDBLOCK: its recorder is still running; -ESTALE: it no longer exists; or
 * open's errno. Only a process that has the lock, and finds that the directory is still in its place, may remove it.
 */
static int lock_dir(const char *dir, int *ret_lock)
{
	const int lock = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat locked, there;
	int err = 0;

	if (lock < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		err = -errno;
	else if (fstat(lock, &locked) < 0 || stat(dir, &there) < 0 || locked.st_ino != there.st_ino ||
		 locked.st_dev != there.st_dev)
		err = -ESTALE;
	if (err)
		close(lock);
	else
		*ret_lock = lock;
	return err;
}

static void let_go(struct instance *instance)
{
	tracefs_instance_free(instance->tracefs);
	instance->tracefs = NULL;
	free(instance->dir);
	instance->dir = NULL;
	if (instance->lock >= 0)
		close(instance->lock);
	instance->lock = -1;
}

/* Remove the directory. False: errno is set. */
static bool remove_dir(const struct instance *instance)
{
	if (tracefs_instance_destroy(instance->tracefs) == 0)
		return true;
	/* A histogram with variables keeps the instance in use. */
	if (errno != EBUSY)
		return false;
	kernel_triggers_clear(instance->tracefs, NULL);
	return tracefs_instance_destroy(instance->tracefs) == 0;
}

static int cannot_create(const struct message_sink *sink, const char *name, int err)
{
	if (err == -EACCES || err == -EPERM)
		return instance_no_rights(sink);
	if (err == -ENOMEM || err == -ENOSPC)
		message(sink,
			"cannot make the tracefs instance '%s': %s: the kernel has no room for another ring buffer; "
			"remove instances that are not in use",
			name, strerror(-err));
	else
		message(sink, "cannot make the tracefs instance '%s': %s", name, strerror(-err));
	return err;
}

/*
 * Make and lock it. 0; -EEXIST; -EWOULDBLOCK or -ESTALE: a sweep found it first and removes it; or mkdir's errno.
 */
static int make_locked(struct instance *instance)
{
	int err = -EEXIST;

	errno = 0;
	instance->tracefs = tracefs_instance_create(instance->name);
	if (!instance->tracefs)
		return errno ? -errno : -EIO;
	instance->dir = tracefs_instance_get_dir(instance->tracefs);
	if (!instance->dir)
		err = -ENOMEM;
	else if (tracefs_instance_is_new(instance->tracefs))
		err = lock_dir(instance->dir, &instance->lock);
	/* If no sweep removes it, it would be left to the next recorder. */
	if (err && err != -EWOULDBLOCK && err != -ESTALE && tracefs_instance_is_new(instance->tracefs))
		tracefs_instance_destroy(instance->tracefs);
	if (err)
		let_go(instance);
	return err;
}

int instance_create(const struct message_sink *sink, const char *suffix, struct instance *ret_instance)
{
	const struct timespec while_swept = { .tv_nsec = 1000000 };
	struct instance instance = { .lock = -1 };
	bool swept = false;
	int err = 0;

	snprintf(instance.name, sizeof(instance.name), "recorder-%d-%llu%s", (int)getpid(), own_start_time(), suffix);
	for (unsigned int i = 0; i < SWEPT_TRIES; i++) {
		err = make_locked(&instance);
		if (err == -EWOULDBLOCK || err == -ESTALE)
			swept = true;
		else if (err != -EEXIST || !swept)
			break;
		nanosleep(&while_swept, NULL);
	}
	if (err)
		return cannot_create(sink, instance.name, err);
	*ret_instance = instance;
	return 0;
}

bool instance_destroy(const struct message_sink *sink, struct instance *instance)
{
	bool good = true;

	if (!instance->tracefs)
		return true;
	if (!remove_dir(instance)) {
		message(sink, "cannot remove the tracefs instance '%s': %s; the next recording tries again",
			instance->name, errno == EBUSY ? "a process is reading from it" : strerror(errno));
		good = false;
	}
	let_go(instance);
	return good;
}

/* ------------------------------------------------------------------------------------------------------ leftovers */

static bool is_ours(const char *name)
{
	unsigned long long start;
	unsigned int pid;
	int size = 0;

	if (sscanf(name, "recorder-%u-%llu%n", &pid, &start, &size) != 2)
		return false;
	name += size;
	return !*name || (*name == '-' && strspn(name + 1, "abcdefghijklmnopqrstuvwxyz") == strlen(name + 1));
}

/* Whether the instance existed, its recorder was gone, and it was removed. */
static bool remove_left(const char *name)
{
	struct instance instance = { .lock = -1 };
	bool removed = false;

	instance.tracefs = tracefs_instance_alloc(NULL, name);
	if (!instance.tracefs)
		return false;
	instance.dir = tracefs_instance_get_dir(instance.tracefs);
	if (instance.dir && !lock_dir(instance.dir, &instance.lock))
		removed = remove_dir(&instance);
	let_go(&instance);
	return removed;
}

void instance_sweep(const struct message_sink *sink, bool quiet)
{
	char path[PATH_MAX], last[INSTANCE_NAME_SIZE] = "";
	const struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	if (!use_mounted())
		return;
	snprintf(path, sizeof(path), "%s/instances", tracefs_tracing_dir());
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!is_ours(entry->d_name) || !remove_left(entry->d_name))
			continue;
		nr++;
		snprintf(last, sizeof(last), "%.*s", INSTANCE_NAME_SIZE - 1, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (nr && !quiet)
		message(sink, "%u tracefs instance%s left by killed recorders and removed, the last '%s'", nr,
			nr == 1 ? " was" : "s were", last);
}
