/* SPDX-License-Identifier: MIT */
/*
 * The reader's side: open the buffer of a process, living or dead, and read its lanes: page by page, event by event,
 * all lanes by time, or without consuming. Nothing in the file is trusted; what was checked once is kept in private
 * copies. A view belongs to one thread at a time, rec_view_wake() excepted; nothing here is for signal handlers but
 * that.
 *
 *                        | consumes | needs the lane for itself | where the data are
 *  rec_view_read         | pages    | yes                       | in the ring's own memory, until the lane's next call
 *  rec_view_read_page    | pages    | yes                       | copied: the caller's
 *  rec_view_consume      | events   | yes                       | in the ring's own memory, until the lane's next call
 *  rec_view_peek         | nothing  | yes                       | the same
 *  rec_iter_next         | nothing  | no                        | copied: the iterator's, until its next call
 *
 * The first four share one position for each lane and may be mixed. A lane has one reader process; the first call
 * that needs the lane makes the view's process its reader, until the view is closed or the process is gone.
 *
 * Whoever may write a file may make it shorter, and to look at what is gone raises SIGBUS: see rec_view_fault().
 */
#ifndef LIBRECORDER_READER_H
#define LIBRECORDER_READER_H

#include <librecorder/abi.h>
#include <librecorder/log.h>
#include <librecorder/map.h>
#include <librecorder/page.h>
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
	uint32_t parent_pid;   /* of the process that made it; 0: not known */
	uint64_t parent_start; /* its start_time; 0: not known */
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
 * /dev/shm/librecorder-UID. With `create` it is made, mode 0700. Its owner is checked and no symbolic link is
 * followed in its last part. 0; -EPERM: somebody else's, or others may write there; -ELOOP: a link; -EINVAL: no
 * absolute path; -ENOTDIR; -ENAMETOOLONG; or mkdir's errno. The path is written in every case but -ENAMETOOLONG, so
 * that a message can name it.
 */
int rec_buffer_dir(bool create, char *path, size_t size);

/*
 * Open the buffer file at `path`. 0; -EAGAIN: its program is still making it; -EPROTO: of another version of the
 * library; -EBADMSG: no buffer file, or a damaged one; -EFAULT: it is just being cut short; -EPERM: somebody else's;
 * -ENOMEM; or open's and mmap's errno.
 * rec_view_close() takes NULL too and returns NULL; lanes held by the view become free for other readers.
 */
int rec_view_open(const char *path, struct rec_view **ret_view);

/*
 * The same with the file `name` of the directory that `dir` is an open descriptor of. For root -EPERM, too, if the
 * file's owner is not the directory's: it is not that of a program that has its buffers there.
 */
int rec_view_open_at(int dir, const char *name, struct rec_view **ret_view);
struct rec_view *rec_view_close(struct rec_view *view);

/*
 * Whether the program that makes the buffer file `name` of that directory, for which there is -EAGAIN, surely
 * lives: it may have been stopped in the middle of it. False: it is gone, or nothing can be told. Any thread.
 */
bool rec_buffer_has_maker(int dir, const char *name);

/*
 * A handler for SIGBUS calls it with si_addr, if si_code is positive. True: a view's file was cut short, or its file
 * system is full; now the look at it finds zeros, and from then on calls for that view find nothing and return -EFAULT.
 * The handler returns. False: the fault is another one. Without such a handler a program that reads the buffers of
 * programs that it does not trust ends by the signal. Signal-safe, any thread.
 */
bool rec_view_fault(const void *address);

const struct rec_view_info *rec_view_info(const struct rec_view *view);

/* Whether the program may still write: it lives and has not ended its use of the buffer. */
bool rec_view_alive(const struct rec_view *view);

/*
 * The program's pid in the pid namespace of whoever asks; info's is that of its own. 0: it cannot be seen from
 * here. Reads /proc, the whole of it for a program in another pid namespace.
 */
uint32_t rec_view_pid(const struct rec_view *view);

/*
 * The pid namespace where the pids of rec_view_info() count: the inode of the
 * program's /proc/self/ns/pid. 0: not known.
 */
uint64_t rec_view_pid_namespace(const struct rec_view *view);

/* Lanes there are now; grows, never shrinks. */
unsigned int rec_view_lanes(const struct rec_view *view);

/* Only sub-buffers that the writer has left. */
#define REC_READ_WHOLE 1u

