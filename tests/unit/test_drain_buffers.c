/* SPDX-License-Identifier: MIT */
/*
 * The buffers and lanes that a drain finds: buffers for which there is no descriptor, or which have the name and number
 * of another; lanes that are large, that another reader has, or whose writer is preempted.
 */
#include "drain_fixture.h"
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/lane.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/attach_private.h"
#include "cli/recording/drain_private.h"

/* A second buffer, for which rec_view_open_at() may find no free descriptor. */
#define OTHER "1-1.rec"

static bool is_full, is_counted;
static unsigned int other_tries;

int __real_rec_view_open_at(int directory, const char *name, struct rec_view **ret_view);
int __wrap_rec_view_open_at(int directory, const char *name, struct rec_view **ret_view);
int __wrap_rec_view_open_at(int directory, const char *name, struct rec_view **ret_view)
{
	if (strcmp(name, OTHER) != 0)
		return __real_rec_view_open_at(directory, name, ret_view);
	/* While is_full is set this fails: at the first attempt only if is_counted, otherwise at each. */
	other_tries++;
	return is_full && (other_tries == 1 || !is_counted) ? -EMFILE
							    : __real_rec_view_open_at(directory, name, ret_view);
}

/* A writer that is moving the head of lane 1: it is done when the drain sleeps, or stays there. */
static bool is_moving, stays;

int __real_rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page);
int __wrap_rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page);
int __wrap_rec_view_read(struct rec_view *view, unsigned int lane, unsigned int flags, struct rec_page *ret_page)
{
	return is_moving && lane == 1 ? -EAGAIN : __real_rec_view_read(view, lane, flags, ret_page);
}

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *ret_left);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *ret_left)
{
	(void)wanted;
	(void)ret_left;
	is_moving = stays;
	return 0;
}

TestSuite(drain_buffers, .init = draining_begin, .fini = draining_end, .timeout = 300);

/*
 * Two buffers in one directory: the program's, which is drained, and then a copy of it, for which there is no
 * descriptor.
 */
static void begin_two(void)
{
	const char *name = strrchr(buffer, '/') + 1, *top = getenv("RECORDER_DIR");
	const int above = open(top, O_RDONLY | O_DIRECTORY);
	char command[2 * PATH_MAX];

	cr_assert_geq(above, 0);
	snprintf(command, sizeof(command), "cd '%s' && mkdir -m 0700 two && cp --sparse=always %.128s copy", top, name);
	cr_assert_eq(system(command), 0);
	close(dir);
	dir = openat(above, "two", O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir, 0);
	cr_assert_eq(renameat(above, name, dir, name), 0);
	drain_close(drain);
	cr_assert_eq(drain_open(spool, dir, DRAIN_OWNED, NULL, &drain), 0);
	cr_assert_geq(drain_run(drain), 0);
	cr_assert_eq(spool->nr_entries, 1);
	is_full = true;
	cr_assert_eq(renameat(above, "copy", dir, OTHER), 0);
	close(above);
}

static void end_two(void)
{
	char command[PATH_MAX + 32];

	snprintf(command, sizeof(command), "rm -r '%s/two'", getenv("RECORDER_DIR"));
	cr_assert_eq(system(command), 0);
}

/* A descriptor becomes free only when an open buffer is closed; until then the drain does not try. */
Test(drain_buffers, a_buffer_without_a_descriptor_waits_for_another_to_be_closed)
{
	begin_two();
	for (unsigned int round = 0; round < 1000; round++)
		cr_assert_geq(drain_run(drain), 0);
	cr_assert_eq(other_tries, 1);
	cr_assert_eq(drain_trouble(drain)->waiting, 1);
	cr_assert_eq(drain_trouble(drain)->bad_buffers, 0);
	is_full = false;
	kill_program();
	for (unsigned int rounds = 0; spool->nr_entries < 2 && rounds < ROUNDS_MAX; rounds++)
		cr_assert_geq(drain_run(drain), 0);
	cr_assert_eq(spool->nr_entries, 2);
	cr_assert_eq(other_tries, 2);
	end_two();
}

/* If there is a descriptor for one buffer only, the buffers are read one after the other. */
Test(drain_buffers, at_the_end_buffers_that_waited_are_read)
{
	begin_two();
	is_counted = true;
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(other_tries, 2);
	cr_assert_eq(spool->nr_entries, 2);
	cr_assert_eq(drain_trouble(drain)->bad_buffers, 0);
	kill_program();
	end_two();
}

