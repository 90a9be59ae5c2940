/* SPDX-License-Identifier: MIT */
#include "cli/recording/loans.h"

#include <errno.h>
#include <stddef.h>

#include "cli/base/message.h"
#include "cli/recording/programs.h"

static int give_back(int dir, const char *name, void *data)
{
	unsigned int *nr = data;
	struct rec_view *view;

	if (rec_view_open_at(dir, name, &view))
		return 0;
	if (rec_view_loan(view) == -EOWNERDEAD && rec_view_give_back(view) == 1)
		(*nr)++;
	rec_view_close(view);
	return 0;
}

void loans_sweep(const struct message_sink *sink, const char *dir, bool quiet)
{
	const struct programs all = { .dir = dir };
	unsigned int nr = 0;

	programs_files(sink, &all, give_back, &nr);
	if (nr && !quiet)
		message(sink, "%u program%s still had events on for a killed recorder: switched off", nr,
			nr == 1 ? "" : "s");
}