/*
 * The next page of a lane. 1: *ret_page is valid until the lane's next call or close; what it holds counts as read
 * from then on, and a reader that dies before leaves it to the next reader. 0: nothing (with REC_READ_WHOLE:
 * nothing whole). -EBUSY: another living process, or another view of this one, reads this lane; -EAGAIN: a writer
 * is just moving the head, or the program has the lane for a moment, try again later; -EBADMSG: the lane is damaged and gives nothing more; -EFAULT: the file
 * was cut short, no lane gives anything more; -EINVAL: no such lane; -EROFS: the file system is read-only and the
 * program lives; -ENOMEM, or mmap's errno, when the lane is opened.
 */
int rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page);

/*
 * The page of the lane's last rec_view_read() was of no use: it does not count as read, and whoever reads next gets
 * it again. Nothing happens where there is no such page.
 */
void rec_view_unread(struct rec_view *view, unsigned int lane);

/*
 * What is new on the lane's reader page as a page of the kernel's, in the `size` bytes at `page` (aligned to 8), as
 * the kernel's read_page hands them out (facts C8, C9): whole events only, as many as fit; the time stamp is that of
 * the first event copied, or before; what was lost stands in the commit word's bits 31 and 30 and, where there is
 * room, behind the data; the rest is cleared. A copy that does not begin where the sub-buffer begins has a CPU marker
 * in front, if there is room for one; one with a loss has it behind the first event, because libtraceevent looks for
 * losses only where a page begins with an event. What was copied counts as read at once; what did not fit comes next
 * time. With REC_READ_WHOLE only sub-buffers that the writer has left, and only if all that is left of one fits.
 *
 * 1: *ret_page describes the copy, its data being `page`. 0: nothing. -EMSGSIZE: the next event (with REC_READ_WHOLE:
 * the page) does not fit into `size`. Otherwise as rec_view_read().
 */
int rec_view_read_page(struct rec_view *view, unsigned int lane, unsigned int flags, void *page, size_t size,
		       struct rec_page *ret_page);

/* Instead of a lane: all there are at the time of the call. */
#define REC_ALL_LANES UINT32_MAX

/* An event of a lane. */
struct rec_view_event {
	struct rec_record record;
	uint32_t lane;
	uint64_t number; /* of the event, counted since the lane began; overwritten ones count, refused ones do not */
	uint64_t lost;	 /* events lost immediately before it: overwritten, refused, or consumed by somebody else */
	uint64_t lost_time; /* when the first of them was; 0: none, or not known */
};

/*
 * The next event of a lane; with REC_ALL_LANES the one with the smallest time of all lanes' next events, of equal
 * ones that of the lowest lane (lanes that are damaged or that another process reads are left out; new lanes join).
 * It stays where it is: the next call gives it again, with the same loss. The payload stands in the ring's own memory
 * and is valid until the next call that reads the lane. Whoever writes the file can change it meanwhile: check a copy.
 *
 * 1: *ret_event is filled. 0: no event; then only `lost` and `lost_time` are: what was lost behind the last event,
 * which the next event will say again. Errors as rec_view_read().
 */
int rec_view_peek(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event);

/*
 * As rec_view_peek(), and the event counts as read: no other call, nor another reader after this one's death, gives
 * it again.
 */
int rec_view_consume(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event);

/*
 * Wait until there is something to read in a lane, or in any of all lanes, at most `timeout` milliseconds; 0 only
 * looks, a negative one waits for ever. `percent` (0 to 100) is the kernel's buffer_percent: with 0 an event is
 * enough; otherwise the writer must have left the reader's sub-buffer, and so much of the ring must be filled. Once
 * the program is gone an event is always enough. The writer wakes who sleeps for a percentage; with 0, when it only
 * begins a sub-buffer, so single events are looked for every few milliseconds.
 *
 * 1: there is. 0: not within the time. -EPIPE: the end: the program writes no more and everything was read. -EINTR: a
 * signal handler, set without SA_RESTART, ran while the call slept; one that runs between two sleeps does not end it,
 * so a handler that must end it calls rec_view_wake(). -ECANCELED: rec_view_wake(). -EINVAL: no such lane, percent above
 * 100. Or as rec_view_read().
 */
int rec_view_wait(struct rec_view *view, unsigned int lane, unsigned int percent, int timeout);

/* End a rec_view_wait() on this view in another thread; without one, the next. Any thread, signal-safe. */
void rec_view_wake(struct rec_view *view);