/* The same for programs that the recorder is attached to: another one of them must end first. */
Test(drain_buffers, a_program_without_a_descriptor_waits_for_another_to_end)
{
	struct watched_dir watched = { .drain = drain };
	struct attach attach = { .watched_dirs = &watched, .nr = 1 };
	struct buffer *attached;
	struct rec_view *view;
	struct stat st;

	begin_two();
	watched.fd = dup(dir);
	watched.drain = drain;
	dir_watch_open(&watched.watch, dir);
	cr_assert_eq(fstatat(dir, strrchr(buffer, '/') + 1, &st, 0), 0);
	cr_assert_eq(rec_view_open_at(dir, strrchr(buffer, '/') + 1, &view), 0);
	attached = watched_dir_add(&watched, strrchr(buffer, '/') + 1, st.st_ino, view);
	cr_assert_not_null(attached);
	attached->view = view;
	other_tries = 0;
	for (unsigned int round = 0; round < 1000; round++)
		cr_assert_eq(attach_follow(&attach), 0);
	cr_assert_eq(other_tries, 1);
	cr_assert_eq(attach.waiting, 1);
	is_full = false;
	kill_program();
	attach_is_alive(&attach);
	cr_assert_null(attached->view);
	cr_assert_eq(attach_follow(&attach), 0);
	cr_assert_eq(other_tries, 2);
	cr_assert_eq(watched.nr, 2);
	watched_dir_close(&watched);
	drain = NULL;
	end_two();
}

static struct buffer *list_buffer(struct watched_dir *watched, const char *name, uint64_t inode)
{
	struct rec_view *view;
	struct buffer *listed;

	cr_assert_eq(rec_view_open(buffer, &view), 0);
	listed = watched_dir_add(watched, name, inode, view);
	cr_assert_not_null(listed);
	rec_view_close(view);
	return listed;
}

/* Whether a scan finds the buffer where the list has it. */
static bool is_listed(struct watched_dir *watched, const char *name, uint64_t inode)
{
	const struct buffer *found = watched_dir_find(watched, name, inode);

	return found && found->inode == inode && !strcmp(found->name, name);
}

/* Inode numbers are used again, and files have several names. */
Test(drain_buffers, listed_buffers_are_found_by_name_and_inode)
{
	struct watched_dir watched = { .fd = dup(dir) };

	list_buffer(&watched, "1-1.rec", 5);
	list_buffer(&watched, "2-2.rec", 6);
	list_buffer(&watched, "3-3.rec", 5);
	cr_assert_eq(watched_dir_begin_scan(&watched), 0);
	cr_expect(is_listed(&watched, "1-1.rec", 5));
	cr_expect(is_listed(&watched, "2-2.rec", 6));
	cr_expect(is_listed(&watched, "3-3.rec", 5));
	cr_expect_null(watched_dir_find(&watched, "2-2.rec", 5));
	cr_expect_null(watched_dir_find(&watched, "2-2.rec", 7));
	list_buffer(&watched, "4-4.rec", 7);
	cr_expect(is_listed(&watched, "4-4.rec", 7));
	watched_dir_find(&watched, "3-3.rec", 5)->seen = true;
	watched_dir_find(&watched, "4-4.rec", 7)->seen = true;
	watched_dir_forget(&watched);
	cr_assert_eq(watched.nr, 2);
	cr_assert_eq(watched_dir_begin_scan(&watched), 0);
	cr_expect_null(watched_dir_find(&watched, "1-1.rec", 5));
	cr_expect_null(watched_dir_find(&watched, "2-2.rec", 6));
	cr_expect(is_listed(&watched, "3-3.rec", 5));
	cr_expect(is_listed(&watched, "4-4.rec", 7));
	watched_dir_close(&watched);
}

/*
 * With thousands of buffers, a scan would otherwise take too long, at the priority of the drain's thread. The others of
 * the list cannot be read here.
 */
Test(drain_buffers, a_listed_buffer_is_found_without_a_look_at_others)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), others = page / sizeof(struct buffer);
	unsigned char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct buffer *one = (struct buffer *)(void *)(pages + page);
	struct watched_dir watched = { .list = one - others, .nr = (unsigned int)others + 1 };
	char name[] = "1-1.rec";

	cr_assert_neq(pages, MAP_FAILED);
	for (unsigned int i = 0; i < watched.nr; i++)
		watched.list[i] = (struct buffer){ .name = name, .inode = i + 1 };
	cr_assert_eq(watched_dir_begin_scan(&watched), 0);
	cr_assert_eq(mprotect(pages, page, PROT_NONE), 0);
	cr_expect_eq(watched_dir_find(&watched, name, others + 1), one);
	cr_expect_null(watched_dir_find(&watched, name, others + 2));
	number_map_free(&watched.by_inode);
}

/* A lane that is larger than a new one. */
static void fill_large_lane(struct rec_handle *lane, int pipe)
{
	unsigned int own;
	uint64_t number = 0;

	if (rec_thread_lane(&own) || rec_lane_resize(own, 4096 * 4 * PAGES) || rec_thread_handle == lane)
		_exit(1);
	while (reader_write(rec_thread_handle, number, 100))
		number++;
	end_writing(number, pipe);
}

static void begin_large(void)
{
	setenv("RECORDER_BUFFER_MAX_KB", "4096", 1);
	draining_begin_with(fill_large_lane);
}

