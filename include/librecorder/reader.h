/* SPDX-License-Identifier: MIT */
/*
 * The reader's side: open the buffer of a process, living or dead, and read its lanes: page by page, event by event,
 * all lanes by time, or without consuming. Nothing in the file is trusted: values are checked once and then kept in
 * private copies. A view belongs to one thread at a time, which may call rec_view_stopped() in a signal handler, too.
 * Only rec_view_wake() and rec_view_fault() may be called from other threads, and from any signal handler.
 *
 *                        | consumes | needs the lane for itself | where the data are
 *  rec_view_read         | pages    | yes                       | in the ring's own memory, until the lane's next call
 *  rec_view_read_page    | pages    | yes                       | copied: the caller's
 *  rec_view_consume      | events   | yes                       | in the ring's own memory, until the lane's next call
 *  rec_view_peek         | nothing  | yes                       | the same
 *  rec_iter_next         | nothing  | no                        | copied: the iterator's, until its next call
 *
 * The first four share one position for each lane and may be mixed. A lane has one reader process; the first call
 * that needs the lane makes the view's process its reader, until the view is closed or the process is dead.
 *
 * A forked child inherits open views, and may only close them and their iterators; this changes nothing for its parent.
 * If the parent is killed, its lanes and its loan stay in use until the child has closed the view, calls exec or ends.
 * vfork's child runs in its parent's memory, and may call none of these functions, not even rec_view_fault(): it would
 * take over a lock of its parent's threads.
 *
 * A process that may write the file may truncate it; an access to the missing part raises SIGBUS: see rec_view_fault().
 */
#ifndef LIBRECORDER_READER_H
#define LIBRECORDER_READER_H

#include <librecorder/buffer_dir.h>
#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
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

/* The contents of a buffer's header. Strings are terminated and have no control characters. */
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
 * Open the buffer file at `path`. Returns 0; -EAGAIN: its program is still making it; -EPROTO: it has a feature that
 * this version does not know; -EBADMSG: it is not a buffer, or is damaged; -EFAULT: it is being truncated; -EPERM: it
 * belongs to another user; -ENOMEM; or the errno of open or mmap.
 * The view belongs to the caller, who closes it. rec_view_close() accepts NULL and returns NULL; lanes held by the view
 * become free for other readers.
 */
int rec_view_open(const char *path, struct rec_view **ret_view);

/*
 * The same for the file `name` in the directory with the descriptor `dir`. For root, also -EPERM if the owner of the
 * file is not the owner of the directory: the file is not the buffer of a program that uses this directory.
 */
int rec_view_open_at(int dir, const char *name, struct rec_view **ret_view);
struct rec_view *rec_view_close(struct rec_view *view);

/*
 * To read the buffers of programs that you do not trust, install a SIGBUS handler that calls this function with si_addr
 * if si_code is positive. True: the file of a view was truncated, or its file system is full. The access now finds
 * zeros, and further calls for this view find nothing or return -EFAULT; the handler returns. False: the fault has
 * another cause. Without such a handler the signal ends the program. Signal-safe, any thread; not in vfork's child.
 */
bool rec_view_fault(const void *address);

/* Valid until rec_view_close(). Never fails. */
const struct rec_view_info *rec_view_info(const struct rec_view *view);

/*
 * True if the program may still write: it has not replaced itself by exec, and its process is alive or may be alive. If
 * the program is in exit(), its other threads may write until the process is gone; then true means that the process is
 * certainly alive.
 */
bool rec_view_alive(const struct rec_view *view);

/*
 * The program's pid in the caller's pid namespace; 0: it has none there. The pid of rec_view_info() is the one in the
 * program's own namespace. Reads /proc; for a program in another pid namespace, the entries of all processes.
 */
uint32_t rec_view_pid(const struct rec_view *view);

/*
 * The pid namespace of the pids in rec_view_info(): the inode of the program's /proc/self/ns/pid. 0: unknown.
 */
uint64_t rec_view_pid_namespace(const struct rec_view *view);

/* The current number of lanes; it never shrinks. */
unsigned int rec_view_lanes(const struct rec_view *view);

/* Take only sub-buffers that the writer has left. */
#define REC_READ_WHOLE 1u

