/* SPDX-License-Identifier: MIT */
/* Figures and seeds of a test. */
#ifndef TELL_H
#define TELL_H

/*
 * Print a line. In make check Criterion gives a test's own output to nobody, because its report goes to standard output;
 * so there this appends to the file that RECORDER_FIGURES names, tests/figures of the build directory.
 */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
