/* SPDX-License-Identifier: MIT */
/*
 * A mapped lane in cases that the kernel's ring does not have: dead programs, files cut short, other calls in between.
 */
#include "librecorder/view/reader_private.h"

#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/map.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 8u
#define EVENT 92u

static struct rec_map *map;

static void begin(void)
{
	lane_begin(PAGES, false);
	cr_assert_eq(rec_map_lane(view, 0, &map), 0);
}

static void end(void)
{
	map = rec_map_close(map);
	lane_end();
}

TestSuite(map, .init = begin, .fini = end);

/* Checks that the page's new events are number `next` and those after it. Returns the number after the last. */
static uint64_t check_page(const struct rec_page *page, uint64_t next)
{
	const struct rec_meta *meta = rec_map_meta(map);
	struct rec_page_iter walk;
	struct rec_record record;
	uint64_t number, events = 0;

	cr_assert_eq(page->data, rec_map_page(map, meta->reader_id));
	cr_assert_eq(page->size, meta->reader_read);
	cr_assert_eq(rec_page_size(page->data), page->size);
	cr_assert_eq(rec_page_lost(page->data, meta->subbuf_size - REC_SUBBUF_HEADER_SIZE), meta->reader_lost_events);
	if (page->from == 0)
		cr_assert_eq(page->lost, meta->reader_lost_events);
	rec_page_iter_init(&walk, page->data, page->size);
	while (rec_page_next(&walk, &record) == 1) {
		if (record.offset < page->from)
			continue;
		cr_assert(ring_is_intact(record.payload, EVENT, &number));
		cr_assert_eq(number, next + events++);
	}
	cr_assert_eq(events, page->entries);
	return next + events;
}

/* Take all events from number `next` on, or from the first that was not lost. */
static uint64_t take_all(uint64_t next)
{
	struct rec_page page;
	int got;

	while ((got = rec_map_get_reader(map, &page)) == 1)
		next = check_page(&page, next + page.lost);
	cr_assert_eq(got, 0);
	return next;
}

Test(map, a_page_that_the_writer_is_on)
{
	struct rec_page page;

	lane_write(0, 3, EVENT);
	cr_assert_eq(rec_map_get_reader(map, &page), 1);
	cr_assert_eq(check_page(&page, 0), 3);
	lane_write(3, 5, EVENT);
	/* New events are not visible before the next request. */
	cr_assert_eq(check_page(&page, 0), 3);
	cr_assert_eq(rec_map_get_reader(map, &page), 1);
	cr_assert_eq(page.first, 3);
	cr_assert_eq(check_page(&page, 3), 5);
	lane_write(5, 200, EVENT);
	cr_assert_eq(take_all(5), 200);
}

/* A loss before a page is reported for that page as long as it is the reader's. */
Test(map, what_was_lost_stays_with_its_page)
{
	const struct rec_meta *meta = rec_map_meta(map);
	struct rec_page page = { 0 };
	uint64_t next, lost;

	lane_write(0, 1000, EVENT);
	cr_assert_eq(rec_map_get_reader(map, &page), 1);
	lost = page.lost;
	cr_assert_gt(lost, 500);
	cr_assert_eq(meta->overrun, lost);
	next = check_page(&page, lost);
	cr_assert_eq(rec_map_get_reader(map, &page), 1);
	cr_assert_eq(meta->reader_lost_events, 0);
	next = check_page(&page, next);
	cr_assert_eq(take_all(next), 1000);
	cr_assert_eq(meta->entries, 1000);
	cr_assert_eq(meta->read + meta->overrun, 1000);
}

/* The map has no position of its own. */
Test(map, other_calls_of_the_view)
{
	struct rec_view_event event;
	struct rec_page page;
	uint64_t next = 0;

	lane_write(0, 300, EVENT);
	while (next < 250) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(reader_number(&event), next++);
		cr_assert_eq(rec_map_get_reader(map, &page), 1);
		next = check_page(&page, next);
	}
	map = rec_map_close(map);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), next < 300);
	cr_assert(next == 300 || page.first == next);
}

Test(map, pages_without_events)
{
	struct rec_view_event event;
	struct rec_slot slot;
	void *payload;

	/* A page with a loss, pages that other calls have taken, and sub-buffers whose events were all discarded. */
	lane_write(0, 1000, EVENT);
	cr_assert_eq(rec_map_get_reader(map, NULL), 1);
	cr_assert_gt(rec_map_meta(map)->reader_lost_events, 0);
	while (rec_view_consume(view, 0, &event) == 1)
		continue;
	for (unsigned int i = 0; i < 5; i++) {
		/* An event that begins a sub-buffer does not give its room back when it is discarded. */
		payload = rec_reserve(lane, 4000, &slot);
		cr_assert_not_null(payload);
		rec_discard(&slot, payload);
	}
	cr_assert_eq(rec_map_get_reader(map, NULL), 0);
	cr_assert_eq(rec_map_meta(map)->reader_lost_events, 0);
}

/* The size of the system's pages, if not 0. */
static long page_size;
long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return page_size && name == _SC_PAGESIZE ? page_size : __real_sysconf(name);
}

