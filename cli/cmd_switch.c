/* SPDX-License-Identifier: MIT */
/*
 * recorder enable, disable, start, stop: switch the events of running programs from outside.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/programs/listed_events.h"
#include "cli/programs/selection_options.h"
#include "cli/programs/show_programs.h"

/* The action for each program. */
struct action {
	const char *command;
	const char *about;
	bool on;
	bool takes_patterns;
	struct selections selections;
	unsigned int matches; /* events that matched, in all programs */
	bool failed;
};

/* The number of matching events as 'recorder list' counts them: a span is one. In `nr`, a span counts as two. */
static int count_listed(const struct action *action, const struct rec_view *view, int nr)
{
	struct listing listing = { .log = NULL };
	unsigned char *log = programs_log(view, &listing.size);

	listing.log = log;
	if (log && nr > 0)
		nr -= (int)listing_both_named(listing, action->selections.list[0].patterns);
	free(log);
	return nr > 0 ? nr : 0;
}

/* Whether the filter fits the events that the program has. False: one line was printed. */
static bool fits(const struct action *action, const struct rec_view *view)
{
	const struct message_sink sink = COMMAND_SINK(action->command);
	size_t size = 0;
	unsigned char *log = programs_log(view, &size);
	bool good = true;

	if (log)
		good = selections_fit(&sink, &action->selections, log, size);
	free(log);
	return good;
}

static int act(struct rec_view *view, void *data)
{
	struct action *action = data;
	char pid[PROGRAMS_PID_SIZE];
	int r;

	if (action->takes_patterns && !action->on && rec_view_loan(view) == -EOWNERDEAD &&
	    rec_view_give_back(view) == 1)
		puts("  switched off the events that a killed recorder left on");
	if (action->takes_patterns && action->on && !fits(action, view)) {
		action->failed = true;
		return 0;
	}
	if (action->takes_patterns)
		r = rec_view_switch(view, action->selections.list[0].selector, action->on);
	else
		r = action->on ? rec_view_start(view) : rec_view_stop(view);
	/* The program ended a moment ago. */
	if (r == -ESRCH)
		return 0;
	/* Continue with the other programs. */
	if (r < 0) {
		action->failed = true;
		complain(action->command, "process %s: %s", programs_pid(view, pid), programs_switch_reason(r));
		return 0;
	}
	if (action->takes_patterns)
		r = count_listed(action, view, r);
	if (action->takes_patterns)
		printf("  %d event%s %s\n", r, r == 1 ? "" : "s", action->on ? "on" : "off");
	else
		puts(action->on ? "  started" : "  stopped");
	action->matches += (unsigned int)r;
	return 0;
}

static int run(struct action *action, int argc, char **argv)
{
	struct programs programs = { .dir = NULL };
	const char *filter = NULL;
	uint64_t rate = 0;
	struct opt table[] = {
		OPT_STRING('P', "pid", "PROGRAM", "these programs: pids separated by commas, or a name",
			   &programs.word),
		OPT_PROGRAMS_DIR(programs),
		OPT_STRING('f', "filter", "FILTER", "record only events that match: 'size > 4096 && path ~ \"*.db\"'",
			   &filter),
		OPT_NUMBER(0, "rate", "N", 1, SELECTION_RATE_MAX, "limit each event to N a second", &rate),
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

	/* The other commands take no selection. */
	if (!action->takes_patterns || !action->on)
		table[2] = (struct opt)OPT_END;
	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!programs.word) {
		complain(action->command, "name a running program (-P PID or -P NAME; 'recorder ps' shows them)");
		return EXIT_USAGE;
	}
	if (action->takes_patterns &&
	    !selections_make_one(action->command, operands[0], filter, rate, &action->selections))
		return EXIT_USAGE;
	nr = programs_print(action->command, &programs, act, action);
	if (nr > 0 && action->takes_patterns && !action->matches && !action->failed)
		complain(
			action->command,
			"no event matches '%s' yet ('recorder list %s' shows the events); events registered later will",
			operands[0], programs.word);
	selections_free(&action->selections);
	return nr > 0 && !action->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_enable(int argc, char **argv)
{
	struct action action = {
		.command = "enable",
		.about =
			"Switch on the events of running programs that match PATTERN, also those that they register "
			"later.\n",
		.on = true,
		.takes_patterns = true,
	};

	return run(&action, argc, argv);
}

int cmd_disable(int argc, char **argv)
{
	struct action action = {
		.command = "disable",
		.about =
			"Switch off the events of running programs that match PATTERN, also those that they register "
			"later.\n",
		.takes_patterns = true,
	};

	return run(&action, argc, argv);
}

int cmd_start(int argc, char **argv)
{
	struct action action = {
		.command = "start",
		.about = "Let stopped programs record again: their enabled events are on.\n",
		.on = true,
	};

	return run(&action, argc, argv);
}

int cmd_stop(int argc, char **argv)
{
	struct action action = {
		.command = "stop",
		.about =
			"Stop all recording of running programs, whichever events are enabled. The lanes keep their "
			"contents.\n",
	};

	return run(&action, argc, argv);
}
