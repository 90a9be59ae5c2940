/* SPDX-License-Identifier: MIT */
/*
 * Mapped rings: a lane, or the ring of one CPU of the kernel's, read in place by one set of calls. Both look as the
 * kernel lays out trace_pipe_raw: struct rec_meta (the kernel's struct trace_buffer_meta) first, sub-buffer i at
 * meta_page_size + i * subbuf_size, for as long as it is mapped. The reader has one sub-buffer for itself; what it asks
 * for is another one, or what has come to this one since.
 *
 *	while (rec_map_wait(map, 50, -1) == 1)
 *		while (rec_map_get_reader(map, &page) == 1)
 *			... events: rec_page_iter_init(&iter, page.data, page.size); rec_page_next() ...
 *
 * A map belongs to one thread at a time; nothing here is for signal handlers.
 */
#ifndef LIBRECORDER_MAP_H
#define LIBRECORDER_MAP_H

#include <librecorder/abi.h>
#include <librecorder/source.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rec_map;
struct rec_view;

/*
 * Map a lane of an open buffer, of a program alive or dead. The map reads on where the lane's last reader
 * stopped; it shares its position with the view's other calls for this lane. To be closed before the view. 0;
 * -EBUSY: another process, or another view of this one, reads the lane; -EINVAL: no such lane; -EBADMSG: it
 * is damaged; -EFAULT: the file was cut short; -EAGAIN: the program is just giving it another shape;
 * -ENODATA: it is just being made, or its program died in either; -EROFS: the file system is read-only and
 * the program lives; -ENOMEM, or mmap's errno.
 */
int rec_map_lane(struct rec_view *view, unsigned int lane, struct rec_map **ret_map);

/* Copies by read(2), even where the kernel maps its rings. */
#define REC_MAP_COPY 1u

/*
 * Map the ring of one CPU of a tracefs instance: `instance` is its name, its directory (an absolute path), or NULL for
 * the top-level one. Changes nothing there; see rec_map_wait(). A kernel before 6.10, and a ring that cannot be mapped
 * (a snapshot is in use, a persistent instance), is read by read(2) into two pages of this process's own, which take
 * turns; rec_map_is_copy() tells.
 *
 * 0; -ENOENT: no such instance, or tracefs is not mounted; -EACCES: no right to read it; -EINVAL: unknown flags;
 * -ENODEV: no such CPU; -EPROTO: the kernel's meta page is none that we know; -ENOMEM; or the errno of open or mmap.
 */
int rec_map_kernel(const char *instance, unsigned int cpu, unsigned int flags, struct rec_map **ret_map);

/* Whether the pages are copies. */
int rec_map_is_copy(const struct rec_map *map);

/* Takes NULL too; returns NULL. Pages and meta page are gone. */
struct rec_map *rec_map_close(struct rec_map *map);

/*
 * The meta page, where the mapping begins. Its figures are those of the last rec_map_get_reader(); writers change none
 * of them. reader_lost_events is what was lost immediately before the reader's sub-buffer (in the kernel's own maps it
 * is always 0: there the page alone tells).
 */
const struct rec_meta *rec_map_meta(const struct rec_map *map);

/*
 * Sub-buffer `id`, header first, subbuf_size bytes; NULL: no such id. Only
 * the reader's own (reader_id) stands still.
 */
const void *rec_map_page(const struct rec_map *map, uint32_t id);

/*
 * What the kernel's TRACE_MMAP_IOCTL_GET_READER does: if something has come to the reader's sub-buffer since the last
 * call, that counts as read now, up to meta->reader_read; else the oldest sub-buffer of the ring, if there is something
 * on one, becomes the reader's, and what it holds counts as read. The meta page is brought up to date in any case.
 * Never waits.
 *
 * 1: there is something new; *ret_page, if given, describes it: events that begin before `from` are old. It stands
 * still until the next call. In a lane it is the next reader's until then, should this process be killed. Events lost
 * before it are in the page's own header too, as the kernel writes them, unless the writer is still on the page.
 * 0: nothing new. Lanes: errors as rec_view_read(); kernel: the errno of ioctl or read.
 */
int rec_map_get_reader(struct rec_map *map, struct rec_page *ret_page);

/*
 * Wait until there is something to read, at most `timeout` milliseconds; 0 only looks, a negative one waits for ever.
 * `percent` is the kernel's buffer_percent: with 0 an event is enough. A lane: as rec_view_wait(). The kernel has one
 * buffer_percent for an instance: if it is another one, it is set, and stays so.
 * 1: there is. 0: not within the time. -EPIPE: a lane's program is gone and all was read. -EINTR; -EINVAL: above 100;
 * -EACCES, -EROFS: buffer_percent is another one and may not be written; or the errno of poll.
 */
int rec_map_wait(struct rec_map *map, unsigned int percent, int timeout);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
