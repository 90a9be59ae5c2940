/* SPDX-License-Identifier: MIT */
/*
 * The lanes of a view: becoming a lane's only reader, and taking whole pages.
 *
 * Guarantees. A lane has one reader at a time, by a lock that ends with the reader, so the lane of a reader that died
 * is free. Its shape is checked before it is used; only its reader words and links are mapped writable. A lane that is
 * damaged stays so, and is skipped.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <sys/mman.h>

/* The number of readers that may take a lane just before we do; more of them means an attack. */
#define OWN_TRIES 10u

static size_t shared_size(const struct rec_view *view)
{
	return (size_t)(view->lane_meta - view->lane_reader);
}

bool rec_view_shape_is_sane(uint64_t subbuf_size, uint64_t nr_subbufs, uint64_t max_subbufs)
{
	return subbuf_size >= REC_SUBBUF_MIN && subbuf_size <= REC_SUBBUF_MAX && !(subbuf_size & (subbuf_size - 1)) &&
	       nr_subbufs >= 3 && nr_subbufs <= max_subbufs;
}

static const struct rec_lane *lane_at(const struct rec_view *view, uint32_t index)
{
	return (const struct rec_lane *)(const void *)(view->map + view->lanes + index * view->lane_stride);
}

/*
 * What the owner of a lane, which is not 0, means for a reader that wants it; `locked` is the result of its lock. 0:
 * the owner is gone. -EAGAIN: it is the program, which is remaking the lane, and will be done soon (edge O2). -EBUSY:
 * it is another reader; or it may be either, because the program reads its own lanes on a file system without locks.
 * The lane of an owner is free only if that process is certainly gone. The program may be in another pid namespace, or
 * another image of it may run now; so it is not looked for by its pid.
 */
static int ask_owner(const struct rec_view *view, const struct rec_lane *lane, uint64_t owner, int locked)
{
	const uint64_t program = view->who.start_time << 32 | (uint32_t)view->who.pid;
	uint64_t start_time = 0;
	int r;

	if (owner == program) {
		if (rec_view_writers_are_gone(view))
			return 0;
		return locked == 0 || rec_load_relaxed(&lane->subbuf_size) == 0 ? -EAGAIN : -EBUSY;
	}
	r = rec_process_start_time((pid_t)(uint32_t)owner, &start_time);
	if (r == 0)
		return (uint32_t)start_time == (uint32_t)(owner >> 32) ? -EBUSY : 0;
	return r == -ENOENT || r == -ESRCH ? 0 : -EBUSY;
}

/*
 * Become the only reader of a lane, unless another living process is its reader, or another view of this process. A
 * lock shows in all pid namespaces that the lane has a reader; the word `owner` shows it to the program, and to readers
 * on file systems without such locks.
 */
static int own_lane(const struct rec_view *view, uint32_t index, struct rec_lane_reader *words)
{
	uint64_t owner = rec_load_relaxed(&words->owner);
	const int locked = rec_lock_take(view->fd, REC_LOCK_LANES + index);
	unsigned int tries = 0;
	int r = 0;

	if (locked == -EBUSY)
		return -EBUSY;
	do {
		if (++tries > OWN_TRIES)
			return -EBUSY;
		if (owner)
			r = ask_owner(view, lane_at(view, index), owner, locked);
	} while (r == 0 && !rec_cmpxchg64(&words->owner, &owner, view->self));
	return r;
}

/* A reader for the lane, which has this shape. */
static struct rec_ring_reader ring_at(const struct rec_view *view, uint32_t index, uint32_t nr_subbufs,
				      uint32_t subbuf_size)
{
	const struct rec_lane *lane = lane_at(view, index);
	const unsigned char *at = (const unsigned char *)lane;
	const unsigned char *shared = at + view->lane_reader;

	/* If the file is read-only, our writes stay in our own mapping. */
	if (view->opened[index].shared.at)
		shared = view->opened[index].shared.at;
	return (struct rec_ring_reader){
		.lane = lane,
		.subbufs = (const struct rec_subbuf *)(const void *)(lane + 1),
		.pages = at + view->lane_meta + subbuf_size,
		.words = (struct rec_lane_reader *)(uintptr_t)shared,
		.links = (struct rec_link *)(uintptr_t)(shared + sizeof(struct rec_lane_reader)),
		.nr_subbufs = nr_subbufs,
		.subbuf_size = subbuf_size,
	};
}

