/* SPDX-License-Identifier: MIT */
/*
 * Replacements for the functions of the kernel and of the rest of the process that the lanes call. This file is
 * compiled as the lanes are, so accesses to data of several actors are steps here, too.
 */
#include "librecorder/process/context_private.h"
#include "librecorder/process/debug.h"
#include "librecorder/process/log_private.h"
#include "lanes.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

struct futex_wait {
	uint64_t value, address;
	uint32_t flags, reserved;
};

/* The comparison and the sleep are one step: in between no futex changes, and no actor wakes sleepers. */
static long wait_for_any(const struct futex_wait *waits, uint32_t nr)
{
	struct kernel *kernel = &inside.kernel;
	uint32_t i;
	bool changed = false;

	__atomic_load_n(&kernel->asleep, __ATOMIC_SEQ_CST);
	unwatched = true;
	for (i = 0; i < nr; i++)
		changed |= __atomic_load_n((const uint32_t *)(uintptr_t)waits[i].address, __ATOMIC_SEQ_CST) !=
			   (uint32_t)waits[i].value;
	for (i = 0; i < LANES_MAX; i++)
		__atomic_store_n(&kernel->futex[i], i < nr ? (const uint32_t *)(uintptr_t)waits[i].address : NULL,
				 __ATOMIC_SEQ_CST);
	if (!changed)
		__atomic_store_n(&kernel->asleep, 1, __ATOMIC_SEQ_CST);
	unwatched = false;
	if (!changed && running >= 0)
		actor_sleep();
	errno = EAGAIN;
	return changed ? -1 : 0;
}

static void wake(const uint32_t *futex)
{
	struct kernel *kernel = &inside.kernel;
	uint32_t i;

	__atomic_load_n(&kernel->asleep, __ATOMIC_SEQ_CST);
	unwatched = true;
	for (i = 0; i < LANES_MAX; i++)
		if (__atomic_load_n(&kernel->futex[i], __ATOMIC_SEQ_CST) == futex)
			__atomic_store_n(&kernel->asleep, 0, __ATOMIC_SEQ_CST);
	unwatched = false;
}

static long look_for_thread(uint32_t tid)
{
	if (tid < ALIVE && __atomic_load_n(&inside.kernel.alive[tid], __ATOMIC_SEQ_CST))
		return 0;
	memory_deaths_seen();
	errno = ESRCH;
	return -1;
}

long model_syscall(long number, ...);
long model_syscall(long number, ...)
{
	va_list args;
	const void *at;
	int first;
	long r;

	if (number == SYS_gettid)
		return m.actors[current].tid;
	va_start(args, number);
	if (number == SYS_tgkill) {
		if (va_arg(args, int) != PID)
			fail("another process is asked for");
		r = look_for_thread(va_arg(args, uint32_t));
		va_end(args);
		return r;
	}
	at = va_arg(args, const void *);
	first = va_arg(args, int);
	va_end(args);
	if (number == SYS_futex_waitv)
		return wait_for_any(at, (uint32_t)first);
	if (number != SYS_futex || first != FUTEX_WAKE)
		fail("no such system call: %ld", number);
	wake(at);
	return 0;
}

pid_t model_getpid(void);
pid_t model_getpid(void)
{
	return PID;
}

/* Gives back memory, which then reads as zeros. */
int model_madvise(void *at, size_t size, int advice);
int model_madvise(void *at, size_t size, int advice)
{
	(void)advice;
	memset(at, 0, size);
	memory_populate(at, size, false);
	return 0;
}

/* The checker treats this as an access, because the compiler does not report the call. */
#undef memset
void *model_memset(void *at, int value, size_t size);
void *model_memset(void *at, int value, size_t size)
{
	steps_plain(at, (uint32_t)size, true, __builtin_return_address(0));
	return __builtin_memset(at, value, size);
}

