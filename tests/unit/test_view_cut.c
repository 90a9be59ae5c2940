/* SPDX-License-Identifier: MIT */
/*
 * A buffer file that is cut short at every moment of a view's life. With a handler that calls rec_view_fault(), each
 * call of that view finds nothing and returns -EFAULT from then on; other views and other faults are not affected.
 */
#include "librecorder/view/reader_private.h"

#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 300u

static char path[PATH_MAX]; /* a copy of this process's buffer */
static struct rec_view *view;
static unsigned int faults;

void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);

/* A file is cut to this size just before it is mapped. */
static bool cut_in_map;

static void cut_to(off_t size)
{
	cr_assert_eq(truncate(path, size), 0);
}

/*
 * A thread that `stops` waits until it is released: when it replaces a mapping by zeros under the list's lock, or when
 * it gives memory to a part of the file. The library maps other things in a forked child, before anything else runs
 * there.
 */
static _Thread_local bool stops;
static bool let_go, is_stopped;

static void stop(void)
{
	__atomic_store_n(&is_stopped, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void await_stop(void)
{
	while (!__atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE))
		sched_yield();
}

int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (stops)
		stop();
	return __real_fallocate(fd, mode, offset, size);
}

/* A thread that `raises` gets SIGUSR1 under that lock. */
static _Thread_local bool raises;

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (cut_in_map && fd >= 0)
		cut_to(0);
	if (stops && fd < 0 && (flags & MAP_FIXED))
		stop();
	if (raises && fd < 0 && (flags & MAP_FIXED)) {
		raises = false;
		raise(SIGUSR1);
	}
	return __real_mmap(at, size, prot, flags, fd, offset);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	faults++;
	errno = 77;
	if (!rec_view_fault(info->si_addr) || errno != 77)
		signal(sig, SIG_DFL);
}

/* Make the copy of the buffer anew. Its program is this process, which is alive, and no reader has its lane. */
static void begin_again(void)
{
	char command[2 * PATH_MAX + 64];

	snprintf(path, sizeof(path), "%.4000s.copy.rec", rec_process_path());
	snprintf(command, sizeof(command), "cp --sparse=always '%s' '%s'", rec_process_path(), path);
	cr_assert_eq(system(command), 0);
}

static void begin(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	struct rec_handle *handle;

	reader_begin(4, false);
	handle = reader_lane();
	for (unsigned int i = 0; i < EVENTS; i++)
		cr_assert(reader_write(handle, i, 40));
	rec_thread_name("so that the log holds something");
	begin_again();
	sigaction(SIGBUS, &action, NULL);
}

static void end(void)
{
	rec_view_close(view);
	reader_end();
}

/* All calls fail after the fault. */
static void check_nothing_more(void)
{
	unsigned char bytes[64], page[4096] __attribute__((aligned(8)));
	struct rec_view_losses losses;
	struct rec_view_event event;
	struct rec_lane_stats stats;
	struct rec_anchor anchor;
	struct rec_page read;

	for (unsigned int turn = 0; turn < 2; turn++) {
		cr_expect_eq(rec_view_read(view, 0, 0, &read), -EFAULT);
		cr_expect_eq(rec_view_read(view, 0, REC_READ_WHOLE, &read), -EFAULT);
		cr_expect_eq(rec_view_read_page(view, 0, 0, page, sizeof(page), &read), -EFAULT);
		cr_expect_eq(rec_view_peek(view, 0, &event), -EFAULT);
		cr_expect_eq(rec_view_consume(view, 0, &event), -EFAULT);
		cr_expect_eq(rec_view_wait(view, 0, 0, 0), -EFAULT);
		cr_expect_eq(rec_view_wait(view, REC_ALL_LANES, 0, 0), -EFAULT);
		cr_expect_eq(rec_view_stats(view, 0, &stats), -EFAULT);
		cr_expect_eq(rec_view_reset(view, 0), -EFAULT);
		cr_expect_eq(rec_view_switch(view, "*", 1), -EFAULT);
		cr_expect_eq(rec_view_stop(view), -EFAULT);
		cr_expect_eq(rec_view_log(view, 0, bytes, sizeof(bytes)), 0);
		cr_expect_eq(rec_view_anchors(view, &anchor, 1), 0);
		cr_expect_eq(rec_view_enabled(view, REC_EVENT_ID_FIRST), 0);
		rec_view_losses(view, &losses);
		cr_expect_not(rec_view_alive(view));
	}
}

static void open_view(void)
{
	view = reader_view_of(path);
}

Test(view_cut, before_it_is_opened, .init = begin, .fini = end, .timeout = 300)
{
	static const off_t sizes[] = { 100000, 65536, 8192, 4096, 4095, 1, 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cut_to(sizes[i]);
		cr_expect_eq(rec_view_open(path, &view), sizes[i] ? -EBADMSG : -EAGAIN, "cut to %ld", (long)sizes[i]);
	}
	cr_expect_eq(faults, 0);
}

