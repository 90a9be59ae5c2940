/* SPDX-License-Identifier: MIT */
/*
 * Sections of code in which nothing else runs on this thread: no signal handler, which could fork, jump away or enter
 * the section again, and no cancellation. Sections nest. Signal-safe; errno is preserved.
 */
#ifndef QUIET_H
#define QUIET_H

#include <stdint.h>

struct rec_quiet {
	uint64_t signals; /* the previous mask: the kernel's set, a sixteenth of libc's */
	int cancel;
};

void rec_quiet_begin(struct rec_quiet *ret_quiet);
void rec_quiet_end(const struct rec_quiet *quiet);

#endif