/*
 * Take the next page of a lane. Returns 1: *ret_page is valid until the lane's next call or until the view is closed;
 * then its events count as read. If the reader dies before that, the next reader gets the page. 0: nothing to read
 * (with REC_READ_WHOLE: no whole sub-buffer). -EBUSY: another living process, or another view of this one, reads this
 * lane; -EAGAIN: a writer is moving the head, or the program is changing the lane, try again later; -EBADMSG: the lane
 * is damaged, no more events can be read from it; -EFAULT: the file was truncated, no more events can be read from any
 * lane; -EINVAL: no such lane; -EROFS: the file system is read-only and the program is alive; -ENOMEM or the errno of
 * mmap, when the lane is opened.
 */
int rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page);

/*
 * Return the page of the lane's last rec_view_read(): it does not count as read, and the next reader gets it again. If
 * there is no such page, nothing happens.
 */
void rec_view_unread(struct rec_view *view, unsigned int lane);

/*
 * How full a lane is, in per cent, 0 to 100: the sub-buffers that the writer has entered and that were neither read nor
 * overwritten. The call takes a few loads; the result may be out of date when it returns. -EINVAL: no such lane;
 * -EAGAIN: the program is making the lane or changing its size; -EBADMSG: the lane is damaged; -EFAULT: the file was
 * truncated.
 */
int rec_view_fill(const struct rec_view *view, unsigned int lane);

/*
 * Copy the new events of the lane's reader page to the `size` bytes at `page` (aligned to 8), as a page in the kernel's
 * format, like the kernel's read_page (facts C8, C9): as many whole events as fit. The time stamp is that of the first
 * copied event, or earlier. A loss is marked in bits 31 and 30 of the commit word, and its number is stored after the
 * data if there is room; the rest is cleared. A copy that begins in the middle of a sub-buffer begins with a CPU
 * marker, if there is room for it. In a copy with a loss the marker follows the first event, because libtraceevent
 * looks for losses only where a page begins with an event. Copied events count as read at once; the next call copies
 * those that did not fit. With REC_READ_WHOLE, a sub-buffer is copied only if the writer has left it and all of its
 * events that were not read fit.
 *
 * 1: *ret_page describes the copy, its data being `page`. 0: nothing. -EMSGSIZE: the next event (with REC_READ_WHOLE:
 * the page) does not fit into `size`. Or an error of rec_view_read().
 */
int rec_view_read_page(struct rec_view *view, unsigned int lane, unsigned int flags, void *page, size_t size,
		       struct rec_page *ret_page);

/* In place of a lane's number: all lanes that exist at the time of the call. */
#define REC_ALL_LANES UINT32_MAX

/* An event of a lane. */
struct rec_view_event {
	struct rec_record record;
	uint32_t lane;
	uint64_t number; /* of the event, counted since the lane began; overwritten ones count, refused ones do not */
	uint64_t lost;	 /* events lost immediately before it: overwritten, refused, or consumed by another reader */
	uint64_t lost_time; /* the time of the first of them; 0: none, or unknown */
};

/*
 * The next event of a lane; with REC_ALL_LANES, the one with the smallest time in all lanes; if times are equal, that
 * of the lowest lane. Lanes that are damaged or that another process reads are left out; new lanes are included. The
 * event is not consumed: the next call returns it again, with the same loss. The payload is in the ring's own memory
 * and is valid until the next call that reads the lane. A process that writes the file can change it at any time: check
 * a copy.
 *
 * Returns 1: *ret_event is filled. 0: there is no event; only `lost` and `lost_time` are set, for the events lost after
 * the last event, and the next event reports the same loss. Or an error of rec_view_read().
 */
int rec_view_peek(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event);

/*
 * The same as rec_view_peek(), but the event counts as read: no later call and no later reader gets it again.
 */
int rec_view_consume(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event);

/*
 * Wait until data arrive in a lane, or in any lane with REC_ALL_LANES, at most `timeout` milliseconds; 0 only checks, a
 * negative value waits forever. `percent` (0 to 100) is the kernel's buffer_percent: with 0, one event is enough;
 * otherwise the writer must have left the reader's sub-buffer, and this percentage of the ring must be filled. Once the
 * program is dead, one event is always enough. The writer wakes a reader that waits for a percentage. With 0 it does so
 * only when it begins a sub-buffer, so the call checks for single events every few milliseconds.
 *
 * Returns 1: there are data. 0: timeout. -EPIPE: the program no longer writes, and everything was read. -EINTR: a
 * signal handler that was set without SA_RESTART ran while the call slept. A handler that runs between two sleeps does
 * not end the call; one that must end it calls rec_view_wake(). -ECANCELED: rec_view_wake(). -EINVAL: no such lane, or
 * percent is above 100. Or another error of rec_view_read().
 */
