/* SPDX-License-Identifier: MIT */
/*
 * usage: lanes [-s | -t | -a] [-l] [-v] [-n STATES] [CONFIGURATION...]
 *
 * Explores the configurations named, or otherwise the short ones of lanes/configs.c. -s: the same; -t: only those of
 * the long tier; -a: all, including the thorough ones. -l lists them. -v prints the steps that led to a failure. -n
 * stops each after this many states. Prints TAP.
 */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_wanted(const struct config *what, int which, char *const *names)
{
	const unsigned int size = what->flags & (LONG | THOROUGH);

	if (!*names)
		return which == 'a' || size == (which == 't' ? LONG : 0);
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
	int option, which = 's';

	while ((option = getopt(argc, argv, "aln:stv")) != -1) {
		switch (option) {
		case 'a':
		case 's':
		case 't':
			which = option;
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
		int r;

		if (!is_wanted(what, which, argv + optind))
			continue;
		if (list) {
			printf("%s\n", what->name);
			continue;
		}
		r = explore(what, limit, verbose);
		/* An ordering that is stronger than the ring's own would hide races between the actors. */
		if (!r && tally.words == ALIVE) {
			printf("# %s: the actors have no common word\n", what->name);
			r = -1;
		}
		failed += r != 0;
		printf("%sok %u - %s: %llu states%s, %llu transitions, %llu ends, %u common words, steps at most %u, "
		       "path %u\n",
		       r ? "not " : "", ++tests, what->name, (unsigned long long)tally.states,
		       tally.states >= limit ? " and no more" : "", (unsigned long long)tally.steps,
		       (unsigned long long)tally.ends, tally.words - ALIVE, tally.most, tally.depth);
		fflush(stdout);
	}
	if (!list)
		printf("1..%u\n", tests);
	return failed || (!tests && !list);
}
