/* SPDX-License-Identifier: MIT */
/*
 * recorder recover: make a trace.dat of what is left when a recorder or a program was killed: the spool, what the session's
 * buffers still hold, or buffers that nobody recorded. Taking from buffers is recording: it goes to a spool first, so a
 * recovery that is killed can be recovered.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/drain.h"
#include "cli/finish.h"
#include "cli/session.h"
#include "cli/spool.h"

#define NAME "recover"
#define SPOOL_SUFFIX ".spool"

struct recover {
	const char *output_name; /* NULL: from the spool's name */
	unsigned int version;	 /* place among the words + 1; 0: as the recording had it */
	bool raw, quiet;

	struct output output;
	char spool_path[PATH_MAX]; /* "" : there is none yet */
	char dir[PATH_MAX];	   /* with the buffers; "": none */
	char only[NAME_MAX + 1];   /* this one alone; "": all */
	struct session session;	   /* of dir */
	struct spool *spool;
	struct drain *drain;
};

/* -------------------------------------------------------------------------------------------------- what is asked for */

static bool no_such(const char *what, int err)
{
	complain(NAME, "cannot recover '%s': %s", what, strerror(-err));
	return false;
}

/* A directory: a session, which knows its spool, or any other with buffers. */
static bool take_dir(struct recover *recover, const char *path)
{
	char link[PATH_MAX + sizeof(SESSION_SPOOL_LINK) + 1];

	if (!realpath(path, recover->dir))
		return no_such(path, -errno);
	snprintf(link, sizeof(link), "%s/" SESSION_SPOOL_LINK, recover->dir);
	/* A spool that is gone was given up by its owner; the buffers are still worth something. */
	if (session_is_session(recover->dir) && !realpath(link, recover->spool_path))
		recover->spool_path[0] = '\0';
	return true;
}

/* A buffer file, told by its name. */
static bool take_buffer(struct recover *recover, const char *path)
{
	char *slash;

	if (!realpath(path, recover->dir))
		return no_such(path, -errno);
	slash = strrchr(recover->dir, '/');
	snprintf(recover->only, sizeof(recover->only), "%s", slash + 1);
	slash[slash == recover->dir] = '\0';
	return true;
}