/* The kernel's statistics of a lane, under the kernel's names, since the lane was last reset. */
struct rec_lane_stats {
	uint64_t entries;	  /* committed, neither read nor overwritten */
	uint64_t overrun;	  /* overwritten before they were read */
	uint64_t commit_overrun;  /* refused: nested writers wrapped the lane */
	uint64_t bytes;		  /* that the entries take, with all that stands between them */
	uint64_t oldest_event_ts; /* time of the oldest page, in the buffer's clock */
	uint64_t now_ts;	  /* the same clock now */
	uint64_t dropped_events;  /* refused: full in discard mode */
	uint64_t read_events;
	uint64_t too_long;     /* refused: longer than a sub-buffer takes */
	uint64_t nested_limit; /* refused: interrupted too often */
	uint64_t disabled;     /* refused: the lane was disabled, or stopped as broken; the latter is a loss */
	uint64_t torn;	       /* events reserved and never committed; if the program is gone, those that it left open too */
	uint64_t lost_unread;  /* refusals and overwritten events that nobody was told of yet */
	uint32_t clock;	       /* REC_CLOCK_ */
	uint32_t subbuf_size;
	uint32_t nr_pages; /* sub-buffers in the ring, the reader page not counted */
	uint32_t owner;	   /* thread; 0: none; REC_OWNER_HELD: set aside by rec_lane_swap() */
	uint32_t shared;   /* 1: threads without a lane of their own take it for one event at a time */
	uint32_t broken;   /* not 0: a broken invariant stopped the lane; what it holds may be 0 for not known */
};

/*
 * 0, -EINVAL: no such lane, -EBADMSG: damaged, -EFAULT: cut short, -EAGAIN: the program is just making it, or giving it
 * another shape.
 */
int rec_view_stats(const struct rec_view *view, unsigned int lane, struct rec_lane_stats *ret_stats);

/*
 * Empty a lane, as a write to the kernel's `trace` file does: what was committed when the call began is passed over
 * and counts nowhere, and the statistics begin again at 0. Writers go on meanwhile. 0 or as rec_view_read().
 */
int rec_view_reset(struct rec_view *view, unsigned int lane);

/*
 * The eight lines of the kernel's per_cpu/cpuN/stats, as the kernel writes them; times as seconds where the clock
 * counts nanoseconds. Returns their length without the NUL, or -ENOSPC: `size` is too small (512 is enough).
 */
int rec_stats_text(const struct rec_lane_stats *stats, char *text, size_t size);

/* Losses of the whole process that no lane knows of. */
struct rec_view_losses {
	uint64_t no_lane;  /* events of threads that got no lane */
	uint64_t log_full; /* events and names without room in the log */
	int lease_errno;   /* why the last lease failed: positive errno or 0 */
};

void rec_view_losses(const struct rec_view *view, struct rec_view_losses *ret_losses);

/*
 * Copy valid log bytes from offset `from` on. Returns how many were copied, at most `size`, 0 at the end. Records may
 * be cut at the end of the piece and nothing in them is checked: see rec_log_next().
 */
size_t rec_view_log(const struct rec_view *view, uint64_t from, void *bytes, size_t size);

/* The newest anchors, oldest first; returns how many. */
unsigned int rec_view_anchors(const struct rec_view *view, struct rec_anchor *anchors, unsigned int max);

/* The enable word of an event id (REC_ENABLE_ bits), 0 for an id that is none. */
uint32_t rec_view_enabled(const struct rec_view *view, unsigned int id);

/* --------------------------------------------------------------------------------------------------- control */

/*
 * Switch events of a running program on or off, as rec_enable() and rec_disable() do from within: those that
 * it has, and those that it registers later. The program takes no part in it: nothing runs there. `wish` is a
 * list of patterns, and a rate and a filter may follow (filter.h); where there is none, an event loses those
 * that it had. Returns how many events match now, without those that the filter does not fit, which are off;
 * -EINVAL: no wish; -ESRCH: the program is gone; -ENOSPC: it has too many such rules or conditions; -ENOMEM;
 * -EBADMSG: the buffer is damaged, -EFAULT: cut short, -EROFS: on a read-only file system; or the errno of
 * mmap, flock or fallocate. It waits while somebody else switches events of this program; -EBUSY: one second
 * of that was in vain. Nothing is changed then.
 */
int rec_view_switch(struct rec_view *view, const char *wish, bool on);

/*
 * Switch one event that the program has, by its id: to a word that rec_view_enabled() gave before, with its
 * condition; or to REC_ENABLE_WANTED, on, or 0, off. 0, -EINVAL: it has none of this id; or as rec_view_switch().
 */
int rec_view_switch_event(struct rec_view *view, unsigned int id, uint32_t word);

/*
 * What was said of the patterns of this wish by rec_view_switch() holds no longer for events that are registered
 * from now on; words stay as they are. 0 or as rec_view_switch().
 */
