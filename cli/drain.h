/* SPDX-License-Identifier: MIT */
/*
 * The drain: takes pages out of the lanes of all processes of a recording, as they are, into its spool.
 *
 * What it guarantees. Each page is in the spool before the lane's next one is asked for. A buffer is removed, if it is the
 * recording's own, only when everything in it is in the spool. A page that an earlier recorder had taken is recognised
 * by its event numbers and not taken twice. Damaged buffers and lanes are passed over and counted.
 */
#ifndef CLI_DRAIN_H
#define CLI_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/spool.h"

struct drain;

struct drain_trouble {
	unsigned int bad_buffers;   /* could not be opened */
	unsigned int bad_lanes;	    /* damaged: what they held from the damage on is not in the spool */
	unsigned int busy_lanes;    /* read by another process */
	unsigned int unready;	    /* never finished by their programs */
	int bad_errno;		    /* why the first of the bad buffers could not be opened: positive errno */
	char bad_file[256];
};

/*
 * Drain the buffers in directory `dir` into `spool`, both of which outlive the drain. `owned`: they are the recording's
 * own and are removed when drained. `only`: this file of the directory alone, or NULL. 0, -ENOMEM or open's errno.
 * drain_close() takes NULL and returns NULL.
 */
int drain_open(struct spool *spool, const char *dir, bool owned, const char *only, struct drain **ret_drain);
struct drain *drain_close(struct drain *drain);

/*
 * Look for new buffers and take what is whole; of dead processes everything, after which they are finished. Returns how
 * many pages were taken, or what the spool met, after which the drain is at an end: -ENOSPC, another errno of write, -ENOMEM.
 */
int drain_run(struct drain *drain);

/* The last run: of living processes, too, all that is there now; their losses so far are noted. */
int drain_finish(struct drain *drain);

/* Processes whose buffers are open. */
unsigned int drain_processes(const struct drain *drain);

/* What was passed over so far. */
const struct drain_trouble *drain_trouble(const struct drain *drain);

#endif
