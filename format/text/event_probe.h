/* SPDX-License-Identifier: MIT */
/*
 * Finds out which format texts libtraceevent survives. It follows null pointers and reads out of bounds on texts that
 * are not what a kernel writes (1.7.1 was tried), so each is parsed, and an event of it printed, in a child process
 * first. What ends the child is kept from the parent.
 */
#ifndef FORMAT_EVENT_PROBE_H
#define FORMAT_EVENT_PROBE_H

#include "format/dat/dat_read.h"

#include <event-parse.h>

/*
 * Calls attempt(arg, i) for i = 0 .. count-1 in a child; sets ret_bad[i] for those that end it by a signal, an exit
 * or ten seconds of CPU time. 0, or -errno of mmap or fork.
 */
int event_probe(void (*attempt)(void *arg, size_t i), void *arg, size_t count, bool *ret_bad);

#endif
