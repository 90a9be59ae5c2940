/* SPDX-License-Identifier: MIT */
/* The line that repeats a failure. */
#ifndef REPEAT_H
#define REPEAT_H

#include <stddef.h>

/*
 * Note the environment variables that repeat what the test does next: repeat_by("RECORDER_SEED=%u", seed). If the test
 * then fails or crashes, its log gets this line:
 *
 *	repeat: RECORDER_SEED=7 top_builddir=/build tests/stress/test_storm --filter storm/discard_2_pages
 *
 * Each call replaces what the call before it noted.
 */
void repeat_by(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* That part of the test has passed: print no line for it. */
void repeat_nothing(void);

/* The line for these variables, as above without "repeat: ". `builddir` may be NULL. Returns `to`. */
char *repeat_line(char *to, size_t size, const char *variables, const char *builddir, const char *program,
		  const char *suite, const char *test);

/* Parse an environment variable that holds numbers separated by commas. Returns their number; 0 if it is not set. */
unsigned int repeat_numbers(const char *name, unsigned long long *numbers, unsigned int most);

#endif