/* At the end, all that a living program has written is taken, whatever the size of its lanes. */
Test(drain_buffers_large, the_recording_ends_while_a_lane_is_full, .init = begin_large, .fini = draining_end,
     .timeout = 300)
{
	cr_assert_gt(written, 2 * PAGES * 38);
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(spool->events, written);
	kill_program();
}

/* Another reader has a lane for a moment. The lane is read later, also if its program is gone. */
Test(drain_buffers, a_lane_is_busy_for_a_round)
{
	struct rec_view *view = reader_view_of(buffer);
	struct rec_view_event event;

	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	kill_program();
	cr_assert_geq(drain_run(drain), 0);
	rec_view_close(view);
	drain_to_the_end();
	cr_assert_eq(drain_trouble(drain)->busy_lanes, 0);
	expect_all();
}

/* The writer may be unable to run while the drain, which may have real-time priority, does not sleep. */
Test(drain_buffers, the_recording_ends_while_a_writer_is_preempted)
{
	is_moving = true;
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

Test(drain_buffers, what_a_preempted_writer_leaves_unread_is_reported)
{
	is_moving = stays = true;
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 1);
	kill_program();
}

/* A file with the removed file's name and inode number, as a later image of the process may make it. */
static void make_again(void)
{
	char spare[PATH_MAX + 16];

	snprintf(spare, sizeof(spare), "%s.spare", buffer);
	cr_assert_eq(link(spare, buffer), 0);
}

/*
 * A process that executes one program after the other gives a buffer the first free name, and the file system may give
 * it the number of a removed file. It is a buffer of its own.
 */
Test(drain_buffers, a_removed_file_s_name_and_number_are_used_again)
{
	char spare[PATH_MAX + 16];

	snprintf(spare, sizeof(spare), "%s.spare", buffer);
	cr_assert_eq(link(buffer, spare), 0);
	kill_program();
	drain_to_the_end();
	cr_assert_eq(spool->nr_entries, 1);
	make_again();
	drain_to_the_end();
	cr_expect_eq(spool->nr_entries, 2);
	cr_assert_eq(unlink(spare), 0);
}

/* Another recorder continues the recording. */
static void open_again(bool other)
{
	char path[PATH_MAX];

	cr_assert_geq(drain_finish(drain), 0);
	drain_close(drain);
	if (other) {
		snprintf(path, sizeof(path), "%s", spool->path);
		cr_assert_eq(spool_settle(spool), 0);
		spool_close(spool);
		cr_assert_eq(spool_open(path, &spool), 0);
	}
	cr_assert_eq(drain_open(spool, dir, DRAIN_OWNED, strrchr(buffer, '/') + 1, &drain), 0);
	cr_assert_geq(drain_run(drain), 0);
}

/* A recorder that continues such a spool finds both in it: the file is that of the second one. */
Test(drain_buffers, a_spool_has_two_buffers_with_the_same_name_and_number)
{
	struct spool_process first, second;
	struct stat st;

	cr_assert_eq(stat(buffer, &st), 0);
	cr_assert_geq(drain_run(drain), 0);
	cr_assert_eq(spool->nr_entries, 1);
	first = second = spool->entries[0].process;
	cr_assert_eq(first.inode, st.st_ino);
	cr_assert_eq(spool_add_process(spool, &second), 1);
	open_again(true);
	cr_assert_eq(spool->nr_entries, 2);
	cr_expect_eq(drain->list[0].process, 1);
	kill_program();
}

/*
 * Only the processes that another recorder has written are compared with a new buffer: a recorder's own may be 100,000.
 */
Test(drain_buffers, a_new_buffer_is_not_looked_for_among_the_recorder_s_own)
{
	cr_assert_geq(drain_run(drain), 0);
	cr_assert_eq(spool->nr_found, 0);
	open_again(false);
	cr_expect_eq(spool->nr_entries, 2);
	open_again(true);
	cr_assert_eq(spool->nr_found, 2);
	cr_expect_eq(spool->nr_entries, 2);
	kill_program();
}

/* With thousands of programs, a round would otherwise take too long. The others of the list cannot be read here. */
Test(drain_buffers, the_buffer_of_a_turn_is_found_without_a_look_at_others)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), others = page / sizeof(struct drained);
	unsigned char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drained *list, *one;
	uint64_t before;

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_geq(drain_run(drain), 0);
	cr_assert_geq(drain_settle_helped(drain, drain->list[0].process), 0);
	list = drain->list;
	one = (struct drained *)(void *)(pages + page);
	*one = list[0];
	cr_assert_eq(mprotect(pages, page, PROT_NONE), 0);
	drain->list = one - others;
	drain->nr = (unsigned int)others + 1;
	before = spool->events;
	cr_assert_eq(drain_add_turns(drain, one, 0, PAGES), 0);
	cr_assert_gt(drain_take_turns(drain, false), 0);
	cr_expect_gt(spool->events, before);
	list[0] = *one;
	drain->list = list;
	drain->nr = 1;
	kill_program();
}