Test(view_cut, before_it_is_mapped, .init = begin, .fini = end, .timeout = 300)
{
	cut_in_map = true;
	cr_expect_eq(rec_view_open(path, &view), -EFAULT);
	cut_in_map = false;
	cr_expect_eq(faults, 1);
}

Test(view_cut, before_a_lane_is_opened, .init = begin, .fini = end, .timeout = 300)
{
	open_view();
	cut_to(0);
	check_nothing_more();
}

Test(view_cut, in_the_middle, .init = begin, .fini = end, .timeout = 300)
{
	unsigned char bytes[64];
	struct rec_page page;

	open_view();
	/* The header is there, but the log that it describes is not. */
	cut_to(4096);
	cr_expect_eq(rec_view_log(view, 0, bytes, sizeof(bytes)), 0);
	rec_view_close(view);
	begin_again();
	open_view();
	cut_to(65536);
	cr_expect_eq(rec_view_read(view, 0, 0, &page), -EFAULT);
	cr_expect_gt(faults, 0);
}

Test(view_cut, before_a_lane_is_mapped, .init = begin, .fini = end, .timeout = 300)
{
	struct rec_page page;

	open_view();
	cut_in_map = true;
	cr_expect_eq(rec_view_read(view, 0, 0, &page), -EFAULT);
	cut_in_map = false;
	check_nothing_more();
}

Test(view_cut, before_its_words_are_mapped, .init = begin, .fini = end, .timeout = 300)
{
	open_view();
	cut_in_map = true;
	cr_expect_eq(rec_view_switch(view, "*", 1), -EFAULT);
	cut_in_map = false;
	check_nothing_more();
}

/* The page that was handed over reads as zeros, so it has no event. */
Test(view_cut, with_a_page_in_hand, .init = begin, .fini = end, .timeout = 300)
{
	struct rec_page_iter walk;
	struct rec_record record;
	struct rec_page page;

	open_view();
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	cut_to(4096);
	rec_page_iter_init(&walk, page.data, page.size);
	while (rec_page_next(&walk, &record) > 0)
		cr_expect_eq(walk.time, 0);
	cr_expect_eq(faults, 1);
	check_nothing_more();
}

Test(view_cut, under_an_iterator, .init = begin, .fini = end, .timeout = 300)
{
	struct rec_view_event event;
	struct rec_iter *iter;
	unsigned int left = 0;
	int r;

	open_view();
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cut_to(4096);
	/* The iterator returns the rest of its copy, which is its own memory. */
	while ((r = rec_iter_next(iter, &event)) == 1)
		left++;
	cr_expect_gt(left, 0);
	cr_expect_eq(r, -EFAULT);
	cr_expect_eq(rec_iter_next(iter, &event), -EFAULT);
	rec_iter_close(iter);
	check_nothing_more();
}

Test(view_cut, another_view_goes_on, .init = begin, .fini = end, .timeout = 300)
{
	struct rec_view *other = reader_view();
	struct rec_view_event event;
	uint64_t last = 0;

	open_view();
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_consume(other, 0, &event), 1);
	cut_to(0);
	check_nothing_more();
	while (rec_view_consume(other, 0, &event) == 1)
		last = event.number;
	cr_expect_eq(last, EVENTS - 1);
	rec_view_close(other);
}

static sigjmp_buf back;

static void leave(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	siglongjmp(back, rec_view_fault(info->si_addr) ? 1 : 2);
}

/* A mapping that is not ours. */
Test(view_cut, another_fault, .init = begin, .fini = end, .timeout = 300)
{
	struct sigaction action = { .sa_sigaction = leave, .sa_flags = SA_SIGINFO };
	const int fd = memfd_create("empty", MFD_CLOEXEC);
	volatile char *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	int r;

	open_view();
	sigaction(SIGBUS, &action, NULL);
	r = sigsetjmp(back, 1);
	if (!r)
		cr_expect_eq(*at, 1, "there is no such byte");
	cr_expect_eq(r, 2);
	cr_expect_not(rec_view_fault(NULL));
	close(fd);
}

static void *fault(void *arg)
{
	stops = true;
	return rec_view_fault(arg) ? arg : NULL;
}

/* Runs in a copy of this process, where no thread holds the list's lock. */
static void use_views(void)
{
	struct rec_view *another;
	struct rec_view_event event;

	/* If it waits for ever, it is killed. */
	alarm(300);
	if (rec_view_open(path, &another) || rec_view_consume(another, REC_ALL_LANES, &event) != 1)
		_exit(1);
	rec_view_close(view);
	if (rec_view_open(path, &view))
		_exit(2);
	rec_view_close(another);
	rec_view_close(view);
	_exit(0);
}

/* A process that forks while one of its threads holds the list's lock: that thread is not in the child. */
Test(view_cut, a_fork_while_the_list_is_locked, .init = begin, .fini = end, .timeout = 300)
{
	pthread_t thread;
	int status = 0;
	void *place;
	pid_t child;

	cr_assert_eq(rec_view_open(path, &view), 0);
	place = (void *)(uintptr_t)rec_view_header(view);
	cr_assert_eq(pthread_create(&thread, NULL, fault, place), 0);
	await_stop();
	child = fork();
	if (child == 0)
		use_views();
	cr_assert_eq(waitpid(child, &status, 0), child);
	__atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(thread, &place), 0);
	cr_assert_not_null(place);
	cr_assert(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0);
}

