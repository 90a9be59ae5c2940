/* SPDX-License-Identifier: MIT */
/*
 * Events do not wait for the process lock without end. A thread that holds it in fork may need an allocator's lock,
 * which is held by the thread that a signal handler interrupted. Fork waits for the process lock, so no other holder
 * may need an allocator's lock. An event that cannot be declared because the lock or memory is not available is
 * declared by a later use.
 */
#include "tests/unit/beside.h"
#include "tests/unit/forbid.h"
#include "tests/unit/made_event.h"
#include "tests/unit/reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/context.h>
#include <librecorder/event.h>
#include <librecorder/ffi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

REC_EVENT(lock, step, u64(number));

static struct rec_view *view;

/* An allocator's lock. */
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static sem_t wants_heap;

static void begin(void)
{
	sem_init(&wants_heap, 0, 0);
	reader_begin(4, false);
	view = reader_view();
	cr_assert_eq(rec_enable("lock:step,ftrace:bprint"), 2);
}

static void end(void)
{
	rec_view_close(view);
	reader_end();
}

TestSuite(process_lock, .init = begin, .fini = end, .timeout = 300);

static bool ends_well(pid_t child)
{
	int status = -1;

	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The call in which a thread needs the allocator's lock. */
static __thread enum { NO_CALL, MALLOC, CALLOC, FREE } needs_heap;

/* Allocations that succeed before one fails. */
static unsigned int succeed = UINT32_MAX;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

static void wait_for_heap(void)
{
	needs_heap = NO_CALL;
	sem_post(&wants_heap);
	pthread_mutex_lock(&heap);
	pthread_mutex_unlock(&heap);
}

void *__wrap_malloc(size_t size)
{
	if (needs_heap == MALLOC)
		wait_for_heap();
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	if (needs_heap == CALLOC)
		wait_for_heap();
	if (succeed != UINT32_MAX && !succeed--)
		return NULL;
	return __real_calloc(nr, size);
}

void __wrap_free(void *memory)
{
	if (needs_heap == FREE)
		wait_for_heap();
	__real_free(memory);
}

/* As a thread in fork: it has the process lock when it needs that of the allocator. */
static void *lock_both(void *arg)
{
	const bool locked = rec_process_lock();

	wait_for_heap();
	if (locked)
		rec_process_unlock();
	return locked ? arg : NULL;
}

static void write_number(uint64_t number)
{
	REC(lock, step, number);
}

static void on_signal(int signal)
{
	(void)signal;
	write_number(1);
	/* This call site is not known yet, and registering it takes the lock: so this event is lost, and reported. */
	rec_printf("number %d", 2);
	write_number(3);
}

/* The next event must be number `number`. */
static void expect(uint64_t number)
{
	struct rec_view_event event;
	uint64_t got = 0;

	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
	memcpy(&got, (const char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(got));
	cr_assert_eq(got, number);
}

Test(process_lock, a_handler_that_interrupted_an_allocation)
{
	const uint64_t lost = rec_process_header()->lost_log_full;
	struct rec_view_event event;
	pthread_t holder;
	void *held;

	signal(SIGUSR1, on_signal);
	/* This thread is in the middle of an allocation, and has never written an event. */
	pthread_mutex_lock(&heap);
	cr_assert_eq(pthread_create(&holder, NULL, lock_both, &heap), 0);
	sem_wait(&wants_heap);
	raise(SIGUSR1);
	pthread_mutex_unlock(&heap);
	cr_assert_eq(pthread_join(holder, &held), 0);
	cr_assert_not_null(held);
	write_number(4);
	expect(1);
	expect(3);
	expect(4);
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 0);
	cr_assert_eq(rec_process_header()->lost_log_full, lost + 1);
}

static void *enable(void *arg)
{
	needs_heap = MALLOC;
	return rec_enable("lock:none") == 0 ? arg : NULL;
}

static void *enable_again(void *arg)
{
	needs_heap = FREE;
	return rec_enable("lock:none") == 0 ? arg : NULL;
}

static void *register_event(void *arg)
{
	static struct made_event made;

	made_event(&made, "lock", "late, u8(a)", 9);
	needs_heap = CALLOC;
	rec_event_register(&made.event);
	return made.event.registered ? arg : NULL;
}

/*
 * An allocator's fork handler that runs before the library's holds the allocator's lock when the library waits for the
 * process lock. So threads that need the allocator's lock must not have the process lock.
 */
Test(process_lock, fork_with_the_allocators_lock)
{
	void *(*const users[])(void *) = { enable, enable_again, register_event };

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		pthread_t user;
		void *done;
		pid_t child;

		pthread_mutex_lock(&heap);
		cr_assert_eq(pthread_create(&user, NULL, users[i], &heap), 0);
		sem_wait(&wants_heap);
		child = fork();
		if (child == 0)
			_exit(0);
		pthread_mutex_unlock(&heap);
		cr_expect(ends_well(child));
		cr_assert_eq(pthread_join(user, &done), 0);
		cr_expect_not_null(done);
	}
}

