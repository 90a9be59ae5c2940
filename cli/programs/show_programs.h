/* SPDX-License-Identifier: MIT */
/* Commands that show each program: their common options, and the line printed before each program. */
#ifndef CLI_SHOW_PROGRAMS_H
#define CLI_SHOW_PROGRAMS_H

#include "cli/common/opts.h"
#include "cli/recording/programs.h"

struct leftovers;

/* The options by which the user selects programs: -P and --dir together, and --dir alone. */
#define OPT_PROGRAMS(programs)                                                                                         \
	OPT_STRING('P', "pid", "PROGRAM", "only these: pids separated by commas, or a name", &(programs).word),        \
		OPT_PROGRAMS_DIR(programs)
#define OPT_PROGRAMS_DIR(programs)                                                                                     \
	OPT_STRING(0, "dir", "DIR", "look for programs in DIR, which may be a container's", &(programs).dir)

/*
 * For each selected program print a line (pid, name, binary), and let `print` print the rest. `print` returns 0 or
 * -errno, which ends the loop (-ECANCELED: it has printed the reason itself). Returns the number of programs; or -1,
 * and one line was printed: there is no such program, or it cannot be examined. If pids do not exist, but others do,
 * they are reported.
 */
int programs_print(const char *command, const struct programs *programs,
		   int (*print)(struct rec_view *view, void *data), void *data);

/*
 * A complete command that shows each program below a line `head`. At the end the buffers of dead programs without an
 * event are removed. `after` then gets the other leftovers, also if there is no program; it is not called if the user
 * named programs. Returns its exit status.
 */
int programs_show(int argc, char **argv, const char *about, const char *head,
		  int (*print)(struct rec_view *view, void *data),
		  void (*after)(const struct leftovers *left));

#endif
