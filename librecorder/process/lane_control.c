/* SPDX-License-Identifier: MIT */
/*
 * Changing lanes while threads write to them.
 *
 * A ring never changes while a writer or a reader uses it. If a thread's lane is to be resized, the thread continues
 * in another lane of the wanted shape, from its next event that interrupts no other; its old lane keeps its events.
 * Only a lane that is not in use, and in which everything was read, is remade with another shape.
 *
 * To change the lane of another thread, a request is stored in its handle, and its gate is closed
 * (rec_gate_close()), so that the thread's next reservation leaves the fast path and comes here.
 *
 * Request and gate: the requesting thread stores the request, then closes the gate. The lane's own thread opens the
 * gate, then looks for requests and closes it again if there is one. Both have a full fence in between (edge K2). So a
 * request never remains unnoticed while the gate is open.
 *
 * A lane remains disabled until it is enabled, even if other threads get it before. So a disabled lane is not given up.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/process.h"
#include "librecorder/os/signal_block.h"

#include <errno.h>
#include <librecorder/buffer.h>
#include <sys/mman.h>

/* The value of `disabled` in a handle whose lane was given up. */
#define NO_LANE UINT32_MAX

static bool is_idle(const struct rec_handle *handle)
{
	return rec_load_relaxed(&handle->lane->tail) == rec_load_relaxed(&handle->lane->commit);
}

/* The size of a lane's sub-buffers. The handle may be another thread's, so it is not read. 0: it is being remade. */
static uint32_t subbuf_size(uint32_t index)
{
	const uint32_t size = rec_load_acquire(&rec_lane_at(index)->subbuf_size);

	return rec_is_subbuf_size(size) ? size : 0;
}

static void open_gate(struct rec_handle *handle)
{
	rec_gate_open(handle);
	rec_fence_full();
	if (rec_load_relaxed(&handle->disabled) || rec_load_relaxed(&handle->wanted_size) ||
	    rec_load_relaxed(&handle->wanted_subbuf) || rec_load_relaxed(&handle->lane->broken))
		rec_gate_close(handle);
}

/*
 * The number of sub-buffers of size `to` for a lane that has sub-buffers of size `from`: that of a new lane, unless
 * the lane was resized.
 */
static uint64_t pages_for(uint32_t index, uint32_t from, uint32_t to)
{
	const uint64_t now = rec_load_relaxed(&rec_lane_at(index)->nr_subbufs) - 1;
	const uint64_t pages = now * from / to;

	if (now == rec_geometry_pages(&rec_pool.geometry, from))
		return rec_geometry_pages(&rec_pool.geometry, to);
	return pages < 2 ? 2 : pages;
}

/*
 * The future shape of a lane that gets sub-buffers of this size and a ring for `size` bytes of events; 0: unchanged.
 * False: the lane is being remade.
 */
static bool find_shape(uint32_t index, uint32_t subbuf, uint64_t size, struct rec_shape *ret_shape)
{
	const uint32_t now = subbuf_size(index), to = subbuf ? subbuf : now;
	uint64_t pages, fit;

	if (!now)
		return false;
	pages = size ? rec_lane_pages(size, to) : pages_for(index, now, to);
	fit = rec_geometry_subbufs(&rec_pool.geometry, to) - 1;
	*ret_shape = (struct rec_shape){ to, (uint32_t)(pages < fit ? pages : fit) };
	return true;
}

/* The caller has the lane, and has hidden it. */
static void make_anew(struct rec_handle *handle, const struct rec_shape *shape)
{
	const uint64_t was = (handle->nr_subbufs + UINT64_C(1)) << handle->shift;
	/* Only whole pages are given back. */
	const uint64_t is = rec_round_up((shape->pages + UINT64_C(2)) * shape->subbuf_size, rec_pool.geometry.page);
	const uint32_t index = rec_lane_index(handle);

	rec_lane_shape(handle, index, shape);
	rec_ring_restart(handle);
	if (is < was)
		madvise((unsigned char *)rec_lane_at(index) + rec_pool.geometry.lane_meta + is, was - is, MADV_REMOVE);
}

bool rec_lane_take_from_readers(struct rec_handle *handle)
{
	const uint64_t self = rec_pool.header->start_time << 32 | (uint32_t)rec_process_pid();
	uint64_t owner = 0;

	return rec_cmpxchg64(&handle->reader->owner, &owner, self);
}

/* Undo hide(). */
static void show(struct rec_handle *handle)
{
	rec_store_release(&handle->reader->owner, 0);
	rec_store_release(&handle->lane->subbuf_size, UINT32_C(1) << handle->shift);
}

