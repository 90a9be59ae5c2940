/* SPDX-License-Identifier: MIT */
/*
 * Changing lanes while threads write to them.
 *
 * A lane's ring is changed on its own writer stack, where nothing competes but the reader: by its thread, or by
 * whoever takes a lane that is free. For the lane of another thread a wish is noted and its gate closed
 * (handle->room = 0), so that the thread's next reservation leaves the fast path and comes here; what is wished for
 * is done at the first moment when nothing is reserved on the lane.
 *
 * Wish and gate: whoever wishes stores the wish, then closes the gate; whoever attends opens the gate, then looks for
 * wishes and closes it again if there is one; both with a full fence in between (edge K2). So a wish is never left
 * behind an open gate.
 */
#include "lane_private.h"
#include "process.h"
#include "quiet.h"

#include <errno.h>
#include <librecorder/atomic.h>
#include <librecorder/buffer.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_idle(const struct rec_handle *handle)
{
	return rec_load_relaxed(&handle->lane->tail) == rec_load_relaxed(&handle->lane->commit);
}

static uint32_t subbuf_size(const struct rec_handle *handle)
{
	return UINT32_C(1) << handle->shift;
}

/* Sub-buffers of `size` bytes begin behind a meta page as large. */
static unsigned char *subbuf_at(uint32_t index, uint32_t id, uint32_t size)
{
	return (unsigned char *)rec_lane_at(index) + rec_process.geometry.lane_meta + (id + 1ul) * size;
}

/*
 * Memory for the sub-buffers that the ring will take to have `pages` of them. The lane may be another thread's:
 * what its handle says of its shape is not looked at, and if the shape changes meanwhile, so does only which memory
 * is there. 0 or as rec_process_populate().
 */
static int populate_spare(uint32_t index, uint32_t size, uint32_t pages)
{
	const struct rec_link *links = rec_process.handles[index].links;
	const uint32_t subbufs = rec_geometry_subbufs(&rec_process.geometry, size);
	uint32_t have = rec_load_relaxed(&rec_lane_at(index)->nr_pages), id;
	int r = 0;

	/* From the end, as rec_ring_resize() takes them. */
	for (id = subbufs; r == 0 && have < pages && id--;) {
		if (!rec_load_relaxed(&links[id].spare))
			continue;
		r = rec_process_populate(subbuf_at(index, id, size), size);
		have++;
	}
	return r;
}

static void drop_spare(const struct rec_handle *handle)
{
	const uint32_t index = rec_lane_index(handle);
	uint32_t id;

	for (id = 0; id < handle->nr_subbufs; id++)
		if (rec_load_relaxed(&handle->links[id].spare))
			madvise(subbuf_at(index, id, subbuf_size(handle)), subbuf_size(handle), MADV_REMOVE);
}

/* Idle lane, signals blocked, on its writer stack. */
static int resize(struct rec_handle *handle, uint32_t pages)
{
	const bool shrinks = pages < handle->lane->nr_pages;
	int r = populate_spare(rec_lane_index(handle), subbuf_size(handle), pages);

	if (r == 0)
		r = rec_ring_resize(handle, pages);
	if (r == 0 && shrinks)
		drop_spare(handle);
	return r;
}

static void open_gate(struct rec_handle *handle)
{
	rec_store_relaxed(&handle->room, handle->capacity);
	rec_fence_full();
	if (rec_load_relaxed(&handle->disabled) || rec_load_relaxed(&handle->wish_size) ||
	    rec_load_relaxed(&handle->wish_subbuf) || rec_load_relaxed(&handle->lane->broken))
		rec_store_relaxed(&handle->room, 0);
}

/* How many sub-buffers of another size the lane is to have: as a new one, unless it was resized by itself. */
static uint32_t pages_of(const struct rec_handle *handle, uint32_t size)
{
	const struct rec_geometry *g = &rec_process.geometry;
	const uint64_t now = handle->lane->nr_pages;
	const uint32_t fit = rec_geometry_subbufs(g, size) - 1;
	uint64_t pages = now * subbuf_size(handle) / size;

	if (now == rec_geometry_pages(g, subbuf_size(handle)))
		return rec_geometry_pages(g, size);
	pages = pages < 2 ? 2 : pages;
	return (uint32_t)(pages < fit ? pages : fit);
}