/* The file is cut while a page is taken: the commit position can still be read, the reader's words cannot. */
Test(view_cut, a_page_that_is_cut_is_not_stored, .init = begin, .fini = end, .timeout = 300)
{
	_Alignas(8) unsigned char copy[4096];
	struct rec_handle *second = reader_lane();
	struct rec_page page, before;
	struct rec_view_event event;
	int r;

	for (unsigned int i = 0; i < 3; i++)
		cr_assert(reader_write(second, i, 40));
	for (unsigned int turn = 0; turn < 2; turn++) {
		begin_again();
		cr_assert_eq(rec_view_open(path, &view), 0);
		cr_assert_eq(rec_view_peek(view, 1, &event), 1);
		cut_to((off_t)(view->lanes + view->lane_stride + view->lane_reader));
		memset(&page, 0xa5, sizeof(page));
		memset(&before, 0xa5, sizeof(before));
		faults = 0;
		r = turn ? rec_view_read_page(view, 1, 0, copy, sizeof(copy), &page) :
			   rec_view_read(view, 1, 0, &page);
		cr_expect_eq(r, -EFAULT);
		cr_expect_gt(faults, 0);
		cr_expect_eq(memcmp(&page, &before, sizeof(page)), 0, "turn %u", turn);
		view = rec_view_close(view);
	}
}

#define STACK_SIZE ((size_t)1 << 20)

static void *switch_events(void *arg)
{
	stops = true;
	return rec_view_switch(view, "*", true) < 0 ? NULL : arg;
}

/* Runs in a copy of this process. The stack is that of a thread which the copy does not have, so it is not in use. */
static void use_views_without(void *stack)
{
	if (mprotect(stack, STACK_SIZE, PROT_NONE) < 0)
		_exit(3);
	use_views();
}

/* A process that forks while one of its threads has mapped a part of a buffer. */
Test(view_cut, a_fork_while_a_thread_switches, .init = begin, .fini = end, .timeout = 300)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	int status = 0;
	void *switched;
	pid_t child;

	cr_assert_neq(stack, MAP_FAILED);
	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstack(&attributes, stack, STACK_SIZE), 0);
	open_view();
	cr_assert_eq(pthread_create(&thread, &attributes, switch_events, stack), 0);
	await_stop();
	child = fork();
	if (child == 0)
		use_views_without(stack);
	cr_assert_eq(waitpid(child, &status, 0), child);
	__atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(thread, &switched), 0);
	cr_assert_not_null(switched);
	cr_assert(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0);
	pthread_attr_destroy(&attributes);
	munmap(stack, STACK_SIZE);
}

/* A thread that `waits` counts its sleeps. */
static _Thread_local bool waits;
static sem_t sleeps;
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (waits)
		sem_post(&sleeps);
	return __real_nanosleep(time, rest);
}

static void *wait_for_list(void *arg)
{
	waits = true;
	/* The address is not in a mapping of a view. */
	return rec_view_fault(NULL) ? NULL : arg;
}

/* A waiter with SCHED_FIFO must sleep; otherwise a holder of lower priority would never get the CPU. */
Test(view_cut, a_long_wait_for_the_list_sleeps, .init = begin, .fini = end, .timeout = 300)
{
	pthread_t holder, waiter;
	struct timespec limit;
	void *place, *waited;
	int slept;

	sem_init(&sleeps, 0, 0);
	open_view();
	place = (void *)(uintptr_t)rec_view_header(view);
	cr_assert_eq(pthread_create(&holder, NULL, fault, place), 0);
	await_stop();
	cr_assert_eq(pthread_create(&waiter, NULL, wait_for_list, &sleeps), 0);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 60;
	slept = sem_timedwait(&sleeps, &limit) == 0 && sem_timedwait(&sleeps, &limit) == 0;
	__atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(holder, &place), 0);
	cr_assert_eq(pthread_join(waiter, &waited), 0);
	cr_assert_not_null(place);
	cr_assert_not_null(waited);
	cr_assert(slept);
}

static struct rec_view *view_of_handler;
static int stopped_in_handler = -1;

static void look(int sig)
{
	(void)sig;
	stopped_in_handler = rec_view_stopped(view_of_handler);
}

/* A thread that holds the list's lock is interrupted by a handler that reads a view whose file is cut, too. */
Test(view_cut, a_fault_in_a_handler_while_the_list_is_locked, .init = begin, .fini = end, .timeout = 300)
{
	/* A handler that waits for ever is killed. */
	alarm(60);
	signal(SIGUSR1, look);
	open_view();
	view_of_handler = view;
	open_view();
	cut_to(0);
	raises = true;
	/* Not from a handler of SIGBUS, which would block the second one. */
	cr_expect(rec_view_fault(rec_view_header(view)));
	cr_expect_eq(stopped_in_handler, 0);
	cr_expect_eq(faults, 1);
	rec_view_close(view_of_handler);
}
