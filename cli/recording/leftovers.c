/* SPDX-License-Identifier: MIT */
#include "cli/recording/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/file_limit.h"
#include "cli/recording/dirs.h"
#include "cli/recording/last_event.h"
#include "cli/base/message.h"
#include "cli/base/proc_stat.h"

/* Read which process the buffer belongs to. 0; -EBUSY: it may be alive; or as rec_view_open(). */
static int read_header(int dir, struct leftover *item)
{
	struct rec_view *view;
	int err = rec_view_open_at(dir, item->name, &view);

	if (err)
		return err;
	item->pid = rec_view_info(view)->pid;
	item->start_time = rec_view_info(view)->start_time;
	memcpy(item->comm, rec_view_info(view)->comm, sizeof(item->comm));
	snprintf(item->program, sizeof(item->program), "%s", base_name(rec_view_info(view)->exe));
	err = rec_view_alive(view) ? -EBUSY : 0;
	item->is_empty = !err && !last_event_time(view, &item->last);
	rec_view_close(view);
	return err;
}

/*
 * Describe the buffer of a program that is gone. 0; -EBUSY: the program may be alive; -ENOENT: the file is gone
 * meanwhile; or as rec_view_open().
 */
static int look_at(int dir, const char *name, struct leftover *item)
{
	struct stat st;
	int err;

	memset(item, 0, sizeof(*item));
	if (strlen(name) >= sizeof(item->name))
		return -ENAMETOOLONG;
	strcpy(item->name, name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	item->size = (uint64_t)st.st_blocks * 512u;
	err = read_header(dir, item);
	if (!item->last)
		item->last = (uint64_t)st.st_mtim.tv_sec;
	if (err != -EAGAIN || st.st_mtim.tv_sec + REC_BUFFER_UNFINISHED_AGE >= time(NULL))
		return err;
	return rec_buffer_has_maker(dir, name) ? -EBUSY : 0;
}

/* Whether memory or descriptors are missing: then the search ends, because it would skip all that follows. */
static bool is_lack(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

static int add_buffer(struct left_place *place, const char *name)
{
	struct leftover item, *items;
	const int err = look_at(place->dir.fd, name, &item);

	if (err == -EBUSY)
		place->living++;
	/* A buffer that is not finished yet belongs to a program that is starting. */
	else if (err && err != -ENOENT && err != -EAGAIN && !is_lack(err))
		place->unknown++;
	if (err)
		return err;
	items = realloc(place->items, (place->nr + 1) * sizeof(*items));
	if (!items)
		return -ENOMEM;
	place->items = items;
	items[place->nr++] = item;
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct leftover *one = a, *other = b;

	if (one->last != other->last)
		return one->last < other->last ? -1 : 1;
	/* Their pids are in the names: the order in which they began, usually. */
	return strverscmp(one->name, other->name);
}

/* The list takes over the session's descriptor and lock, unless this fails. */
static struct left_place *add_place(struct leftovers *left, const struct session *session, bool is_session)
{
	struct left_place *places = realloc(left->places, (left->nr + 1) * sizeof(*places)), *place;
	struct stat st;

	if (!places)
		return NULL;
	left->places = places;
	place = &places[left->nr++];
	memset(place, 0, sizeof(*place));
	place->dir = *session;
	place->is_session = is_session;
	place->spool = is_session ? session_spool(session) : NULL;
	if (!fstat(session->fd, &st))
		place->made = (uint64_t)st.st_mtim.tv_sec;
	return place;
}

static int walk(struct leftovers *left, struct session *dir, bool is_session);

/* Add the session with this name, which is in the directory with number `number` in the list. */
static int add_session(struct leftovers *left, unsigned int number, const char *name)
{
	const struct session *above = &left->places[number].dir;
	struct session session;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", above->path, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = session_lock_fd(dirs_open_below(above->fd, name), path, &session);
	if (err == -EBUSY)
		left->busy++;
	return err ? err : walk(left, &session, true);
}

/* Add the entries of a directory, which the list takes over; for a buffer directory, its sessions as well. */
static int walk(struct leftovers *left, struct session *dir, bool is_session)
{
	const unsigned int number = left->nr;
	struct dirent **entries;
	int nr, err = 0;

	if (!add_place(left, dir, is_session)) {
		session_close(dir);
		return -ENOMEM;
	}
	nr = scandirat(dir->fd, ".", &entries, NULL, alphasort);
	if (nr < 0)
		return -errno;
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (!is_lack(err) && rec_buffer_is_name(name))
			err = add_buffer(&left->places[number], name);
		else if (!is_lack(err) && !is_session && session_is_session(name))
			err = add_session(left, number, name);
		free(entries[i]);
	}
	free(entries);
	if (left->places[number].nr)
		qsort(left->places[number].items, left->places[number].nr, sizeof(struct leftover), by_age);
	return is_lack(err) ? err : 0;
}

int leftovers_find_session(const char *path, struct leftovers *left)
{
	struct session session;
	const int err = session_lock_named(path, &session);

	return err ? err : walk(left, &session, true);
}

/* Open a directory that is not locked; `at` is the directory itself, or that in which `path` begins. */
static int open_dir(int at, const char *name, const char *path, struct session *ret_dir)
{
	if (strlen(path) >= sizeof(ret_dir->path))
		return -ENAMETOOLONG;
	strcpy(ret_dir->path, path);
	ret_dir->fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ret_dir->fd < 0 ? -errno : 0;
}

struct search {
	const struct message_sink *sink;
	struct leftovers *left;
	bool failed;
};

static int look_into(int dir, const char *path, void *data)
{
	struct search *search = data;
	struct session session = SESSION_INIT;
	int err = open_dir(dir, ".", path, &session);

	if (!err)
		err = walk(search->left, &session, false);
	/* A directory that is just being removed holds nothing. */
	search->failed = err && err != -ENOENT;
	if (search->failed)
		message(search->sink, "cannot look into '%s': %s", path, strerror(-err));
	return search->failed;
}

bool leftovers_find_all(const struct message_sink *sink, const char *dir, struct leftovers *left)
{
	struct search search = { .sink = sink, .left = left };

	*left = (struct leftovers){ 0 };
	/* Each session that is found stays open. */
	file_limit_raise();
	return dirs_each(sink, dir, look_into, &search) >= 0 && !search.failed;
}

/* The path of the directory that holds the file, without symbolic links; NULL: errno. */
static char *real_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
	char *real = parent ? realpath(parent, NULL) : NULL;
	const int saved = errno;

	free(parent);
	errno = saved;
	return real;
}

