/* SPDX-License-Identifier: MIT */
/*
 * The drain takes pages out of the lanes of all processes of a recording and puts them, unchanged, into its spool.
 *
 * Guarantees. Each page is in the spool before the lane's next one is requested. A buffer that belongs to the
 * recording is removed only when everything in it is in the spool. A page that an earlier recorder had taken is
 * recognised by its event numbers and not taken twice. Damaged buffers and lanes are skipped and counted.
 */
#ifndef CLI_DRAIN_H
#define CLI_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recording/spool.h"

struct drain;

/* The process of the lane, and the lane's number. */
struct drain_lane {
	uint32_t pid;
	char comm[32];
	unsigned int lane;
};

struct drain_trouble {
	unsigned int bad_buffers;   /* buffers that could not be opened */
	/* buffers that could not be read completely now, but perhaps later: their files are kept */
	unsigned int unread;
	unsigned int bad_lanes;	    /* damaged: their contents from the damage on are not in the spool */
	struct drain_lane bad_lane; /* the first of them */
	unsigned int cut_buffers;   /* their files were truncated while they were read */
	struct drain_lane cut_lane; /* the first of them; any lane */
	unsigned int busy_lanes;    /* lanes that another process read at the end */
	unsigned int unready;	    /* buffers that their programs never finished */
	unsigned int waiting;	    /* the most buffers that waited for a file descriptor at the same time */
	unsigned int no_buffers;    /* processes that could not make a buffer */
	int no_buffer_errno;	    /* the reason of the last one */
	bool removed;		    /* the directory was removed, so later buffers were not found */
	unsigned int living;	    /* buffers of programs that were still running at the end */
	unsigned int stopped;	    /* buffers of programs that were stopped at the end (rec_stop()) */
	/* buffers of programs, other than the `stopped`, that were stopped by a signal at the end */
	unsigned int halted;
	/*
	 * buffers of programs, other than the `stopped`, whose events were all off at the end; not counted with
	 * DRAIN_NAMED
	 */
	unsigned int off;
	int bad_errno;		    /* reason why the first bad buffer could not be opened: positive errno */
	char bad_file[256];
};

#define DRAIN_OWNED                                                                                                    \
	1u /* the buffers are the recording's own: each is removed once its program is gone and it is drained */
#define DRAIN_DEAD  2u /* only buffers whose programs are gone */
#define DRAIN_NAMED 4u /* only buffers that are named by drain_add() */
/*
 * Take from a lane only events that continue those in the spool: if another recorder has read events in between, take
 * none.
 */
#define DRAIN_NEXT 8u

/*
 * Drain the buffers in a directory, of which `dir` is a descriptor, into `spool`, which must outlive the drain.
 * `only`: only this file of the directory; NULL: all. 0, -ENOMEM or the errno of open. drain_close() takes NULL and
 * returns NULL.
 */
int drain_open(struct spool *spool, int dir, unsigned int flags, const char *only, struct drain **ret_drain);
struct drain *drain_close(struct drain *drain);

/*
 * Drain this buffer, too; for DRAIN_NAMED. `before`: the losses of its process from before the recording, which are not
 * counted. 0, -ENOMEM, or the error of the spool.
 */
int drain_add(struct drain *drain, const char *name, const struct rec_view_losses *before);

/*
 * Look for new buffers and take all whole pages; of dead processes take everything, after which they are finished.
 * Returns how full the fullest lane was, in per cent (0: there was nothing); or the error of the spool, which ends the
 * drain: -ENOSPC, another errno of write, -ENOMEM.
 */
int drain_run(struct drain *drain);

/*
 * Note how many events the rates of the buffer `name` have suppressed until now; call it just before its events are
 * switched off, because that takes the conditions away. drain_finish() does so by itself. 0 or as drain_run().
 */
int drain_add_rates(struct drain *drain, const char *name);

/* The last run: also takes all present events of living processes, and notes their losses so far. */
int drain_finish(struct drain *drain);

/*
 * Wait for helpers that still read a lane. Afterwards the spool has what they took, and may be settled or closed. After
 * an error drain_run() and drain_finish() do this by themselves, and no helper is at work after drain_finish(). If one
 * of several drains of a spool fails, call this for the others.
 */
void drain_stop(struct drain *drain);

/* The troubles so far: what was skipped, and why. */
const struct drain_trouble *drain_trouble(const struct drain *drain);

/* Add the troubles of another drain. */
void drain_trouble_add(struct drain_trouble *all, const struct drain_trouble *one);

#endif
