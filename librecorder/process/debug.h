/* SPDX-License-Identifier: MIT */
/*
 * REC_DEBUG=1 in the environment: one line on standard error where the program runs without a buffer, begins to lose
 * events for want of memory, or has events that the library is too old for. Otherwise these do nothing. Signal-safe; errno is kept.
 */
#ifndef DEBUG_H
#define DEBUG_H

/* Once, before the others are called: look at the environment. */
void rec_debug_start(void);

/* This process has no buffer; rec_process says where it should have been, and why. */
void rec_debug_no_buffer(void);

/* Events are lost. `what` got no memory: "this thread's lane"; `err`: -errno. Said once in a process. */
void rec_debug_lost(const char *what, int err);

/* Events stay off: they were compiled for agreement `abi`, and the library knows up to `known`. Said once in a process. */
void rec_debug_event_abi(unsigned int abi, unsigned int known);

#endif
