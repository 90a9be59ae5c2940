/* SPDX-License-Identifier: MIT */
/*
 * The pool of lanes: their owners, and making them.
 *
 * Guarantees. Signal-safe: compare-and-exchange and system calls, no lock, no allocation from the heap; no thread
 * waits for another. A lane has one owner. Either a living thread owns it, or it is free, or its owner died without
 * notice; the next lease that finds no other lane detects the last case. The events in a lane stay until they are read
 * or overwritten, whichever thread writes next. Memory follows the number of threads that trace at the same time, up
 * to the cap.
 *
 * A lane is first counted in the file (nr_lanes); then its first owner makes its ring. When a lane is counted, its head
 * has memory: lane page, reader words and links. As long as a lane has no ring, the size of its sub-buffers is 0. So
 * several threads can make lanes at the same time, in any order, and a lane that could not be made does not hide
 * others.
 */
#include <librecorder/lane.h>

#include "librecorder/process/context_private.h"
#include "librecorder/process/lane_life.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/debug.h"
#include "librecorder/process/process.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned char *lane_base(uint32_t index)
{
	return (unsigned char *)rec_pool.header + rec_pool.geometry.lanes +
	       (uint64_t)index * rec_pool.geometry.lane_stride;
}

struct rec_lane *rec_lane_at(uint32_t index)
{
	return (struct rec_lane *)(void *)lane_base(index);
}

uint32_t rec_lane_index(const struct rec_handle *handle)
{
	return (uint32_t)(handle - rec_pool.handles);
}

bool rec_lane_is_made(uint32_t index)
{
	/* Acquire: its handle is complete (edge N2). */
	return rec_load_acquire(&rec_pool.own[index].made);
}

static void shape_handle(struct rec_handle *handle, uint32_t index, uint32_t subbuf_size, uint32_t nr_subbufs)
{
	handle->data = lane_base(index) + rec_pool.geometry.lane_meta + subbuf_size + REC_SUBBUF_HEADER_SIZE;
	handle->shift = (uint32_t)__builtin_ctz(subbuf_size);
	handle->capacity = (subbuf_size - REC_SUBBUF_HEADER_SIZE) / 4;
	rec_gate_open(handle);
	handle->nr_subbufs = nr_subbufs;
}

void rec_lane_shape(struct rec_handle *handle, uint32_t index, const struct rec_shape *shape)
{
	struct rec_meta *meta = (struct rec_meta *)(void *)(lane_base(index) + rec_pool.geometry.lane_meta);

	shape_handle(handle, index, shape->subbuf_size, shape->pages + 1);
	*meta = (struct rec_meta){ .meta_page_size = shape->subbuf_size,
				   .meta_struct_len = sizeof(*meta),
				   .subbuf_size = shape->subbuf_size,
				   .nr_subbufs = handle->nr_subbufs };
}

bool rec_lane_has_shape(const struct rec_handle *handle, const struct rec_shape *shape)
{
	return (!shape->subbuf_size || handle->shift == (uint32_t)__builtin_ctz(shape->subbuf_size)) &&
	       (!shape->pages || handle->nr_subbufs == shape->pages + 1);
}

int rec_lane_populate(uint32_t index, const struct rec_shape *shape)
{
	return rec_process_populate(lane_base(index) + rec_pool.geometry.lane_meta,
				    (shape->pages + 2ul) * shape->subbuf_size);
}

/* The members of a handle except lane, shape and thread. */
static void begin_handle(struct rec_handle *handle, uint32_t index)
{
	unsigned char *base = lane_base(index);

	handle->clock = rec_pool.clock;
	handle->overwrite = rec_pool.overwrite;
	handle->subbufs = (struct rec_subbuf *)(void *)(base + sizeof(struct rec_lane));
	handle->reader = (struct rec_lane_reader *)(void *)(base + rec_pool.geometry.lane_reader);
	handle->links = (struct rec_link *)(void *)(handle->reader + 1);
	handle->on_gate = rec_lane_on_gate;
}

/*
 * Make the ring of a lane that the caller owns. From here on its handle has the shape; the value in the file is not
 * used. On failure the handle is unchanged: if the lane was given up, the code that the caller interrupted may be about
 * to use the handle.
 */
