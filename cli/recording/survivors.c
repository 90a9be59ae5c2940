/* SPDX-License-Identifier: MIT */
#include "cli/recording/survivors.h"

#include <librecorder/reader.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/recording/dir_watch.h"
#include "cli/recording/dirs.h"
#include "cli/recording/skip_events.h"

/*
 * Switch off and move one buffer. The move never replaces a file: the session may be another user's, who can have put
 * any name there, and moved the session to a directory that has files of others.
 */
static void release(const struct session *session, int above, const char *name, const struct selections *selections)
{
	struct rec_view *view;

	if (rec_view_open_at(session->fd, name, &view))
		return;
	if (rec_view_alive(view)) {
		for (unsigned int i = 0; i < selections->nr; i++)
			rec_view_switch(view, selections->list[i].patterns, false);
		skip_events(view);
		renameat2(session->fd, name, above, name, RENAME_NOREPLACE);
	}
	rec_view_close(view);
}

void survivors_release(const struct session *session, const struct selections *selections)
{
	const int above = session->fd < 0 ? -1 : dirs_open_below(session->fd, "..");
	const struct dirent *entry;
	DIR *dir = above < 0 ? NULL : dir_entries(session->fd);

	while (dir && (entry = readdir(dir)))
		if (rec_buffer_is_name(entry->d_name))
			release(session, above, entry->d_name, selections);
	if (dir)
		closedir(dir);
	if (above >= 0)
		close(above);
}