int rec_view_look(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring)
{
	const struct rec_lane *lane;
	uint32_t subbuf_size, nr_subbufs;

	if (index >= rec_view_lanes(view))
		return -EINVAL;
	lane = lane_at(view, index);
	/* Acquire: if the lane has just been made, its ring is complete (edge N1). */
	subbuf_size = rec_load_acquire(&lane->subbuf_size);
	/* The lane is not made yet, or is empty and being remade: it has no events. */
	if (!subbuf_size)
		return -ENODATA;
	nr_subbufs = rec_load_acquire(&lane->nr_subbufs);
	/* Both values belong to one shape (edge N3). */
	if (rec_load_relaxed(&lane->subbuf_size) != subbuf_size)
		return -EAGAIN;
	if (!rec_view_shape_is_sane(subbuf_size, nr_subbufs, view->max_subbufs) ||
	    (nr_subbufs + UINT64_C(1)) * subbuf_size > view->lane_stride - view->lane_meta)
		return -EBADMSG;
	*ret_ring = ring_at(view, index, nr_subbufs, subbuf_size);
	return 0;
}

int rec_view_look_without_ring(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring)
{
	const struct rec_lane *lane = lane_at(view, index);
	uint32_t nr_subbufs;

	/* A lane with a tail has had a ring, or is getting its first one: then its statistics are 0. Acquire: N1. */
	if (!rec_load_acquire(&lane->tail))
		return -ENODATA;
	nr_subbufs = rec_load_acquire(&lane->nr_subbufs);
	if (rec_load_relaxed(&lane->subbuf_size) || nr_subbufs < 3 || nr_subbufs > view->max_subbufs)
		return -EAGAIN;
	*ret_ring = ring_at(view, index, nr_subbufs, 0);
	return 0;
}

bool rec_view_still(const struct rec_ring_reader *ring)
{
	/* Acquire: if the lane was remade, its number of sub-buffers is the new one (edge N1). */
	return rec_load_acquire(&ring->lane->subbuf_size) == ring->subbuf_size &&
	       rec_load_relaxed(&ring->lane->nr_subbufs) == ring->nr_subbufs;
}

/* Threads that read different lanes call this at the same time. */
static void note_subbuf_size(struct rec_view *view, uint32_t size)
{
	uint32_t largest = rec_load_relaxed(&view->info.subbuf_size);

	while (size > largest && !rec_cmpxchg32(&view->info.subbuf_size, &largest, size))
		;
}

void rec_view_leave_words(const struct rec_view *view, uint32_t index, struct view_map *words)
{
	rec_store_release(&((struct rec_lane_reader *)(void *)words->at)->owner, 0);
	rec_lock_give(view->fd, REC_LOCK_LANES + index);
	rec_view_unmap(words);
}

int rec_view_own_words(struct rec_view *view, uint32_t index, struct view_map *ret_words)
{
	struct rec_lane_reader *words;
	int r;

	/* Other processes would not see anything that is written there. */
	if (view->read_only && !rec_view_writers_are_gone(view))
		return -EROFS;
	r = rec_view_map(view, ret_words, PROT_READ | PROT_WRITE,
			 view->lanes + index * view->lane_stride + view->lane_reader, shared_size(view));
	if (r < 0)
		return r;
	words = (struct rec_lane_reader *)(void *)ret_words->at;
	r = own_lane(view, index, words);
	if (r == -EBUSY && rec_load_acquire(&words->owner) == 0)
		r = -EAGAIN;
	if (r < 0) {
		rec_lock_give(view->fd, REC_LOCK_LANES + index);
		rec_view_unmap(ret_words);
	}
	return r;
}

