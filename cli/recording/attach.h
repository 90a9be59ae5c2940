/* SPDX-License-Identifier: MIT */
/*
 * Running programs that a recording attaches to: what their lanes held before is passed over, their events are
 * switched on for the time of the recording, and they are drained. Children that they fork meanwhile, programs that
 * these start, and what replaces one of them by exec are attached to as soon as they are met: a forked child has
 * its events on from its beginning, as its parent has. The programs take no part in it.
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
 * Find the programs and look whether their lanes can be had. False: one line was printed. attach_close() takes NULL and
 * returns NULL; it switches off again what was switched on.
 */
bool attach_open(const struct message_sink *sink, const struct programs *programs, struct attach **ret_attach);
struct attach *attach_close(struct attach *attach);

/* Switch the events that are selected on, and drain into `spool`; both stay. False: one line was printed. */
bool attach_begin(struct attach *attach, const struct selections *selections, struct spool *spool);

/* As drain_run() and drain_finish(), for all of them; the latter switches the events off first. */
int attach_run(struct attach *attach);
int attach_finish(struct attach *attach);

/* Whether one of them still runs, or ended so recently that a child of it may be about to appear. */
bool attach_is_alive(struct attach *attach);

/* Say what came meanwhile and could not be recorded, if anything, and why. */
void attach_say_missed(const struct attach *attach);

/* What was passed over, of all of them. */
const struct drain_trouble *attach_trouble(struct attach *attach);

#endif
