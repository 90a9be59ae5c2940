/* SPDX-License-Identifier: MIT */
/*
 * The drain: takes pages out of the lanes of all processes of a recording, as they are, into its spool.
 *
 * What it guarantees. Each page is in the spool before the lane's next one is asked for. A buffer is removed, if it
 * is the recording's own, only when everything in it is in the spool. A page that an earlier recorder had taken is
 * recognised by its event numbers and not taken twice. Damaged buffers and lanes are passed over and counted.
 */
#ifndef CLI_DRAIN_H
#define CLI_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recording/spool.h"

struct drain;

/* Whose lane; which one. */
struct drain_lane {
	uint32_t pid;
	char comm[32];
	unsigned int lane;
};

struct drain_trouble {
	unsigned int bad_buffers;   /* could not be opened */
	unsigned int unread;	    /* such as may be read another time, in whole or in part: they are kept */
	unsigned int bad_lanes;	    /* damaged: what they held from the damage on is not in the spool */
	struct drain_lane bad_lane; /* the first of them */
	unsigned int cut_buffers;   /* their files were cut short while they were read */
	struct drain_lane cut_lane; /* the first of them; any lane */
	unsigned int busy_lanes;    /* read by another process */
	unsigned int unready;	    /* never finished by their programs */
	unsigned int no_buffers;    /* processes that could not make one */
	int no_buffer_errno;	    /* why: of the last */
	unsigned int living;	    /* of programs that still ran at the end */
	int bad_errno;		    /* why the first of the bad buffers could not be opened: positive errno */
	char bad_file[256];
};

#define DRAIN_OWNED 1u /* the buffers are the recording's own: each is removed once its program is gone and it is drained */
#define DRAIN_DEAD  2u /* only buffers whose programs are gone */
#define DRAIN_NAMED 4u /* only buffers that are named by drain_add() */
#define DRAIN_NEXT  8u /* of a lane only what follows upon what the spool has: not if another recorder has read on */

/*
 * Drain the buffers in a directory, of which `dir` is a descriptor, into `spool`, which outlives the drain. `only`:
 * this file of the directory alone, or NULL. 0, -ENOMEM or open's errno. drain_close() takes NULL and returns NULL.
 */
int drain_open(struct spool *spool, int dir, unsigned int flags, const char *only, struct drain **ret_drain);
struct drain *drain_close(struct drain *drain);

/* With DRAIN_NAMED: drain this buffer, too. 0, -ENOMEM, or what the spool met. */
int drain_add(struct drain *drain, const char *name);

/*
 * Look for new buffers and take what is whole; of dead processes everything, after which they are finished. Returns
 * how full the fullest lane was, in per cent, 0: there was nothing; or what the spool met, after which the drain is
 * at an end: -ENOSPC, another errno of write, -ENOMEM.
 */
int drain_run(struct drain *drain);

/*
 * Note how many events rates have kept away until now, for conditions that are about to go. drain_finish() does it by
 * itself. 0 or as drain_run().
 */
int drain_add_rates(struct drain *drain);

/* The last run: of living processes, too, all that is there now; their losses so far are noted. */
int drain_finish(struct drain *drain);

/* What was passed over so far. */
const struct drain_trouble *drain_trouble(const struct drain *drain);

/* Add what another drain met. */
void drain_trouble_add(struct drain_trouble *all, const struct drain_trouble *one);

#endif
