/* SPDX-License-Identifier: MIT */
/*
 * A process that forks while one of its threads opens or leaves a lane of a view. That thread does not exist in the
 * child, which closes the view and uses another one.
 */
#include "librecorder/os/signal_block.h"
#include "librecorder/view/reader_private.h"

#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[PATH_MAX];    /* this process's buffer */
static struct rec_view *other; /* another view of it */

/* Where a thread waits until it is released. */
enum place {
	NOWHERE,
	BEFORE_LOCK,  /* of the list of mappings: the view has a mapping that is not in the list yet */
	BEFORE_UNMAP, /* the mapping is not in the list any more */
};

static _Thread_local enum place stops;
static bool let_go, is_stopped;

static void stop(void)
{
	__atomic_store_n(&is_stopped, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
		sched_yield();
}

void __real_rec_signal_block_begin(struct rec_signal_block *ret_block);
void __wrap_rec_signal_block_begin(struct rec_signal_block *ret_block);

void __wrap_rec_signal_block_begin(struct rec_signal_block *ret_block)
{
	if (stops == BEFORE_LOCK)
		stop();
	__real_rec_signal_block_begin(ret_block);
}

int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);

int __wrap_munmap(void *at, size_t size)
{
	if (stops == BEFORE_UNMAP)
		stop();
	return __real_munmap(at, size);
}

static void begin(void)
{
	lane_begin(4, false);
	lane_write(0, 3, 40);
	snprintf(path, sizeof(path), "%s", rec_process_path());
	other = reader_view();
}

static void end(void)
{
	rec_view_close(other);
	lane_end();
}

TestSuite(view_fork, .init = begin, .fini = end, .timeout = 300);

struct reading {
	enum place place;
	int result;
};

static void *read_lane(void *arg)
{
	struct reading *reading = arg;
	struct rec_page page;

	stops = reading->place;
	reading->result = rec_view_read(view, 0, 0, &page);
	stops = NOWHERE;
	return NULL;
}

/* Runs in the child. A view that it opens stays in the list of mappings when it closes those of its parent. */
static void close_views(void)
{
	struct rec_view *own;

	/* If it waits for ever, it is killed. */
	alarm(300);
	if (rec_view_open(path, &own) < 0)
		_exit(1);
	rec_view_close(view);
	rec_view_close(other);
	if (!rec_view_fault(rec_view_header(own)))
		_exit(2);
	rec_view_close(own);
	_exit(0);
}

/* Returns the result of the thread, which reads a lane of `view`, and at this place while the process forks. */
static int fork_at(enum place place)
{
	struct reading reading = { .place = place };
	pthread_t thread;
	int status = 0;
	pid_t child;

	cr_assert_eq(pthread_create(&thread, NULL, read_lane, &reading), 0);
	while (!__atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE))
		sched_yield();
	child = fork();
	if (child == 0)
		close_views();
	cr_assert_eq(waitpid(child, &status, 0), child);
	__atomic_store_n(&let_go, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert(WIFEXITED(status), "the child was ended by signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0);
	return reading.result;
}

Test(view_fork, a_mapping_that_is_not_in_the_list_yet)
{
	cr_assert_eq(fork_at(BEFORE_LOCK), 1);
}

/* The lane has a reader, so the thread leaves the lane at once. The view stays open. */
Test(view_fork, a_mapping_that_is_not_in_the_list_any_more)
{
	struct rec_page page;

	cr_assert_eq(rec_view_read(other, 0, 0, &page), 1);
	cr_assert_eq(fork_at(BEFORE_UNMAP), -EBUSY);
}