int rec_view_wait(struct rec_view *view, unsigned int lane, unsigned int percent, int timeout);

/* End another thread's rec_view_wait() on this view; if no thread waits, end the next. Any thread, signal-safe. */
void rec_view_wake(struct rec_view *view);

/* The kernel's statistics of a lane, under the kernel's names, since the lane was last reset. */
struct rec_lane_stats {
	uint64_t entries;	  /* committed, neither read nor overwritten */
	uint64_t overrun;	  /* overwritten before they were read */
	uint64_t commit_overrun;  /* refused: nested writers wrapped the lane */
	uint64_t bytes;		  /* the size of the entries, with everything between them */
	uint64_t oldest_event_ts; /* time of the oldest page, in the buffer's clock */
	uint64_t now_ts;	  /* the same clock now */
	uint64_t dropped_events;  /* refused: full in discard mode */
	uint64_t read_events;
	uint64_t too_long;     /* refused: longer than a sub-buffer takes */
	uint64_t nested_limit; /* refused: interrupted too often */
	uint64_t disabled;     /* refused: the lane was disabled, or stopped as broken; the latter is a loss */
	uint64_t torn; /* events reserved and never committed; if the program is dead, also those that it left open */
	uint64_t lost_unread;  /* refused and overwritten events that no page has reported yet */
	uint32_t clock;	       /* REC_CLOCK_ */
	uint32_t subbuf_size;
	uint32_t nr_pages; /* sub-buffers in the ring, the reader page not counted */
	uint32_t owner;	   /* thread (above INT32_MAX: without an id); 0: none; REC_OWNER_HELD: by rec_lane_swap() */
	uint32_t shared;   /* 1: threads without a lane of their own take it for one event at a time */
	uint32_t broken; /* not 0: a broken invariant stopped the lane; a counter may then be 0 because it is unknown */
};

/*
 * Returns 0; -EINVAL: no such lane; -EBADMSG: the lane is damaged; -EFAULT: the file was truncated; -EAGAIN: the
 * program is making the lane, is changing its size, or is just giving it up. If the program has given the lane up, or
 * is changing its size, and the lane is empty, subbuf_size and nr_pages may be 0; the other statistics are those of its
 * former ring.
 */
int rec_view_stats(const struct rec_view *view, unsigned int lane, struct rec_lane_stats *ret_stats);

/*
 * Empty a lane, as a write to the kernel's `trace` file does: events that were committed before the call are skipped
 * and not counted, and the statistics begin again at 0. Writers can write during the call. Returns 0; -EROFS: the file
 * system is read-only, even if the program is dead; or another error of rec_view_read().
 */
int rec_view_reset(struct rec_view *view, unsigned int lane);

/*
 * Write the eight lines of the kernel's per_cpu/cpuN/stats, as the kernel writes them; times are in seconds if the
 * clock counts nanoseconds. Returns their length without the NUL, or -ENOSPC: `size` is too small (512 is enough). Any
 * thread; not signal-safe.
 */
int rec_stats_text(const struct rec_lane_stats *stats, char *text, size_t size);

/* Losses of the process that belong to no lane. */
struct rec_view_losses {
	uint64_t no_lane;  /* events of threads that got no lane */
	uint64_t log_full; /* events, names, call sites and conditions that found no room in the buffer */
	int lease_errno;   /* why the last of these events was lost: positive errno or 0; see rec_view_open(3) */
};

/* Store the present counts. Never fails. */
void rec_view_losses(const struct rec_view *view, struct rec_view_losses *ret_losses);

/*
 * The number of processes that this one forked and that have no buffer, if nothing in the buffer's directory reports
 * it: a child may have lost the rights to the directory, for example. At most 65535; their own children are not
 * counted. *ret_errno, a positive errno value, is the reason why the last of them has no buffer; it is not stored if
 * the number is 0.
 */
unsigned int rec_view_unrecorded(const struct rec_view *view, int *ret_errno);

/*
 * Copy valid log bytes from offset `from` on. Returns how many were copied, at most `size`, 0 at the end. The last
 * record may be cut, and the records are not checked: see rec_log_next().
 */
