/* SPDX-License-Identifier: MIT */
#include "cli/recording/survivors.h"

#include <errno.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/message.h"
#include "cli/recording/dir_watch.h"
#include "cli/recording/dirs.h"
#include "cli/recording/skip_events.h"

/*
 * The number of passes over the session, and the pause between them: a program may start after a pass has read the
 * directory, and takes some microseconds to make its buffer.
 */
#define PASSES	20u
#define WAIT_NS 1000000

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
 * Switch off and move one buffer, or remove it if it cannot be moved. The move never replaces a file: the session may
 * be another user's, who can have put any name there, and moved the session to a directory that has files of others.
 * Events that cannot be skipped now are skipped when another recorder attaches to the program.
 */
static void release(const struct session *session, int above, const char *name, const struct selections *selections,
		    struct failed *failed)
{
	struct rec_view *view;
	bool is_off, is_moved;

	/* A buffer that is not finished yet has its turn in a later pass. */
	if (rec_view_open_at(session->fd, name, &view))
		return;
	if (rec_view_alive(view)) {
		is_off = switch_off(view, selections);
		skip_events(view);
		/* A program that ends removes its buffer itself. */
		is_moved = !renameat2(session->fd, name, above, name, RENAME_NOREPLACE) || errno == ENOENT;
		/* A buffer that stays here has its turn again in the next pass, and is counted when it leaves. */
		if (is_moved || !unlinkat(session->fd, name, 0)) {
			failed->not_moved += !is_moved;
			failed->still_on += !is_off;
		}
	}
	rec_view_close(view);
}

/* One pass over the session. False: it cannot be read; errno has the reason. */
static bool release_all(const struct session *session, const struct selections *selections, struct failed *failed)
{
	const int above = dirs_open_below(session->fd, "..");
	const struct dirent *entry;
	DIR *dir = above < 0 ? NULL : dir_entries(session->fd);
	const int reason = above < 0 ? -above : errno;

	while (dir && (entry = readdir(dir)))
		if (rec_buffer_is_name(entry->d_name))
			release(session, above, entry->d_name, selections, failed);
	if (dir)
		closedir(dir);
	if (above >= 0)
		close(above);
	errno = reason;
	return dir;
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

void survivors_release(const struct message_sink *sink, struct session *session, const struct selections *selections)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	struct failed failed = { 0 };
	bool removed = session->fd < 0, looked = true;

	for (unsigned int pass = 0; looked && !removed && pass < PASSES; pass++) {
		if (pass)
			nanosleep(&wait, NULL);
		looked = release_all(session, selections, &failed);
		if (!looked)
			message(sink, "cannot look for programs that are still running: %m");
		removed = session_remove(session);
	}
	say_failed(sink, &failed);
	if (!removed)
		message(sink, "'%s' stays: programs may be running with a buffer in it, and with their events on",
			session->path);
}