/* The view is the lane's reader nevertheless, until it is closed. */
Test(map, sub_buffers_that_are_smaller_than_a_page)
{
	struct rec_view *other;
	struct rec_page page;

	map = rec_map_close(map);
	view = rec_view_close(view);
	view = reader_view();
	other = reader_view();
	lane_write(0, 3, EVENT);
	page_size = 2 * 4096;
	cr_assert_eq(rec_map_lane(view, 0, &map), -EOPNOTSUPP);
	page_size = 0;
	cr_assert_eq(rec_view_read(other, 0, 0, &page), -EBUSY);
	view = rec_view_close(view);
	cr_assert_eq(rec_view_read(other, 0, 0, &page), 1);
	rec_view_close(other);
}

static void write_and_die(struct rec_handle *handle, int pipe)
{
	(void)pipe;
	for (uint64_t i = 0; i < 150; i++)
		reader_write(handle, i, EVENT);
	raise(SIGKILL);
}

static void open_dead(char *path)
{
	int pipe;

	map = rec_map_close(map);
	view = rec_view_close(view);
	waitpid(reader_child(write_and_die, path, &pipe), NULL, 0);
	close(pipe);
	view = reader_view_of(path);
}

Test(map, a_dead_program)
{
	char path[PATH_MAX];

	open_dead(path);
	cr_assert_eq(rec_map_lane(view, 0, &map), 0);
	cr_assert_eq(rec_map_wait(map, 100, -1), 1);
	cr_assert_eq(take_all(0), 150);
	cr_assert_eq(rec_map_wait(map, 0, -1), -EPIPE);
	cr_assert_eq(rec_map_lane(view, 1, &map), -EINVAL);
}

/* The file is not written, as on a read-only file system. */
Test(map, a_dead_program_read_only)
{
	char path[PATH_MAX];
	struct rec_view *other;

	open_dead(path);
	view->read_only = true;
	cr_assert_eq(rec_map_lane(view, 0, &map), 0);
	cr_assert_eq(take_all(0), 150);
	map = rec_map_close(map);
	view = rec_view_close(view);
	other = reader_view_of(path);
	cr_assert_eq(rec_map_lane(other, 0, &map), 0);
	cr_assert_eq(take_all(0), 150);
	map = rec_map_close(map);
	rec_view_close(other);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!rec_view_fault(info->si_addr))
		signal(sig, SIG_DFL);
}

/* The file is truncated between two calls, with or without a page handed over, with or without its private copy. */
Test(map, a_file_cut_short)
{
	const struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	char path[PATH_MAX];
	struct rec_page page;

	sigaction(SIGBUS, &action, NULL);
	for (unsigned int before = 0; before < 6; before++) {
		open_dead(path);
		cr_assert_eq(rec_map_lane(view, 0, &map), 0);
		for (unsigned int i = 0; i < before; i++)
			rec_map_get_reader(map, &page);
		cr_assert_eq(truncate(path, before % 2 ? REC_MAP_PAGE : 0), 0);
		cr_assert_eq(rec_map_get_reader(map, &page), -EFAULT);
		cr_assert_eq(rec_map_meta(map)->reader_lost_events, 0);
		cr_assert_eq(rec_map_wait(map, 0, 0), -EFAULT);
		cr_assert_eq(rec_map_get_reader(map, &page), -EFAULT);
	}
	open_dead(path);
	cr_assert_eq(truncate(path, REC_MAP_PAGE), 0);
	cr_assert_eq(rec_map_lane(view, 0, &map), -EFAULT);
}

Test(map, kernel_instances)
{
	struct rec_map *kernel = NULL;

	cr_assert_eq(rec_map_kernel("a/b", 0, 0, &kernel), -EINVAL);
	cr_assert_eq(rec_map_kernel("..", 0, 0, &kernel), -EINVAL);
	cr_assert_eq(rec_map_kernel("", 0, 0, &kernel), -EINVAL);
	cr_assert_eq(rec_map_kernel(NULL, 0, 2, &kernel), -EINVAL);
	cr_assert_eq(rec_map_kernel("/nobody/has/this", 0, 0, &kernel), -ENOENT);
	/* A directory that is not an instance has no such CPU. */
	cr_assert_eq(rec_map_kernel("/tmp", 0, 0, &kernel), -ENODEV);
	cr_assert_null(kernel);
	cr_assert_null(rec_map_close(NULL));
}

/* Replaces the ring of a kernel instance that was removed: poll() reports only that. */
Test(map, a_ring_that_has_gone_is_not_waited_for)
{
	char dir[] = "/tmp/test_map.XXXXXX", path[96], command[96];
	struct rec_map *kernel;
	int writer;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "mkdir -p %s/per_cpu/cpu0", dir);
	cr_assert_eq(system(command), 0);
	snprintf(path, sizeof(path), "%s/per_cpu/cpu0/trace_pipe_raw", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(rec_map_kernel(dir, 0, REC_MAP_COPY, &kernel), 0);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_geq(writer, 0);
	cr_assert_eq(rec_map_wait(kernel, 0, 0), 0, "nothing yet");
	cr_assert_eq(write(writer, "x", 1), 1);
	cr_assert_eq(rec_map_wait(kernel, 0, -1), 1);
	close(writer);
	cr_assert_eq(rec_map_wait(kernel, 0, -1), 1, "data that are there come before the end");
	cr_assert_eq(rec_map_get_reader(kernel, NULL), -EPROTO, "which is no page");
	cr_assert_eq(rec_map_wait(kernel, 0, -1), -ENODEV);
	rec_map_close(kernel);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
}
