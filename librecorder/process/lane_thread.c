/* SPDX-License-Identifier: MIT */
/*
 * Leases: a thread's own lane, from its first event to its end.
 *
 * Guarantees. Signal-safe. A lease begins and ends with all signals blocked (signal_block.h): no handler sees it half
 * done, jumps out of it or forks inside it. A thread for which there is no lane shares (lane_share.c).
 */
#include <librecorder/lane.h>

#include "librecorder/process/context_private.h"
#include "librecorder/process/lane_life.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/log_private.h"
#include "librecorder/process/process.h"
#include "librecorder/os/signal_block.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif

/* glibc keeps the first 32 keys' values in the thread itself; setting one of them allocates nothing. */
#define SAFE_KEYS 32

static struct rec_handle no_handle;
__thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec"))) = &no_handle;

/* The most lanes that a thread may have at a time. If all that it left are stuck, it shares. */
#define LANES_MAX 4u

/*
 * Lanes that this thread left because they were stuck, or in favour of one of another shape. The thread owns them, in
 * addition to the one in its handle.
 */
static __thread unsigned int left_lanes __attribute__((tls_model("initial-exec")));

/* The lanes of this thread that it owns because it grew. LANES_MAX does not count them. */
static __thread unsigned int grown_lanes __attribute__((tls_model("initial-exec")));

/* Whether this thread's rec_thread_attach() has returned 0. */
static __thread bool attached __attribute__((tls_model("initial-exec")));

/* This thread's name in the log. */
static __thread char noted_name[16] __attribute__((tls_model("initial-exec")));

/* This thread's id when it tried to lease its first lane: the owner of its lanes. 0: it has not tried. */
static __thread uint32_t known_id __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static bool have_end_key;

uint32_t rec_thread_id(void)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	return rec_is_thread_id(tid) || !known_id ? tid : known_id;
}

const uint32_t *rec_thread_cpu(void)
{
	static const uint32_t none = REC_CPU_UNKNOWN;
#ifdef HAVE_RSEQ
	if (__rseq_size)
		return &((struct rseq *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset))->cpu_id;
#endif
	return &none;
}

bool rec_thread_has_moved(void)
{
	return left_lanes;
}

static bool has_own_lane(void)
{
	return rec_thread_handle->lane && !rec_share_is_handle(rec_thread_handle);
}

void rec_thread_watch_end(void)
{
	if (have_end_key && end_key < SAFE_KEYS)
		pthread_setspecific(end_key, rec_thread_handle);
}

/*
 * Give back all lanes of this owner, which is the calling thread: those that were stuck, and shared ones that it never
 * gave back. Before its first lease, also those of a former thread with the same id that ended without notice, because
 * ids are reused.
 */
static void give_back_all(uint32_t owner)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index;

	for (index = 0; index < lanes; index++)
		if (rec_load_relaxed(&rec_lane_at(index)->owner) == owner)
			rec_lane_settle(index);
}

/* Lease a lane, with signals blocked. */
static int lease(void)
{
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0;
	int r;

	/* This happens if a seccomp filter forbids the system call that returns the thread's id. */
	if (!rec_is_thread_id(tid))
		return -EPERM;
	if (rec_thread_handle == &no_handle && !left_lanes) {
		if (!rec_lane_may_own(tid))
			return -EINPROGRESS;
		known_id = tid;
		give_back_all(tid);
	}
	rec_lane_settle_orphans(tid);
	/* If the pool is almost used up, some of the remaining lanes must be shared. */
	if (rec_share_wants_lane() && rec_lane_take(tid, NULL, &index) == 0)
		rec_share_add(index);
	r = rec_lane_take(tid, NULL, &index);
	if (r < 0)
		return r;
	rec_lane_bind(index, tid);
	rec_thread_handle = &rec_pool.handles[index];
	rec_thread_watch_end();
	return 0;
}

int rec_thread_lease(void)
{
	struct rec_signal_block block;
	int r = 0;

	rec_signal_block_begin(&block);
	/* A handler may have leased a lane just before. */
	if (!has_own_lane())
		r = left_lanes < LANES_MAX + grown_lanes ? lease() : -EDQUOT;
	rec_signal_block_end(&block);
	if (r == 0)
		rec_lane_note_name();
	return r;
}

