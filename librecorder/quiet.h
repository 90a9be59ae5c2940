/* SPDX-License-Identifier: MIT */
/*
 * Stretches of code in which nothing else runs on this thread: no signal handler, which could fork, jump away or come here
 * again, and no cancellation. They nest. Signal-safe; errno is kept.
 */
#ifndef QUIET_H
#define QUIET_H

#include <signal.h>

struct rec_quiet {
	sigset_t signals; /* as they were */
	int cancel;
};

void rec_quiet_begin(struct rec_quiet *ret_quiet);
void rec_quiet_end(const struct rec_quiet *quiet);

#endif