int leftovers_find_buffer(const char *path, struct leftovers *left)
{
	struct session dir = SESSION_INIT;
	struct left_place *place;
	/* The path may be spelled so that it does not show the session's name: then the lock would be bypassed. */
	char *parent = real_parent(path);
	bool is_session;
	int err;

	if (!parent)
		return -errno;
	is_session = session_is_session(parent);
	err = is_session ? session_lock_named(parent, &dir) : open_dir(AT_FDCWD, parent, parent, &dir);
	free(parent);
	if (err)
		return err;
	/* The session itself is not listed: it may hold other buffers, also of running programs. */
	place = add_place(left, &dir, false);
	if (!place) {
		session_close(&dir);
		return -ENOMEM;
	}
	return add_buffer(place, base_name(path));
}

uint32_t leftovers_living(int dir, const char *name)
{
	struct rec_view *view;
	uint32_t pid = 0;

	if (rec_view_open_at(dir, name, &view))
		return 0;
	if (rec_view_alive(view))
		pid = rec_view_pid(view);
	rec_view_close(view);
	return pid;
}

/* Whether an earlier image of a living process made the buffer: then it is kept, as sweep.c keeps it. */
static bool is_replaced(const struct leftover *item)
{
	struct rec_proc_stat stat;

	return !proc_stat_of(item->pid, &stat) && stat.start_time == item->start_time && stat.state != 'Z';
}

void leftovers_sweep(struct leftovers *left)
{
	for (unsigned int i = 0; i < left->nr; i++) {
		struct left_place *place = &left->places[i];
		unsigned int kept = 0;

		for (unsigned int j = 0; j < place->nr; j++) {
			/* A killed recorder's session belongs to its recording. */
			if (place->is_session || !place->items[j].is_empty || is_replaced(&place->items[j]) ||
			    unlinkat(place->dir.fd, place->items[j].name, 0))
				place->items[kept++] = place->items[j];
		}
		place->nr = kept;
	}
}

/* A sink that prints nothing: the commands that list leftovers report files that cannot be examined. */
static void ignore(const void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

void leftovers_find_swept(const char *dir, struct leftovers *left)
{
	const struct message_sink quiet = { .message = ignore, .summary = ignore };

	if (leftovers_find_all(&quiet, dir, left))
		leftovers_sweep(left);
	else
		leftovers_free(left);
}

void leftovers_sweep_all(const char *dir)
{
	struct leftovers left;

	leftovers_find_swept(dir, &left);
	leftovers_free(&left);
}

void leftovers_free(struct leftovers *left)
{
	for (unsigned int i = 0; i < left->nr; i++) {
		session_close(&left->places[i].dir);
		free(left->places[i].items);
		free(left->places[i].spool);
	}
	free(left->places);
	memset(left, 0, sizeof(*left));
}