size_t rec_view_log(const struct rec_view *view, uint64_t from, void *bytes, size_t size);

/* Copy at most `max` of the newest anchors, oldest first. Returns how many; 0 also if the file was truncated. */
unsigned int rec_view_anchors(const struct rec_view *view, struct rec_anchor *anchors, unsigned int max);

/* The enable word of an event id (REC_ENABLE_ bits); 0 for an unknown id. */
uint32_t rec_view_enabled(const struct rec_view *view, unsigned int id);

/* --------------------------------------------------------------------------------------------------- control */

/*
 * Switch events of a running program on or off, as rec_enable() and rec_disable() do for their own process: those that
 * the program has, and those that it registers later. No code runs in the program. `selector` is a list of patterns; a
 * rate and a filter may follow (filter.h). An event that is switched on without a rate or a filter loses those that it
 * had; if the filter does not fit an event, the event is switched off. Returns the number of known events that match
 * and that the filter fits. rec_printf's event, ftrace:bprint, counts if the program has used it. -EINVAL: the selector
 * is malformed; -ESRCH: the program is dead; -ENOSPC: other processes made too many rules or conditions in it; -ENOMEM:
 * no memory, or no room in the file system of the buffer; -EBADMSG: the buffer is damaged, -EFAULT: truncated, -EROFS:
 * on a read-only file system; or the errno of mmap, flock or fallocate. The call waits while another process switches
 * events of this program; -EBUSY: this took longer than a second. On an error nothing is changed, except for -EFAULT,
 * and for -ENOMEM and the errno of fallocate, after which events registered later may be switched. A thread that is
 * cancelled meanwhile completes the call first.
 */
int rec_view_switch(struct rec_view *view, const char *selector, bool on);

/*
 * Switch one event of the program, by its id: to a word that rec_view_enabled() returned before, with its condition; to
 * REC_ENABLE_WANTED: on, without a condition; or to 0: off. Returns 0; -EINVAL: the program has no event of this id; or
 * another error of rec_view_switch().
 */
int rec_view_switch_event(struct rec_view *view, unsigned int id, uint32_t word);

/*
 * Remove the rule that rec_view_switch() made for the patterns of this selector: it does not switch events that are
 * registered from now on. Enable words do not change. Returns 0 or an error of rec_view_switch().
 */
int rec_view_forget(struct rec_view *view, const char *selector);

/*
 * The rate of an event, and how many records of the event were suppressed in this process since it was switched on with
 * this rate. A forked child begins at 0.
 */
struct rec_view_rate {
	uint32_t rate; /* events a second */
	uint64_t suppressed;
};

/* Returns false if the event is off or has no rate. */
bool rec_view_rate(const struct rec_view *view, unsigned int id, struct rec_view_rate *ret_rate);

/*
 * The filter of an event of the log, as text; its parentheses may differ from those of the original text. `event` NULL
 * means rec_printf's event. Returns the length of the text, 0: no filter, or the event is off; -ENOSPC: `size` is too
 * small; -EBADMSG: the condition or the description is damaged.
 */
int rec_view_filter(const struct rec_view *view, const struct rec_log_event *event, char *text, size_t size);

/*
 * Make a loan, in order to switch events temporarily: note in the program's buffer that this process is about to switch
 * on the events that match `patterns` (lists of patterns, one list on each line), and the present enable words of these
 * events. Then switch them on by rec_view_switch(), and at the end call rec_view_give_back(). A forked child begins
 * with a copy of the loan. `patterns` are copied.
 *
 * Returns 0, also if this process already has a loan, whose patterns then do not change; -EINVAL: not a list of
 * patterns; -ENOSPC: longer than 2047 bytes; -EBUSY: another process has a loan; the errno of fcntl; or another error
 * of rec_view_switch(), but not -ESRCH: it is not checked whether the program is alive. If a dead process left a loan
 * for the same patterns, it is taken over, and the events stay on; any other loan of a dead process is given back
 * first.
 */
int rec_view_borrow(struct rec_view *view, const char *patterns);

/*
 * End the loan: restore its events, with their conditions. Events that were off are switched off, and the rules for the
 * patterns of the loan are removed. If the process that has the loan ends or closes its view, any process may do this.
 * Returns 1; 0: there is no loan, or the program is dead; -EBUSY: another process has the loan; or another error of
 * rec_view_switch(). After -ENOMEM or the errno of fallocate, the rules may have been removed, but the events are still
 * on: call it again.
 */
