/* SPDX-License-Identifier: MIT */
#include "cli/recording/watched_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/lock_within.h"
#include "cli/recording/session.h"

int watched_dir_begin_scan(struct watched_dir *watched)
{
	int err = 0;

	number_map_free(&watched->by_inode);
	for (unsigned int i = 0; i < watched->nr; i++) {
		watched->list[i].seen = false;
		if (!err)
			err = number_map_set(&watched->by_inode, watched->list[i].inode, i + 1);
	}
	return err;
}

struct buffer *watched_dir_find(struct watched_dir *watched, const char *name, uint64_t inode)
{
	const uint64_t at = number_map_get(&watched->by_inode, inode);

	if (!at || !strcmp(watched->list[at - 1].name, name))
		return at ? &watched->list[at - 1] : NULL;
	/* Several listed buffers have had this inode: links, or a file that is gone and whose inode was used again. */
	for (unsigned int i = 0; i < watched->nr; i++)
		if (watched->list[i].inode == inode && !strcmp(watched->list[i].name, name))
			return &watched->list[i];
	return NULL;
}

struct buffer *watched_dir_add(struct watched_dir *watched, const char *name, uint64_t inode,
			       const struct rec_view *view)
{
	const struct rec_view_info *info = rec_view_info(view);
	const uint64_t pid_ns = rec_view_pid_namespace(view);
	struct buffer *list = realloc(watched->list, (watched->nr + 1) * sizeof(*list)), *buffer;

	if (!list)
		return NULL;
	watched->list = list;
	buffer = &list[watched->nr];
	*buffer = (struct buffer){ .name = strdup(name),
				   .inode = inode,
				   .self = { info->pid, info->start_time, pid_ns },
				   .parent = { info->parent_pid, info->parent_start, pid_ns } };
	if (!buffer->name || number_map_set(&watched->by_inode, inode, watched->nr + 1)) {
		free(buffer->name);
		return NULL;
	}
	watched->nr++;
	return buffer;
}

bool watched_dir_is_session(const struct watched_dir *watched)
{
	return !faccessat(watched->fd, SESSION_SPOOL_LINK, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool watched_dir_is_locked(const struct watched_dir *watched)
{
	const int err = lock_within(watched->fd, LOCK_SH, LOCK_A_MOMENT_MS);

	if (!err)
		flock(watched->fd, LOCK_UN);
	return err == -EBUSY;
}

static void drop(struct watched_dir *watched, struct buffer *buffer)
{
	rec_view_close(buffer->view);
	free(buffer->name);
	*buffer = watched->list[--watched->nr];
}

void watched_dir_forget(struct watched_dir *watched)
{
	for (unsigned int i = 0; i < watched->nr;)
		if (!watched->list[i].seen && !watched->list[i].view)
			drop(watched, &watched->list[i]);
		else
			i++;
}

void watched_dir_close(struct watched_dir *watched)
{
	while (watched->nr)
		drop(watched, &watched->list[watched->nr - 1]);
	free(watched->list);
	number_map_free(&watched->by_inode);
	drain_close(watched->drain);
	dir_watch_close(&watched->watch);
	close(watched->fd);
}
