/* SPDX-License-Identifier: MIT */
/* Programs that a recording attaches to, and that cannot write events at present. */
#include "cli/recording/attach_private.h"

#include "cli/base/proc_stat.h"

static void look_at(const struct message_sink *sink, const struct rec_view *view)
{
	const char *comm = rec_view_info(view)->comm;
	char pid[PROGRAMS_PID_SIZE];

	programs_pid(view, pid);
	if (rec_view_stopped(view))
		message(sink,
			"process %s (%s) is stopped: it is not recorded until '%s %s' or rec_start()", pid, comm,
			message_word(sink, WORD_START_PROGRAM), pid);
	if (proc_stat_halted(rec_view_pid(view)))
		message(sink, "process %s (%s) is stopped by a signal: it is not recorded until SIGCONT", pid,
			comm);
}

void attach_say_stopped(const struct attach *attach)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		for (unsigned int at = 0; at < attach->watched_dirs[i].nr; at++)
			if (attach->watched_dirs[i].list[at].view)
				look_at(attach->sink, attach->watched_dirs[i].list[at].view);
}
