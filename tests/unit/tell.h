/* SPDX-License-Identifier: MIT */
/* Figures and seeds of a test. */
#ifndef TELL_H
#define TELL_H

/*
 * Print a line. In make check Criterion gives a test's own output to nobody, because its report goes to standard
 * output; so there this writes to the file that RECORDER_FIGURES names, the test's log. A failing test must say
 * here what one has to know to understand it, or to have it again: continuous integration shows nothing else.
 */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