static int make_lane(uint32_t index, struct rec_shape shape)
{
	const struct rec_geometry *g = &rec_pool.geometry;
	struct rec_handle *handle = &rec_pool.handles[index];
	/* If the lane was given up earlier, its event numbers continue. */
	const bool again = rec_lane_at(index)->tail;
	int r;

	if (!shape.subbuf_size)
		shape.subbuf_size = rec_load_relaxed(&g->subbuf_size);
	if (!shape.pages)
		shape.pages = rec_geometry_pages(g, shape.subbuf_size);
	if (again && !rec_lane_take_from_readers(handle))
		return -EBUSY;
	r = rec_lane_populate(index, &shape);
	if (r < 0) {
		madvise(lane_base(index) + g->lane_meta, (shape.pages + 2ul) * shape.subbuf_size, MADV_REMOVE);
		if (again)
			rec_store_release(&handle->reader->owner, 0);
		return r;
	}
	if (!again) {
		memset(handle, 0, sizeof(*handle));
		begin_handle(handle, index);
		handle->on_stuck = rec_thread_on_stuck;
		handle->grow = rec_thread_grow;
	}
	rec_lane_shape(handle, index, &shape);
	handle->lane = rec_lane_at(index);
	if (again)
		rec_lane_make_again(handle);
	else
		rec_ring_init(handle);
	handle->lane = NULL;
	rec_store_release(&rec_pool.own[index].made, 1);
	return 0;
}

static bool exchange_owner(uint32_t index, uint32_t was, uint32_t tid)
{
	uint32_t *owner = &rec_lane_at(index)->owner;

	return rec_load_relaxed(owner) == was && rec_cmpxchg32(owner, &was, tid);
}

bool rec_lane_is_shared(uint32_t index)
{
	return rec_load_relaxed(&rec_pool.own[index].shared);
}

/* Call it when the caller has just become the owner of a lane that has its ring. */
static void count_taken(uint32_t index)
{
	if (!rec_lane_is_shared(index))
		__atomic_fetch_sub(&rec_pool.free_lanes, 1, __ATOMIC_RELAXED);
}

bool rec_lane_claim(uint32_t index, uint32_t tid)
{
	if (!rec_is_thread_id(tid) || !rec_lane_is_made(index) || !exchange_owner(index, 0, tid))
		return false;
	/* If a thread gave the lane up since the check, it has released `owner`, and `made` is seen as 0 (edge O1). */
	if (!rec_lane_is_made(index)) {
		rec_store_release(&rec_lane_at(index)->owner, 0);
		return false;
	}
	count_taken(index);
	return true;
}

void rec_lane_give_back(uint32_t index)
{
	const bool shared = rec_lane_is_shared(index);

	/* The handle of a shared lane stays complete: a thread that takes the lane has no time to complete it. */
	if (!shared) {
		/* Pending requests were for the thread that had the lane before. */
		rec_store_relaxed(&rec_pool.handles[index].wanted_size, 0);
		rec_store_relaxed(&rec_pool.handles[index].wanted_subbuf, 0);
		rec_pool.handles[index].lane = NULL;
		rec_signal_fence();
	}
	/* A broken lane stays as it is, for its readers: another thread would lose everything that it writes there. */
	if (rec_load_relaxed(&rec_lane_at(index)->broken)) {
		rec_store_release(&rec_lane_at(index)->owner, REC_OWNER_HELD);
		return;
	}
	/* Release: the next owner sees everything that we wrote (edge O1). */
	rec_store_release(&rec_lane_at(index)->owner, 0);
	if (!shared)
		__atomic_fetch_add(&rec_pool.free_lanes, 1, __ATOMIC_RELAXED);
}

void rec_lane_settle(uint32_t index)
{
	if (rec_lane_is_made(index)) {
		rec_lane_repair(index);
		rec_lane_give_back(index);
	} else {
		rec_store_release(&rec_lane_at(index)->owner, 0);
	}
}

bool rec_lane_is_usable(uint32_t index, const struct rec_shape *shape)
{
	rec_lane_repair(index);
	return !rec_load_relaxed(&rec_lane_at(index)->broken) && rec_lane_fit(index, shape) == 0;
}

/* Take a lane that the file counts and that is not in use. 0; the reason why a lane could not be made; or -EDQUOT. */
static int take_free(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index;
	int r = -EDQUOT, err;

	for (index = 0; index < lanes; index++) {
		if (rec_lane_is_shared(index) || !exchange_owner(index, 0, tid))
			continue;
		*ret_index = index;
		if (rec_lane_is_made(index)) {
			count_taken(index);
			/* Another thread may have made it a shared lane since the check. */
			if (!rec_lane_is_shared(index) && rec_lane_is_usable(index, shape))
				return 0;
			rec_lane_give_back(index);
			continue;
		}
		err = make_lane(index, *shape);
		if (err == 0)
			return 0;
		rec_store_release(&rec_lane_at(index)->owner, 0);
		/* -EBUSY: a reader has this lane, which was given up. Other lanes may be free, or may be made. */
		r = err == -EBUSY ? r : err;
	}
	return r;
}

