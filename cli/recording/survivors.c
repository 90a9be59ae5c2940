/* SPDX-License-Identifier: MIT */
#include "cli/recording/survivors.h"

#include <errno.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/message.h"
#include "cli/recording/dir_watch.h"
#include "cli/recording/dirs.h"
#include "cli/recording/skip_events.h"

/* Programs for which a step failed. */
struct failed {
	unsigned int still_on, not_moved;
};

static bool switch_off(struct rec_view *view, const struct selections *selections)
{
	int err = 0;

	for (unsigned int i = 0; i < selections->nr; i++) {
		const int got = rec_view_switch(view, selections->list[i].patterns, false);

		if (got < 0)
			err = got;
	}
	/* A program that has ended meanwhile writes no more events. */
	return !err || err == -ESRCH;
}

/*
 * Switch off and move one buffer. The move never replaces a file: the session may be another user's, who can have put
 * any name there, and moved the session to a directory that has files of others. Events that cannot be skipped now are
 * skipped when another recorder attaches to the program.
 */
static void release(const struct session *session, int above, const char *name, const struct selections *selections,
		    struct failed *failed)
{
	struct rec_view *view;

	const int err = rec_view_open_at(session->fd, name, &view);

	if (err) {
		/* Otherwise it is not the buffer of a program. */
		failed->not_moved += err == -EMFILE || err == -ENFILE || err == -ENOMEM;
		return;
	}
	if (rec_view_alive(view)) {
		failed->still_on += !switch_off(view, selections);
		skip_events(view);
		/* A program that ends removes its buffer itself. */
		failed->not_moved += renameat2(session->fd, name, above, name, RENAME_NOREPLACE) < 0 && errno != ENOENT;
	}
	rec_view_close(view);
}

static void say_failed(const struct message_sink *sink, const struct failed *failed)
{
	if (failed->still_on)
		message(sink, "%u %s still running, and some of %s events could not be switched off", failed->still_on,
			failed->still_on == 1 ? "program is" : "programs are", failed->still_on == 1 ? "its" : "their");
	if (failed->not_moved)
		message(sink, "%u %s still running, and no command can find %s from now on: %s could not be moved",
			failed->not_moved, failed->not_moved == 1 ? "program is" : "programs are",
			failed->not_moved == 1 ? "it" : "them",
			failed->not_moved == 1 ? "its buffer" : "their buffers");
}

void survivors_release(const struct message_sink *sink, const struct session *session,
		       const struct selections *selections)
{
	const int above = session->fd < 0 ? -1 : dirs_open_below(session->fd, "..");
	struct failed failed = { 0 };
	const struct dirent *entry;
	DIR *dir = above < 0 ? NULL : dir_entries(session->fd);

	if (session->fd >= 0 && !dir)
		message(sink,
			"cannot look for programs that are still running: %s; no command can find them from now on",
			strerror(errno));
	while (dir && (entry = readdir(dir)))
		if (rec_buffer_is_name(entry->d_name))
			release(session, above, entry->d_name, selections, &failed);
	if (dir)
		closedir(dir);
	if (above >= 0)
		close(above);
	say_failed(sink, &failed);
}
