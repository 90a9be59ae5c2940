/* SPDX-License-Identifier: MIT */
/*
 * Directories of recordings. Everything below a session is reached through its descriptor, so a session that was
 * renamed or replaced meanwhile is never mistaken for another.
 */
#include "cli/recording/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer_dir.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/lock_new.h"
#include "cli/base/lock_within.h"
#include "cli/base/message.h"
#include "cli/base/name_ending.h"
#include "cli/recording/dir_watch.h"
#include "cli/recording/dirs.h"
#include "cli/recording/spool_format.h"

bool session_buffer_dir(const struct message_sink *sink, bool create, char *path, size_t size, bool *ret_missing)
{
	int err;

	*ret_missing = false;
	path[0] = '\0';
	err = rec_buffer_dir(create, path, size);
	if (!err)
		return true;
	if (err == -ENOENT && !create) {
		*ret_missing = true;
		return false;
	}
	if (err == -ENAMETOOLONG)
		message(sink, "the path of the buffer directory is too long; set RECORDER_DIR to a shorter one");
	else
		message(sink, "cannot use the buffer directory '%s': %s; set RECORDER_DIR to a directory of your own",
			path, dirs_reason(err));
	return false;
}

/* Sweeps of other recorders may remove or lock the new directory; then another one is made, this number of times. */
#define CREATE_TRIES 100u

/* Make a new directory in `dir`, and lock it. -EAGAIN: another recorder's sweep has just found it; or -errno. */
static int make_locked(const char *dir, struct session *session)
{
	int err;

	snprintf(session->path, sizeof(session->path), "%s/" SESSION_PREFIX "XXXXXX", dir);
	if (!mkdtemp(session->path)) {
		err = -errno;
		session->path[0] = '\0';
		return err;
	}
	session->fd = open(session->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (session->fd < 0)
		err = errno == ENOENT ? -EAGAIN : -errno;
	else
		err = lock_new(session->fd);
	if (err) {
		rmdir(session->path);
		session_close(session);
	}
	return err;
}

bool session_create(const struct message_sink *sink, struct session *ret_session)
{
	struct session session = SESSION_INIT;
	char dir[PATH_MAX - 64];
	bool missing;
	int err = -EAGAIN;

	if (!session_buffer_dir(sink, true, dir, sizeof(dir), &missing))
		return false;
	for (unsigned int tries = 0; err == -EAGAIN && tries < CREATE_TRIES; tries++)
		err = make_locked(dir, &session);
	if (!err)
		*ret_session = session;
	else if (session.path[0])
		message(sink, "cannot open and lock the directory '%s': %s", session.path,
			err == -EAGAIN ? "other recorders keep removing it" : strerror(-err));
	else
		message(sink, "cannot make a directory in '%s': %s; set RECORDER_DIR to a directory of your own", dir,
			strerror(-err));
	return !err;
}

bool session_link_spool(const struct message_sink *sink, const struct session *session, const char *spool)
{
	char path[PATH_MAX];

	/* Remove the link to an earlier spool, which was given up, or was recovered while a program continued. */
	unlinkat(session->fd, SESSION_SPOOL_LINK, 0);
	if (realpath(spool, path) && !symlinkat(path, session->fd, SESSION_SPOOL_LINK))
		return true;
	message(sink, "cannot link '%s' into '%s': %m", spool, session->path);
	return false;
}

/*
 * Whether the file is this session's spool. It may be another session's: the first spool was removed, and its name is
 * in use again. No two sessions have the same name; inode numbers are used again. The spool is not locked for this,
 * because its recorder would find it locked.
 *
 * The link in another user's directory may lead to any file, and this user may change what its path means at any time.
 * So such a spool is not taken: if it is that user's or, after a recording of that user's command, our own, its path is
 * reported. Other files are ignored.
 */
static bool is_spool_of(const struct session *session, const char *spool)
{
	struct stat dir, file;
	struct spool_head head;
	const int err = spool_head_look(spool, &head);

	if (fstat(session->fd, &dir) < 0)
		return false;
	if (!err && strcmp(base_name(head.session), base_name(session->path)) != 0)
		return false;
	return dir.st_uid == geteuid() ||
	       (!err && !lstat(spool, &file) && (file.st_uid == dir.st_uid || file.st_uid == geteuid()));
}

bool session_is_others(const struct session *session)
{
	struct stat dir;

	return fstat(session->fd, &dir) < 0 || dir.st_uid != geteuid();
}

char *session_spool(const struct session *session)
{
	char path[PATH_MAX], *spool;
	const ssize_t size = readlinkat(session->fd, SESSION_SPOOL_LINK, path, sizeof(path) - 1);

	if (size < 0)
		return NULL;
	path[size] = '\0';
	spool = realpath(path, NULL);
	if (spool && !is_spool_of(session, spool)) {
		free(spool);
		spool = NULL;
	}
	return spool;
}

int session_lock_fd(int fd, const char *path, struct session *ret_session)
{
	struct session session = { .fd = fd };
	int err = fd < 0 ? fd : 0;

	if (!err && strlen(path) >= sizeof(session.path))
		err = -ENAMETOOLONG;
	else if (!err && flock(fd, LOCK_EX | LOCK_NB) < 0)
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (err) {
		session_close(&session);
	} else {
		strcpy(session.path, path);
		*ret_session = session;
	}
	return err;
}

int session_lock(const char *path, struct session *ret_session)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return session_lock_fd(fd < 0 ? -errno : fd, path, ret_session);
}

