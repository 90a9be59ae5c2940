/* SPDX-License-Identifier: MIT */
/*
 * The stage: memory between the drain and a spool's file, so that a slow disk does not stop the drain.
 *
 * Guarantees. The stage's own thread writes each filled block to the file, at the block's offset, many pages at a time.
 * The stage is a file in the user's buffer directory, which usually is memory, and is mapped shared: its contents
 * survive a SIGKILL of the recorder as a write to the file does, and stage_recover() finds them. It is bounded: if the
 * file takes less than the programs write, stage_take() refuses.
 *
 * A block has one user at a time, from stage_take() to stage_hand_over(). Any thread may make the calls, except for
 * stage_open(), stage_settle() and stage_close(), which only the recorder's main thread makes.
 */
#ifndef CLI_STAGE_H
#define CLI_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/recording/spool_format.h"

#define STAGE_PREFIX "stage-"

/* A block is handed over at this size: large enough for a cheap write, small enough to stay in a CPU's cache. */
#define STAGE_BLOCK (256u * 1024u)

struct stage;

struct stage_block {
	unsigned char *at;	  /* its memory */
	size_t used, room;	  /* bytes; only stage_take() changes the room */
	bool reserved;		  /* only STAGE_WAIT could take it */
	uint64_t offset;	  /* in the file; 0: not known yet */
	struct stage_block *next; /* the block's user may use it */
	unsigned int number;
};

/* What stage_take() does when the bound is reached. */
enum stage_bound {
	STAGE_REFUSE, /* fail; some memory stays reserved for STAGE_WAIT, less if the bound is very low */
	STAGE_HELP,   /* fail; all of the reserved memory stays: a helper keeps its block while others wait */
	STAGE_WAIT,   /* use the reserved memory; when it is used up, wait */
};

/*
 * Make the stage of the spool file `fd`, whose path is `spool`, of `max` bytes at most (0: derived from the available
 * memory). The thread gets this real-time `priority` if it is permitted (0: none); without it, the thread cannot write
 * fast enough on a busy machine. Returns 0; -ENOSPC: no room for a stage; -ENAMETOOLONG; or an errno of open, mmap or
 * pthread_create().
 */
int stage_open(const char *spool, int fd, uint64_t max, unsigned int priority, struct stage **ret_stage);

/* The path of its file. */
const char *stage_path(const struct stage *stage);

/*
 * An empty block with room for `size` bytes at least. 0; -EAGAIN: the bound is reached; -ENOSPC: with STAGE_WAIT, the
 * stage cannot become so large; -EMSGSIZE; or the error of the thread's write. If fallocate() fails, the memory that
 * the stage has becomes its bound.
 */
int stage_take(struct stage *stage, size_t size, enum stage_bound bound, struct stage_block **ret_block);

/* Set the block's offset in the spool file: at the latest before stage_hand_over(). */
void stage_place(struct stage *stage, struct stage_block *block, uint64_t offset);

/* Count `size` more bytes as used, which the caller has stored. From then on they survive a kill of the recorder. */
void stage_add(struct stage *stage, struct stage_block *block, size_t size);

/* Give the block to the thread, which writes blocks in the order of these calls. */
void stage_hand_over(struct stage *stage, struct stage_block *block);

/* Whether stage_take() has refused a block so far; and the number of bytes that wait for the thread. */
bool stage_has_refused(struct stage *stage);
uint64_t stage_waiting(struct stage *stage);

/* Wait until all blocks that were handed over are in the file. 0, or the error of the thread's write. */
int stage_settle(struct stage *stage);

/*
 * End the thread and free the stage. With `remove` its file is removed; otherwise stage_recover() finds the contents.
 * Takes NULL, too; returns NULL.
 */
struct stage *stage_close(struct stage *stage, bool remove);

/*
 * Implemented by the spool: the thread calls it after it has written a block, to correct earlier parts of the file.
 * `bytes` is the memory of the block. 0 or -errno.
 */
int stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset);

/* ------------------------------------------------------------------------------------------------------- recovery */

/* The contents of a stage that a killed recorder left. */
struct stage_rest {
	unsigned char *bytes; /* to be freed */
	size_t size;	      /* number of bytes */
	size_t placed;	      /* the number of bytes at the start of `bytes` whose place in the file is known */
	uint64_t offset;      /* the place of these bytes; all other bytes are appended to the file, in their order */
};

/*
 * Read the stage at `path` of the spool file whose stat is `spool`. 0; -ENOENT: it does not exist; -EBADMSG: it is not
 * a stage, or belongs to another spool, or is owned neither by this user nor by the spool's owner; -EPROTO: it has a
 * feature that this version does not know; -EBUSY: another process holds its lock; -ENOMEM; or an errno of open or
 * read.
 */
int stage_recover(const char *path, const struct stat *spool, struct stage_rest *ret_rest);

/*
 * Remove the file if it is still the stage of this spool: the path comes from the spool, which may be another user's.
 * Errors are those of stage_recover(), or an errno of unlink.
 */
int stage_remove(const char *path, const struct stat *spool);

/*
 * Remove the stages of recorders that are gone from the buffer directory `dir`. A stage stays if its spool is in
 * its place and names it, or if this cannot be determined. If spools may have been `moved`, a stage that holds pages
 * stays, too. Returns the number of stages removed; with `dry_run`, the number that would be removed.
 */
unsigned int stage_sweep(int dir, bool moved, bool dry_run);

#endif