int model_sigaltstack(const stack_t *stack, stack_t *old);
int model_sigaltstack(const stack_t *stack, stack_t *old)
{
	(void)stack;
	*old = (stack_t){ .ss_flags = SS_DISABLE, .ss_size = STACK_SIZE };
	return 0;
}

#undef statfs
int model_statfs(const char *path, struct model_statfs *ret_fs);
int model_statfs(const char *path, struct model_statfs *ret_fs)
{
	(void)path;
	*ret_fs = (struct model_statfs){ .f_bsize = 4096 };
	return 0;
}

/* There is one CPU, and the clock stands still: the checker of the ring varies these. */
static uint32_t registration[8]; /* as struct rseq of <sys/rseq.h>, where these two are constants */
unsigned int model_rseq_size = sizeof(registration);
ptrdiff_t model_rseq_place;

uint64_t rec_clock_mono(void)
{
	return NOW;
}

/* ----------------------------------------------------------------------------------------------------- the process */

/* A buffer in which no lane is made. */
void kernel_begin(void)
{
	const struct rec_geometry geometry = {
		.page = 1,
		.subbuf_size = SUBBUF,
		.lane_bytes = 2 * SUBBUF,
		.max_subbufs = SUBBUFS,
		.max_lanes = config->max_lanes,
		.shared_max = config->shared_max,
		.lanes = (uint64_t)((uintptr_t)file - (uintptr_t)&header),
		.lane_stride = sizeof(struct lane_file),
		.lane_reader = offsetof(struct lane_file, words),
		.lane_meta = offsetof(struct lane_file, meta),
	};
	const struct rec_options options = { .clock = REC_CLOCK_MONO, .discard = !with(OVERWRITE) };

	_Static_assert(offsetof(struct inside, own) == offsetof(struct inside, handles) + sizeof(inside.handles),
		       "one block");
	model_rseq_place = (ptrdiff_t)((uintptr_t)&registration - (uintptr_t)__builtin_thread_pointer());
	__builtin_memset(&inside, 0, sizeof(inside));
	__builtin_memset(&header, 0, sizeof(header));
	__builtin_memset(file, 0, sizeof(file));
	__builtin_memset(share_nowhere, 0, sizeof(*share_nowhere));
	*share_starved = 0;
	header.state = REC_BUFFER_LIVE;
	header.start_time = START_TIME;
	header.grow_until = with(GROWS) ? NOW + 1 : 0;
	__builtin_memset(&rec_pool, 0, sizeof(rec_pool));
	rec_pool_begin(&header, &geometry, &options, inside.handles + LANES_MAX - config->max_lanes);
}

int rec_process_init(void)
{
	return 0;
}

const char *rec_process_path(void)
{
	return "";
}

pid_t rec_process_pid(void)
{
	return PID;
}

/* Every thread has an id. */
uint32_t rec_thread_without_id(void)
{
	fail("a thread has no id");
}

bool rec_process_is_maker(void)
{
	return true;
}

bool rec_process_is_own(void)
{
	return true;
}

bool rec_process_is_guest(void)
{
	return false;
}

int rec_process_populate(void *start, size_t size)
{
	memory_populate(start, size, true);
	return 0;
}

/* The lock is never taken, so nothing is written to the log. */
bool rec_process_lock_soon(void)
{
	return false;
}

bool rec_process_lock(void)
{
	return false;
}

void rec_process_unlock(void)
{
}

int rec_log_append_locked(const struct rec_log_record *record)
{
	(void)record;
	return -ENOSPC;
}

/* No thread of the model has values: tests/unit/test_context_handlers.c steps through one that has. */
__thread struct rec_context *rec_thread_context;

void rec_context_repeat(struct rec_handle *handle)
{
	(void)handle;
}

void rec_context_repeat_shared(uint32_t slot, uint32_t lane, uint64_t entered, uint32_t nr_subbufs)
{
	(void)slot;
	(void)lane;
	(void)entered;
	(void)nr_subbufs;
}

void rec_context_end(void)
{
}

void rec_debug_lost(const char *what, int err)
{
	(void)what;
	(void)err;
}
