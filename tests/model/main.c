/* SPDX-License-Identifier: MIT */
/*
 * usage: model [-s | -t | -a] [-l] [-v] [-n STATES] [-c TICKS] [CONFIGURATION...]
 *
 * Explores the configurations named, or otherwise all of configs.c except the thorough ones. -s: only those that take
 * seconds; -t: only those of the long tier; -a: all, including the thorough ones. -l lists them. -v prints the steps
 * that led to a failure. -n stops each after this many states. -c: how the clock may move (configs.c, ticks); only
 * configurations with handlers are explored then. Prints TAP.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `which` is the option that selects configurations by their run time, or 0. */
static bool is_wanted(const struct config *what, int which, char *const *names)
{
	const bool is_long = what->flags & LONG, is_thorough = what->flags & THOROUGH;

	if (!*names)
		return which == 's' ? !is_long && !is_thorough : which == 't' ? is_long : which == 'a' || !is_thorough;
	for (; *names; names++)
		if (!strcmp(*names, what->name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	uint64_t limit = UINT64_MAX;
	bool list = false, verbose = false;
	unsigned int tests = 0, failed = 0;
	const struct config *what;
	const char *ticks = NULL;
	int option, which = 0;

	while ((option = getopt(argc, argv, "ac:ln:stv")) != -1) {
		switch (option) {
		case 'a':
		case 's':
		case 't':
			which = option;
			break;
		case 'c':
			ticks = optarg;
			break;
		case 'l':
			list = true;
			break;
		case 'n':
			limit = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	for (what = configs; what->name; what++) {
		struct config changed = *what;
		int r;

		if (!is_wanted(what, which, argv + optind) || (ticks && !*what->nested))
			continue;
		changed.ticks = ticks ? ticks : changed.ticks;
		if (list) {
			printf("%s\n", what->name);
			continue;
		}
		r = explore(&changed, limit, verbose);
		failed += r != 0;
		printf("%sok %u - %s%s%s: %llu states%s, %llu transitions, %llu ends, %llu cuts, %llu pruned, steps at "
		       "most %u (writer) %u (reader), path %u\n",
		       r ? "not " : "", ++tests, what->name, ticks ? ", clock " : "", ticks ? ticks : "",
		       (unsigned long long)tally.states, tally.states >= limit ? " and no more" : "",
		       (unsigned long long)tally.steps, (unsigned long long)tally.ends, (unsigned long long)tally.cuts,
		       (unsigned long long)tally.pruned, tally.writer_steps, tally.reader_steps, tally.depth);
		fflush(stdout);
	}
	if (!list)
		printf("1..%u\n", tests);
	return failed || (!tests && !list);
}
