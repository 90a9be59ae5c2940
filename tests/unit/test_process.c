/* SPDX-License-Identifier: MIT */
/* The process's own buffer: what happens to its file. */
#include "librecorder/os/identity.h"
#include "librecorder/process/geometry.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "librecorder/process/sweep.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer_dir.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/test_process.XXXXXX";

static void begin(void)
{
	const struct rec_options options = REC_OPTIONS_INIT;

	cr_assert_not_null(mkdtemp(dir));
	setenv("RECORDER_DIR", dir, 1);
	unsetenv("RECORDER_KEEP");
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(strncmp(rec_process_path(), dir, strlen(dir)), 0);
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(process, .init = begin, .fini = end);

/* Runs `child` in a forked child, which then exits with _exit(). Returns the path of the child's buffer. */
static void fork_child(void (*child)(void), char *path)
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		child();
		_exit(write(ends[1], rec_process_path(), PATH_MAX) == PATH_MAX ? 0 : 1);
	}
	cr_assert_eq(read(ends[0], path, PATH_MAX), PATH_MAX);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_str_neq(path, rec_process_path());
	cr_assert_eq(access(path, F_OK), 0);
}

static void do_nothing(void)
{
}

static void lease(void)
{
	if (rec_thread_attach() < 0)
		_exit(2);
}

Test(process, an_empty_file_of_a_dead_child_is_swept)
{
	const struct rec_options options = REC_OPTIONS_INIT;
	char path[PATH_MAX];

	fork_child(do_nothing, path);
	/* Each sweep examines two files, and there are only two; so this one is examined. */
	for (unsigned int i = 0; i < 100 && access(path, F_OK) == 0; i++)
		cr_assert_eq(rec_configure(&options), 0);
	cr_assert_neq(access(path, F_OK), 0);
	cr_assert_eq(access(rec_process_path(), F_OK), 0);
}

/* A launcher changes its environment for the programs that it runs, not for its own children. */
Test(process, a_child_uses_what_its_parent_has_read)
{
	const struct rec_options options = REC_OPTIONS_INIT;
	char path[PATH_MAX], users[sizeof(dir) + 16];
	int status = -1;
	pid_t pid;

	setenv("RECORDER_MODE", "discard", 1);
	setenv("RECORDER_DIR", "/tmp", 1);
	pid = fork();
	if (pid == 0)
		_exit(!rec_process_header()->overwrite || strncmp(rec_process_path(), dir, strlen(dir)) != 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);

	unsetenv("RECORDER_DIR");
	setenv("XDG_RUNTIME_DIR", dir, 1);
	snprintf(users, sizeof(users), "%s/librecorder/", dir);
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(strncmp(rec_process_path(), users, strlen(users)), 0, "%s", rec_process_path());
	setenv("RECORDER_DIR", dir, 1);
	fork_child(do_nothing, path);
	cr_assert_eq(strncmp(path, users, strlen(users)), 0, "%s", path);

	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_neq(strncmp(rec_process_path(), users, strlen(users)), 0, "rec_configure() reads it again");
	cr_assert_not(rec_process_header()->overwrite);
}

Test(process, a_dead_childs_lanes_stay)
{
	const struct rec_options options = REC_OPTIONS_INIT;
	char path[PATH_MAX];

	fork_child(lease, path);
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(access(path, F_OK), 0);
}

/* The buffer can be read for every size that a program can request. */
Test(process, as_much_memory_as_there_may_be)
{
	static const size_t subbuf_sizes[] = { 4096, 524288 }, lane_sizes[] = { 8192, 1 << 20, (size_t)200 << 20 };
	struct rec_options options = REC_OPTIONS_INIT;
	struct rec_geometry geometry;

	options.memory_max = (size_t)1 << 44;
	for (unsigned int i = 0; i < 6; i++) {
		options.subbuf_size = subbuf_sizes[i % 2];
		options.lane_size = lane_sizes[i / 2];
		cr_assert_eq(rec_geometry_make(&options, 4096, &geometry), 0);
		cr_expect_geq(geometry.max_lanes, 1000);
		cr_expect_leq((uint64_t)geometry.max_lanes * geometry.max_subbufs, REC_SUBBUFS_MAX);
	}
}