int session_lock_named(const char *path, struct session *ret_session)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		lock_within(fd, LOCK_EX, LOCK_A_MOMENT_MS);
	return session_lock_fd(fd < 0 ? -errno : fd, path, ret_session);
}

bool session_is_reason(const char *name)
{
	return name[0] != '.' && name_before(name, REC_REASON_SUFFIX);
}

bool session_is_session(const char *path)
{
	return !strncmp(base_name(path), SESSION_PREFIX, strlen(SESSION_PREFIX));
}

void session_close(struct session *session)
{
	if (session->fd >= 0)
		close(session->fd);
	session->fd = -1;
}

/* Whether the program of a buffer is alive, or is about to finish the buffer, or this cannot be determined now. */
static bool is_in_use(const struct session *session, const char *name)
{
	struct rec_view *view;
	const int err = rec_view_open_at(session->fd, name, &view);
	bool alive;

	if (err == -EAGAIN)
		return rec_buffer_has_maker(session->fd, name);
	if (err)
		return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
	alive = rec_view_alive(view);
	rec_view_close(view);
	return alive;
}

/*
 * Remove what a recording left in its directory. Returns whether programs use buffers there, which stay, or this cannot
 * be determined now.
 */
static bool remove_files(const struct session *session)
{
	DIR *dir = dir_entries(session->fd);
	const struct dirent *entry;
	bool in_use = !dir;

	while (dir && (entry = readdir(dir))) {
		const bool is_buffer = rec_buffer_is_name(entry->d_name);

		if (is_buffer && is_in_use(session, entry->d_name))
			in_use = true;
		else if (is_buffer || session_is_reason(entry->d_name) || !strcmp(entry->d_name, SESSION_SPOOL_LINK))
			unlinkat(session->fd, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return in_use;
}

bool session_remove(struct session *session)
{
	if (session->fd < 0)
		return true;
	/* A program that starts may put a buffer there between the sweep and rmdir(), so the sweep is repeated. */
	for (int pass = 0; pass < 3; pass++) {
		if (remove_files(session))
			return false;
		if (!rmdir(session->path) || errno != ENOTEMPTY)
			break;
	}
	session_close(session);
	return true;
}

static bool holds_buffer(const struct session *session)
{
	const struct dirent *entry;
	DIR *dir = dir_entries(session->fd);
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = rec_buffer_is_name(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool holds_recording(const struct session *session)
{
	char *spool = session_spool(session);
	const bool found = spool || holds_buffer(session);

	free(spool);
	return found;
}

unsigned int session_sweep(char *path, size_t size)
{
	const struct dirent *entry;
	struct session session;
	char top[PATH_MAX - 64], name[PATH_MAX];
	unsigned int nr = 0;
	DIR *dir;

	if (rec_buffer_dir(false, top, sizeof(top)))
		return 0;
	dir = opendir(top);
	while (dir && (entry = readdir(dir))) {
		if (!session_is_session(entry->d_name) || strlen(entry->d_name) > 32)
			continue;
		snprintf(name, sizeof(name), "%s/%.32s", top, entry->d_name);
		if (session_lock(name, &session))
			continue;
		if (holds_recording(&session) || !session_remove(&session)) {
			snprintf(path, size, "%s", name);
			session_close(&session);
			nr++;
		}
	}
	if (dir)
		closedir(dir);
	return nr;
}
