/* SPDX-License-Identifier: MIT */
/*
 * The reader's side: open the buffer of a process, living or dead, and take pages out of its lanes. Nothing in the file
 * is trusted; what was checked once is kept in private copies. Not signal-safe; a view belongs to one thread at a time.
 */
#ifndef LIBRECORDER_READER_H
#define LIBRECORDER_READER_H

#include <librecorder/abi.h>
#include <librecorder/log.h>
#include <librecorder/source.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rec_view;

/* What a buffer's header says; strings are ended and hold no control characters. */
struct rec_view_info {
	uint32_t pid;
	uint64_t start_time;
	uint32_t clock;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	uint32_t max_lanes;
	uint32_t overwrite;
	char comm[32];
	char exe[256];
};

/*
 * The directory where this user's programs put their buffers: $RECORDER_DIR, else $XDG_RUNTIME_DIR/librecorder, else
 * /dev/shm/librecorder-UID. With `create` it is made, mode 0700. Its owner is checked and no symbolic link is followed in
 * its last part. 0; -EPERM: somebody else's, or others may write there; -ELOOP: a link; -EINVAL: no absolute path;
 * -ENOTDIR; -ENAMETOOLONG; or mkdir's errno. The path is
 * written in every case but -ENAMETOOLONG, so that a message can name it.
 */
int rec_buffer_dir(bool create, char *path, size_t size);

/*
 * Open the buffer file at `path`. 0; -EAGAIN: its program is still making it; -EPROTO: of another version of the
 * library; -EBADMSG: no buffer file, or a damaged one; -EPERM: somebody else's; -ENOMEM; or open's and mmap's errno.
 * rec_view_close() takes NULL too and returns NULL; lanes held by the view become free for other readers.
 */
int rec_view_open(const char *path, struct rec_view **ret_view);
struct rec_view *rec_view_close(struct rec_view *view);

const struct rec_view_info *rec_view_info(const struct rec_view *view);

/* Whether the program may still write: it lives and has not ended its use of the buffer. */
bool rec_view_alive(const struct rec_view *view);

/* Lanes there are now; grows, never shrinks. */
unsigned int rec_view_lanes(const struct rec_view *view);

/* Only sub-buffers that the writer has left. */
#define REC_READ_WHOLE 1u

/*
 * The next page of a lane. 1: *ret_page is valid until the lane's next call or close; what it holds counts as read from
 * then on, and a reader that dies before leaves it to the next reader. 0: nothing (with REC_READ_WHOLE: nothing whole).
 * -EBUSY: another living process reads this lane; -EAGAIN: a writer is just moving the head, try again later;
 * -EBADMSG: the lane is damaged and gives nothing more; -EINVAL: no such lane; -ENOMEM, or mmap's
 * errno, when the lane is opened.
 */
int rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page);

/*
 * The page of the lane's last rec_view_read() was of no use: it does not count as read, and whoever reads next gets it
 * again. Nothing happens where there is no such page.
 */
void rec_view_unread(struct rec_view *view, unsigned int lane);

/* The kernel's statistics of a lane, under the kernel's names. */
struct rec_lane_stats {
	uint64_t entries;	 /* committed, neither read nor overwritten */
	uint64_t overrun;	 /* overwritten before they were read */
	uint64_t commit_overrun; /* refused: nested writers wrapped the lane */
	uint64_t dropped_events; /* refused: full in discard mode */
	uint64_t read_events;
	uint64_t too_long;     /* refused: longer than a sub-buffer takes */
	uint64_t nested_limit; /* refused: interrupted too often */
	uint64_t torn;	       /* reservations never committed; 1 more if the lane's writer died inside one */
	uint64_t lost_unread;  /* refusals and overwritten events that no page has carried yet */
	uint32_t owner;	       /* thread, 0: none */
	uint32_t broken;       /* not 0: a broken invariant stopped the lane */
};

/* 0, -EINVAL: no such lane, -EBADMSG: damaged. */
int rec_view_stats(const struct rec_view *view, unsigned int lane, struct rec_lane_stats *ret_stats);

/* Losses of the whole process that no lane knows of. */
struct rec_view_losses {
	uint64_t no_lane;  /* events of threads that got no lane */
	uint64_t log_full; /* events and names without room in the log */
	int lease_errno;   /* why the last lease failed: positive errno or 0 */
};

void rec_view_losses(const struct rec_view *view, struct rec_view_losses *ret_losses);

/*
 * Copy valid log bytes from offset `from` on. Returns how many were copied, at most `size`, 0 at the end. Records may be
 * cut at the end of the piece and nothing in them is checked: see rec_log_next().
 */
size_t rec_view_log(const struct rec_view *view, uint64_t from, void *bytes, size_t size);


/* The newest anchors, oldest first; returns how many. */
unsigned int rec_view_anchors(const struct rec_view *view, struct rec_anchor *anchors, unsigned int max);

/* The enable word of an event id (REC_ENABLE_ bits), 0 for an id that is none. */
uint32_t rec_view_enabled(const struct rec_view *view, unsigned int id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