/* The parts of the file, and those of each lane, begin at pages of the system and do not overlap. */
static void check_places(const struct rec_geometry *g, uint64_t page)
{
	const uint64_t places[] = { g->rules, g->enable, g->conditions, g->loan, g->log, g->lanes, g->file_size };
	const uint64_t sizes[] = { sizeof(struct rec_buffer_header), sizeof(struct rec_rules),
				   REC_EVENTS_MAX * sizeof(uint32_t), REC_CONDITIONS_SIZE, sizeof(struct rec_loan),
				   g->log_size, g->max_lanes * g->lane_stride };
	const uint32_t pages = rec_geometry_pages(g, g->subbuf_size);
	uint64_t end = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		cr_expect_eq(places[i] % page, 0, "part %zu", i);
		cr_expect_geq(places[i], end + sizes[i], "part %zu", i);
		end = places[i];
	}
	cr_expect_eq(g->lane_stride % page, 0);
	cr_expect_eq(g->lane_reader % page, 0);
	cr_expect_eq(g->lane_meta % page, 0);
	cr_expect_geq(g->lane_reader, sizeof(struct rec_lane) + g->max_subbufs * sizeof(struct rec_subbuf));
	cr_expect_geq(g->lane_meta - g->lane_reader,
		      sizeof(struct rec_lane_reader) + g->max_subbufs * sizeof(struct rec_link));
	cr_expect_geq(g->lane_stride - g->lane_meta, (pages + UINT64_C(2)) * g->subbuf_size);
	cr_expect_geq(g->max_subbufs, pages + 1);
}

/* A forked child asks for what its parent has (lane_pool.c), and gets it. */
static void check_childs(const struct rec_geometry *g, uint64_t page)
{
	const size_t capacity = g->subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const struct rec_options options = { .size = sizeof(options),
					     .lane_size = rec_geometry_pages(g, g->subbuf_size) * capacity,
					     .lane_max = (rec_geometry_subbufs(g, g->subbuf_size) - 1) * capacity,
					     .subbuf_size = g->subbuf_size,
					     .memory_max = (size_t)(g->max_lanes * g->lane_stride) };
	struct rec_geometry child;

	cr_assert_eq(rec_geometry_make(&options, page, &child), 0);
	cr_expect_eq(child.lane_bytes, g->lane_bytes);
	cr_expect_eq(child.lane_stride, g->lane_stride);
	cr_expect_eq(child.max_lanes, g->max_lanes);
	cr_expect_eq(child.file_size, g->file_size);
}

/* This machine has pages of one size; programs run on others, too. */
Test(process, places_are_pages_of_the_system)
{
	static const uint64_t pages[] = { 4096, 16384, 65536 };
	static const size_t subbuf_sizes[] = { 0, 4096, 8192, 65536, 524288 }, lane_sizes[] = { 0, 8192, 3000000 };
	struct rec_options options = REC_OPTIONS_INIT;
	struct rec_geometry geometry;

	for (unsigned int i = 0; i < 45; i++) {
		const uint64_t page = pages[i % 3];

		options.subbuf_size = subbuf_sizes[i / 3 % 5];
		options.lane_size = lane_sizes[i / 15];
		cr_assert_eq(rec_geometry_make(&options, page, &geometry), 0);
		cr_expect_eq(geometry.subbuf_size, options.subbuf_size ? options.subbuf_size : page);
		check_places(&geometry, page);
		check_childs(&geometry, page);
	}
	options = (struct rec_options)REC_OPTIONS_INIT;
	cr_assert_eq(rec_geometry_make(&options, 4096, &geometry), 0);
	/* docs/SHM-LAYOUT.md has these figures. */
	cr_expect_eq(geometry.lanes, 4468736);
	cr_expect_eq(geometry.lane_stride, 1085440);
	cr_expect_eq(geometry.lane_reader, 12288);
	cr_expect_eq(geometry.lane_meta, 20480);
}

/* Parts of a page get memory, too: on a system with large pages, most parts are smaller than a page. */
Test(process, a_part_of_a_page_gets_memory)
{
	unsigned char *log = (unsigned char *)rec_process_header() + rec_pool.geometry.log;

	/* By its name the file could not be found. */
	unlink(rec_process_path());
	cr_expect_eq(rec_process_populate(log + 3 * REC_MAP_PAGE + 100, 200), 0);
	cr_expect_eq(log[3 * REC_MAP_PAGE + 299], 0);
}

