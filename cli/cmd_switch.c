/* SPDX-License-Identifier: MIT */
/*
 * recorder enable, disable, start, stop: switch the events of running programs, which take no part in it.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <librecorder/pattern.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/programs.h"

/* What is to be done to each program. */
struct action {
	const char *command;
	const char *about;
	bool on;
	bool takes_patterns;
	const char *patterns;
	unsigned int matches; /* events that matched, in all programs */
	bool failed;
};

static int act(struct rec_view *view, void *data)
{
	struct action *action = data;
	int r;

	if (action->takes_patterns)
		r = rec_view_switch(view, action->patterns, action->on);
	else
		r = action->on ? rec_view_start(view) : rec_view_stop(view);
	/* It ended a moment ago. */
	if (r == -ESRCH)
		return 0;
	/* The other programs are none the worse for it. */
	if (r < 0) {
		action->failed = true;
		fflush(stdout);
		complain(action->command, "process %u: %s", rec_view_info(view)->pid,
			 r == -ENOSPC ? "too many patterns were switched from outside" : strerror(-r));
		return 0;
	}
	if (action->takes_patterns)
		printf("  %d event%s %s\n", r, r == 1 ? "" : "s", action->on ? "on" : "off");
	else
		puts(action->on ? "  started" : "  stopped");
	action->matches += (unsigned int)r;
	return 0;
}

static int run(struct action *action, int argc, char **argv)
{
	const char *programs = NULL;
	const struct opt table[] = {
		OPT_STRING('P', "pid", "PROGRAM", "these programs: pids separated by commas, or a name", &programs),
		OPT_END,
	};
	const struct opts opts = {
		.command = action->command,
		.operands = action->takes_patterns ? "PATTERN" : "",
		.about = action->about,
		.table = table,
		.min_operands = action->takes_patterns,
		.max_operands = action->takes_patterns,
	};
	char **operands;
	int status, nr;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!programs) {
		complain(action->command, "which program? (-P PID or -P NAME; 'recorder ps' shows them)");
		return EXIT_USAGE;
	}
	action->patterns = operands[0];
	if (action->takes_patterns && rec_pattern_check(action->patterns)) {
		complain(action->command, "'%s' is no pattern of events: it takes SYSTEM:NAME, with * and ? in both",
			 action->patterns);
		return EXIT_USAGE;
	}
	nr = programs_print(action->command, programs, act, action);
	if (nr == 0)
		complain(action->command, "no running program '%s' uses librecorder ('recorder ps' shows those that do)", programs);
	else if (nr > 0 && action->takes_patterns && !action->matches && !action->failed)
		complain(action->command, "no event is like '%s' yet ('recorder list %s' shows what there is); later ones will be",
			 action->patterns, programs);
	return nr > 0 && !action->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_enable(int argc, char **argv)
{
	struct action action = {
		.command = "enable",
		.about = "Switch the events like PATTERN of running programs on, those too that they register later.\n",
		.on = true,
		.takes_patterns = true,
	};

	return run(&action, argc, argv);
}

int cmd_disable(int argc, char **argv)
{
	struct action action = {
		.command = "disable",
		.about = "Switch the events like PATTERN of running programs off, those too that they register later.\n",
		.takes_patterns = true,
	};

	return run(&action, argc, argv);
}

int cmd_start(int argc, char **argv)
{
	struct action action = {
		.command = "start",
		.about = "Let stopped programs record again: what is enabled is on.\n",
		.on = true,
	};

	return run(&action, argc, argv);
}

int cmd_stop(int argc, char **argv)
{
	struct action action = {
		.command = "stop",
		.about = "Stop all recording of running programs, whatever is enabled; what their lanes hold stays.\n",
	};

	return run(&action, argc, argv);
}
