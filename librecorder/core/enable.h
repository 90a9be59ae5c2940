/* SPDX-License-Identifier: MIT */
/*
 * Enable words, changed by the program and by other processes at the same time. Code that changes a word or `stopped`
 * passes a full fence, then reads both, and changes ON until it fits them. The code that passes its fence last sees all
 * changes, so ON fits in the end (edge W1).
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

/*
 * Store the state, then switch `nr` words. Events may be registered at the same time: so call this with `nr` 0, count
 * the words, and call it again. An event that is not counted yet finds the new state itself.
 */
void rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop);

#endif
