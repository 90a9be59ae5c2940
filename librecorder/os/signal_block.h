/* SPDX-License-Identifier: MIT */
/*
 * Sections of code in which nothing else runs on this thread: no signal handler, which could fork, jump away or enter
 * the section again, and no cancellation. Sections nest. Signal-safe; errno is preserved.
 */
#ifndef SIGNAL_BLOCK_H
#define SIGNAL_BLOCK_H

#include <stdint.h>

struct rec_signal_block {
	uint64_t signals; /* the previous mask: the kernel's set, a sixteenth of libc's */
	int cancel;
};

void rec_signal_block_begin(struct rec_signal_block *ret_block);
void rec_signal_block_end(const struct rec_signal_block *block);

#endif