/* Called if there is no lane: the thread shares from now on, unless a handler has leased a lane just before. */
static struct rec_handle *share(int err)
{
	struct rec_handle *handle;
	struct rec_signal_block block;

	rec_signal_block_begin(&block);
	handle = rec_thread_handle->lane ? rec_thread_handle : rec_share_begin(err);
	rec_signal_block_end(&block);
	rec_lane_note_name();
	return handle;
}

struct rec_handle *rec_lane_lease(void)
{
	const int saved = errno;
	struct rec_handle *handle = NULL;
	int r;

	if (!rec_pool.header)
		return NULL;
	/*
	 * vfork's child runs in place of a thread, and does not lease a lane for that thread. No lane is leased either
	 * if the process is forbidden to ask for its pid.
	 */
	if (!rec_process_is_own()) {
		rec_lane_count_lost(getpid() < 0 ? -EPERM : -EAGAIN);
	} else if (rec_pool.header) {
		/*
		 * The header is checked again, because the child of a raw clone now has a buffer of its own, or none.
		 */
		r = rec_thread_lease();
		if (r == -EINPROGRESS)
			/* The next event tries again. */
			rec_lane_count_lost(-EINPROGRESS);
		else
			handle = r == 0 ? rec_thread_handle : share(r);
	}
	errno = saved;
	return handle;
}

int rec_thread_attach(void)
{
	int r;

	if (rec_process_init() < 0 || !rec_process_is_own() || !rec_pool.header)
		return -ENXIO;
	r = has_own_lane() ? 0 : rec_thread_lease();
	attached |= r == 0;
	return r;
}

bool rec_thread_is_attached(void)
{
	return attached;
}

int rec_thread_lane(unsigned int *ret_lane)
{
	if (!rec_pool.header || !rec_process_is_maker() || !has_own_lane())
		return -ENOENT;
	*ret_lane = rec_lane_index(rec_thread_handle);
	return 0;
}

bool rec_thread_has_left(uint32_t index, uint32_t tid)
{
	const struct rec_lane *lane = rec_lane_at(index);

	return rec_is_thread_id(tid) && rec_load_relaxed(&lane->owner) == tid && rec_lane_is_made(index) &&
	       !rec_lane_is_shared(index) && &rec_pool.handles[index] != rec_thread_handle &&
	       lane->tail == lane->commit && !lane->open;
}

/* Find a lane that this thread left and in which nothing is open now; `shape` NULL: of any shape. */
static bool find_idle(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index)
{
	const uint32_t lanes = left_lanes ? rec_lanes() : 0;
	uint32_t index;

	for (index = 0; index < lanes; index++) {
		if (rec_thread_has_left(index, tid) &&
		    (!shape || rec_lane_has_shape(&rec_pool.handles[index], shape))) {
			*ret_index = index;
			return true;
		}
	}
	return false;
}

int rec_thread_move(const struct rec_shape *shape)
{
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0;
	int r = 0;

	if (!find_idle(tid, shape, &index)) {
		r = left_lanes + 1 < LANES_MAX + grown_lanes ? rec_lane_take(tid, shape, &index) : -EDQUOT;
		left_lanes += r == 0;
	}
	if (r < 0)
		return r;
	REC_TESTPOINT(move_taken);
	rec_lane_bind(index, tid);
	rec_thread_handle = &rec_pool.handles[index];
	REC_TESTPOINT(move_bound);
	return 0;
}

void rec_thread_continue(uint32_t index, bool was_own)
{
	left_lanes += !was_own;
	grown_lanes += !was_own;
	REC_TESTPOINT(grow_taken);
	rec_lane_bind(index, rec_thread_id());
	rec_thread_handle = &rec_pool.handles[index];
	REC_TESTPOINT(grow_bound);
}

void rec_thread_give_back_left(void)
{
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0;

	while (find_idle(tid, NULL, &index)) {
		rec_lane_repair(index);
		rec_lane_give_back(index);
		left_lanes--;
	}
	if (grown_lanes > left_lanes)
		grown_lanes = left_lanes;
}

