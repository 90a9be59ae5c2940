/* SPDX-License-Identifier: MIT */
/*
 * Copies of a process: by fork, by a raw clone that bypasses fork's handlers, by vfork. Neither a sanitizer nor an
 * emulator makes them as the kernel does.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process_private.h"
#include "tests/unit/beside.h"
#include "tests/unit/reader_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/ffi.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(copies, step, u64(number));

static void begin(void)
{
	reader_begin(4, false);
}

TestSuite(copies, .init = begin, .fini = reader_end);

static void lease(void)
{
	if (rec_thread_attach() < 0)
		_exit(2);
}

/* Forks without the handlers that were registered for fork(). */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static bool ends_well(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void *hold_lock(void *arg)
{
	pthread_barrier_t *turns = arg;
	const bool locked = rec_process_lock();

	pthread_barrier_wait(turns);
	pthread_barrier_wait(turns);
	if (locked)
		rec_process_unlock();
	return locked ? arg : NULL;
}

/* A raw copy takes over a lock whose holder is not among its threads. fork() waits for the holder instead. */
Test(copies, a_copy_takes_the_lock_over)
{
	pthread_barrier_t turns;
	pthread_t holder;
	void *held;
	pid_t pid;

	pthread_barrier_init(&turns, NULL, 2);
	cr_assert_eq(pthread_create(&holder, NULL, hold_lock, &turns), 0);
	pthread_barrier_wait(&turns);
	pid = raw_fork();
	if (pid == 0) {
		lease();
		_exit(!rec_thread_handle->lane || rec_process_header()->pid != (uint32_t)getpid());
	}
	cr_assert(ends_well(pid));
	pthread_barrier_wait(&turns);
	cr_assert_eq(pthread_join(holder, &held), 0);
	cr_assert_not_null(held);
	cr_assert(rec_process_lock(), "the parent's is free as well");
	rec_process_unlock();
}

struct seen {
	unsigned int lanes;
	uint32_t pid;
	bool had_lane, gets_lane;
	char path[PATH_MAX];
};

/* A copy of a process that has a lane: the copy has none, and its first event makes it a buffer of its own. */
Test(copies, a_raw_copy_has_a_buffer_of_its_own)
{
	struct seen *seen = beside_memory(sizeof(*seen));
	pid_t pid;

	lease();
	pid = raw_fork();
	if (pid == 0) {
		seen->had_lane = rec_thread_handle->lane != NULL;
		seen->gets_lane = rec_lane_lease() != NULL;
		seen->lanes = rec_process_header()->nr_lanes;
		seen->pid = rec_process_header()->pid;
		strcpy(seen->path, rec_process_path());
		_exit(0);
	}
	cr_assert(ends_well(pid));
	cr_assert_not(seen->had_lane);
	cr_assert(seen->gets_lane);
	cr_assert_eq(seen->lanes, 1);
	cr_assert_eq(seen->pid, (uint32_t)pid);
	cr_assert_str_neq(seen->path, rec_process_path());
	cr_assert_eq(access(seen->path, F_OK), 0);
	cr_assert_eq(rec_process_header()->nr_lanes, 1);
}

static void write_number(uint64_t number)
{
	REC(copies, step, number);
}

/* The numbers of the events of a buffer, the lanes by time, as decimal digits. */
static uint64_t numbers_of(const char *path)
{
	struct rec_view *view = reader_view_of(path);
	struct rec_view_event event;
	uint64_t numbers = 0, number;

	while (rec_view_consume(view, REC_ALL_LANES, &event) == 1) {
		memcpy(&number, (const char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(number));
		numbers = numbers * 10 + number;
	}
	rec_view_close(view);
	return numbers;
}

/*
 * Neither process has written an event before. The copy's first event goes to its own buffer, whether its parent writes
 * an event or not.
 */
Test(copies, a_raw_copy_before_the_first_event)
{
	struct seen *seen = beside_memory(sizeof(*seen));
	pid_t pid;

	cr_assert_eq(rec_enable("copies:step"), 1);
	pid = raw_fork();
	if (pid == 0) {
		write_number(1);
		write_number(2);
		strcpy(seen->path, rec_process_path());
		_exit(rec_process_header()->pid != (uint32_t)getpid());
	}
	cr_assert(ends_well(pid));
	write_number(3);
	cr_assert_eq(numbers_of(seen->path), 12);
	cr_assert_eq(numbers_of(rec_process_path()), 3);
}

/* The copy must not take what its parent has in its lanes. */
Test(copies, a_raw_copy_saves_its_own)
{
	char path[PATH_MAX + 8];
	pid_t pid;

	cr_assert_eq(rec_enable("copies:step"), 1);
	write_number(1);
	snprintf(path, sizeof(path), "%s.dat", rec_process_path());
	pid = raw_fork();
	if (pid == 0)
		_exit(rec_save(path) != 0 || rec_process_header()->pid != (uint32_t)getpid());
	cr_assert(ends_well(pid));
	cr_assert_eq(numbers_of(rec_process_path()), 1);
}

/*
 * A child that is the first process of a pid namespace, and below it the first of another one: both have pid 1. Each
 * writes its depth and reports where.
 */
static bool nest(char (*path)[PATH_MAX], unsigned int depth, bool raw)
{
	const int flags = depth ? CLONE_NEWPID : 0;
	pid_t pid;

	write_number(depth);
	strcpy(path[depth], rec_process_path());
	if (depth == 3)
		return getpid() == 1 && rec_process_header()->pid == 1;
	if (!raw && unshare(flags) < 0)
		return false;
	pid = raw ? (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid == 0)
		_exit(!nest(path, depth + 1, raw));
	return ends_well(pid);
}

static void check_first_processes(bool raw)
{
	char (*path)[PATH_MAX] = beside_memory(4 * PATH_MAX);

	if (geteuid() != 0)
		cr_skip_test("not root: no pid namespaces");
	cr_assert_eq(rec_enable("copies:step"), 1);
	cr_assert(nest(path, 0, raw));
	for (uint64_t depth = 0; depth < 4; depth++)
		cr_expect_eq(numbers_of(path[depth]), depth);
}

Test(copies, a_raw_copy_of_the_same_pid)
{
	check_first_processes(true);
}

Test(copies, a_child_of_the_same_pid)
{
	check_first_processes(false);
}

/*
 * Handlers of fork that were registered before the library's. They run after the library's handler before the fork, and
 * before the library's handler in the child.
 */
static bool child_writes;
static struct seen *other_before, *other_in_child;

/* Fork from within a handler, once; the child writes a number and reports where. */
static void fork_another(struct seen **other, uint64_t number)
{
	struct seen *seen = *other;
	pid_t pid;

	if (!seen)
		return;
	*other = NULL;
	pid = fork();
	if (pid == 0) {
		write_number(number);
		strcpy(seen->path, rec_process_path());
		_exit(rec_process_header()->parent_pid != (uint32_t)getppid());
	}
	seen->had_lane = ends_well(pid);
}

static void before(void)
{
	fork_another(&other_before, 5);
}

static void in_child(void)
{
	fork_another(&other_in_child, 6);
	if (child_writes)
		write_number(7);
}

static void be_earlier(void)
{
	pthread_atfork(before, NULL, in_child);
}

/* The library's constructor has priority 101. Compilers reserve lower priorities, but linkers accept them. */
__attribute__((section(".init_array.00100"), used)) static void (*const be_earlier_at_start)(void) = be_earlier;

static unsigned int buffers_beside(const char *path)
{
	char dir[PATH_MAX];
	const struct dirent *entry;
	unsigned int nr = 0;
	DIR *entries;

	strcpy(dir, path);
	*strrchr(dir, '/') = '\0';
	entries = opendir(dir);
	cr_assert_not_null(entries);
	while ((entry = readdir(entries)))
		nr += entry->d_name[0] != '.';
	closedir(entries);
	return nr;
}

static bool blocks_signals(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGUSR1) || sigismember(&set, SIGTERM);
}

Test(copies, a_child_writes_before_the_librarys_handler)
{
	struct seen *seen = beside_memory(sizeof(*seen));
	const uint32_t self = (uint32_t)getpid();
	pid_t pid;

	cr_assert_eq(rec_enable("copies:step"), 1);
	child_writes = true;
	pid = fork();
	if (pid == 0) {
		write_number(8);
		strcpy(seen->path, rec_process_path());
		_exit((blocks_signals() ? 1 : 0) + (rec_process_header()->parent_pid != self ? 2 : 0));
	}
	cr_assert(ends_well(pid));
	cr_assert_not(blocks_signals());
	cr_assert_eq(numbers_of(seen->path), 78);
	cr_assert_eq(buffers_beside(seen->path), 2);
}

/* `other` is for a handler to fork, whose child writes `number`. */
static void check_fork_in_fork(struct seen **other, uint64_t number)
{
	struct seen *handlers = beside_memory(sizeof(*handlers)), *seen = beside_memory(sizeof(*seen));
	const uint32_t self = (uint32_t)getpid();
	pid_t pid;

	cr_assert_eq(rec_enable("copies:step"), 1);
	*other = handlers;
	pid = fork();
	if (pid == 0) {
		write_number(8);
		strcpy(seen->path, rec_process_path());
		_exit((blocks_signals() ? 1 : 0) + (rec_process_header()->parent_pid != self ? 2 : 0) +
		      (rec_process_lock() ? 0 : 4));
	}
	cr_assert(ends_well(pid));
	cr_assert(handlers->had_lane);
	cr_assert_not(blocks_signals());
	cr_assert(rec_process_lock(), "the lock is free again");
	rec_process_unlock();
	cr_assert_eq(numbers_of(seen->path), 8);
	cr_assert_eq(numbers_of(handlers->path), number);
	cr_assert_eq(buffers_beside(seen->path), 3);
}

Test(copies, a_handler_forks_before_the_fork)
{
	check_fork_in_fork(&other_before, 5);
}

Test(copies, a_handler_forks_in_the_child)
{
	check_fork_in_fork(&other_in_child, 6);
}

/* A copy must not use the heap, which may be locked for good in the copy of a process with threads. */
static bool heap_is_forbidden;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

void *__wrap_malloc(size_t size)
{
	if (heap_is_forbidden)
		_exit(99);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	if (heap_is_forbidden)
		_exit(99);
	return __real_calloc(nr, size);
}

Test(copies, a_raw_copy_takes_no_heap)
{
	pid_t pid;

	cr_assert_geq(rec_enable("*"), 0);
	pid = raw_fork();
	if (pid == 0) {
		heap_is_forbidden = true;
		lease();
		_exit(rec_process_header()->pid != (uint32_t)getpid());
	}
	cr_assert(ends_well(pid));
}

/* The child of vfork runs in its parent's memory, and must leave it as it is: there it is a guest. */
Test(copies, a_child_of_vfork_changes_nothing)
{
	const struct rec_process before = rec_process;
	const struct rec_pool pool = rec_pool;
	struct seen *seen = beside_memory(sizeof(*seen));
	const uint64_t lost = rec_process_header()->lost_no_lane;
	pid_t pid;

	pid = raw_fork();
	if (pid == 0)
		_exit(rec_process_is_guest() || !rec_process_is_own());
	cr_assert(ends_well(pid), "a copy is not one");
	pid = vfork();
	if (pid == 0) {
		seen->had_lane = rec_process_lock() || rec_process_is_own();
		seen->gets_lane = rec_lane_lease() != NULL;
		_exit(0);
	}
	cr_assert(ends_well(pid));
	cr_assert_not(seen->had_lane || seen->gets_lane);
	cr_assert_eq(rec_process_header()->lost_no_lane, lost + 1);
	cr_assert_eq(memcmp(&before, &rec_process, sizeof(before)), 0);
	cr_assert_eq(memcmp(&pool, &rec_pool, sizeof(pool)), 0);
	cr_assert(rec_process_lock());
	rec_process_unlock();
	cr_assert_not_null(rec_lane_lease());
}

/* An event that fork interrupted is finished in the child, on memory that is not in use. */
Test(copies, an_interrupted_event_ends_in_the_child)
{
	struct rec_slot slot;
	unsigned char *payload;
	uint64_t commit;
	pid_t pid;
	int raw;

	lease();
	for (raw = 0; raw < 2; raw++) {
		payload = rec_reserve(rec_thread_handle, 64, &slot);
		cr_assert_not_null(payload);
		commit = slot.lane->commit;
		pid = raw ? raw_fork() : fork();
		if (pid == 0) {
			struct rec_handle *const handle = slot.handle;

			lease();
			memset(payload, 0xff, 64);
			rec_commit(&slot);
			/* The child's ring is new. It writes events of many sizes, and takes a third of them back. */
			for (unsigned int i = 0; i < 2000; i++) {
				payload = rec_reserve(handle, 16 + i % 200, &slot);
				if (payload && i % 3)
					rec_commit(&slot);
				else if (payload)
					rec_discard(&slot, payload);
			}
			_exit(0);
		}
		cr_assert(ends_well(pid), "%s", raw ? "clone" : "fork");
		cr_assert_eq(slot.lane->commit, commit);
		cr_assert_eq(payload[63], 0);
		memset(payload, 0, 64);
		rec_commit(&slot);
	}
}

/* The first access to the fields makes a copy of the process, and waits for its end. Later accesses succeed. */
static unsigned char *fields;
static pid_t copy;

static void on_first_access(int signal)
{
	/* The copy must not make copies of itself if it fails. */
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	mprotect(fields, 4096, PROT_READ);
	copy = raw_fork();
	if (copy > 0 && !ends_well(copy))
		_exit(3);
}

/*
 * A handler copies the process while rec_event_write() has reserved an event that has a filter, and returns in the
 * copy. The event is its parent's: the copy reports that, counts nothing, and leaves the lane alone.
 */
Test(copies, a_raw_copy_in_the_middle_of_a_filtered_event)
{
	const pid_t self = getpid();
	const uint64_t number = 4;
	struct rec_event *event;
	struct seen *seen = beside_memory(sizeof(*seen));
	int r;

	cr_assert_eq(rec_event_declare("copies", "filtered, u64(number)", NULL, 0, &event), 0);
	cr_assert_eq(rec_enable("copies:filtered if number == 4"), 1);
	fields = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(fields, &number, sizeof(number));
	cr_assert_eq(rec_event_write(event, fields, sizeof(number)), 1);
	mprotect(fields, 4096, PROT_NONE);
	signal(SIGSEGV, on_first_access);
	r = rec_event_write(event, fields, sizeof(number));
	if (getpid() != self) {
		const uint64_t lost = rec_process_header()->lost_no_lane;
		const int again = rec_event_write(event, fields, sizeof(number));

		strcpy(seen->path, rec_process_path());
		_exit(r != -EBUSY || again != 1 || lost || rec_process_header()->pid != (uint32_t)getpid());
	}
	cr_assert(r == 1 && copy > 0 && rec_process_header()->lost_no_lane == 0);
	cr_assert_eq(numbers_of(seen->path), 4);
	cr_assert_eq(numbers_of(rec_process_path()), 44);
}
