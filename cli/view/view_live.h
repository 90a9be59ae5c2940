/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a page that shows running programs: the contents of their lanes, including events that a recorder has
 * read already. No event is consumed and no mark is set, so the programs and their recorder are not disturbed. The
 * kernel's events, if they are requested, come from a tracefs instance of its own.
 */
#ifndef CLI_VIEW_LIVE_H
#define CLI_VIEW_LIVE_H

#include <limits.h>

#include "cli/kernel/kernel_last.h"
#include "cli/recording/programs.h"
#include "cli/view/view_file.h"
#include "format/io/clock_reading.h"

struct view_live {
	struct programs programs;
	char dir[PATH_MAX]; /* for the files of one picture, removed at the end */
	bool no_plugins;
	bool is_reported; /* the reason why programs cannot be looked for now was printed */
	struct clock_reading first; /* the clocks when this was opened */
	struct kernel_request request; /* if it has no events, the kernel is not in the picture */
	struct kernel *kernel;
	struct kernel_last *last;
};

/*
 * Check that programs can be looked for, make the directory, and trace the kernel if it is requested. False: one line
 * was printed.
 */
bool view_live_open(struct view_live *live);
void view_live_close(struct view_live *live);

/*
 * Append the blocks of the present state, each as a size of 32 bits and its bytes. 0; -ENODATA: there is no event; or
 * another -errno.
 */
int view_live_take(struct view_live *live, struct blob *ret_blocks);

#endif