/* ---------------------------------------------------------------------------------------- the next use tries again */

static unsigned int events(void)
{
	struct rec_view_event event;
	unsigned int nr = 0;

	while (rec_view_consume(view, REC_ALL_LANES, &event) == 1)
		nr++;
	return nr;
}

/* The events of contexts and of tasks can be declared now. */
static void expect_both(void)
{
	cr_expect_eq(rec_context_set("key", "value"), 0);
	cr_expect_eq(events(), 1);
	REC_TASK(2);
	cr_expect_eq(events(), 1);
}

Test(process_lock, events_are_declared_when_there_is_memory_again)
{
	struct rec_event *event = NULL;

	cr_assert_eq(rec_enable("recorder:*"), 0);
	for (unsigned int nr = 0; nr < 2; nr++) {
		succeed = nr;
		cr_expect_eq(rec_context_set("key", "value"), -ENOMEM);
		succeed = nr;
		REC_TASK(1);
		succeed = nr;
		cr_expect_eq(rec_event_declare("lock", "declared, u64(n)", NULL, 0, &event), -ENOMEM);
	}
	cr_assert_eq(succeed, UINT32_MAX);
	expect_both();
	cr_expect_eq(rec_event_declare("lock", "declared, u64(n)", NULL, 0, &event), 0);
}

/* As when an object is loaded again, or several objects declare the same event. */
Test(process_lock, an_event_that_is_known_needs_no_memory)
{
	static struct made_event made[2];

	for (unsigned int i = 0; i < 2; i++)
		made_event(&made[i], "lock", "twice, u8(a)", 9);
	rec_event_register(&made[0].event);
	succeed = 0;
	rec_event_register(&made[1].event);
	cr_expect_eq(succeed, 0, "it asks for none");
	succeed = UINT32_MAX;
	cr_assert(made[1].event.registered);
	cr_expect_eq(made[1].event.id, made[0].event.id);
}

/* As in another library's fork handler, which runs while this thread has the lock. */
Test(process_lock, events_are_declared_when_the_lock_is_free_again)
{
	struct rec_event *event = NULL;

	cr_assert_eq(rec_enable("recorder:*"), 0);
	cr_assert(rec_process_lock());
	cr_expect_eq(rec_context_set("key", "value"), -EBUSY);
	REC_TASK(1);
	cr_expect_eq(rec_event_declare("lock", "declared, u64(n)", NULL, 0, &event), -EBUSY);
	rec_process_unlock();
	expect_both();
}

/* It runs in its parent's memory, where it may declare nothing. */
Test(process_lock, the_parent_of_vfork_declares_what_its_child_cannot)
{
	pid_t child;

	cr_assert_eq(rec_enable("recorder:*"), 0);
	child = vfork();
	if (child == 0) {
		rec_context_set("key", "value");
		REC_TASK(1);
		_exit(0);
	}
	cr_assert(ends_well(child));
	expect_both();
}