/* Count one more lane; any thread may own it. 0, also if another thread counted it; or -errno. */
static int count_one_more(void)
{
	uint32_t n = rec_load_acquire(&rec_pool.header->nr_lanes);
	int r;

	if (n >= rec_pool.geometry.max_lanes)
		return -EDQUOT;
	r = rec_process_populate(lane_base(n), (size_t)rec_pool.geometry.lane_meta);
	if (r == 0)
		/* A process that reads the count finds zeros in the new lane. */
		rec_cmpxchg32(&rec_pool.header->nr_lanes, &n, n + 1);
	return r;
}

static bool is_gone(uint32_t owner)
{
	return syscall(SYS_tgkill, rec_process_pid(), owner, 0) < 0 && errno == ESRCH;
}

/*
 * Thread ids are reused: a new thread may get the owner's id between our check and the exchange. That thread takes no
 * lane while the id is in `bereft` (rec_lane_may_own()), so the exchange takes nothing away from it.
 */
bool rec_lane_take_over(uint32_t index, uint32_t owner, uint32_t tid)
{
	uint32_t *bereft = &rec_pool.own[index].bereft, none = 0;
	bool taken;

	/* Most owners are alive; then `bereft` need not be set. */
	if (!owner || owner == REC_OWNER_HELD || !is_gone(owner) || !rec_cmpxchg32(bereft, &none, owner))
		return false;
	/* Either we find the new thread, or it finds the id in `bereft` (edge K3). */
	rec_fence_full();
	taken = is_gone(owner) && exchange_owner(index, owner, tid);
	/* Release: a thread with this id that finds 0 also finds the new owner (edge O3). */
	rec_store_release(bereft, 0);
	return taken;
}

bool rec_lane_may_own(uint32_t tid)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index;

	/* The thread checked this before its first lane. Since then, others that want its lanes find it alive. */
	if (rec_thread_handle->lane)
		return true;
	/* No fence: the kernel's switch to the new thread is a full barrier after it exists for others (edge K3). */
	for (index = 0; index < lanes; index++)
		/* Acquire: edge O3. */
		if (rec_load_acquire(&rec_pool.own[index].bereft) == tid)
			return false;
	return true;
}

/*
 * Take a lane whose owner ended without giving it back: by a raw system call, or because the end key could not be set.
 * If we have no lane except that of our handle, another lane whose owner has our id is such a lane, too, because thread
 * ids are reused.
 */
static int take_orphan(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index;

	for (index = 0; index < lanes; index++) {
		const uint32_t owner = rec_load_relaxed(&rec_lane_at(index)->owner);

		if (rec_lane_is_shared(index) || &rec_pool.handles[index] == rec_thread_handle)
			continue;
		if (owner == tid ? rec_thread_has_moved() : !rec_lane_take_over(index, owner, tid))
			continue;
		rec_pool.handles[index].lane = NULL;
		*ret_index = index;
		/* The owner may have given up the lane's memory before it ended. */
		if (rec_lane_is_made(index) ? rec_lane_is_usable(index, shape) : make_lane(index, *shape) == 0)
			return 0;
		rec_lane_settle(index);
	}
	return -EDQUOT;
}

void rec_lane_repair(uint32_t index)
{
	struct rec_handle *handle = &rec_pool.handles[index];
	/*
	 * Use a separate handle, because the lane's own may have no lane yet, or none any more; other threads may be
	 * writing requests into it.
	 */
	struct rec_handle whole = { .lane = rec_lane_at(index),
				    .data = handle->data,
				    .shift = handle->shift,
				    .capacity = handle->capacity,
				    .nr_subbufs = handle->nr_subbufs,
				    .subbufs = handle->subbufs,
				    .links = handle->links,
				    .reader = handle->reader,
				    .movers = handle->movers };

	rec_ring_repair(&whole);
	rec_store_relaxed(&handle->movers, 0);
	if (whole.lane->broken)
		rec_gate_close(handle);
}

/* Any lane of this shape. 0 or as rec_lane_take(). */
static int take_any(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index)
{
	uint32_t rounds = 0;
	int r, more = 0;

	/*
	 * Each round ends the loop, unless another thread has counted one more lane, or another process writes to the
	 * count.
	 */
	do {
		r = take_free(tid, shape, ret_index);
		if (r == -EDQUOT)
			more = count_one_more();
	} while (r == -EDQUOT && more == 0 && rounds++ < rec_pool.geometry.max_lanes);
	if (r == -EDQUOT)
		r = more;
	if (r < 0 && take_orphan(tid, shape, ret_index) == 0)
		r = 0;
	return r;
}

