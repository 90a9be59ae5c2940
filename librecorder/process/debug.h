/* SPDX-License-Identifier: MIT */
/*
 * REC_DEBUG=1 in the environment: one line on standard error if the program runs without a buffer, begins to lose
 * events because there is no memory, or has events for which the library is too old; and one for each event that stays
 * off because of its declaration. Otherwise these functions do nothing. Signal-safe, no cancellation points; errno is
 * preserved.
 */
#ifndef DEBUG_H
#define DEBUG_H

#include <librecorder/detail/abi.h>

/* Call it once, before the others: reads the environment. */
void rec_debug_start(void);

/* This process has no buffer; rec_process_path() has the intended path. `err`, the reason: -errno. */
void rec_debug_no_buffer(int err);

/* Events are lost. `what` got no memory: "this thread's lane"; `err`: -errno. Reported once in a process. */
void rec_debug_lost(const char *what, int err);

/*
 * Events stay off: they were compiled for agreement `abi`, and the library knows agreements up to `known`. Reported
 * once in a process.
 */
void rec_debug_event_abi(unsigned int abi, unsigned int known);

/* This event stays off, for the reason `why`. */
void rec_debug_event_off(const struct rec_log_event *description, const char *why);

#endif
