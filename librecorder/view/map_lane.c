/* SPDX-License-Identifier: MIT */
/*
 * A lane as a mapped ring.
 *
 * Guarantees. All that a view guarantees for its lanes. Of the program's memory only the reader words are written. The
 * meta page is this process's own memory. After the meta page, the file is mapped privately: a sub-buffer shows what
 * the program writes until this process changes it; from then on this process has a copy of its own. Only one header is
 * changed: that of the reader page, if the writer has not left the page or if events were lost before it. In a lane,
 * the header of such a page lacks the size, and never shows losses. The copy is dropped before the next access, so that
 * new data are visible again.
 */
#include "librecorder/core/page_bytes.h"
#include "librecorder/core/atomic.h"
#include "librecorder/view/map_private.h"
#include "librecorder/view/reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lane_map {
	struct rec_map map;
	struct rec_view *view;
	struct view_map mapped;
	uint32_t lane;
	uint64_t lost; /* before the reader page */
	uint32_t page; /* the number of that page */
	bool is_copied;
};

static struct rec_meta *meta_of(const struct lane_map *lane)
{
	return (struct rec_meta *)(uintptr_t)lane->map.base;
}

static size_t size_of(const struct rec_map *map)
{
	return map->meta_page_size + (size_t)map->nr_subbufs * map->subbuf_size;
}

/* Drop the copy of the reader page: the lane's own data are visible again. */
static int drop_copy(struct lane_map *lane)
{
	const struct rec_map *map = &lane->map;

	if (!lane->is_copied)
		return 0;
	if (madvise((void *)(uintptr_t)map_page(map, lane->page), map->subbuf_size, MADV_DONTNEED) < 0)
		return -errno;
	lane->is_copied = false;
	return 0;
}

/* Write into the header of a copy what the kernel stores there: the size, and the events lost before. */
static int copy_page(struct lane_map *lane, const struct rec_page *page)
{
	const uint32_t capacity = lane->map.subbuf_size - REC_SUBBUF_HEADER_SIZE;
	unsigned char *at = (unsigned char *)(uintptr_t)map_page(&lane->map, lane->page);

	if (mprotect(at, lane->map.subbuf_size, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	lane->is_copied = true;
	page_put_commit(at, page->size, lane->lost, capacity);
	return mprotect(at, lane->map.subbuf_size, PROT_READ) < 0 ? -errno : 0;
}

/*
 * `taken`: handed over by this call; the counters will show them as read only after the next call. If the ring cannot
 * be counted, the figures stay as they were; the page is still valid.
 */
static void fill_meta(struct lane_map *lane, const struct rec_ring_reader *ring, const struct rec_page *taken)
{
	const struct rec_lane_bases *bases = rec_bases_of(ring->words);
	struct rec_meta *meta = meta_of(lane);
	struct rec_ring_counts counts;

	meta->reader_lost_events = lane->lost;
	meta->reader_id = lane->page;
	meta->reader_read = taken->data ? taken->size : REC_POS_OFF(ring->read);
	if (rec_ring_count(ring, false, &counts) < 0)
		return;
	meta->overrun = counts.overrun - rec_load_relaxed(&bases->overrun);
	meta->read = counts.read - rec_load_relaxed(&bases->read) + taken->entries;
	meta->entries = counts.entries - taken->entries + meta->overrun + meta->read;
	meta->pages_lost = rec_load_relaxed(&ring->lane->pages_lost);
	meta->pages_touched = rec_load_relaxed(&ring->lane->pages_touched);
}

static int get_reader(struct rec_map *map, struct rec_page *ret_page)
{
	struct lane_map *lane = (struct lane_map *)map;
	const struct rec_ring_reader *ring = &lane->view->opened[lane->lane].ring;
	struct rec_page page = { 0 };
	int got, r = drop_copy(lane);

	if (r < 0)
		return r;
	got = rec_view_read(lane->view, lane->lane, 0, &page);
	if (got < 0)
		return got;
	if (lane->page != ring->page || (got && REC_POS_COUNT(ring->read) == 0))
		lane->lost = page.lost;
	lane->page = ring->page;
	fill_meta(lane, ring, &page);
	if (got && (ring->extent.open || lane->lost))
		r = copy_page(lane, &page);
	if (r < 0)
		return r;
	page.data = map_page(map, lane->page);
	*ret_page = page;
	return rec_view_is_cut(lane->view) ? -EFAULT : got;
}

static int wait_for(struct rec_map *map, unsigned int percent, int timeout)
{
	const struct lane_map *lane = (const struct lane_map *)map;

	return rec_view_wait(lane->view, lane->lane, percent, timeout);
}

static void close_map(struct rec_map *map)
{
	rec_view_unmap(&((struct lane_map *)map)->mapped);
}

static const struct map_kind kind = { .get_reader = get_reader, .wait = wait_for, .close = close_map };

static int map_it(struct lane_map *lane)
{
	const struct rec_view *view = lane->view;
	const uint64_t offset = view->lanes + lane->lane * view->lane_stride + view->lane_meta;
	const size_t size = size_of(&lane->map);
	const int r = rec_view_map_private(lane->view, &lane->mapped, offset, size);
	unsigned char *base = lane->mapped.at;

	if (r < 0)
		return r;
	lane->map.base = base;
	/*
	 * Anonymous memory, not the file's: a process that truncates and extends the file would remove private copies.
	 * Like the kernel's mappings, it is not inherited by a child and not in a core file.
	 */
	if (mmap(base, lane->map.meta_page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    madvise(base, size, MADV_DONTFORK) < 0 || madvise(base, size, MADV_DONTDUMP) < 0)
		return -errno;
	*meta_of(lane) = (struct rec_meta){ .meta_page_size = lane->map.meta_page_size,
					    .meta_struct_len = sizeof(struct rec_meta),
					    .subbuf_size = lane->map.subbuf_size,
					    .nr_subbufs = lane->map.nr_subbufs };
	return 0;
}

int rec_map_lane(struct rec_view *view, unsigned int index, struct rec_map **ret_map)
{
	struct view_lane *opened = NULL;
	struct lane_map *lane;
	int r = rec_view_lane(view, index, &opened);

	if (r < 0)
		return r;
	/* The meta page is laid over the file, and the header of one sub-buffer is changed: both take whole pages. */
	if (opened->ring.subbuf_size % (uint32_t)sysconf(_SC_PAGESIZE))
		return -EOPNOTSUPP;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	/* From here on the shape is fixed: it changes only while no reader has the lane. */
	*lane = (struct lane_map){ .map = { .kind = &kind,
					    .meta_page_size = opened->ring.subbuf_size,
					    .subbuf_size = opened->ring.subbuf_size,
					    .nr_subbufs = opened->ring.nr_subbufs },
				   .view = view,
				   .lane = index,
				   .page = opened->ring.page };
	r = map_it(lane);
	if (r == 0)
		fill_meta(lane, &opened->ring, &(struct rec_page){ 0 });
	if (rec_view_is_cut(view))
		r = -EFAULT;
	if (r < 0) {
		close_map(&lane->map);
		free(lane);
		return r;
	}
	*ret_map = &lane->map;
	return 0;
}
