/* SPDX-License-Identifier: MIT */
/*
 * Enable words, changed by the program and by other processes at the same time. Code that sets ON reads `stopped` once
 * more afterwards; code that sets `stopped` clears ON afterwards. Both are in one total order, so at least one sees
 * the other (edge W1).
 */
#ifndef ENABLE_H
#define ENABLE_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>

/*
 * Switch one event. `wanted`: REC_ENABLE_WANTED and a condition: on at once unless the buffer is stopped. Without
 * REC_ENABLE_WANTED the event is off, and keeps its condition.
 */
void rec_enable_word(const uint32_t *stopped, uint32_t *word, uint32_t wanted);

/* Stop or start all of `nr` words. */
void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop);

#endif
