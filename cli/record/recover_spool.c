/* SPDX-License-Identifier: MIT */
/* The spool of 'recorder recover': the one that a recording left, or a new one beside the output. */
#include "cli/record/recover.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/base/name_ending.h"

#define SPOOL_SUFFIX ".spool"

bool recover_open_left(const char *path, struct spool **ret_spool)
{
	const int err = spool_open(path, ret_spool);

	switch (err) {
	case 0:
		return true;
	case -EBUSY:
		complain(RECOVER, "'%s' belongs to a recording that is still running", path);
		return false;
	case -EBADMSG:
		complain(RECOVER,
			 "'%s' is neither the spool of a recording (.spool), nor a buffer (.rec), nor a core file",
			 path);
		return false;
	case -EPROTO:
		complain(RECOVER, "'%s' was written by another version of recorder", path);
		return false;
	default:
		return recover_fails(path, err);
	}
}

/* False: one line was printed. */
static bool remove_spool(struct spool *spool)
{
	const int err = spool_remove(spool);

	if (err)
		complain(RECOVER, "cannot remove '%s': %s", spool->path, strerror(-err));
	return !err;
}

bool recover_remove_if_done(struct spool **spool)
{
	const uint32_t done = (*spool)->head.done;
	bool good;

	if (!done)
		return true;
	good = remove_spool(*spool);
	if (good && done == SPOOL_PARTIAL)
		complain(RECOVER,
			 "'%s' is removed: it is an incomplete copy of another spool, which is to be recovered",
			 (*spool)->path);
	else if (good)
		complain(RECOVER, "'%s' is no longer needed and is removed: its events are in another file",
			 (*spool)->path);
	*spool = spool_close(*spool);
	return good && done != SPOOL_PARTIAL;
}

/* Find the buffers that belong to a spool: those in its session, or those of the programs that it names. */
static bool take_buffers_of_spool(struct recover *recover)
{
	const char *session = recover->spool->head.session;
	struct stat spool, dir;

	if (!*session)
		return recover_take_left(recover);
	/* The session was removed, or the machine was restarted: only the spool exists. */
	if (access(session, F_OK) < 0)
		return true;
	if (!recover_take_dir(recover, session))
		return false;
	/*
	 * A spool may name any file. A user's spool must not make root take another user's buffers. Root's own spool
	 * may name a user's buffers, because 'recorder record --user' makes such spools.
	 */
	if (!fstat(recover->spool->fd, &spool) && !fstat(recover->dir.fd, &dir) &&
	    (!spool.st_uid || spool.st_uid == dir.st_uid))
		return true;
	complain(RECOVER, "'%s' names the directory '%s', which belongs to another user", recover->spool_path, session);
	return false;
}

/* Take the settings of the output from the command line and the spool. */
static bool choose_output(struct recover *recover)
{
	char name[PATH_MAX];
	size_t size;

	if (recover->output_name) {
		/* If the reader of the output is gone, a message names the file, which is then the only copy. */
		if (!strcmp(recover->output_name, "-"))
			signal(SIGPIPE, SIG_IGN);
		return output_choose(&recover->output, recover->output_name);
	}
	strcpy(name, recover->spool_path);
	size = name_before(name, SPOOL_SUFFIX);
	if (!size)
		return output_choose(&recover->output, "trace.dat");
	name[size] = '\0';
	if (!output_choose(&recover->output, name))
		return false;
	recover->output.name = recover->output.path;
	return true;
}

static bool make_spool(struct recover *recover)
{
	struct spool_head head = { .file_version = 6 };
	const bool whole = recover->dir.fd >= 0 && !recover->only[0] && !recover->temporary;

	/* Single buffers need no session: the spool has their names, wherever they are. */
	if (whole)
		snprintf(head.session, sizeof(head.session), "%s", recover->dir.path);
	snprintf(head.command, sizeof(head.command), "%.255s", recover->only[0] ? recover->only : recover->dir.path);
	if (!output_spool(&recover->output, &head, &recover->spool))
		return false;
	recover->is_new = true;
	snprintf(recover->spool_path, sizeof(recover->spool_path), "%s", recover->output.spool);
	if (!whole || !session_is_session(recover->dir.path) ||
	    session_link_spool(&recover_sink, &recover->dir, recover->spool_path))
		return true;
	recover_drop_empty(recover);
	return false;
}

