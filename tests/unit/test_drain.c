/* SPDX-License-Identifier: MIT */
/*
 * A drain that cannot keep up, and its helpers. In each test a program has filled three lanes, a helper begins with one
 * of them, and is held there until the drain has continued without it.
 */
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/lane.h>
#include <librecorder/reader.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recording/attach_private.h"
#include "cli/recording/drain_private.h"

#define LANES 3u
#define PAGES 100u

/* The drain must finish all events within this number of rounds. */
#define ROUNDS_MAX 1000000u

static bool begun, go_on, refused; /* refused: the helper finds the stage full */
static struct spool *spool;
static struct drain *drain;
static char buffer[PATH_MAX];
static uint64_t written;
static pid_t program;
static int dir, pipe_end;

/* ------------------------------------------------------------------------------------------- the helper is held */

bool __real_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn);
bool __wrap_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn);
bool __wrap_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn)
{
	const bool given = __real_drain_crew_give(crew, turn);

	while (given && !__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
	return given;
}

int __real_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg);
int __wrap_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg);
int __wrap_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg)
{
	__atomic_store_n(&begun, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go_on, __ATOMIC_ACQUIRE))
		sched_yield();
	return refused ? -EAGAIN : __real_spool_hand_page(to, hand, process, lane, page, stands, arg);
}

/* The recorder is attached to two directories; the drain of the second one fails. */
static struct drain *failing;

int __real_drain_run(struct drain *which);
int __wrap_drain_run(struct drain *which);
int __wrap_drain_run(struct drain *which)
{
	return which == failing ? -ENOSPC : __real_drain_run(which);
}

/* The helper is released when the drain waits for it. */
bool __real_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn);
bool __wrap_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn);
bool __wrap_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn)
{
	if ((refused || failing) && process != DRAIN_ANY)
		__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
	return __real_drain_crew_result(crew, process, ret_turn);
}

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

/* --------------------------------------------------------------------------------------------------- the program */

/* Tell the test how many events were written, and wait to be killed. */
static void end_writing(uint64_t number, int pipe)
{
	if (write(pipe, &number, sizeof(number)) != sizeof(number))
		_exit(1);
	for (;;)
		pause();
}

static void fill_lanes(struct rec_handle *lane, int pipe)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < LANES; i++) {
		while (reader_write(lane, number, 100))
			number++;
		if (i + 1 < LANES)
			lane = reader_lane();
	}
	end_writing(number, pipe);
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

static void begin_with(void (*fill)(struct rec_handle *lane, int pipe))
{
	const struct spool_head head = { .file_version = 6 };
	char path[PATH_MAX + 16];

	reader_begin(PAGES, true);
	program = reader_child(fill, buffer, &pipe_end);
	cr_assert_eq(read(pipe_end, &written, sizeof(written)), sizeof(written));
	cr_assert_gt(written, LANES * PAGES * 10);
	snprintf(path, sizeof(path), "%s/t.spool", getenv("RECORDER_DIR"));
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(spool_stage(spool, 8u << 20, 0), 0);
	dir = open(getenv("RECORDER_DIR"), O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir, 0);
	cr_assert_eq(drain_open(spool, dir, DRAIN_OWNED, strrchr(buffer, '/') + 1, &drain), 0);
}

static void begin(void)
{
	begin_with(fill_lanes);
}

static void begin_large(void)
{
	setenv("RECORDER_BUFFER_MAX_KB", "4096", 1);
	begin_with(fill_large_lane);
}

static void end(void)
{
	drain_close(drain);
	spool_close(spool);
	close(dir);
	close(pipe_end);
	reader_end();
}

TestSuite(drain, .init = begin, .fini = end, .timeout = 300);

/* Drain the buffer, whose program is gone, until its file is removed. */
static void drain_to_the_end(void)
{
	for (unsigned int rounds = 0; !access(buffer, F_OK) && rounds < ROUNDS_MAX; rounds++)
		cr_assert_geq(drain_run(drain), 0);
	cr_assert_neq(access(buffer, F_OK), 0);
}

static void kill_program(void)
{
	kill(program, SIGKILL);
	cr_assert_eq(waitpid(program, NULL, 0), program);
}

/* Check that each event that was written is in the spool, once and in order. */
static void expect_all(void)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	uint64_t events = 0;

	cr_assert_eq(spool_settle(spool), 0);
	cr_assert_eq(spool->events, written);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, LANES);
	for (unsigned int lane = 0; lane < LANES; lane++)
		for (uint64_t next = 0; source->next(source, lane, &page) == 1; next += page.entries) {
			cr_assert_eq(page.first, next);
			cr_assert_eq(page.lost, 0);
			events += page.entries;
		}
	cr_assert_eq(events, written);
	spool_source_close(source);
}

