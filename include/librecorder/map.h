/* SPDX-License-Identifier: MIT */
/*
 * Mapped rings: the same calls read a lane, or the kernel's ring of one CPU, in place. Both have the layout of the
 * kernel's trace_pipe_raw mapping: struct rec_meta (the kernel's struct trace_buffer_meta) first, sub-buffer i at
 * meta_page_size + i * subbuf_size. The layout does not change while the ring is mapped. One sub-buffer belongs to the
 * reader. Each request gives the reader the new events in this sub-buffer, or another sub-buffer.
 *
 *	while (rec_map_wait(map, 50, -1) == 1)
 *		while (rec_map_get_reader(map, &page) == 1)
 *			... events: rec_page_iter_init(&iter, page.data, page.size); rec_page_next() ...
 *
 * A map belongs to one thread at a time; no function is signal-safe.
 */
#ifndef LIBRECORDER_MAP_H
#define LIBRECORDER_MAP_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <librecorder/source.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rec_map;
struct rec_view;

/*
 * Map a lane of an open buffer of a living or dead program. The map begins where the lane's last reader stopped; it
 * shares its position with the view's other calls for this lane. Close it before the view. Returns 0; -EBUSY: another
 * process, or another view of this one, reads the lane; -EINVAL: no such lane; -EBADMSG: the lane is damaged; -EFAULT:
 * the file was truncated; -EAGAIN: the program is changing the lane's size; -ENODATA: the lane is being made, or its
 * program died while it made or changed it; -EROFS: the file system is read-only and the program is alive; -EOPNOTSUPP:
 * the lane's sub-buffers are smaller than a page of the system; -ENOMEM or the errno of mmap or madvise. *ret_map
 * belongs to the caller, who closes it. After success, and also after -EOPNOTSUPP, the lane has no other reader until
 * the view is closed.
 */
int rec_map_lane(struct rec_view *view, unsigned int lane, struct rec_map **ret_map);

/* Copy pages by read(2), even if the kernel can map its rings. */
#define REC_MAP_COPY 1u

/*
 * Map the ring of one CPU of a tracefs instance: `instance` is its name, its directory (an absolute path), or NULL for
 * the top-level one. This call changes nothing in the instance; rec_map_wait() may set its buffer_percent. A kernel
 * before 6.10, and a ring that cannot be mapped (a snapshot is in use, a persistent instance), is read by read(2) into
 * two pages of this process's own, which take turns; rec_map_is_copy() returns 1 then.
 *
 * Returns 0; -ENOENT: no such instance, or tracefs is not mounted; -EACCES: no permission to read it; -EINVAL: unknown
 * flags, or `instance` is neither a name nor an absolute path; -ENAMETOOLONG; -ENODEV: no such CPU; -EPROTO: the layout
 * of the kernel's meta page is unknown; -ENOMEM; or the errno of open or mmap. *ret_map belongs to the caller, who
 * closes it.
 */
int rec_map_kernel(const char *instance, unsigned int cpu, unsigned int flags, struct rec_map **ret_map);

/* 1: the pages are copies; 0: they are mapped. Never fails. */
int rec_map_is_copy(const struct rec_map *map);

/* Accepts NULL; returns NULL. Pages and meta page are no longer valid afterwards. */
struct rec_map *rec_map_close(struct rec_map *map);

/*
 * The meta page, where the mapping begins. The last rec_map_get_reader() set its counters; writers do not change them.
 * reader_lost_events is the number of events lost immediately before the reader's sub-buffer. In the kernel's own maps
 * it is always 0: there only the page reports a loss. Valid until rec_map_close(). Never fails.
 */
const struct rec_meta *rec_map_meta(const struct rec_map *map);

/*
 * Sub-buffer `id`, header first, subbuf_size bytes; NULL: no such id. Writers may change all sub-buffers except the
 * reader's own (reader_id). Valid until rec_map_close().
 */
const void *rec_map_page(const struct rec_map *map, uint32_t id);

/*
 * Does the same as the kernel's TRACE_MMAP_IOCTL_GET_READER. If the reader's sub-buffer has new events, they now count
 * as read, up to meta->reader_read. Otherwise the oldest sub-buffer of the ring with events, if there is one, becomes
 * the reader's, and its events count as read. The meta page is updated in every case. The call never waits.
 *
 * Returns 1: there are new events; *ret_page, if not NULL, describes them: events that begin before `from` are old. The
 * page does not change until the next call. If this process is killed before that, the next reader of a lane gets the
 * page. The number of events lost before it is also in the page's own header, as the kernel writes it, unless the
 * writer is still on the page. 0: there is nothing new. For lanes, the errors of rec_view_read(), or the errno of
 * madvise or mprotect; for the kernel, the errno of ioctl or read; -EPROTO: the kernel returned something that is not a
 * page.
 */
int rec_map_get_reader(struct rec_map *map, struct rec_page *ret_page);

/*
 * Wait until data arrive, at most `timeout` milliseconds; 0 only checks, a negative value waits forever. `percent` is
 * the kernel's buffer_percent: with 0, one event is enough. For a lane, the call works as rec_view_wait(). The kernel
 * has one buffer_percent for an instance: if it differs, it is set, and is not restored. Returns 1: there are data. 0:
 * timeout. -EPIPE: a lane's program is dead and everything was read. -ENODEV: the kernel's ring no longer exists.
 * -ECANCELED: rec_view_wake() of the lane's view. -EINTR; -EINVAL: percent is above 100; -EACCES, -EROFS:
 * buffer_percent differs and may not be written; or the errno of poll.
 */
int rec_map_wait(struct rec_map *map, unsigned int percent, int timeout);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
