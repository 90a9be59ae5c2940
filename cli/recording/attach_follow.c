/* SPDX-License-Identifier: MIT */
/*
 * Buffers that appear during a recording and belong to it: a copy of a recorded process's memory (recognised by its
 * loan, see reader.h), the same process with another program, or a program that it started. Buffers that existed when
 * the recording began are not of processes that were started meanwhile, and are left alone.
 */
#include "cli/recording/attach_private.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer_dir.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/session.h"

static bool is_ours(const struct attach *attach, const struct buffer *buffer)
{
	return family_has(&attach->family, &buffer->self, &buffer->parent);
}

const char *attach_reason(const struct rec_view *view, int err)
{
	return rec_view_loan(view) == -EBUSY ? "another recorder records it" : programs_switch_reason(err);
}

int attach_switch_on(const struct attach *attach, const struct buffer *buffer)
{
	int err = rec_view_borrow(buffer->view, attach->patterns);

	for (unsigned int i = 0; err >= 0 && i < attach->selections->nr; i++)
		err = rec_view_switch(buffer->view, attach->selections->list[i].selector, true);
	return err < 0 && err != -ESRCH ? err : 0;
}

/*
 * Note a program that belongs to the recording and cannot be recorded: the recording continues, and reports it at the
 * end.
 */
static void note_missed(struct attach *attach, struct buffer *buffer, int err)
{
	struct missed *missed = &attach->missed;

	if (!missed->nr++) {
		programs_pid(buffer->view, missed->pid);
		snprintf(missed->comm, sizeof(missed->comm), "%s", rec_view_info(buffer->view)->comm);
		missed->reason = attach_reason(buffer->view, err);
	}
	rec_view_give_back(buffer->view);
	buffer->view = rec_view_close(buffer->view);
}

/* Record a buffer that was found to be one of ours. 1, -ENOMEM, or the error of the spool. */
static int take_in(struct attach *attach, struct watched_dir *watched, struct buffer *buffer)
{
	int err = family_add(&attach->family, &buffer->self);

	buffer->taken = true;
	if (err)
		return err;
	err = attach_switch_on(attach, buffer);
	if (err) {
		note_missed(attach, buffer, err);
		return 1;
	}
	err = drain_add(watched->drain, buffer->name, &buffer->before);
	return err ? err : 1;
}

/*
 * Examine a new buffer. 1: it is one of ours; 0: it is not; -EAGAIN: it cannot be opened yet; or the error that ends
 * the recording.
 */
static int meet(struct attach *attach, struct watched_dir *watched, const char *name, uint64_t inode, bool first)
{
	struct buffer *buffer;
	/* Keep one descriptor in reserve, because the drain needs one more. */
	const int spare = fcntl(watched->fd, F_DUPFD_CLOEXEC, 0);
	struct rec_view *view;
	int err = spare < 0 ? -errno : rec_view_open_at(watched->fd, name, &view);

	if (spare >= 0)
		close(spare);
	/* Only this process can free a descriptor. */
	watched->full = err == -EMFILE;
	if (watched->full)
		return 0;
	/* The system is short of resources: try again later. */
	if (err == -ENFILE || err == -ENOMEM) {
		watched->err = err;
		return -EAGAIN;
	}
	if (err == -EAGAIN)
		return err;
	/* The buffer belongs to another user, is damaged, or was just removed. */
	if (err)
		return 0;
	buffer = watched_dir_add(watched, name, inode, view);
	if (!buffer) {
		rec_view_close(view);
		return -ENOMEM;
	}
	buffer->seen = true;
	buffer->old = first;
	if (first || (rec_view_loan(view) != 1 && !is_ours(attach, buffer))) {
		rec_view_close(view);
		return 0;
	}
	buffer->view = view;
	return take_in(attach, watched, buffer);
}

/* Look again at skipped buffers, because a parent may be found after its child. */
static int meet_again(struct attach *attach, struct watched_dir *watched)
{
	int err, met = 0;

	for (unsigned int i = 0; i < watched->nr; i++) {
		struct buffer *buffer = &watched->list[i];

		if (buffer->taken || buffer->old || !is_ours(attach, buffer))
			continue;
		err = rec_view_open_at(watched->fd, buffer->name, &buffer->view);
		if (err)
			continue;
		err = take_in(attach, watched, buffer);
		if (err < 0)
			return err;
		met = 1;
	}
	return met;
}

int attach_scan(struct attach *attach, struct watched_dir *watched, bool first)
{
	DIR *dir = dir_entries(watched->fd);
	const struct dirent *entry;
	unsigned int waiting = 0;
	int got = 0, met = 0;

	watched->err = dir ? watched_dir_begin_scan(watched) : -errno;
	if (watched->err) {
		/* Try again; but if the directory is gone, nothing can appear in it. */
		watched->err = watched->err == -ENOENT ? 0 : watched->err;
		watched->again = true;
		if (dir)
			closedir(dir);
		return 0;
	}
	watched->again = false;
	watched->full = false;
	while (got >= 0 && (entry = readdir(dir))) {
		struct buffer *buffer;

		if (!rec_buffer_is_name(entry->d_name))
			continue;
		buffer = watched_dir_find(watched, entry->d_name, entry->d_ino);
		if (buffer) {
			buffer->seen = true;
			continue;
		}
		if (!watched->full)
			got = meet(attach, watched, entry->d_name, entry->d_ino, first);
		waiting += watched->full;
		if (got == -EAGAIN) {
			watched->again = true;
			got = 0;
		}
		met |= got > 0;
	}
	closedir(dir);
	attach->waiting = waiting > attach->waiting ? waiting : attach->waiting;
	watched_dir_forget(watched);
	for (int more = met; got >= 0 && more > 0;)
		got = more = meet_again(attach, watched);
	return got < 0 ? got : met;
}

int attach_follow(struct attach *attach)
{
	bool is_complete = true;
	int got = 0, met = 0;

	for (unsigned int i = 0; got >= 0 && i < attach->nr; i++) {
		struct watched_dir *watched = &attach->watched_dirs[i];

		if (dir_watch_is_due(&watched->watch, watched->fd, watched->again))
			got = attach_scan(attach, watched, false);
		met |= got > 0;
		is_complete &= !watched->again && !watched->full && !watched->err;
	}
	if (got >= 0 && is_complete)
		family_tidy(&attach->family);
	return got < 0 ? got : met;
}