bool recover_open_spool(struct recover *recover)
{
	if (recover->spool_path[0] && !recover_open_left(recover->spool_path, &recover->spool))
		return false;
	if (recover->spool && !recover_remove_if_done(&recover->spool))
		return false;
	/* Buffers that stay in the session are for another recovery, and another file. */
	recover->is_done = recover->spool_path[0] && !recover->spool;
	if (recover->is_done)
		return true;
	if (recover->spool && recover->dir.fd < 0 && !take_buffers_of_spool(recover))
		return false;
	if (!choose_output(recover) || (!recover->spool && !make_spool(recover)))
		return false;
	strcpy(recover->new_spool, recover->output.spool);
	strcpy(recover->output.spool, recover->spool_path);
	if (recover->version)
		recover->spool->head.file_version = recover->version + 5;
	if (recover->raw)
		recover->spool->head.raw = 1;
	return true;
}

void recover_say_stage(const struct spool *spool)
{
	if (spool->stage_is_unseen)
		complain(
			RECOVER,
			"cannot find '%s', whose pages '%s' lacks: recover it in the mount namespace where it was "
			"recorded, or remove '%s' to recover the buffers alone",
			spool->head.stage, spool->path, spool->path);
	else if (spool->stage_is_gone)
		complain(RECOVER,
			 "'%s' is gone: the pages in it that were not yet written to '%s' are lost",
			 spool->head.stage, spool->path);
}

/* Whether the buffers still have all that the spool has. */
static bool holds_nothing(const struct spool *spool)
{
	if (spool->end == sizeof(struct spool_head))
		return true;
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		if (spool->entries[i].ended)
			return false;
		for (unsigned int lane = 0; lane < spool->entries[i].nr_lanes; lane++)
			if (spool->entries[i].lanes[lane].pages)
				return false;
	}
	return true;
}

bool recover_drop_empty(struct recover *recover)
{
	if (!recover->is_new || !holds_nothing(recover->spool))
		return false;
	output_remove_spool(&recover->output, recover->spool);
	return true;
}

int recover_append(struct recover *recover, struct spool *other)
{
	const int err = spool_append(recover->spool, other);

	/* The other one has no side files; the part of its stage that could not be written was appended, too. */
	if (err)
		recover->is_unusable = true;
	else
		remove_spool(other);
	spool_close(other);
	return err;
}

/* Whether the disk of the new file `path` has room for a copy of the spool, and for the output, which is as large. */
static bool has_room(const char *path, const struct spool *spool)
{
	char dir[PATH_MAX];
	struct statvfs fs;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	return statvfs(*dir ? dir : "/", &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= 2 * spool->end;
}

/* Make a copy of the left spool at output.spool. NULL: there is none. */
static struct spool *copy_left(const struct recover *recover)
{
	struct spool_head head = recover->spool->head;
	struct spool *copy;

	head.done = SPOOL_PARTIAL;
	memset(head.stage, 0, sizeof(head.stage));
	if (!has_room(recover->output.spool, recover->spool) || !output_spool(&recover->output, &head, &copy))
		return NULL;
	if (!spool_copy(copy, recover->spool))
		return copy;
	output_remove_spool(&recover->output, copy);
	return spool_close(copy);
}

bool recover_move_spool(struct recover *recover)
{
	struct spool *left = recover->spool, *copy;

	/* Side files would have to be copied as well. */
	if (!strcmp(recover->new_spool, recover->spool_path) || spool_has_kernel(left))
		return false;
	strcpy(recover->output.spool, recover->new_spool);
	copy = copy_left(recover);
	if (!copy) {
		strcpy(recover->output.spool, recover->spool_path);
		return false;
	}
	strcpy(recover->spool_path, recover->new_spool);
	recover->spool = copy;
	recover->is_moved = true;
	/* If the link fails, one line was printed, and the copy still leads to the session. */
	if (recover->dir.fd >= 0 && session_is_session(recover->dir.path))
		session_link_spool(&recover_sink, &recover->dir, recover->spool_path);
	recover_say_stage(left);
	remove_spool(left);
	spool_close(left);
	return true;
}
