/* SPDX-License-Identifier: MIT */
/*
 * Finds out which format texts libtraceevent can parse without crashing. For texts that a kernel would not write it
 * follows null pointers and reads out of bounds (tried with 1.7.1). So a child process first parses each text and
 * prints an event of it. A text that kills the child is not used in the parent.
 */
#ifndef FORMAT_EVENT_PROBE_H
#define FORMAT_EVENT_PROBE_H

#include "format/dat/dat_read.h"

#include <event-parse.h>

/*
 * Calls attempt(arg, i) for i = 0 .. count-1 in a child; sets ret_bad[i] if attempt i ends the child by a signal or an
 * exit, or takes a second of CPU time. Then another child continues after it. After too many such attempts, or if all
 * of them together take too long, ret_bad[] is set for those that were not tried. 0, or -errno of mmap or fork.
 */
int event_probe(void (*attempt)(void *arg, size_t i), void *arg, size_t count, bool *ret_bad);

#endif