void rec_lane_settle_orphans(uint32_t tid)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index;

	for (index = 0; index < lanes; index++) {
		const uint32_t owner = rec_load_relaxed(&rec_lane_at(index)->owner);

		if (owner != tid && rec_lane_is_made(index) && rec_load_relaxed(&rec_pool.handles[index].movers) &&
		    rec_lane_take_over(index, owner, tid))
			rec_lane_settle(index);
	}
}

/* Take a lane that is counted, has no ring, and is not in use or the caller's. Returns 0, or as take_free(). */
static int make_counted(uint32_t tid, const struct rec_shape *shape, bool own_only, uint32_t *ret_index,
			bool *ret_was_own)
{
	const uint32_t lanes = rec_lanes();
	bool was_own;
	uint32_t index;
	int r = -EDQUOT, err;

	for (index = 0; index < lanes && r == -EDQUOT; index++) {
		was_own = rec_load_relaxed(&rec_lane_at(index)->owner) == tid;
		if (rec_lane_is_made(index) || (!was_own && (own_only || !exchange_owner(index, 0, tid))))
			continue;
		/* Another thread may have made a ring in it and given it back since the check. */
		if (rec_lane_is_made(index)) {
			count_taken(index);
			rec_lane_give_back(index);
			continue;
		}
		*ret_index = index;
		*ret_was_own = was_own;
		err = make_lane(index, *shape);
		if (err < 0 && !was_own)
			rec_store_release(&rec_lane_at(index)->owner, 0);
		/* As in take_free(). */
		r = err == -EBUSY ? r : err;
	}
	return r;
}

int rec_lane_take_new(uint32_t tid, const struct rec_shape *shape, bool own_only, uint32_t *ret_index,
		      bool *ret_was_own)
{
	int r = rec_is_thread_id(tid) ? make_counted(tid, shape, own_only, ret_index, ret_was_own) : -EPERM;

	if (r == -EDQUOT && !own_only) {
		r = count_one_more();
		if (r == 0)
			r = make_counted(tid, shape, own_only, ret_index, ret_was_own);
	}
	return r;
}

int rec_lane_take(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index)
{
	const struct rec_shape usual = { .subbuf_size = rec_load_relaxed(&rec_pool.geometry.subbuf_size) }, any = { 0 };
	uint32_t index = 0;
	int r;

	if (!rec_is_thread_id(tid))
		return -EPERM;
	r = take_any(tid, shape ? shape : &usual, &index);
	if (r < 0 && !shape)
		r = take_any(tid, &any, &index);
	if (r == 0)
		*ret_index = index;
	return r;
}

void rec_lane_count_lost(int err)
{
	struct rec_buffer_header *header = rec_pool.header;

	/* NULL: a copy of the process, in the middle of its parent's event, could make no buffer. */
	if (!header)
		return;
	rec_store_relaxed(&header->lease_errno, (uint32_t)-err);
	if (__atomic_fetch_add(&header->lost_no_lane, 1, __ATOMIC_RELAXED) == 0)
		rec_debug_lost("a thread's lane", err);
}

void rec_lane_bind(uint32_t index, uint32_t tid)
{
	struct rec_handle *handle = &rec_pool.handles[index];
	const struct rec_event_common common = { .pid = (int32_t)tid };

	rec_local_add64(&rec_lane_at(index)->leases, 1);
	handle->cpu = rec_thread_cpu();
	memcpy(&handle->common, &common, sizeof(common));
	handle->entered = rec_thread_context ? rec_context_repeat : NULL;
	handle->leave = handle->entered;
	/* This lets the first event take the rare path, after which the context values are written. */
	if (handle->leave)
		rec_store_relaxed(&rec_lane_at(index)->cpu, REC_CPU_NONE);
	rec_signal_fence();
	handle->lane = rec_lane_at(index);
	rec_signal_fence();
}

/*
 * An event that fork interrupted is finished in the child, too, with its former handle, which was zeroed. Let that
 * handle lead to its former memory again. rec_process_forked() then replaces that memory by zeros that no other process
 * sees.
 */
void rec_lane_restore_handles(void)
{
	const uint32_t lanes = rec_pool.header ? rec_lanes() : 0;

	for (uint32_t index = 0; index < lanes; index++) {
		struct rec_handle *handle = &rec_pool.handles[index];
		const uint32_t size = rec_load_relaxed(&rec_lane_at(index)->subbuf_size);
		const uint32_t nr_subbufs = rec_load_relaxed(&rec_lane_at(index)->nr_subbufs);

		/*
		 * Skip a handle that was not zeroed: kernels before 4.14 do not support that, and qemu-user only claims
		 * to.
		 */
		if (handle->lane || !rec_is_subbuf_size(size))
			continue;
		begin_handle(handle, index);
		handle->cpu = rec_thread_cpu();
		shape_handle(handle, index, size, nr_subbufs);
		handle->lane = rec_lane_at(index);
	}
}