/*
 * Keep others away from a lane that is about to be remade: a reader finds that the lane has a reader (edge O2), and a
 * process that reads it without being its reader finds that it has no size (edge N3). False: a reader
 * has it, or it is not empty.
 */
static bool hide(struct rec_handle *handle)
{
	rec_store_relaxed(&handle->lane->subbuf_size, 0);
	rec_fence_release();
	REC_TESTPOINT(anew_hidden);
	if (!rec_lane_take_from_readers(handle)) {
		rec_store_release(&handle->lane->subbuf_size, UINT32_C(1) << handle->shift);
		return false;
	}
	/* A reader that came and went since the caller looked may have made it seem empty. */
	if (!rec_ring_is_empty(handle)) {
		show(handle);
		return false;
	}
	return true;
}

int rec_lane_fit(uint32_t index, const struct rec_shape *shape)
{
	struct rec_handle *handle = &rec_pool.handles[index];
	const bool is_bound = handle->lane;
	struct rec_shape whole;
	int r = -EBUSY;

	if (rec_lane_has_shape(handle, shape))
		return 0;
	if (!find_shape(index, shape->subbuf_size, 0, &whole))
		return -EBUSY;
	whole.pages = shape->pages ? shape->pages : whole.pages;
	if (!is_bound)
		handle->lane = rec_lane_at(index);
	/* An empty lane stays empty: no thread writes, and readers find nothing to take. */
	if (!rec_load_relaxed(&handle->reader->owner) && rec_ring_is_empty(handle))
		r = rec_lane_populate(index, &whole);
	if (r == 0 && !hide(handle))
		r = -EBUSY;
	if (r == 0) {
		make_anew(handle, &whole);
		rec_store_release(&handle->reader->owner, 0);
		REC_TESTPOINT(anew_released);
		open_gate(handle);
	}
	if (!is_bound)
		handle->lane = NULL;
	return r;
}

/*
 * A writer that was interrupted before step C may be about to write here. On the fast path it finds a tail with another
 * sequence, so its exchange fails; on the rare path it finds that the lane was given up.
 */
bool rec_lane_unmake(uint32_t index)
{
	struct rec_handle *handle = &rec_pool.handles[index];
	const size_t size = (handle->nr_subbufs + UINT64_C(1)) << handle->shift;
	uint32_t disabled = 0;

	handle->lane = rec_lane_at(index);
	if (rec_load_relaxed(&handle->reader->owner) || !rec_ring_is_empty(handle) || !hide(handle))
		return false;
	/* This takes an exchange, because another thread may be about to disable the lane. */
	if (!rec_cmpxchg32(&handle->disabled, &disabled, NO_LANE)) {
		show(handle);
		return false;
	}
	rec_store_relaxed(&handle->given_up, 1);
	rec_gate_close(handle);
	rec_store_relaxed(&rec_pool.own[index].made, 0);
	rec_ring_restart(handle);
	rec_store_relaxed(&handle->lane->subbuf_size, 0);
	rec_fence_release();
	REC_TESTPOINT(unmake_hidden);
	madvise((unsigned char *)handle->lane + rec_pool.geometry.lane_meta, size, MADV_REMOVE);
	REC_TESTPOINT(unmake_removed);
	rec_store_release(&handle->reader->owner, 0);
	REC_TESTPOINT(unmake_released);
	return true;
}

void rec_lane_make_again(struct rec_handle *handle)
{
	/* Give the members the values of a new handle. Other threads may read them. */
	rec_store_relaxed(&handle->disabled, 0);
	rec_store_relaxed(&handle->wanted_subbuf, 0);
	rec_store_relaxed(&handle->wanted_size, 0);
	rec_store_relaxed(&handle->movers, 0);
	rec_store_relaxed(&handle->given_up, 0);
	rec_ring_restart(handle);
	rec_store_release(&handle->reader->owner, 0);
	REC_TESTPOINT(remake_released);
}

static void close_gate(struct rec_handle *handle)
{
	rec_fence_full();
	rec_gate_close(handle);
}

/*
 * Let the thread continue in another lane, as requested. The thread keeps its lane if no other lane is available, or if
 * its lane has the wanted shape. vfork's child leaves the request to its parent. A request for a lane that the thread
 * has left, or that is shared, is dropped.
 */
static void apply_request(struct rec_handle *handle)
{
	uint32_t subbuf = rec_load_relaxed(&handle->wanted_subbuf);
	uint64_t size = rec_load_relaxed(&handle->wanted_size);
	struct rec_shape shape;

	if (!is_idle(handle) || rec_process_is_guest())
		return;
	if (handle == rec_thread_handle && find_shape(rec_lane_index(handle), subbuf, size, &shape) &&
	    !rec_lane_has_shape(handle, &shape))
		rec_thread_move(&shape);
	rec_cmpxchg32(&handle->wanted_subbuf, &subbuf, 0);
	rec_cmpxchg64(&handle->wanted_size, &size, 0);
}

