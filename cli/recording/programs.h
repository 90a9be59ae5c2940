/* SPDX-License-Identifier: MIT */
/* The running programs that use librecorder and that the user may see, found by their buffers. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include <librecorder/reader.h>
#include <stdbool.h>
#include <stddef.h>

/* Which programs. */
struct programs {
	const char *dir;  /* look here (dirs.h); NULL: wherever such programs may be */
	const char *word; /* pids separated by commas, or a name (the kernel's or the binary's); NULL: all */
	bool or_file;	  /* the word may have been meant for a file, which is not there: for the message */
};

/* The options by which a command lets the user choose them: both, and the second one alone. */
#define OPT_PROGRAMS(programs)                                                                                         \
	OPT_STRING('P', "pid", "PROGRAM", "only these: pids separated by commas, or a name", &(programs).word),         \
		OPT_PROGRAMS_DIR(programs)
#define OPT_PROGRAMS_DIR(programs) \
	OPT_STRING(0, "dir", "DIR", "look for programs in DIR, which may be a container's", &(programs).dir)

/*
 * For each of these programs print a line of its own (pid, name, binary), and let `print` add what it has to say.
 * `print` returns 0 or -errno, which ends it (-ECANCELED: it has said why by itself). Returns how many there were; or
 * -1, and what was wrong was said in one line: there is none, or it cannot be looked at. Pids that were asked for and
 * are not there, beside others that are, are named.
 */
int programs_print(const char *command, const struct programs *programs,
		   int (*print)(struct rec_view *view, void *data), void *data);

/*
 * The same without a word: `take` is given the directory and the name of each one's buffer. Where all are meant, none
 * is no failure.
 */
int programs_files(const char *command, const struct programs *programs,
		   int (*take)(int dir, const char *name, void *data), void *data);

/*
 * All there is to a command that shows something of each program: options, and as programs_print(), or with a line
 * `head` before all of them in place of one before each. Returns its exit status.
 */
int programs_show(int argc, char **argv, const char *about, const char *head,
		  int (*print)(struct rec_view *view, void *data));

/* Why a program's events could not be switched: the -errno of rec_view_switch() and its like in words. */
const char *programs_switch_reason(int err);

#define PROGRAMS_PID_SIZE 32u

/*
 * A program's pid; if it is in another pid namespace with the one that it has there in brackets, "4711(7)", and "(7)"
 * where the other cannot be known. Returns `text`.
 */
const char *programs_pid(const struct rec_view *view, char text[PROGRAMS_PID_SIZE]);

/* A copy of a program's whole log, to be freed by the caller; NULL: no memory. */
unsigned char *programs_log(const struct rec_view *view, size_t *ret_size);

#endif
