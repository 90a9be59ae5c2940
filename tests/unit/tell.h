/* SPDX-License-Identifier: MIT */
/* Prints figures and seeds of a test. */
#ifndef TELL_H
#define TELL_H

/*
 * Print a line. In make check Criterion discards a test's own output, because its report goes to standard output; so
 * this function then writes to the file that RECORDER_FIGURES names, the test's log. A failing test must print here all
 * that is needed to understand and repeat the failure: continuous integration shows nothing else.
 */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
