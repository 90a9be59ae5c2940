/* SPDX-License-Identifier: MIT */
/*
 * Leases of lanes to threads.
 *
 * Guarantees. Signal-safe: compare-and-exchange and system calls, no lock, no allocation from the heap. A lane has one
 * owner; it is owned by a living thread, or free, or its owner died without a word, which the next lease that finds no
 * other lane notices. What a lane holds stays until it is read or overwritten, whoever writes next. Memory follows the
 * number of threads that trace at the same time, up to the cap; a lost event at the cap is counted.
 *
 * A handle's lane pointer is what makes a lease: it is set last and cleared first, so a signal handler in between finds
 * no lane and leases another one, which is given back when the interrupted lease comes to its end.
 */
#include <librecorder/lane.h>

#include "lane_private.h"
#include "log_private.h"
#include "process.h"
#include "ring_private.h"

#include <errno.h>
#include <librecorder/atomic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif

/* glibc keeps the first 32 keys' values in the thread itself; setting one of them allocates nothing. */
#define SAFE_KEYS 32

/* After a lease failed, so many further events of the process are lost before the next try. */
#define RETRY_INTERVAL 4096u

/* Waits for the log's lock to note a thread's name; it is held for microseconds. */
#define NAME_TRIES 100

/* The private state word of a lane: one of these, or the id of the thread that makes it. */
#define LANE_NONE  0u
#define LANE_READY UINT32_MAX

/*
 * How often, and how long in between, a thread waits for another one that is making a lane: its memory takes from some
 * hundred microseconds to some ten milliseconds, as large as it is. Sleeping lets a maker of lower priority run.
 */
#define MAKER_TRIES   20000
#define MAKER_WAIT_NS 50000

static struct rec_handle no_handle;
__thread struct rec_handle *rec_thread_handle __attribute__((tls_model("initial-exec"))) = &no_handle;

/* The name that the log has for this thread's lease. */
static __thread char noted_name[16] __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static bool have_end_key;