/* A forked child has a log of its own. */
Test(process_lock, a_child_declares_what_its_parent_has_no_room_for)
{
	struct rec_buffer_header *header = rec_process_header();
	char function[256];
	pid_t child;

	memset(function, 'f', sizeof(function) - 1);
	function[sizeof(function) - 1] = '\0';
	/* Call sites fill it: long ones, then short ones. */
	for (const uint64_t lost = header->lost_log_full; header->lost_log_full < lost + 2;) {
		struct rec_printf_site site = { 0 };

		rec_printf_write(&site, header->lost_log_full == lost ? function : "", 0, "full");
	}
	cr_assert_eq(rec_enable("recorder:*"), 0);
	cr_expect_eq(rec_context_set("key", "value"), -ENXIO);
	REC_TASK(1);
	cr_expect_not(rec_task_on(), "it does not try again");
	child = fork();
	if (child == 0)
		_exit(rec_context_set("key", "value") < 0 || !rec_task_on());
	cr_assert(ends_well(child));
}

/* --------------------------------------------------------------------------------------------------------- waiters */

static sem_t sleeps;
static __thread bool is_waiter;
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (is_waiter)
		sem_post(&sleeps);
	return __real_nanosleep(time, rest);
}

static void *wait_for_lock(void *arg)
{
	is_waiter = true;
	*(bool *)arg = rec_process_lock();
	if (*(bool *)arg)
		rec_process_unlock();
	return NULL;
}

/* The calling thread has the lock; another one waits for it, after two sleeps. */
static void expect_waiter(void)
{
	struct timespec limit;
	pthread_t waiter;
	bool got = false;
	int slept;

	sem_init(&sleeps, 0, 0);
	cr_assert_eq(pthread_create(&waiter, NULL, wait_for_lock, &got), 0);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 60;
	/* It sleeps twice, so it has not given up after the first sleep. */
	slept = sem_timedwait(&sleeps, &limit) == 0 && sem_timedwait(&sleeps, &limit) == 0;
	rec_process_unlock();
	cr_assert_eq(pthread_join(waiter, NULL), 0);
	cr_assert(slept);
	cr_assert(got);
}

/* A waiter with SCHED_FIFO must sleep; otherwise a holder of lower priority would never get the CPU. */
Test(process_lock, a_long_wait_sleeps)
{
	cr_assert(rec_process_lock());
	expect_waiter();
}

/* Threads that cannot find out their ids are different threads. */
Test(process_lock, threads_without_an_id_wait)
{
	forbid_the_id();
	cr_assert(rec_process_lock());
	cr_assert_not(rec_process_lock(), "this thread has it");
	expect_waiter();
}

static void leave_without_a_pid(void *data)
{
	struct made_event *made = data;
	pid_t child;

	forbid_call(SYS_getpid);
	rec_event_unregister(&made->event);
	munmap(made, sizeof(*made));
	child = fork();
	_exit(child && !ends_well(child));
}

/*
 * A thread unloads an object with an event, and may not ask for its pid. The library does not refer to the event any
 * more: a child of fork() moves all events that it knows to a buffer of its own.
 */
Test(process_lock, an_event_leaves_though_the_pid_is_unknown)
{
	struct made_event *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(made, MAP_FAILED);
	made_event(made, "lock", "unloaded, u8(a)", 9);
	rec_event_register(&made->event);
	cr_assert(made->event.registered);
	cr_assert(ends_well(beside_run(leave_without_a_pid, made)));
}

static pid_t same_pid; /* that of this process and its children, as in pid namespaces; 0: they have their own */
pid_t __real_getpid(void);
pid_t __wrap_getpid(void);

pid_t __wrap_getpid(void)
{
	return same_pid ? same_pid : __real_getpid();
}

/* The first process of a pid namespace forks the first one of another; there is no buffer. */
Test(process_lock, a_child_with_its_parents_pid_has_not_its_lock)
{
	const struct rec_options options = REC_OPTIONS_INIT;
	const struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	pid_t pid;

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(rec_configure(&options), -EFBIG);
	same_pid = getpid();
	pid = fork();
	if (pid == 0)
		_exit(!rec_process_lock_soon());
	same_pid = 0;
	cr_assert(ends_well(pid));
}
