/* SPDX-License-Identifier: MIT */
/* recorder profile: report --profile as a command of its own. */
#include "cli/cmd.h"

#include "cli/common/terminal.h"
#include "cli/report/profile.h"
#include "cli/report/report.h"

#define COMMAND "profile"

int cmd_profile(int argc, char **argv)
{
	struct report r = { .select.choice = &r.choice };
	struct opt_list inputs = { 0 };
	const struct opt table[] = {
		OPT_FLAG('G', NULL, "interrupts belong to CPUs, not to tasks", &r.profile_global),
		OPT_LIST('H', NULL, "HOOK",
			 "two events that begin and end something: EVENT,FIELD[,PID]/EVENT,FIELD[,FLAGS]",
			 &r.profile_hooks),
		OPT_FLAG(0, "by-comm", "tasks of the same name as one", &r.profile_by_comm),
		OPT_LIST('F', NULL, "FILTER", "only events that match, as in report", &r.choice.filters),
		OPT_LIST(0, "pid", "LIST", "only events of these tasks, and about them", &r.choice.pids),
		OPT_LIST(0, "comm", "LIST", "only events of the tasks with these names, and about them",
			 &r.choice.comms),
		OPT_LIST(0, "cpu", "LIST", "only events of these CPUs: 0,2-5", &r.choice.cpus),
		OPT_STRING(0, "since", "TIME", "begin at TIME, as in report", &r.select.window.since_text),
		OPT_STRING(0, "until", "TIME", "end at TIME, as in report", &r.select.window.until_text),
		OPT_FLAG('N', NULL, "do not load libtraceevent's plugins", &r.no_plugins),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE]",
		.about =
			"Print where tasks spent their time in FILE (by default trace.dat): how often there was each\n"
			"event, and how long it took until the one that ends it, with stacks, as trace-cmd report "
			"--profile\n"
			"prints it.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (opts_parse(&opts, argc, argv, &operands, &status)) {
		terminal_use(TERMINAL_COLOR_AUTO);
		status = report_files(&r, &inputs, operands[0], report_profile);
	}
	report_options_free(&r);
	return status;
}