/* Options of a version whose structure ended before the clock: the memory after it is not read. */
Test(process, shorter_options_of_an_older_header)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.size = offsetof(struct rec_options, clock);
	options.subbuf_size = 8192;
	options.clock = 77;
	options.discard = 1;
	options.lane_max = 1;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_pool.geometry.subbuf_size, 8192);
	cr_assert(rec_pool.overwrite);
	options.size = sizeof(options.size);
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_pool.geometry.subbuf_size, 4096);
	options.size--;
	cr_assert_eq(rec_configure(&options), -EINVAL);
	options = (struct rec_options)REC_OPTIONS_INIT;
	options.clock = 77;
	cr_assert_eq(rec_configure(&options), -EINVAL);
}

/* Options that this version does not know must be zero, or they would be ignored silently. */
Test(process, longer_options_of_a_newer_header)
{
	struct {
		struct rec_options known;
		unsigned char more[24];
	} options = { .known = { .size = sizeof(options), .subbuf_size = 8192 } };

	cr_assert_eq(rec_configure(&options.known), 0);
	cr_assert_eq(rec_pool.geometry.subbuf_size, 8192);
	options.known.subbuf_size = 16384;
	for (unsigned int i = 0; i < sizeof(options.more); i++) {
		options.more[i] = 1;
		cr_assert_eq(rec_configure(&options.known), -EINVAL, "byte %u", i);
		options.more[i] = 0;
	}
	cr_assert_eq(rec_pool.geometry.subbuf_size, 8192, "the buffer is as it was");
	options.known.size = sizeof(options.known);
	options.more[0] = 1;
	cr_assert_eq(rec_configure(&options.known), 0, "beyond its size there are no options");
	options.known.size = SIZE_MAX;
	cr_assert_eq(rec_configure(&options.known), -EINVAL);
}

Test(process, a_limit_on_file_sizes_kills_no_program)
{
	const struct rec_options options = REC_OPTIONS_INIT;
	const struct rlimit limit = { 1 << 20, RLIM_INFINITY };

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(rec_configure(&options), -EFBIG);
	cr_assert_null(rec_process_header());
	cr_assert_null(rec_lane_lease());
}

/* An unfinished file that is two hours old. */
static int make_half(const char *name, char path[PATH_MAX])
{
	const struct timespec made[2] = { { .tv_sec = time(NULL) - 7200 }, { .tv_sec = time(NULL) - 7200 } };
	int fd;

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(futimens(fd, made), 0);
	return fd;
}

/* After this number of times, each of three files was examined, except with a probability of 10^-15. */
static void sweep_all(void)
{
	for (unsigned int i = 0; i < 100; i++)
		rec_sweep();
}

/* Programs may be stopped in the middle of making a buffer, too, even for hours. */
Test(process, a_half_made_file_stays_with_its_maker)
{
	char own[PATH_MAX], locked[PATH_MAX], nobodys[PATH_MAX], name[64];
	int fd;

	snprintf(name, sizeof(name), "%d-%llu-7.rec", (int)getpid(),
		 (unsigned long long)rec_process_header()->start_time);
	close(make_half(name, own));
	fd = make_half("4000000000-1.rec", locked);
	cr_assert_eq(rec_lock_take(fd, REC_LOCK_PROGRAM), 0);
	close(make_half("4000000001-1.rec", nobodys));
	sweep_all();
	cr_assert_eq(access(own, F_OK), 0);
	cr_assert_eq(access(locked, F_OK), 0);
	cr_assert_neq(access(nobodys, F_OK), 0);
	close(fd);
	sweep_all();
	cr_assert_eq(access(own, F_OK), 0);
	cr_assert_neq(access(locked, F_OK), 0);
}

static unsigned int files(void)
{
	const struct dirent *entry;
	unsigned int nr = 0;
	DIR *opened = opendir(dir);

	cr_assert_not_null(opened);
	while ((entry = readdir(opened)))
		nr += entry->d_name[0] != '.';
	closedir(opened);
	return nr;
}

/*
 * One program in 32 sweeps. If all programs die and none left an event, each sweep removes more files than were made
 * since the last.
 */