static uint32_t this_thread(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Where the kernel keeps this thread's CPU number, or a word that says that it does not. */
static const uint32_t *cpu_word(void)
{
	static const uint32_t none = REC_CPU_UNKNOWN;
#ifdef HAVE_RSEQ
	if (__rseq_size)
		return &((struct rseq *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset))->cpu_id;
#endif
	return &none;
}

static unsigned char *lane_base(uint32_t index)
{
	return (unsigned char *)rec_process.header + rec_process.geometry.lanes +
	       (uint64_t)index * rec_process.geometry.lane_stride;
}

struct rec_lane *rec_lane_at(uint32_t index)
{
	return (struct rec_lane *)(void *)lane_base(index);
}

void rec_lane_shape(struct rec_handle *handle, uint32_t index, uint32_t subbuf_size)
{
	const struct rec_geometry *g = &rec_process.geometry;
	unsigned char *base = lane_base(index);
	struct rec_meta *meta = (struct rec_meta *)(void *)(base + g->lane_meta);

	handle->data = base + g->lane_meta + subbuf_size + REC_SUBBUF_HEADER_SIZE;
	handle->shift = (uint32_t)__builtin_ctz(subbuf_size);
	handle->capacity = (subbuf_size - REC_SUBBUF_HEADER_SIZE) / 4;
	rec_store_relaxed(&handle->room, handle->capacity);
	handle->nr_subbufs = rec_geometry_subbufs(g, subbuf_size);
	*meta = (struct rec_meta){ .meta_page_size = subbuf_size,
				   .meta_struct_len = sizeof(*meta),
				   .subbuf_size = subbuf_size,
				   .nr_subbufs = handle->nr_subbufs };
}

/* Make lane `index`, which the caller has claimed. Its handle keeps the shape from here on; what the file says is not asked. */
static int make_lane(uint32_t index, uint32_t tid)
{
	const struct rec_geometry *g = &rec_process.geometry;
	const uint32_t size = rec_load_relaxed(&g->subbuf_size);
	const uint32_t pages = rec_geometry_pages(g, size);
	unsigned char *base = lane_base(index);
	struct rec_handle handle = { 0 };
	/* Meta page, reader page, ring. */
	const int r = rec_process_populate(base, (size_t)(g->lane_meta + (pages + 2ul) * size));

	if (r < 0)
		return r;
	handle.clock = rec_process.clock;
	handle.overwrite = rec_process.overwrite;
	handle.subbufs = (struct rec_subbuf *)(void *)(base + sizeof(struct rec_lane));
	handle.reader = (struct rec_lane_reader *)(void *)(base + g->lane_reader);
	handle.links = (struct rec_link *)(void *)(handle.reader + 1);
	handle.attend = rec_lane_attend;
	rec_lane_shape(&handle, index, size);
	rec_process.handles[index] = handle;
	handle.lane = rec_lane_at(index);
	rec_ring_init(&handle, pages);
	handle.lane->owner = tid;
	return 0;
}

/* A lane that exists and has no owner. */
static int take_free(uint32_t tid, uint32_t *ret_index)
{
	const uint32_t lanes = rec_load_acquire(&rec_process.header->nr_lanes);
	uint32_t index;

	for (index = 0; index < lanes && index < rec_process.geometry.max_lanes; index++) {
		uint32_t *owner = &rec_lane_at(index)->owner;
		uint32_t was = 0;

		if (rec_load_relaxed(owner) == 0 && rec_cmpxchg32(owner, &was, tid)) {
			*ret_index = index;
			return 1;
		}
	}
	return 0;
}

/*
 * Make one more lane. Lanes are made one at a time and in order, so that those the file counts are all there: one that
 * could not be made must not hide another. Whoever comes meanwhile waits a bounded time for the maker; a signal handler
 * that interrupted it on this very thread cannot, and its event is lost.
 */
static int take_new(uint32_t tid, uint32_t *ret_index)
{
	const struct timespec wait = { .tv_nsec = MAKER_WAIT_NS };
	uint32_t *count = &rec_process.header->nr_lanes;
	unsigned int tries;

	for (tries = 0; tries < MAKER_TRIES; tries++) {
		const uint32_t index = rec_load_acquire(count);
		uint32_t n = index, state = LANE_NONE;
		int r;

		if (n >= rec_process.geometry.max_lanes)
			return -EDQUOT;
		if (rec_cmpxchg32(&rec_process.lane_states[n], &state, tid)) {
			r = make_lane(n, tid);
			rec_store_release(&rec_process.lane_states[n], r < 0 ? LANE_NONE : LANE_READY);
			if (r < 0)
				return r;
			/* Release: a reader that counts the lane sees it made (edge N1). */
			rec_cmpxchg32(count, &n, n + 1);
			*ret_index = index;
			return 1;
		}
		if (state == LANE_READY)
			rec_cmpxchg32(count, &n, n + 1);
		else if (state == tid)
			break;
		else
			nanosleep(&wait, NULL);
	}
	return -EAGAIN;
}

/*
 * A lane whose owner ended without giving it back: by a raw system call, or because the end key could not be set. An
 * owner with our own id is one too, if its handle is not ours: thread ids come back.
 */
static int take_orphan(uint32_t tid, uint32_t *ret_index)
{
	const uint32_t lanes = rec_load_acquire(&rec_process.header->nr_lanes);
	uint32_t index;

	for (index = 0; index < lanes && index < rec_process.geometry.max_lanes; index++) {
		uint32_t *owner = &rec_lane_at(index)->owner;
		uint32_t was = rec_load_relaxed(owner);

		if (was && rec_process.handles[index].lane &&
		    (was == tid || (syscall(SYS_tgkill, rec_process.pid, was, 0) < 0 && errno == ESRCH)) &&
		    &rec_process.handles[index] != rec_thread_handle && rec_cmpxchg32(owner, &was, tid)) {
			rec_process.handles[index].lane = NULL;
			*ret_index = index;
			return 1;
		}
	}
	return -EDQUOT;
}

void rec_lane_repair(uint32_t index)
{
	const struct rec_handle *handle = &rec_process.handles[index];
	/* A handle of our own, for the lane's may show no lane yet, or none any more. */
	struct rec_handle whole = { .lane = rec_lane_at(index),
				    .data = handle->data,
				    .shift = handle->shift,
				    .capacity = handle->capacity,
				    .nr_subbufs = handle->nr_subbufs,
				    .subbufs = handle->subbufs,
				    .links = handle->links,
				    .reader = handle->reader };

	rec_ring_repair(&whole);
	if (whole.lane->broken)
		rec_store_relaxed(&rec_process.handles[index].room, 0);
}

int rec_lane_take(uint32_t tid, uint32_t *ret_index)
{
	int r = take_free(tid, ret_index);

	if (r == 0)
		r = take_new(tid, ret_index);
	if (r == -EDQUOT)
		r = take_orphan(tid, ret_index);
	if (r > 0) {
		rec_lane_repair(*ret_index);
		rec_local_add64(&rec_lane_at(*ret_index)->leases, 1);
		rec_lane_adapt(*ret_index);
	}
	return r;
}

void rec_lane_give_back(uint32_t index)
{
	/* Release: the next owner sees all that we wrote (edge O1). */
	rec_store_release(&rec_lane_at(index)->owner, 0);
	__atomic_fetch_add(&rec_process.leases_ended, 1, __ATOMIC_RELAXED);
}

static void count_lost(int r)
{
	struct rec_buffer_header *header = rec_process.header;

	rec_store_relaxed(&header->lease_errno, (uint32_t)-r);
	__atomic_fetch_add(&header->lost_no_lane, 1, __ATOMIC_RELAXED);
}

/* The thread's handle, unless a signal handler has changed it since it was `was`. */
static bool set_thread_handle(struct rec_handle *was, struct rec_handle *now)
{
	return __atomic_compare_exchange_n(&rec_thread_handle, &was, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void rec_lane_bind(uint32_t index, uint32_t tid)
{
	struct rec_handle *handle = &rec_process.handles[index];
	const struct rec_event_common common = { .pid = (int32_t)tid };

	handle->cpu = cpu_word();
	memcpy(&handle->common, &common, sizeof(common));
	rec_signal_fence();
	handle->lane = rec_lane_at(index);
	rec_signal_fence();
}

static int lease(void)
{
	const uint32_t tid = this_thread();
	struct rec_handle *was = rec_thread_handle, *handle;
	uint32_t index = 0;
	int r = rec_lane_take(tid, &index);

	if (r < 0)
		return r;
	if (rec_thread_handle->lane) {
		/* A signal handler was here meanwhile and has leased a lane for this thread. */
		rec_lane_give_back(index);
		return 0;
	}
	handle = &rec_process.handles[index];
	rec_lane_bind(index, tid);
	if (!set_thread_handle(was, handle)) {
		/* A handler has leased one since we looked; if not this very lane, as an orphan, ours goes back. */
		if (rec_thread_handle != handle) {
			handle->lane = NULL;
			rec_signal_fence();
			rec_lane_give_back(index);
		}
		return 0;
	}
	rec_lane_watch_end(handle);
	rec_lane_note_name();
	return 0;
}

struct rec_handle *rec_lane_lease(void)
{
	static uint32_t failed_at; /* leases_ended at the last failure, plus one */
	const int saved = errno;
	struct rec_handle *handle = NULL;
	uint64_t lost;
	int r;

	/* A child of a raw clone has its parent's memory but must not make lanes in its parent's buffer. */
	if (!rec_process.header || rec_process.pid != getpid())
		return NULL;
	lost = rec_load_relaxed(&rec_process.header->lost_no_lane);
	if (rec_load_relaxed(&failed_at) == rec_load_relaxed(&rec_process.leases_ended) + 1 && lost % RETRY_INTERVAL) {
		count_lost(-(int)rec_process.header->lease_errno);
		return NULL;
	}
	r = lease();
	if (r == -EAGAIN) {
		count_lost(r);
	} else if (r < 0) {
		rec_store_relaxed(&failed_at, rec_load_relaxed(&rec_process.leases_ended) + 1);
		count_lost(r);
	} else {
		handle = rec_thread_handle;
	}
	errno = saved;
	return handle;
}

int rec_thread_attach(void)
{
	int r = 0;

	if (rec_process_init() < 0 || rec_process.pid != getpid())
		return -ENXIO;
	if (!rec_thread_handle->lane)
		r = lease();
	return r;
}

static int append_name(const char *name, size_t size)
{
	struct {
		struct rec_log_thread thread;
		char name[256];
	} record = { .thread = { .tid = (int32_t)this_thread(), .name_size = (uint32_t)size } };
	size_t i;

	for (i = 0; i + 1 < size; i++)
		record.name[i] = (unsigned char)name[i] < ' ' || name[i] == 127 ? '?' : name[i];
	record.thread.record.kind = REC_LOG_THREAD;
	record.thread.record.size = (uint32_t)((sizeof(record.thread) + size + 7) & ~(size_t)7);
	return rec_log_append_locked(&record.thread.record);
}

void rec_lane_note_name(void)
{
	unsigned int tries;
	char name[16] = "";

	if (!rec_process.header)
		return;
	/* Bounded: for a signal handler that interrupted the holder it never becomes free. */
	for (tries = 0; !rec_process_trylock(); tries++) {
		if (tries == NAME_TRIES)
			return;
		sched_yield();
	}
	/* A name given by rec_thread_name() is not replaced by the kernel's: noted_name is then what the kernel says. */
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
	rec_process_lock();
	r = append_name(name, size);
	if (r == 0)
		prctl(PR_GET_NAME, noted_name);
	rec_process_unlock();
	return r;
}

/* The thread ends. Events of later destructors find no lane and lease one again; the key is set again by that. */
static void thread_ends(void *value)
{
	struct rec_handle *handle = value;
	const ptrdiff_t index = handle - rec_process.handles;

	if (handle != rec_thread_handle || !handle->lane)
		return;
	rec_lane_note_name();
	/* First the lane: a signal handler from here on leases another one, and that one stays the thread's. */
	handle->lane = NULL;
	rec_signal_fence();
	set_thread_handle(handle, &no_handle);
	rec_lane_repair((uint32_t)index);
	rec_lane_give_back((uint32_t)index);
}

void rec_lane_watch_end(struct rec_handle *handle)
{
	if (have_end_key && end_key < SAFE_KEYS)
		pthread_setspecific(end_key, handle);
}

void rec_lane_wake_readers(void)
{
	const uint32_t lanes = rec_load_acquire(&rec_process.header->nr_lanes);
	uint32_t index;

	for (index = 0; index < lanes && index < rec_process.geometry.max_lanes; index++)
		if (rec_process.handles[index].reader)
			rec_ring_wake(rec_process.handles[index].reader);
}

void rec_lane_forked(void)
{
	rec_thread_handle = &no_handle;
	noted_name[0] = '\0';
}

void rec_lane_start(void)
{
	have_end_key = pthread_key_create(&end_key, thread_ends) == 0;
}