static bool is_refusing(const struct rec_handle *handle)
{
	return rec_load_relaxed(&handle->disabled) || rec_load_relaxed(&handle->lane->broken);
}

/*
 * Called if the lane was given up while the caller was about to write there. Returns the handle of the lane that the
 * thread has now, or NULL.
 */
static struct rec_handle *follow(void)
{
	struct rec_handle *handle = rec_thread_handle;

	if (!handle->lane)
		return NULL;
	return rec_gate_is_open(handle) ? handle : handle->on_gate(handle);
}

/*
 * The handle to continue with; NULL: the lane refuses. `disabled` is loaded once: a handler may give up the lane at any
 * instruction, and then the event is not refused.
 */
static struct rec_handle *handle_for(struct rec_handle *handle)
{
	const uint32_t disabled = rec_load_relaxed(&handle->disabled);

	if (disabled == NO_LANE)
		return follow();
	return disabled || rec_load_relaxed(&handle->lane->broken) ? NULL : handle;
}

struct rec_handle *rec_lane_on_gate(struct rec_handle *handle)
{
	const bool is_own = handle == rec_thread_handle;
	struct rec_handle *found = handle_for(handle);
	const int saved = errno;
	struct rec_signal_block block;

	/* If the lane refuses its events, they must not cost a system call; so a request waits. */
	if (found != handle)
		return found;
	rec_signal_block_begin(&block);
	if (rec_load_relaxed(&handle->wanted_size) || rec_load_relaxed(&handle->wanted_subbuf))
		apply_request(handle);
	open_gate(handle);
	if (is_own)
		handle = rec_thread_handle;
	rec_signal_block_end(&block);
	errno = saved;
	return handle_for(handle);
}

static struct rec_handle *handle_at(unsigned int lane)
{
	return lane < rec_lanes() && rec_lane_is_made(lane) ? &rec_pool.handles[lane] : NULL;
}

/* The lane's handle, or NULL. */
static struct rec_handle *find_handle(unsigned int lane)
{
	/* The buffer exists from the program's start; making one here would take a lock. */
	return !rec_pool.header || !rec_process_is_maker() ? NULL : handle_at(lane);
}

/*
 * The calling thread, which is not in a signal handler, leaves `held` and continues in another lane. Signals blocked.
 */
static int leave_lane(struct rec_handle *held, const struct rec_shape *shape)
{
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0;
	int r;

	if (!rec_is_thread_id(tid))
		return -EPERM;
	/* A lane that the thread left earlier may be the one that it gets now. */
	rec_thread_give_back_left();
	r = rec_lane_take(tid, shape, &index);
	if (r < 0)
		return r;
	REC_TESTPOINT(resize_taken);
	rec_lane_bind(index, tid);
	rec_thread_handle = &rec_pool.handles[index];
	REC_TESTPOINT(resize_bound);
	/* `lane` is cleared, because the held handle would otherwise be taken for a lease that was never given back. */
	held->lane = NULL;
	rec_signal_fence();
	return 0;
}

static int resize_own(struct rec_handle *handle, const struct rec_shape *shape)
{
	const uint32_t index = rec_lane_index(handle);
	int r = rec_lane_has_shape(handle, shape) ? 0 : leave_lane(handle, shape);

	if (handle != rec_thread_handle) {
		rec_lane_repair(index);
		rec_lane_give_back(index);
		REC_TESTPOINT(resize_given);
	}
	return r;
}

/* Another thread has the lane. Make sure that a lane of the wanted shape is ready in the pool, and note the request. */
static int resize_others(struct rec_handle *handle, const struct rec_shape *shape, uint32_t subbuf, uint64_t size)
{
	uint32_t index = 0;
	int r;

	if (rec_lane_is_shared(rec_lane_index(handle)))
		return -EBUSY;
	r = rec_lane_take(rec_thread_id(), shape, &index);
	if (r < 0)
		return r;
	rec_lane_give_back(index);
	REC_TESTPOINT(resize_ready);
	if (subbuf)
		rec_store_relaxed(&handle->wanted_subbuf, subbuf);
	if (size)
		rec_store_relaxed(&handle->wanted_size, size);
	REC_TESTPOINT(resize_request);
	close_gate(handle);
	return 0;
}