static int open_lane(struct rec_view *view, uint32_t index)
{
	struct view_lane *lane = &view->opened[index];
	struct rec_ring_reader ring = { 0 };
	int r;

	if (view->read_only && !rec_view_writers_are_gone(view))
		return -EROFS;
	/* This check makes no system call, because many lanes may have been given up. */
	if (rec_view_look(view, index, &ring) == -ENODATA)
		return -ENODATA;
	r = rec_view_own_words(view, index, &lane->shared);
	/* While the lane is being remade it has no size, so it has no events. */
	if ((r == -EBUSY || r == -EAGAIN) && rec_view_look(view, index, &ring) == -ENODATA)
		r = -ENODATA;
	if (r < 0)
		return r;
	/* From here on the shape is fixed: it changes only while no reader has the lane. */
	r = rec_view_look(view, index, &ring);
	ring.words = (struct rec_lane_reader *)(void *)lane->shared.at;
	if (r == 0)
		r = rec_ring_reader_init(&ring);
	if (r < 0 && r != -EBADMSG) {
		rec_view_leave_words(view, index, &lane->shared);
		return r;
	}
	lane->ring = ring;
	lane->damaged = r < 0;
	if (!lane->damaged)
		note_subbuf_size(view, ring.subbuf_size);
	return 0;
}

int rec_view_lane(struct rec_view *view, uint32_t index, struct view_lane **ret_lane)
{
	int r = 0;

	if (rec_view_is_cut(view) || index >= rec_view_lanes(view))
		return rec_view_is_cut(view) ? -EFAULT : -EINVAL;
	if (!view->opened[index].shared.at)
		r = open_lane(view, index);
	if (rec_view_is_cut(view))
		return -EFAULT;
	if (r < 0)
		return r;
	if (view->opened[index].damaged)
		return -EBADMSG;
	*ret_lane = &view->opened[index];
	return 0;
}

/* If the program is gone, the move of a head in its lane will never be finished: finish it, once. */
static int settle(struct rec_view *view, struct view_lane *lane)
{
	const uint32_t tail = REC_POS_ID(rec_load_acquire(&lane->ring.lane->tail));

	if (!rec_view_writers_are_gone(view))
		return -EAGAIN;
	if (tail >= lane->ring.nr_subbufs)
		return -EBADMSG;
	return rec_ring_settle(lane->ring.links, lane->ring.nr_subbufs, tail);
}

bool rec_view_again(struct rec_view *view, struct view_lane *lane, int r, unsigned int *tries)
{
	if (r == -EAGAIN && !(*tries)++) {
		r = settle(view, lane);
	} else {
		/* No writer is left that might use the ring. */
		if (r == -EAGAIN && rec_view_writers_are_gone(view))
			r = -EBADMSG;
		*tries = 0;
	}
	if (r == -EBADMSG)
		lane->damaged = true;
	return r == 0 && *tries;
}

int rec_view_read(struct rec_view *view, unsigned int index, unsigned int flags, struct rec_page *ret_page)
{
	struct view_lane *lane = NULL;
	unsigned int tries = 0;
	struct rec_page page;
	int r = rec_view_lane(view, index, &lane);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	do {
		r = rec_ring_read(&lane->ring, flags & REC_READ_WHOLE, &page);
	} while (rec_view_again(view, lane, r, &tries));
	r = rec_view_result(view, lane, r);
	if (r > 0)
		*ret_page = page;
	return r;
}

int rec_view_fill(const struct rec_view *view, unsigned int index)
{
	struct rec_ring_reader ring;
	uint64_t touched, gone, pages;
	int r = rec_view_look(view, index, &ring);

	if (r == 0) {
		touched = rec_load_relaxed(&ring.lane->pages_touched);
		gone = rec_load_relaxed(&ring.lane->pages_lost) + rec_load_relaxed(&ring.words->pages_read);
		pages = touched > gone ? touched - gone : 0;
		r = pages >= ring.nr_subbufs ? 100 : (int)(pages * 100 / ring.nr_subbufs);
	}
	if (rec_view_is_cut(view))
		return -EFAULT;
	return r == -ENODATA ? -EAGAIN : r;
}

int rec_view_read_page(struct rec_view *view, unsigned int index, unsigned int flags, void *page, size_t size,
		       struct rec_page *ret_page)
{
	struct view_lane *lane = NULL;
	unsigned int tries = 0;
	struct rec_page copy;
	int r = rec_view_lane(view, index, &lane);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	do {
		r = rec_ring_copy(&lane->ring, flags & REC_READ_WHOLE, page, size, &copy);
	} while (rec_view_again(view, lane, r, &tries));
	r = rec_view_result(view, lane, r);
	if (r > 0)
		*ret_page = copy;
	return r;
}

void rec_view_unread(struct rec_view *view, unsigned int lane)
{
	if (lane < view->info.max_lanes && view->opened[lane].shared.at)
		view->opened[lane].ring.pending.data = NULL;
}