static bool take_operand(struct recover *recover, const char *path)
{
	const char *name = strrchr(path, '/');
	struct stat st;

	name = name ? name + 1 : path;
	if (stat(path, &st) < 0)
		return no_such(path, -errno);
	if (S_ISDIR(st.st_mode))
		return take_dir(recover, path);
	if (!S_ISREG(st.st_mode)) {
		complain(NAME, "cannot recover '%s': it is no regular file", path);
		return false;
	}
	if (session_is_buffer(name))
		return take_buffer(recover, path);
	if (!realpath(path, recover->spool_path))
		return no_such(path, -errno);
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static bool open_left_spool(struct recover *recover)
{
	const int err = spool_open(recover->spool_path, &recover->spool);

	switch (err) {
	case 0:
		return true;
	case -EBUSY:
		complain(NAME, "'%s' belongs to a recording that is still going on", recover->spool_path);
		return false;
	case -EBADMSG:
		complain(NAME, "'%s' is neither the spool of a recording (.spool) nor a buffer (.rec)", recover->spool_path);
		return false;
	case -EPROTO:
		complain(NAME, "'%s' was written by another version of recorder", recover->spool_path);
		return false;
	default:
		return no_such(recover->spool_path, err);
	}
}

/* What the command line and the spool say about the output. */
static bool choose_output(struct recover *recover)
{
	char name[PATH_MAX];
	size_t size;

	if (recover->output_name)
		return output_choose(&recover->output, recover->output_name);
	strcpy(name, recover->spool_path);
	size = strlen(name);
	if (size <= strlen(SPOOL_SUFFIX) || strcmp(name + size - strlen(SPOOL_SUFFIX), SPOOL_SUFFIX))
		return output_choose(&recover->output, "trace.dat");
	name[size - strlen(SPOOL_SUFFIX)] = '\0';
	if (!output_choose(&recover->output, name))
		return false;
	recover->output.name = recover->output.path;
	return true;
}

/*
 * Lock the directory with the buffers. That of a plain program is nobody's to lock; what another reader holds of it shows
 * when its lanes are read.
 */
static bool lock_session(struct recover *recover)
{
	int err;

	if (!recover->dir[0] && recover->spool)
		strcpy(recover->dir, recover->spool->head.session);
	if (!recover->dir[0] || !session_is_session(recover->dir))
		return true;
	err = session_lock(recover->dir, &recover->session);
	if (err == -ENOENT && recover->spool) {
		/* Removed, or the machine was started anew: the spool is all there is. */
		recover->dir[0] = '\0';
		return true;
	}
	if (err == -EBUSY) {
		complain(NAME, "'%s' belongs to a recording that is still going on", recover->dir);
		return false;
	}
	return !err || no_such(recover->dir, err);
}

static bool open_all(struct recover *recover)
{
	struct spool_head head = { .file_version = 6 };
	int err;

	if (recover->spool_path[0] && !open_left_spool(recover))
		return false;
	if (!lock_session(recover) || !choose_output(recover))
		return false;
	if (!recover->spool) {
		snprintf(head.session, sizeof(head.session), "%s", recover->dir);
		snprintf(head.command, sizeof(head.command), "%s", recover->only[0] ? recover->only : recover->dir);
		if (!output_spool(&recover->output, &head, &recover->spool))
			return false;
		snprintf(recover->spool_path, sizeof(recover->spool_path), "%s", recover->output.spool);
	}
	snprintf(recover->output.spool, sizeof(recover->output.spool), "%s", recover->spool_path);
	if (recover->version)
		recover->spool->head.file_version = recover->version + 5;
	if (recover->raw)
		recover->spool->head.raw = 1;
	if (!recover->dir[0])
		return true;
	err = drain_open(recover->spool, recover->dir, true, recover->only[0] ? recover->only : NULL, &recover->drain);
	return !err || no_such(recover->dir, err);
}

/* ---------------------------------------------------------------------------------------------------------- recovery */

static bool recover_all(struct recover *recover)
{
	static const struct drain_trouble none;
	const struct drain_trouble *trouble = recover->drain ? drain_trouble(recover->drain) : &none;
	const int err = recover->drain ? drain_finish(recover->drain) : 0;
	/* The disk that the spool filled: the spool alone still makes a file, which may go elsewhere, and then there is room. */
	const bool full = (err == -ENOSPC || err == -EDQUOT) && recover->spool->events;

	if (err < 0 && !full) {
		complain(NAME, "cannot write '%s': %s; nothing is lost, run this again when there is room",
			 recover->spool_path, strerror(-err));
		return false;
	}
	if (recover->spool->nr_entries) {
		if (!output_finish(&recover->output, recover->spool, NULL, trouble))
			return false;
	} else {
		complain(NAME, "'%s' holds no buffer%s%s", recover->dir[0] ? recover->dir : recover->spool_path,
			 trouble->bad_buffers ? " that can be read: " : "",
			 trouble->bad_buffers ? strerror(trouble->bad_errno) : "");
	}
	/* The spool is empty or in the file. Buffers that could not be read, or were not asked for, stay. */
	unlink(recover->spool_path);
	if (full)
		complain(NAME, "'%s' had no room for what the buffers still hold: 'recorder recover %s' makes another file of it",
			 recover->spool_path, recover->dir);
	else if (!trouble->bad_buffers && !recover->only[0])
		session_remove(&recover->session);
	return recover->spool->nr_entries;
}

int cmd_recover(int argc, char **argv)
{
	struct recover recover = { .session = SESSION_INIT };
	unsigned int version = UINT32_MAX;
	const struct opt table[] = {
		OPT_STRING('o', "output", "FILE", "write to FILE (the spool's name without .spool, or trace.dat)",
			   &recover.output_name),
		OPT_CHOICE(0, "file-version", "6|7", "version of the file (as the recording had it)", &version),
		OPT_FLAG(0, "raw", "keep each thread's lane as it is, one \"CPU\" a lane", &recover.raw),
		OPT_FLAG('q', "quiet", "print nothing but errors", &recover.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[SPOOL|BUFFER|DIRECTORY]",
		.about = "Make a trace.dat of what a killed recorder left: its SPOOL (trace.dat.spool), or the DIRECTORY\n"
			 "of its session; or of what a dead program left: its BUFFER (.rec), or a DIRECTORY of them.\n"
			 "What was recovered is removed once the file is complete.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (opts_parse(&opts, argc, argv, &operands, &status)) {
		recover.version = version + 1;
		recover.output.command = NAME;
		recover.output.verb = "recovered";
		recover.output.quiet = recover.quiet;
		status = take_operand(&recover, operands[0] ? operands[0] : "trace.dat" SPOOL_SUFFIX) &&
					 open_all(&recover) && recover_all(&recover) ?
				 EXIT_SUCCESS :
				 EXIT_FAILURE;
	}
	drain_close(recover.drain);
	spool_close(recover.spool);
	session_close(&recover.session);
	return status;
}