/* Change a lane, or the lane of the thread that has it: at once if possible. 0 or as rec_lane_resize(). */
static int resize(struct rec_handle *handle, uint32_t subbuf, uint64_t size)
{
	const uint32_t index = rec_lane_index(handle), tid = rec_thread_id();
	struct rec_shape shape;
	struct rec_signal_block block;
	int r;

	rec_signal_block_begin(&block);
	if (!rec_is_thread_id(tid)) {
		r = -EPERM;
	} else if (!rec_lane_may_own(tid) || !find_shape(index, subbuf, size, &shape)) {
		r = -EBUSY;
	} else if (rec_lane_claim(index, tid)) {
		rec_lane_repair(index);
		r = rec_lane_fit(index, &shape);
		rec_lane_give_back(index);
	} else if (handle == rec_thread_handle && is_idle(handle) && !is_refusing(handle)) {
		r = resize_own(handle, &shape);
	} else {
		r = resize_others(handle, &shape, subbuf, size);
	}
	rec_signal_block_end(&block);
	return r;
}

int rec_lane_resize(unsigned int lane, size_t size)
{
	struct rec_handle *handle = find_handle(lane);
	uint32_t subbuf;

	if (!handle)
		return -ENOENT;
	subbuf = subbuf_size(lane);
	if (!subbuf)
		return -EBUSY;
	if (rec_lane_pages(size, subbuf) >= rec_geometry_subbufs(&rec_pool.geometry, subbuf))
		return -EINVAL;
	return resize(handle, 0, size ? size : 1);
}

int rec_lane_disable(unsigned int lane)
{
	struct rec_handle *handle = find_handle(lane);
	uint32_t was;

	if (!handle)
		return -ENOENT;
	was = rec_load_relaxed(&handle->disabled);
	do {
		if (was == NO_LANE)
			return -ENOENT;
	} while (!rec_cmpxchg32(&handle->disabled, &was, was + 1));
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
		if (!was || was == NO_LANE)
			return -EINVAL;
	} while (!rec_cmpxchg32(&handle->disabled, &was, was - 1));
	/* The gate is opened by the next reservation. */
	return 0;
}

int rec_subbuf_resize(size_t size)
{
	struct rec_handle *handle;
	unsigned int lane;

	if (rec_process_init() < 0 || !rec_process_is_maker())
		return -ENXIO;
	if (!rec_is_subbuf_size(size) || rec_geometry_pages(&rec_pool.geometry, (uint32_t)size) < 2)
		return -EINVAL;
	rec_store_relaxed(&rec_pool.geometry.subbuf_size, (uint32_t)size);
	/* A lane that is not counted yet is made with the new size, or is found here. */
	rec_fence_full();
	for (lane = 0; lane < rec_lanes(); lane++) {
		handle = handle_at(lane);
		/* If that cannot be done now, the next lease does it. */
		if (handle)
			resize(handle, (uint32_t)size, 0);
	}
	return 0;
}

int rec_lane_swap(unsigned int *ret_lane)
{
	struct rec_handle *held = rec_thread_handle;
	struct rec_signal_block block;
	int r = -ENOENT;

	rec_signal_block_begin(&block);
	if (held->lane && !rec_share_is_handle(held) && rec_process_is_maker())
		r = is_idle(held) ? leave_lane(held, NULL) : -EBUSY;
	if (r == 0) {
		*ret_lane = rec_lane_index(held);
		/* A handler may have left while it moved the head; a reader would wait for the end of the move. */
		rec_lane_repair(*ret_lane);
		rec_lane_disable(*ret_lane);
		rec_store_release(&rec_lane_at(*ret_lane)->owner, REC_OWNER_HELD);
	}
	rec_signal_block_end(&block);
	return r;
}

int rec_lane_release(unsigned int lane)
{
	struct rec_handle *handle = find_handle(lane);
	const uint32_t tid = rec_thread_id();
	uint32_t owner = REC_OWNER_HELD;
	struct rec_signal_block block;
	int r = -ENOENT;

	if (!handle)
		return -ENOENT;
	/* Signals are blocked, because a handler that leases a lane would take this one for an orphan of its thread. */
	rec_signal_block_begin(&block);
	if (!rec_is_thread_id(tid)) {
		r = -EPERM;
	} else if (!rec_lane_may_own(tid)) {
		r = -EBUSY;
	} else if (rec_cmpxchg32(&rec_lane_at(lane)->owner, &owner, tid)) {
		/* Enable the lane first: once it is free, a thread may lease it. */
		rec_lane_enable(lane);
		rec_lane_give_back(lane);
		r = 0;
	}
	rec_signal_block_end(&block);
	return r;
}
