/* SPDX-License-Identifier: MIT */
/*
 * Prints the messages of libtraceevent, which calls the program's tep_vprint() if there is one. The messages quote
 * texts of a file, so on a terminal they are escaped as the file's other texts are.
 */
#include <errno.h>
#include <event-utils.h>
#include <stdlib.h>

#include "cli/common/show_text.h"

static int put(const char *name, enum tep_loglevel level, bool print_err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int put(const char *name, enum tep_loglevel level, bool print_err, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = __tep_vprint(name, level, print_err, format, args);
	va_end(args);
	return r;
}

/* The symbol is exported, so that the library uses it instead of its own. */
__attribute__((visibility("default"))) int tep_vprint(const char *name, enum tep_loglevel level, bool print_err,
						      const char *fmt, va_list args)
{
	const int number = errno; /* errno of the failure that the message is about */
	const bool escapes = show_escapes(stdout) || show_escapes(stderr);
	char *text, *escaped;
	FILE *out;
	size_t size;
	int r;

	errno = number;
	if (!escapes)
		return __tep_vprint(name, level, print_err, fmt, args);
	r = vasprintf(&text, fmt, args);
	if (r < 0)
		return number;
	out = open_memstream(&escaped, &size);
	if (out) {
		show_text(out, text, (size_t)r, true);
		fclose(out);
		errno = number;
		put(name, level, print_err, "%s", escaped);
		free(escaped);
	}
	free(text);
	return number;
}