int rec_view_forget(struct rec_view *view, const char *wish);

/* The rate that an event has, and how many it has kept away since the event was switched on with it. */
struct rec_view_rate {
	uint32_t rate; /* events a second */
	uint64_t suppressed;
};

/* False: the event is not wanted, or has no rate. */
bool rec_view_rate(const struct rec_view *view, unsigned int id, struct rec_view_rate *ret_rate);

/*
 * Switch events for a while. rec_view_borrow() notes in the program's buffer that this process is about to switch
 * those like `patterns` (lists of patterns, one a line) on, and their words; then rec_view_switch() and the like do
 * it. rec_view_give_back() leaves them as they were, with their conditions: what was off goes off, rules for any of
 * these lists are forgotten. A forked child begins with a copy of the loan. If the process that has it ends, or
 * closes its view, anybody's rec_view_give_back() does the same.
 *
 * rec_view_borrow(): 0 (also where this process has the loan already; its patterns stay); -EINVAL: no list of
 * patterns; -ENOSPC: longer than 2047 bytes; -EBUSY: another process has a loan; or as rec_view_switch(). A loan
 * left by a process that is gone is taken over as it is if it is for the same patterns, and the events stay on;
 * else it is given back first. rec_view_give_back(): 1; 0: there is no loan, or the program is gone; -EBUSY:
 * another process has it; or as rec_view_switch(). rec_view_loan(): 1: this process has it; 0: nobody; -EBUSY:
 * another one; -EOWNERDEAD: one that is gone.
 */
int rec_view_borrow(struct rec_view *view, const char *patterns);
int rec_view_give_back(struct rec_view *view);
int rec_view_loan(const struct rec_view *view);

/*
 * Start and stop all recording of a program, whatever is enabled, as rec_start() and rec_stop() do from within. 0 or as
 * rec_view_switch().
 */
int rec_view_start(struct rec_view *view);
int rec_view_stop(struct rec_view *view);

/* Whether it is stopped. */
bool rec_view_stopped(const struct rec_view *view);

/* ---------------------------------------------------------------------------------------- without consuming */

/* An iterator over the events of a lane: its own copy of a page of it. */
struct rec_iter;

/*
 * Begin to look at a lane's events without consuming them, from the oldest unread one on. Several iterators, a
 * consuming reader (of this process or another) and the writer do not disturb each other. The program may be dead.
 * The iterator needs `view` and is to be closed before it. 0, -EINVAL: no such lane, -ENOMEM. rec_iter_close() takes
 * NULL too and returns NULL.
 */
int rec_iter_open(struct rec_view *view, unsigned int lane, struct rec_iter **ret_iter);
struct rec_iter *rec_iter_close(struct rec_iter *iter);

/*
 * The next event. The payload stands in the iterator's copy, unchanged until the next call. `lost` counts the events
 * between the last one returned and this one that are gone: overwritten or consumed before the iterator came to them,
 * which is exact, and those refused, as far as the sub-buffers tell. 1: *ret_event is filled. 0: none (any more;
 * there may be later). -EAGAIN: the writer overwrote each page while it was being copied, several times over; try
 * again, or reset. -EBADMSG: the bytes are no events, or the lane's shape is none; -EFAULT: the file was cut short.
 */
int rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event);

/* Begin again, from what is then the oldest unread event on. */
void rec_iter_reset(struct rec_iter *iter);

/*
 * What rec_iter_next() would return, a page at a time: the rest of a sub-buffer as it is now, in the iterator's copy,
 * valid until its next call. 1, 0, -EAGAIN, -EBADMSG as there.
 */
int rec_iter_page(struct rec_iter *iter, struct rec_page *ret_page);

/*
 * Go on where `mark` says, in all that the lane's memory still holds: also events that a reader has consumed, until
 * their sub-buffers are written to again. What is missing between the mark and the first event is lost and counted;
 * a mark of zeros stands for the oldest event there is, with nothing lost before it.
 */
void rec_iter_continue(struct rec_iter *iter, const struct rec_lane_mark *mark);

/* Where the iterator stands. */
void rec_iter_mark(const struct rec_iter *iter, struct rec_lane_mark *ret_mark);

/*
 * The mark that a lane keeps for snapshots: up to where the last one came, whoever made it. 0; -EINVAL: no such lane;
 * -EROFS: the file system is read-only; or the errno of pwrite.
 */
int rec_view_mark(const struct rec_view *view, unsigned int lane, struct rec_lane_mark *ret_mark);
int rec_view_set_mark(struct rec_view *view, unsigned int lane, const struct rec_lane_mark *mark);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
