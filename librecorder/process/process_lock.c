/* SPDX-License-Identifier: MIT */
/*
 * The process lock.
 *
 * Guarantees. The holder is never interrupted by a signal handler of its own thread, nor cancelled. So it always
 * releases the lock, within microseconds, and no thread forks, or jumps away, while it holds the lock. There are two
 * exceptions, in which another thread takes the lock over. If a raw clone copies the process while another thread holds
 * the lock, the holder does not exist in the copy. And a seccomp filter may end a thread at any system call: then one
 * event may lack its description, and the program continues. But if the filter ends the main thread, the lock stays
 * taken, because for the kernel the main thread exists until the process ends.
 */
#include "librecorder/process/process.h"
#include "librecorder/core/atomic.h"
#include "librecorder/os/backoff.h"
#include "librecorder/os/signal_block.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers of threads without an id: above all ids, and below REC_OWNER_HELD. */
#define NO_ID	   UINT32_C(0x80000000)
#define NO_ID_MASK UINT32_C(0x3fffffff)

static uint64_t holder;		/* process << 32 | thread; 0: none */
static struct rec_signal_block before; /* the holder's signal mask */

uint32_t rec_thread_without_id(void)
{
	static __thread uint32_t number __attribute__((tls_model("initial-exec")));
	static uint32_t nr_without_id;
	uint32_t none = 0;

	/* A signal handler may have stored a number since the check; that one remains. */
	if (!number)
		rec_cmpxchg32(&number, &none,
			      NO_ID | (__atomic_fetch_add(&nr_without_id, 1, __ATOMIC_RELAXED) & NO_ID_MASK));
	return number;
}

/* The calling thread's id; or, if a seccomp filter forbids the system call, its number. */
static uint32_t this_thread(void)
{
	const long tid = syscall(SYS_gettid);

	return tid > 0 ? (uint32_t)tid : rec_thread_without_id();
}

/* Whether a holder in this process is gone. */
static bool is_gone(uint64_t was)
{
	const int saved = errno;
	const bool gone = (uint32_t)was < NO_ID &&
			  syscall(SYS_tgkill, (pid_t)(was >> 32), (pid_t)(uint32_t)was, 0) < 0 && errno == ESRCH;

	errno = saved;
	return gone;
}

static bool lock(pid_t pid, bool wait)
{
	const uint64_t process = (uint64_t)pid << 32;
	const uint64_t self = process | this_thread();
	unsigned int tries = 0;
	struct rec_signal_block block;
	uint64_t was;

	rec_signal_block_begin(&block);
	for (;;) {
		was = 0;
		if (rec_cmpxchg64(&holder, &was, self))
			break;
		if ((was & ~(uint64_t)UINT32_MAX) != process && rec_cmpxchg64(&holder, &was, self))
			break;
		if (tries == REC_BACKOFF_TRIES && is_gone(was) && rec_cmpxchg64(&holder, &was, self))
			break;
		if (was == self || (!wait && tries == REC_BACKOFF_TRIES)) {
			rec_signal_block_end(&block);
			return false;
		}
		rec_backoff(&tries);
	}
	before = block;
	return true;
}

/* Whether the pid is that of a process which may have the lock. A thread that may not ask for its pid may not lock. */
static bool may_lock(pid_t pid)
{
	return pid > 0 && !rec_process_is_guest();
}

bool rec_process_lock(void)
{
	const pid_t pid = getpid();

	return may_lock(pid) && lock(pid, true);
}

bool rec_process_lock_soon(void)
{
	const pid_t pid = getpid();

	return may_lock(pid) && lock(pid, false);
}

bool rec_process_lock_without_pid(void)
{
	const pid_t pid = getpid();

	/* A thread that may not ask for the pid takes the lock under the buffer's pid, as the other threads do. */
	return pid < 0 ? lock(rec_process_pid(), true) : may_lock(pid) && lock(pid, true);
}

void rec_process_unlock(void)
{
	const struct rec_signal_block block = before;

	rec_store_release(&holder, 0);
	rec_signal_block_end(&block);
}