int rec_view_give_back(struct rec_view *view);

/*
 * Which process has the loan. Returns 1: this process has it; 0: there is no loan; -EBUSY: another process has it;
 * -EOWNERDEAD: the process that had it is dead.
 */
int rec_view_loan(const struct rec_view *view);

/*
 * Start and stop all recording of a program, whichever events are enabled, as rec_start() and rec_stop() do for their
 * own process. Returns 0 or an error of rec_view_switch(). After -ENOMEM or the errno of fallocate, the program counts
 * as started, or stopped, but its present events may be unchanged: call the function again.
 */
int rec_view_start(struct rec_view *view);
int rec_view_stop(struct rec_view *view);

/*
 * For the next `seconds`, let threads of the program that fill their lanes faster than they are read continue in
 * further lanes, instead of overwriting unread events; 0 ends this at once. The program uses at most three quarters of
 * the lanes that its limit allows (RECORDER_MAX_KB); the others are for threads that begin later. Threads that called
 * rec_thread_attach() keep their lanes. A reader that keeps up repeats the call every few seconds. When the time is
 * over, the memory of lanes without unread events is given back. Returns 0, also if the program is dead; -EOPNOTSUPP:
 * the program's version of the library does not know growth; -EROFS: the file system is read-only; -EFAULT: the file
 * was truncated; or the errno of mmap.
 */
int rec_view_grow(struct rec_view *view, unsigned int seconds);

/* True if the program's recording is stopped (rec_view_stop()), or was when the program died. Never fails. */
bool rec_view_stopped(const struct rec_view *view);

/* ---------------------------------------------------------------------------------------- without consuming */

/* An iterator over the events of a lane. It has a copy of one page of the lane. */
struct rec_iter;

/*
 * Begin to read a lane's events without consuming them, from the oldest unread one on. Several iterators, a consuming
 * reader of this process or another, and the writer do not disturb each other. The program may be dead. The iterator
 * uses `view`: close it before the view. It may be used in another thread than the view, by one thread at a time.
 * Returns 0; -EINVAL: no such lane; -EFAULT: the file was truncated; -ENOMEM. rec_iter_close() accepts NULL and returns
 * NULL.
 */
int rec_iter_open(struct rec_view *view, unsigned int lane, struct rec_iter **ret_iter);
struct rec_iter *rec_iter_close(struct rec_iter *iter);

/*
 * The next event. The payload is in the iterator's copy and does not change until the next call. `lost` counts the
 * events between the last returned one and this one that were overwritten before the iterator reached them; this number
 * is exact. Refused events are added to the extent that the sub-buffers record them. Returns 1: *ret_event is filled.
 * 0: there is no event now. -EAGAIN: the writer overwrote each page while it was being copied, several times in a row,
 * or the program is changing the lane's size; try again, or reset. -EBADMSG: the lane is damaged; -EFAULT: the file was
 * truncated.
 */
int rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event);

/* Move the iterator to the event that is now the oldest unread one in the lane. Never fails. */
void rec_iter_reset(struct rec_iter *iter);

/*
 * The events that rec_iter_next() would return, a page at a time: the rest of a sub-buffer as it is now, in the
 * iterator's copy, valid until its next call. Returns the same values as rec_iter_next().
 */
int rec_iter_page(struct rec_iter *iter, struct rec_page *ret_page);

/*
 * Continue at `mark`, with all later events that are still in the lane's memory. These include events that a reader has
 * consumed, until their sub-buffers are overwritten. Events missing between the mark and the first event count as lost.
 * A mark of zeros means the oldest event in the lane, with nothing lost before it. Never fails.
 */
void rec_iter_continue(struct rec_iter *iter, const struct rec_lane_mark *mark);

/* Store the iterator's position. Never fails. */
void rec_iter_mark(const struct rec_iter *iter, struct rec_lane_mark *ret_mark);

/*
 * The mark that a lane keeps for snapshots: the end of the last snapshot, by any process. Returns 0; -EINVAL: no such
 * lane. rec_view_set_mark() also returns -EROFS: the file system is read-only; -EFAULT: the file was truncated; or the
 * errno of mmap.
 */
int rec_view_mark(const struct rec_view *view, unsigned int lane, struct rec_lane_mark *ret_mark);
int rec_view_set_mark(struct rec_view *view, unsigned int lane, const struct rec_lane_mark *mark);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
