/* SPDX-License-Identifier: MIT */
/* Commands that show something of each program: their options, and what is printed before it. */
#ifndef CLI_SHOW_PROGRAMS_H
#define CLI_SHOW_PROGRAMS_H

#include "cli/opts.h"
#include "cli/recording/programs.h"

/* The options by which a command lets the user choose them: both, and the second one alone. */
#define OPT_PROGRAMS(programs)                                                                                         \
	OPT_STRING('P', "pid", "PROGRAM", "only these: pids separated by commas, or a name", &(programs).word),        \
		OPT_PROGRAMS_DIR(programs)
#define OPT_PROGRAMS_DIR(programs)                                                                                     \
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
 * All there is to a command that shows something of each program: options, and as programs_print(), or with a line
 * `head` before all of them in place of one before each. Returns its exit status.
 */
int programs_show(int argc, char **argv, const char *about, const char *head,
		  int (*print)(struct rec_view *view, void *data));

#endif