Test(process, what_a_crashing_program_leaves_does_not_pile_up)
{
	char name[64], path[PATH_MAX];
	unsigned int before;

	for (unsigned int i = 0; i < 90; i++) {
		snprintf(name, sizeof(name), "%u-1.rec", 4000000000u + i);
		close(make_half(name, path));
	}
	before = files();
	rec_sweep();
	cr_assert_lt(files(), before - 32);
	cr_assert_eq(access(rec_process_path(), F_OK), 0);
	for (unsigned int i = 0; i < 100 && files() > 1; i++)
		rec_sweep();
	cr_assert_eq(files(), 1);
	cr_assert_eq(access(rec_process_path(), F_OK), 0);
}

/* The blocked signals, as the kernel reports them. */
static uint64_t blocked(void)
{
	uint64_t set = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &set, sizeof(set));
	return set;
}

Test(process, a_holder_is_left_in_peace)
{
	/*
	 * All signals below the real-time ones, and the first real-time signals, which libc uses itself, are blocked,
	 * except two that cannot be blocked.
	 */
	const uint64_t nobodys = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
	const uint64_t all = ((UINT64_C(1) << 33) - 1) & ~nobodys, before = blocked();
	int was;

	cr_assert(rec_process_lock());
	cr_assert_eq(blocked() & all, all);
	cr_assert_eq(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was), 0);
	cr_assert_eq(was, PTHREAD_CANCEL_DISABLE);
	cr_assert_not(rec_process_lock(), "it is held by this very thread");
	cr_assert_eq(blocked() & all, all, "and still is");
	rec_process_unlock();
	cr_assert_eq(blocked(), before);
	cr_assert_eq(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was), 0);
	cr_assert_eq(was, PTHREAD_CANCEL_ENABLE);
}

Test(process, a_child_names_its_parent)
{
	const uint64_t start = rec_process_header()->start_time;
	int status = -1;
	pid_t pid;

	cr_assert_eq(rec_process_header()->parent_pid, (uint32_t)getppid());
	pid = fork();
	if (pid == 0)
		_exit(rec_process_header()->parent_pid != (uint32_t)getppid() ||
		      rec_process_header()->parent_start != start);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

/* Stores the directory in places of every size, and checks that nothing is stored outside of them. */
static void check_every_size(const char *expected)
{
	const size_t length = strlen(expected);
	char place[PATH_MAX];
	size_t size, i;
	int r;

	for (size = 0; size <= length + 16; size++) {
		memset(place, 'x', sizeof(place));
		r = rec_buffer_dir(false, place, size);
		if (size > length) {
			cr_assert_neq(r, -ENAMETOOLONG, "%s: size %zu", expected, size);
			cr_assert_str_eq(place, expected);
			i = length + 1;
		} else {
			cr_assert_eq(r, -ENAMETOOLONG, "%s: size %zu: %d", expected, size, r);
			i = 0;
		}
		for (; i < sizeof(place); i++)
			cr_assert_eq(place[i], 'x', "%s: size %zu: byte %zu", expected, size, i);
	}
}

Test(process, the_directory_in_a_small_place)
{
	char expected[PATH_MAX];

	check_every_size(dir);
	unsetenv("RECORDER_DIR");
	setenv("XDG_RUNTIME_DIR", dir, 1);
	snprintf(expected, sizeof(expected), "%s/librecorder", dir);
	check_every_size(expected);
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(expected, sizeof(expected), "/dev/shm/librecorder-%u", (unsigned int)geteuid());
	check_every_size(expected);
}

static bool has_mapped(const char *path)
{
	char line[PATH_MAX + 256];
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;

	if (!maps)
		_exit(2);
	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, path);
	fclose(maps);
	return found;
}

/* With the mapping the child would hold its parent's lock, too, and the parent would seem to be alive after its end. */
Test(process, a_child_keeps_no_mapping_though_its_data_are_limited)
{
	struct rlimit before, limit;
	char path[PATH_MAX];
	int status = -1;
	pid_t pid;

	strcpy(path, rec_process_path());
	cr_assert_eq(getrlimit(RLIMIT_DATA, &before), 0);
	limit = before;
	limit.rlim_cur = 4096;
	cr_assert_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	pid = fork();
	setrlimit(RLIMIT_DATA, &before);
	if (pid == 0)
		_exit(has_mapped(path) || rec_process_init() != -ENOMEM);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert(has_mapped(path));
}
