/* SPDX-License-Identifier: MIT */
/*
 * Stretches of code in which nothing else runs on this thread: no signal handler, which could fork, jump away or
 * come here again, and no cancellation. They nest. Signal-safe; errno is kept.
 */
#ifndef QUIET_H
#define QUIET_H

#include <stdint.h>

struct rec_quiet {
	uint64_t signals; /* as they were: a set as the kernel has it, a sixteenth of libc's */
	int cancel;
};

void rec_quiet_begin(struct rec_quiet *ret_quiet);
void rec_quiet_end(const struct rec_quiet *quiet);

#endif