/* A round in which the helper begins and is then held. */
static void run_beside_helper(void)
{
	cr_assert_geq(drain_run(drain), 0);
	cr_assert(begun);
	cr_assert_lt(spool->events, written);
	__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
}

Test(drain, a_program_ends_while_a_helper_has_a_lane_of_it)
{
	unsigned int rounds = 0;

	kill_program();
	run_beside_helper();
	/* The helper's last step with the buffer. */
	while (access(buffer, F_OK) == 0 && rounds++ < ROUNDS_MAX) {
		cr_assert_geq(drain_run(drain), 0);
		sched_yield();
	}
	cr_assert_lt(access(buffer, F_OK), 0);
	expect_all();
}

Test(drain, the_recording_ends_while_a_helper_has_a_lane)
{
	run_beside_helper();
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

/* The last round waits for the disk, so what the helper could not read is read all the same. */
Test(drain, the_recording_ends_while_a_helper_finds_the_stage_full)
{
	refused = true;
	cr_assert_geq(drain_run(drain), 0);
	cr_assert(begun);
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

/* The stage ends after this, and the helper must not be at work in it. */
Test(drain, another_directory_fails_while_a_helper_has_a_lane)
{
	struct watched_dir watched_dirs[2] = { { .fd = dup(dir), .drain = drain }, { .fd = dup(dir) } };
	struct attach attach = { .watched_dirs = watched_dirs, .nr = 2 };

	cr_assert_eq(drain_open(spool, dir, DRAIN_NAMED, NULL, &failing), 0);
	watched_dirs[1].drain = failing;
	for (unsigned int i = 0; i < 2; i++)
		dir_watch_open(&watched_dirs[i].watch, dir);
	cr_assert_eq(attach_run(&attach), -ENOSPC);
	cr_assert(begun);
	cr_expect(go_on, "nobody waited for the helper");
	__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
	cr_assert_eq(spool_settle(spool), 0);
	for (unsigned int i = 0; i < 2; i++)
		watched_dir_close(&watched_dirs[i]);
	drain = NULL;
	kill_program();
}

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
	go_on = true;
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
Test(drain, a_buffer_without_a_descriptor_waits_for_another_to_be_closed)
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
Test(drain, at_the_end_buffers_that_waited_are_read)
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
Test(drain, a_program_without_a_descriptor_waits_for_another_to_end)
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

/* At the end, all that a living program has written is taken, whatever the size of its lanes. */
Test(drain_large, the_recording_ends_while_a_lane_is_full, .init = begin_large, .fini = end, .timeout = 300)
{
	cr_assert_gt(written, 2 * PAGES * 38);
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(spool->events, written);
	kill_program();
}

/* Another reader has a lane for a moment. The lane is read later, also if its program is gone. */
Test(drain, a_lane_is_busy_for_a_round)
{
	struct rec_view *view = reader_view_of(buffer);
	struct rec_view_event event;

	go_on = true;
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	kill_program();
	cr_assert_geq(drain_run(drain), 0);
	rec_view_close(view);
	drain_to_the_end();
	cr_assert_eq(drain_trouble(drain)->busy_lanes, 0);
	expect_all();
}

/* The writer may be unable to run while the drain, which may have real-time priority, does not sleep. */
Test(drain, the_recording_ends_while_a_writer_is_preempted)
{
	is_moving = true;
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

Test(drain, what_a_preempted_writer_leaves_unread_is_reported)
{
	is_moving = stays = true;
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 1);
	kill_program();
}

Test(drain, the_recorder_ends_before_its_helper)
{
	run_beside_helper();
	drain = drain_close(drain);
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
Test(drain, a_removed_file_s_name_and_number_are_used_again)
{
	char spare[PATH_MAX + 16];

	snprintf(spare, sizeof(spare), "%s.spare", buffer);
	cr_assert_eq(link(buffer, spare), 0);
	go_on = true;
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
Test(drain, a_spool_has_two_buffers_with_the_same_name_and_number)
{
	struct spool_process first, second;
	struct stat st;

	cr_assert_eq(stat(buffer, &st), 0);
	go_on = true;
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
Test(drain, a_new_buffer_is_not_looked_for_among_the_recorder_s_own)
{
	go_on = true;
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
Test(drain, the_buffer_of_a_turn_is_found_without_a_look_at_others)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), others = page / sizeof(struct drained);
	unsigned char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drained *list, *one;
	uint64_t before;

	cr_assert_neq(pages, MAP_FAILED);
	go_on = true;
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
