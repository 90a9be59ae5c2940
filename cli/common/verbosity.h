/* SPDX-License-Identifier: MIT */
/*
 * How much a command reports about the file that it reads: trace-cmd's levels, which libtraceevent has, too. A level
 * includes those below it. Failures of the command itself are always reported.
 */
#ifndef CLI_VERBOSITY_H
#define CLI_VERBOSITY_H

#include <stdbool.h>

enum verbosity {
	VERBOSITY_NONE,
	VERBOSITY_CRITICAL, /* the default */
	VERBOSITY_ERROR,
	VERBOSITY_WARNING,
	VERBOSITY_INFO,
	VERBOSITY_DEBUG,
	VERBOSITY_ALL,
};

/* The words of an option's argument, for its description. */
#define VERBOSITY_WORDS "none, crit, err, warn, info, debug, all or 0 to 6"

/*
 * Reads the argument of --verbose: a number (a number above the last level means that level), or a name; "" means
 * VERBOSITY_INFO; NULL: the option was not given. False: it is not a level, and one line was printed.
 */
bool verbosity_read(const char *text, enum verbosity *ret_level);

#endif
