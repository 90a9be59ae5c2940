/* SPDX-License-Identifier: MIT */
/*
 * The input of 'recorder recover': recover_take() finds it and locks what can be locked, recover_open_spool() opens or
 * makes the spool, cmd_recover.c does the rest.
 */
#ifndef CLI_RECOVER_H
#define CLI_RECOVER_H

#include <limits.h>
#include <stdbool.h>

#include "cli/common/opts.h"
#include "cli/recording/drain.h"
#include "cli/recording/leftovers.h"
#include "cli/recording/output.h"
#include "cli/recording/session.h"
#include "cli/recording/spool.h"
#include "format/dat/dat_pack.h"

#define RECOVER "recover" /* the command's name */
extern const struct message_sink recover_sink;

struct recover {
	/* the command line */
	const char *operand;	 /* NULL: none */
	const char *output_name; /* NULL: from the spool's name */
	const char *dirs;	 /* where to search; NULL: the directories of dirs.h */
	struct dat_packing packing;
	unsigned int version;	 /* index of the word plus 1; 0: as in the recording */
	bool all, raw, quiet;
	bool has_named; /* a spool was named that is to be recovered by itself */

	/* what is to be recovered */
	char spool_path[PATH_MAX];    /* "": no spool was made yet */
	struct session dir;	      /* the directory with the buffers, if there is only one */
	char only[NAME_MAX + 1];      /* only this file; "": all */
	unsigned int flags;	      /* flags (DRAIN_) for that directory */
	bool is_empty;		      /* there was no event, and so no output was written */
	bool is_done;		      /* the output existed already: only the spool had to be removed */
	bool temporary;		      /* the directory is temporary, with buffers from a core file */
	struct leftovers left;	      /* with more than one directory: the leftovers in all of them */
	const struct leftover *image; /* use only the images of this process; NULL: all, or what the spool names */

	struct output output;
	struct spool *spool;
	char new_spool[PATH_MAX]; /* where a new spool, or a copy of the left one, would be: beside the output */
	bool is_new;	  /* this command has made the spool, and not as a copy of a left one */
	bool is_moved;	  /* the spool is a copy of the one that the command line leads to, which is gone */
	bool is_unusable; /* the spool can only be closed, because another one could not be appended (spool.h) */
	struct drain_trouble trouble;
};

/* Interpret `word`, or --all; NULL: the spool of a recording without -o. False: one line was printed. */
bool recover_take(struct recover *recover, const char *word);

/* A directory with buffers; a session is locked. False: one line was printed. */
bool recover_take_dir(struct recover *recover, const char *path);

/* All leftovers, in all directories. False: one line was printed. */
bool recover_take_left(struct recover *recover);

/* Remove the temporary directory, with buffers in it that could not be read. */
void recover_remove_temporary(struct recover *recover);

/*
 * Open the spool that was left, and find its buffers; or make a new one beside the output. Call it after
 * recover_take(). recover->is_done: there is nothing more to do. False: one line was printed.
 */
bool recover_open_spool(struct recover *recover);

/* Open a spool that a recording left. False: one line was printed. */
bool recover_open_left(const char *path, struct spool **ret_spool);

/*
 * Remove a spool that is not needed; *spool is NULL then. The recorder was killed while it removed the spool of a
 * complete file; or while it copied another spool to this one. In the latter case, or if it cannot be removed: false,
 * and one line was printed.
 */
bool recover_remove_if_done(struct spool **spool);

/* Remove the spool, if this command has made it and nothing was moved into it. False: it stays. */
bool recover_drop_empty(struct recover *recover);

/*
 * Append another spool, which has no side files, and remove it. The other one is closed in any case. 0, or as
 * spool_append(): then recover->is_unusable is set.
 */
int recover_append(struct recover *recover, struct spool *other);

/*
 * The disk of the left spool is full: continue with a copy of it beside the output, and remove it. False: that is not
 * possible, for which one line may have been printed, or there is no room for copy and file; nothing has changed.
 */
bool recover_move_spool(struct recover *recover);

/* Report a stage that is not visible from here, or that a restart of the machine has removed. */
void recover_say_stage(const struct spool *spool);

/* Report a session that is not taken, because it belongs to another user; its spool is named (session_spool()). */
void recover_say_others(const char *session, const char *spool);

/* Print one line: `what` cannot be recovered, with the reason from the -errno. Returns false. */
bool recover_fails(const char *what, int err);

#endif
