/* SPDX-License-Identifier: MIT */
#include "cli/programs/show_programs.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/common/terminal.h"
#include "cli/recording/leftovers.h"

struct show {
	const char *head; /* printed before the first program; NULL: each program has a title */
	int (*print)(struct rec_view *view, void *data);
	void *data;
};

static int show_one(struct rec_view *view, const char *pid, unsigned int nr, void *data)
{
	const struct rec_view_info *info = rec_view_info(view);
	const struct show *show = data;

	terminal_start();
	if (!show->head)
		printf("%s%s%s %s (%s)%s\n", nr > 1 ? "\n" : "", paint(PAINT_TITLE), pid, info->comm, info->exe,
		       paint_end());
	else if (nr == 1)
		printf("%s%s%s\n", paint(PAINT_TITLE), show->head, paint_end());
	return show->print(view, show->data);
}

int programs_print(const char *command, const struct programs *programs,
		   int (*print)(struct rec_view *view, void *data), void *data)
{
	const struct message_sink sink = COMMAND_SINK(command);
	struct show show = { .print = print, .data = data };
	const int nr = programs_look(&sink, programs, show_one, &show);

	leftovers_sweep_all(programs->dir);
	return nr;
}

int programs_show(int argc, char **argv, const char *about, const char *head,
		  int (*print)(struct rec_view *view, void *data),
		  void (*after)(const struct leftovers *left))
{
	const struct message_sink sink = COMMAND_SINK(argv[0]);
	struct show show = { .head = head, .print = print };
	struct programs programs = { .dir = NULL };
	struct leftovers left;
	unsigned int color = TERMINAL_COLOR_AUTO;
	const struct opt table[] = {
		OPT_PROGRAMS(programs),
		OPT_COLOR(color),
		OPT_END,
	};
	const struct opts opts = { .command = argv[0], .operands = "", .about = about, .table = table };
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	terminal_use(color);
	status = programs_look(&sink, &programs, show_one, &show) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	fflush(stdout);
	leftovers_find_swept(programs.dir, &left);
	if (!programs.word)
		after(&left);
	leftovers_free(&left);
	return status;
}
