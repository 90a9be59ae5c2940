/* SPDX-License-Identifier: MIT */
/*
 * Output on a terminal: colours, and a pager. Nothing changes if standard output is not a terminal, unless
 * --color=always asks for colours.
 *
 * The state belongs to the process, as standard output does: only main() and the commands call these functions.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "cli/common/opts.h"

enum terminal_color {
	TERMINAL_COLOR_AUTO,
	TERMINAL_COLOR_ALWAYS,
	TERMINAL_COLOR_NEVER,
};

#define OPT_COLOR(when)                                                                                                \
	OPT_CHOICE(0, "color", "auto|always|never", "colours; auto: on a terminal, unless NO_COLOR is set", &(when))

/* After the options: the output of this command may have colours, and is for a pager. `when`: a terminal_color. */
void terminal_use(unsigned int when);

/*
 * Before the first output: start the pager if standard output is a terminal, and let standard error go to it, too. A
 * command that did not call terminal_use() gets no pager. If the user quits the pager, the process ends with status 0.
 */
void terminal_start(void);

/* The same for a command whose exit status is its answer: if the user quits the pager, it continues to its end. */
void terminal_start_answer(void);

/*
 * After the last output: wait until the user quits the pager. Returns `status`, or EXIT_FAILURE if the pager could not
 * be run, which it has reported.
 */
int terminal_end(int status);

/* The parts that are coloured. */
enum paint {
	PAINT_TITLE,
	PAINT_NAME,
	PAINT_TIME,
	PAINT_GOOD,
	PAINT_DIM,
	PAINT_BAD,
};

/* The strings that begin and end a colour; "" without colours. */
const char *paint(enum paint what);
const char *paint_end(void);

#endif