/* Idle lane, signals blocked, on its writer stack. 0; -EBUSY: a reader has the lane; or as rec_process_populate(). */
static int reshape(struct rec_handle *handle, uint32_t size)
{
	const uint32_t index = rec_lane_index(handle);
	const uint64_t self = rec_process.header->start_time << 32 | (uint32_t)rec_process.pid;
	const uint32_t pages = pages_of(handle, size);
	uint64_t owner = 0, oldest;
	int r;

	if (subbuf_size(handle) == size)
		return 0;
	r = rec_process_populate((unsigned char *)rec_lane_at(index) + rec_process.geometry.lane_meta, (pages + 2ul) * size);
	if (r < 0)
		return r;
	/* Before the reader's side is taken: a reader that finds it taken sees why, and comes again. */
	rec_ring_set_doing(handle->lane, REC_LANE_RESTARTING);
	if (!rec_cmpxchg64(&handle->reader->owner, &owner, self)) {
		rec_ring_set_done(handle->lane);
		return -EBUSY;
	}
	oldest = rec_ring_oldest_time(handle);
	rec_lane_shape(handle, index, size);
	rec_ring_restart(handle, pages, oldest);
	return 0;
}

void rec_lane_adapt(uint32_t index)
{
	struct rec_handle *handle = &rec_process.handles[index];
	const uint32_t size = rec_load_relaxed(&rec_process.geometry.subbuf_size);

	if (subbuf_size(handle) == size)
		return;
	handle->lane = rec_lane_at(index);
	reshape(handle, size);
	open_gate(handle);
	handle->lane = NULL;
}

static void close_gate(struct rec_handle *handle)
{
	rec_fence_full();
	rec_store_relaxed(&handle->room, 0);
}

static void grant_wishes(struct rec_handle *handle)
{
	uint32_t subbuf = rec_load_relaxed(&handle->wish_subbuf);
	uint64_t size = rec_load_relaxed(&handle->wish_size), pages;

	if (!is_idle(handle))
		return;
	if (subbuf) {
		/* While a reader has the lane it stays as it is, until it is leased anew. */
		reshape(handle, subbuf);
		rec_cmpxchg32(&handle->wish_subbuf, &subbuf, 0);
	}
	if (size) {
		pages = rec_lane_pages(size, subbuf_size(handle));
		pages = pages < handle->nr_subbufs ? pages : handle->nr_subbufs - 1;
		if (resize(handle, (uint32_t)pages) != -EAGAIN)
			rec_cmpxchg64(&handle->wish_size, &size, 0);
	}
}

struct rec_handle *rec_lane_attend(struct rec_handle *handle)
{
	const int saved = errno;
	struct rec_quiet quiet;
	bool refused;

	/* A lane that is merely disabled costs no system call an event. */
	if (!rec_load_relaxed(&handle->wish_size) && !rec_load_relaxed(&handle->wish_subbuf) &&
	    (rec_load_relaxed(&handle->disabled) || rec_load_relaxed(&handle->lane->broken)))
		return NULL;
	rec_quiet_begin(&quiet);
	grant_wishes(handle);
	refused = rec_load_relaxed(&handle->disabled) || rec_load_relaxed(&handle->lane->broken);
	open_gate(handle);
	rec_quiet_end(&quiet);
	errno = saved;
	return refused ? NULL : handle;
}

static struct rec_handle *handle_at(unsigned int lane)
{
	return lane < rec_lanes() && rec_lane_is_made(lane) ? &rec_process.handles[lane] : NULL;
}

/* The lane's handle, or NULL. */
static struct rec_handle *find_handle(unsigned int lane)
{
	/* The buffer is there from the program's start; to make one here would take a lock. */
	return !rec_process.header || rec_process.pid != getpid() ? NULL : handle_at(lane);
}

/* Have the wishes for a lane granted: at once where that is possible. */
static void see_to_wishes(struct rec_handle *handle)
{
	const uint32_t index = rec_lane_index(handle);
	struct rec_quiet quiet;

	close_gate(handle);
	if (handle == rec_thread_handle) {
		rec_lane_attend(handle);
		return;
	}
	rec_quiet_begin(&quiet);
	if (rec_lane_claim(index, rec_thread_id())) {
		rec_lane_repair(index);
		handle->lane = rec_lane_at(index);
		rec_lane_attend(handle);
		rec_lane_give_back(index);
	}
	rec_quiet_end(&quiet);
}