/* The thread gets no other lane of its own, and shares from now on; `err` is the reason, -errno. */
static void leave_and_share(int err)
{
	uint32_t index = 0;

	left_lanes++;
	rec_share_begin(err);
	while (rec_share_wants_lane() && rec_lane_take(rec_thread_id(), NULL, &index) == 0)
		rec_share_add(index);
}

struct rec_handle *rec_thread_on_stuck(struct rec_handle *stuck)
{
	const int saved = errno;
	struct rec_handle *handle;
	struct rec_signal_block block;
	int r = 0;

	/* vfork's child gets no other lane. */
	if (rec_process_is_guest())
		return stuck;
	rec_signal_block_begin(&block);
	/* The thread may have moved since this event looked for a lane. */
	if (rec_thread_handle == stuck)
		r = rec_thread_move(NULL);
	if (r < 0)
		leave_and_share(r);
	handle = rec_thread_handle;
	rec_signal_block_end(&block);
	errno = saved;
	return handle;
}

static int append_name(const char *name, size_t size)
{
	struct {
		struct rec_log_thread thread;
		char name[256];
	} record = { .thread = { .tid = (int32_t)rec_thread_id(), .name_size = (uint32_t)size } };
	size_t i;

	for (i = 0; i + 1 < size; i++)
		record.name[i] = (unsigned char)name[i] < ' ' || name[i] == 127 ? '?' : name[i];
	record.thread.record.kind = REC_LOG_THREAD;
	record.thread.record.size = (uint32_t)((sizeof(record.thread) + size + 7) & ~(size_t)7);
	return rec_log_append_locked(&record.thread.record);
}

void rec_lane_note_name(void)
{
	char name[16] = "";

	if (!rec_pool.header || !rec_process_lock_soon())
		return;
	/*
	 * rec_thread_name() sets noted_name to the kernel's name of the thread, so that the kernel's name does not
	 * replace the name given there.
	 */
	if (prctl(PR_GET_NAME, name) == 0 && name[0] && strcmp(name, noted_name) != 0 &&
	    append_name(name, strlen(name) + 1) == 0)
		memcpy(noted_name, name, sizeof(noted_name));
	rec_process_unlock();
}

int rec_thread_name(const char *name)
{
	const size_t size = name ? strnlen(name, 255) + 1 : 0;
	int r;

	if (size < 2)
		return -EINVAL;
	if (rec_process_init() < 0)
		return -ENXIO;
	if (!rec_process_lock())
		return -EBUSY;
	r = append_name(name, size);
	if (r == 0)
		prctl(PR_GET_NAME, noted_name);
	rec_process_unlock();
	return r;
}

/*
 * The destructor of the key, called when the thread ends. Events of later destructors find no lane and lease one again,
 * which sets the key again.
 */
static void thread_ends(void *value)
{
	struct rec_handle *handle;
	struct rec_signal_block block;

	(void)value;
	rec_context_end();
	handle = rec_thread_handle;
	/* A child that bypassed fork's handlers has the handle that shares, but the lanes are its parent's. */
	if (!handle->lane || !rec_process_is_maker())
		return;
	rec_lane_note_name();
	rec_signal_block_begin(&block);
	rec_thread_handle = &no_handle;
	/* A thread that has shared may have left an event in a shared lane before it leased this one. */
	if (left_lanes || rec_share_owner()) {
		give_back_all(rec_share_is_handle(handle) ? rec_share_owner() : rec_thread_id());
	} else {
		rec_lane_repair(rec_lane_index(handle));
		rec_lane_give_back(rec_lane_index(handle));
	}
	left_lanes = 0;
	grown_lanes = 0;
	attached = false;
	rec_signal_block_end(&block);
}

void rec_lane_exit(void)
{
	thread_ends(NULL);
}

void rec_lane_forked(void)
{
	rec_lane_restore_handles();
	rec_thread_handle = &no_handle;
	left_lanes = 0;
	grown_lanes = 0;
	attached = false;
	known_id = 0;
	rec_share_forked();
	noted_name[0] = '\0';
}

void rec_lane_start(void)
{
	have_end_key = pthread_key_create(&end_key, thread_ends) == 0;
}

void rec_lane_stop(void)
{
	if (have_end_key)
		pthread_key_delete(end_key);
	have_end_key = false;
}
