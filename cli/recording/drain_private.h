/* SPDX-License-Identifier: MIT */
/* Shared by drain.c, drain_find.c, drain_take.c and drain_crew.c. */
#ifndef CLI_DRAIN_PRIVATE_H
#define CLI_DRAIN_PRIVATE_H

#include <librecorder/reader.h>

#include "cli/recording/dir_watch.h"
#include "cli/recording/drain.h"
#include "format/io/number_map.h"

/* A buffer that was found. */
struct drained {
	struct rec_view *view; /* NULL: finished, or cannot be opened; stays listed as long as its file exists */
	char name[256];
	uint64_t inode;
	unsigned int process; /* its number in the spool */
	unsigned int unrecorded; /* rec_view_unrecorded() when we attached to the program; otherwise 0 */
	uint64_t lost_before;	 /* events lost without a lane before the recording */
	uint64_t log_at;
	uint64_t grown_ms; /* when its threads were last permitted to grow; 0: never */
	uint64_t alive_ms; /* when its program was last known to be alive */
	bool lives;	   /* whether its program was alive when this round began */
	bool rates_added;
	unsigned int nr_lanes;
	unsigned char *lane_off; /* LANE_, by lane */
	int unread;		 /* why a lane could not be read in this round: -errno; or 0 */
	bool more;		 /* a turn of this round ended before its lane was empty */
	bool busy;		 /* another process reads a lane */
	bool kept;		 /* a lane was left to another reader */
	bool cut;		 /* the file was truncated: no more events come from it */
};

/* State of a lane. */
#define LANE_OFF  1u /* nothing more is read from it */
#define LANE_AWAY 2u /* a helper works on it */

/*
 * A lane's turn in a round: pages are taken until the lane has no more, or until `max` were taken. The thread that has
 * the turn uses nothing else of the drain.
 */
struct drain_turn {
	struct rec_view *view;
	unsigned int at; /* where the buffer was in the list when the turn was added */
	unsigned int process, lane;
	unsigned int flags;   /* REC_READ_ */
	unsigned int max;     /* pages */
	unsigned int retries; /* while a writer is moving the head */
	unsigned int percent; /* fill of the lane before the turn */
	bool next;	      /* DRAIN_NEXT */
	uint64_t known;	      /* number of the first event that is not in the spool */

	/* the results */
	unsigned int taken;
	int got;  /* result of the last rec_view_read() */
	int err;  /* error of the spool */
	bool left; /* another reader has taken pages of the lane: do not read it any more */
	bool helped;		/* a helper took the pages, and put them into `hand` */
	struct spool_hand hand; /* pages from a helper */
};

struct drain_turns {
	struct drain_turn *list;
	unsigned int nr, room;
};

struct drain_crew;

struct drain {
	struct spool *spool;
	char only[256];
	unsigned int flags; /* DRAIN_ */
	bool last; /* this is the last run */
	int fd;
	struct drained *list;
	unsigned int nr, room;
	struct number_map by_inode; /* during a scan: index + 1 of a buffer that was listed with this inode */
	struct drain_turns turns;
	unsigned int retries; /* left for these turns, while writers are moving heads */
	struct drain_crew *crew; /* NULL: no helpers */
	unsigned int late_rounds; /* rounds for which helpers are still wanted */
	struct dir_watch watch;
	bool again; /* scan the directory, changed or not */
	bool waits; /* in the last rounds: some buffers have to wait until others are closed */
	bool full;  /* there was no descriptor for a buffer: it is tried again when an open one is closed */
	bool scanned; /* the directory was scanned in this round, so files may be gone */
	uint64_t anchored_at; /* ns, CLOCK_MONOTONIC */
	bool clocks[REC_CLOCK_MONO + 1]; /* in use */
	unsigned char *block;		 /* LOG_BLOCK bytes */
	struct drain_trouble trouble;
	unsigned int unrecorded; /* the part of trouble.no_buffers that the directory does not show */
};

/*
 * No lane has more sub-buffers, because a link has 16 bits for them. If a lane has more pages, its program is filling
 * them meanwhile.
 */
#define DRAIN_PAGES_MAX (UINT32_C(1) << 16)

#define DRAIN_PRESENT 0u /* as `max`: the pages that each lane has now */

/*
 * The first function enters a turn into drain->turns for each lane that may have data. The second one does the turns,
 * the fullest lane first, and takes their results into the drain, the buffers and the list of troubles. If turns may be
 * `helped`, some may still be in progress when it returns: their buffers must stay open until drain_settle_helped(). 0
 * or the error of the spool.
 */
int drain_add_turns(struct drain *drain, struct drained *one, unsigned int flags, unsigned int max);
int drain_take_turns(struct drain *drain, bool helped);

/* Whether a lane of the buffer was not read to its end: its turn ended earlier, or a helper still has it. */
bool drain_has_more(const struct drained *one);

/* Take the lane's pages, and store the results in the turn. Any thread may call it. */
void drain_take_turn(struct spool *spool, struct drain_turn *turn);

/*
 * Take over finished turns of helpers: of one `process`, or of all (DRAIN_ANY). For one process, wait until helpers
 * have no turn of it. Returns as drain_take_turns().
 */
#define DRAIN_ANY UINT32_MAX
int drain_settle_helped(struct drain *drain, unsigned int process);

/*
 * Helpers: one thread for each CPU except this one, at most 16, with the real-time priority of the spool's thread. They
 * do each turn that they are given, unless it is taken back. 0, -ENOMEM or pthread_create()'s errno.
 */
int drain_crew_open(struct spool *spool, struct drain_crew **ret_crew);
struct drain_crew *drain_crew_close(struct drain_crew *crew);

/* Give a turn to the helpers. False: their list is full. */
bool drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn);

/* Take back a turn that no helper has begun. False: helpers have begun all turns. */
bool drain_crew_take_back(struct drain_crew *crew, struct drain_turn *ret_turn);

/* The next finished turn, of `process` or DRAIN_ANY; for one process, waits for its turns. False: none is left. */
bool drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn);

/* A buffer's file was truncated: no more events come from it. */
bool drain_is_cut(struct drain *drain, struct drained *one);

/* Take anchors of the clocks in use, if they are due or `now` is set. 0 or the error of the spool. */
int drain_anchors(struct drain *drain, bool now);

/* Copy the program's own anchors. 0 or the error of the spool. */
int drain_program_anchors(struct drain *drain, const struct drained *one);

/*
 * Look for files that are not listed. 0, or the reason why that is impossible in the last run; or the error of the
 * spool.
 */
int drain_scan(struct drain *drain);

/*
 * Whether this error does not come from the buffer's contents: no descriptor or memory available, a disk that does not
 * answer.
 */
bool drain_may_pass(int err);

/* Note that a buffer could not be read, because of this error. */
void drain_note_bad(struct drain *drain, const struct drained *one, int err);

#endif