int rec_lane_resize(unsigned int lane, size_t size)
{
	struct rec_handle *handle = find_handle(lane);
	uint32_t subbuf;
	uint64_t pages;
	int r;

	if (!handle)
		return -ENOENT;
	subbuf = rec_load_acquire(&rec_lane_at(lane)->subbuf_size);
	pages = rec_is_subbuf_size(subbuf) ? rec_lane_pages(size, subbuf) : 0;
	if (!rec_is_subbuf_size(subbuf) || pages >= rec_geometry_subbufs(&rec_process.geometry, subbuf))
		return -EINVAL;
	r = populate_spare(lane, subbuf, (uint32_t)pages);
	if (r < 0)
		return r;
	rec_store_relaxed(&handle->wish_size, size ? size : 1);
	see_to_wishes(handle);
	return 0;
}

int rec_lane_disable(unsigned int lane)
{
	struct rec_handle *handle = find_handle(lane);

	if (!handle)
		return -ENOENT;
	__atomic_fetch_add(&handle->disabled, 1, __ATOMIC_RELAXED);
	close_gate(handle);
	return 0;
}

int rec_lane_enable(unsigned int lane)
{
	struct rec_handle *handle = find_handle(lane);
	uint32_t was;

	if (!handle)
		return -ENOENT;
	was = rec_load_relaxed(&handle->disabled);
	do {
		if (!was)
			return -EINVAL;
	} while (!rec_cmpxchg32(&handle->disabled, &was, was - 1));
	/* The gate is opened by the next reservation. */
	return 0;
}

int rec_subbuf_resize(size_t size)
{
	struct rec_handle *handle;
	unsigned int lane;

	if (rec_process_init() < 0 || rec_process.pid != getpid())
		return -ENXIO;
	if (!rec_is_subbuf_size(size) || rec_geometry_pages(&rec_process.geometry, (uint32_t)size) < 2)
		return -EINVAL;
	rec_store_relaxed(&rec_process.geometry.subbuf_size, (uint32_t)size);
	/* A lane that is not counted yet is made with the new size, or we meet it here. */
	rec_fence_full();
	for (lane = 0; lane < rec_lanes(); lane++) {
		/* One that is just being made as large as before is adapted by who leases it next. */
		handle = handle_at(lane);
		if (!handle)
			continue;
		rec_store_relaxed(&handle->wish_subbuf, (uint32_t)size);
		see_to_wishes(handle);
	}
	return 0;
}

int rec_lane_swap(unsigned int *ret_lane)
{
	struct rec_handle *held = rec_thread_handle;
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0;
	struct rec_quiet quiet;
	int r = -ENOENT;

	rec_quiet_begin(&quiet);
	if (held->lane && !rec_share_is_handle(held) && rec_process.pid == getpid())
		r = is_idle(held) ? rec_lane_take(tid, &index) : -EBUSY;
	if (r == 0) {
		rec_lane_bind(index, tid);
		rec_thread_handle = &rec_process.handles[index];
		*ret_lane = rec_lane_index(held);
		rec_lane_disable(*ret_lane);
		/* So that nobody takes it for a lease that nobody gave back. */
		held->lane = NULL;
		rec_signal_fence();
		rec_store_release(&rec_lane_at(*ret_lane)->owner, REC_OWNER_HELD);
	}
	rec_quiet_end(&quiet);
	return r;
}

int rec_lane_release(unsigned int lane)
{
	struct rec_handle *handle = find_handle(lane);
	uint32_t owner = REC_OWNER_HELD;
	struct rec_quiet quiet;
	bool found;

	if (!handle)
		return -ENOENT;
	/* A handler that leases a lane would take this one for an orphan of its thread. */
	rec_quiet_begin(&quiet);
	found = rec_cmpxchg32(&rec_lane_at(lane)->owner, &owner, rec_thread_id());
	if (found) {
		/* Enabled first: once it is free, a thread may lease it. */
		rec_lane_enable(lane);
		rec_lane_give_back(lane);
	}
	rec_quiet_end(&quiet);
	return found ? 0 : -ENOENT;
}
