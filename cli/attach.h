/* SPDX-License-Identifier: MIT */
/*
 * Running programs that a recording attaches to: what their lanes held before is passed over, their events are switched on
 * for the time of the recording, and each has a drain. The programs take no part in it.
 */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "cli/drain.h"
#include "cli/spool.h"

struct attach;

/*
 * Find the programs that `word` means (programs.h) and look whether their lanes can be had. False: one line was printed.
 * attach_close() takes NULL and returns NULL; it switches off again what attach_begin() switched on.
 */
bool attach_open(const char *command, const char *word, struct attach **ret_attach);
struct attach *attach_close(struct attach *attach);

/* Switch the events like `patterns` (separated by commas) on and drain into `spool`. False: one line was printed. */
bool attach_begin(struct attach *attach, const char *patterns, struct spool *spool);

/* As drain_run() and drain_finish(), for all of them; the latter switches the events off first. */
int attach_run(struct attach *attach);
int attach_finish(struct attach *attach);

/* Whether one of them still runs. */
bool attach_is_alive(const struct attach *attach);

/* What was passed over, of all of them. */
const struct drain_trouble *attach_trouble(struct attach *attach);

#endif
