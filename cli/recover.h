/* SPDX-License-Identifier: MIT */
/*
 * What 'recorder recover' makes a file of: recover_take() finds it and locks what can be locked, cmd_recover.c does
 * the rest.
 */
#ifndef CLI_RECOVER_H
#define CLI_RECOVER_H

#include <limits.h>
#include <stdbool.h>

#include "cli/recording/drain.h"
#include "cli/recording/output.h"
#include "cli/opts.h"
#include "cli/recording/leftovers.h"
#include "cli/recording/session.h"
#include "cli/recording/spool.h"

#define RECOVER "recover" /* the command's name */
extern const struct message_sink recover_sink;

struct recover {
	/* the command line */
	const char *output_name; /* NULL: from the spool's name */
	const char *dirs;	 /* where to look; NULL: as dirs.h has it */
	unsigned int version;	 /* place among the words + 1; 0: as the recording had it */
	bool all, raw, quiet;

	/* what is asked for */
	char spool_path[PATH_MAX];    /* "": there is none yet */
	struct session dir;	      /* with the buffers, if that is one directory */
	char only[NAME_MAX + 1];      /* this one alone; "": all */
	unsigned int flags;	      /* DRAIN_, for the directory */
	bool is_done;		      /* it was there already: the spool was to be removed */
	bool temporary;		      /* the directory is our own, with buffers out of a core file */
	struct leftovers left;	      /* else: what is left anywhere, of which */
	const struct leftover *image; /* the images of this process; NULL: all of it, or what the spool names */

	struct output output;
	struct spool *spool;
	struct drain_trouble trouble;
};

/* What `word` means, or --all; NULL: the spool of a recording without -o. False: one line was printed. */
bool recover_take(struct recover *recover, const char *word);

/* A directory with buffers; a session is locked. False: one line was printed. */
bool recover_take_dir(struct recover *recover, const char *path);

/* All that is left, wherever it is. False: one line was printed. */
bool recover_take_left(struct recover *recover);

/* Remove the directory of our own, and what could not be read in it. */
void recover_remove_temporary(struct recover *recover);

/* One line: `what` cannot be recovered, and why, by the -errno. False. */
bool recover_fails(const char *what, int err);

#endif
