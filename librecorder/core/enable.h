/* SPDX-License-Identifier: MIT */
/*
 * Enable words, changed by the program and by others at the same time. Whoever sets ON looks at
 * `stopped` once more afterwards, whoever sets `stopped` clears ON afterwards; both in one total order,
 * so one of them sees the other (edge W1).
 */
#ifndef ENABLE_H
#define ENABLE_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>

/*
 * Switch one event. `wish`: REC_ENABLE_WANTED and a condition, on at once unless the buffer is stopped; without
 * REC_ENABLE_WANTED it is off, and its condition stays.
 */
void rec_enable_word(const uint32_t *stopped, uint32_t *word, uint32_t wish);

/* Stop, or start, all of `nr` words. */
void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop);

#endif
