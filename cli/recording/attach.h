/* SPDX-License-Identifier: MIT */
/*
 * Running programs that a recording attaches to: events already in their lanes are skipped, their events are switched
 * on for the duration of the recording, and they are drained. Children that they fork meanwhile, programs that these
 * start, and images that replace one of them by exec are attached to as soon as they are found. A forked child has its
 * events on from its beginning, as its parent has. The programs take no part in this.
 */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "cli/base/message.h"
#include "cli/recording/drain.h"
#include "cli/recording/programs.h"
#include "cli/recording/selection.h"
#include "cli/recording/spool.h"

struct attach;

/*
 * Find the programs and check whether their lanes are available. False: one line was printed. attach_close() takes
 * NULL and returns NULL; it switches off what was switched on.
 */
bool attach_open(const struct message_sink *sink, const struct programs *programs, struct attach **ret_attach);
struct attach *attach_close(struct attach *attach);

/*
 * Switch the selected events on, and drain into `spool`; both arguments must outlive it. False: one line was printed.
 */
bool attach_begin(struct attach *attach, const struct selections *selections, struct spool *spool);

/* Like drain_run() and drain_finish(), for all programs; the latter switches the events off first. */
int attach_run(struct attach *attach);
int attach_finish(struct attach *attach);

/* Whether one of them is still running, or ended so recently that a child of it may be about to appear. */
bool attach_is_alive(struct attach *attach);

/* Report programs that record nothing because they are stopped, and how to start them again. */
void attach_say_stopped(const struct attach *attach);

/* Report programs that appeared meanwhile and could not be recorded, if any, and the reason. */
void attach_say_missed(const struct attach *attach);

/* The troubles with all programs: what was skipped, and why. */
const struct drain_trouble *attach_trouble(struct attach *attach);

#endif
