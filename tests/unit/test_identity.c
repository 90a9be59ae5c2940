/* SPDX-License-Identifier: MIT */
/* Whether a process is still alive: by pid and start time, or by its lock where these are not conclusive. */
#include "librecorder/os/identity.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/process.h"
#include "librecorder/process/sweep.h"
#include "tests/unit/beside.h"
#include "tests/unit/reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/test_identity.XXXXXX";
static char file[64];

static void begin(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}

TestSuite(identity, .init = begin, .fini = end);

static int open_file(void)
{
	const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, REC_MAP_PAGE), 0);
	return fd;
}

/* A program whose lock is kept by the mapping alone. */
static void map_and_wait(void *data)
{
	uint32_t *ready = data;
	const int fd = open(file, O_RDWR);

	if (mmap(NULL, REC_MAP_PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED || rec_lock_take(fd, REC_LOCK_PROGRAM))
		_exit(1);
	close(fd);
	rec_store_release(ready, 1);
	for (;;)
		pause();
}

static pid_t start_program(void)
{
	uint32_t *ready = beside_memory(sizeof(*ready));
	const pid_t pid = beside_run(map_and_wait, ready);

	while (!rec_load_acquire(ready))
		cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0);
	return pid;
}

static void end_program(pid_t pid)
{
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(identity, this_process)
{
	struct rec_identity self;
	uint64_t start_time = 0;
	struct stat st;
	const int fd = open_file();

	rec_identity_self(&self);
	cr_assert_eq(self.pid, (uint32_t)getpid());
	cr_assert_eq(stat("/proc/self/ns/pid", &st), 0);
	cr_assert_eq(self.pid_ns, st.st_ino);
	cr_assert_eq(rec_process_start_time(getpid(), &start_time), 0);
	cr_assert_eq(self.start_time, start_time);
	cr_assert(rec_identity_is_alive(&self, fd));
	cr_assert_eq(rec_identity_pid_here(&self), getpid());
	cr_assert_not(rec_identity_is_seen(&self));
	close(fd);
}

/* Field 22 of the calling thread's stat, which has no blank in its name. */
static unsigned long long own_start_time(void)
{
	unsigned long long start_time = 0;
	FILE *stat = fopen("/proc/thread-self/stat", "r");

	cr_assert_not_null(stat);
	for (unsigned int field = 1; field < 22; field++)
		cr_assert_eq(fscanf(stat, "%*s"), 0);
	cr_assert_eq(fscanf(stat, "%llu", &start_time), 1);
	fclose(stat);
	return start_time;
}

struct told {
	unsigned long long thread; /* when the thread started */
	uint64_t process;	   /* text that the kernel has of the process */
};

static void *tell_start_times(void *data)
{
	struct told *told = data;
	struct rec_identity self;

	rec_identity_self(&self);
	*told = (struct told){ own_start_time(), self.start_time };
	return NULL;
}

Test(identity, a_later_thread_has_the_start_time_of_its_process)
{
	struct told told = { 0 };
	uint64_t start_time = 0;
	pthread_t thread;

	cr_assert_eq(rec_process_start_time(getpid(), &start_time), 0);
	do {
		cr_assert_eq(pthread_create(&thread, NULL, tell_start_times, &told), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
		cr_assert_eq(told.process, start_time);
	} while (told.thread == start_time);
}

Test(identity, pid_and_start_time_decide_in_the_same_namespace)
{
	const int fd = open_file();
	const pid_t pid = start_program();
	struct rec_identity who = { .pid = (uint32_t)pid };
	struct rec_identity self, other;

	rec_identity_self(&self);
	who.pid_ns = self.pid_ns;
	cr_assert_eq(rec_process_start_time(pid, &who.start_time), 0);
	cr_assert(rec_identity_is_alive(&who, fd));
	/* In another time namespace its start time differs; the lock decides. */
	other = who;
	other.start_time++;
	cr_assert(rec_identity_is_alive(&other, fd));
	/* A process is dead even if its parent has not waited for it. */
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	cr_assert_not(rec_identity_is_alive(&who, fd));
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_not(rec_identity_is_alive(&who, fd));
	/* Another process has got the pid meanwhile. */
	other = self;
	other.start_time--;
	cr_assert_not(rec_identity_is_alive(&other, fd));
	close(fd);
}

/* The descriptor becomes readable when the process is gone. */
Test(identity, a_process_is_watched)
{
	struct rec_identity who;
	struct pollfd process;
	const pid_t child = fork();
	uint64_t start_time;

	if (!child)
		for (;;)
			pause();
	rec_identity_self(&who);
	who.pid = (uint32_t)child;
	cr_assert_eq(rec_process_start_time(child, &start_time), 0);
	who.start_time = start_time + 1;
	cr_assert_eq(rec_identity_watch(&who), -1, "another one of this number");
	who.start_time = start_time;
	process = (struct pollfd){ .fd = rec_identity_watch(&who), .events = POLLIN };
	if (process.fd < 0 && errno == ENOSYS)
		cr_skip_test("this kernel has no pidfd");
	cr_assert_geq(process.fd, 0);
	cr_assert_eq(poll(&process, 1, 0), 0);
	kill(child, SIGKILL);
	cr_assert_eq(poll(&process, 1, -1), 1);
	close(process.fd);
	waitpid(child, NULL, 0);
	cr_assert_eq(rec_identity_watch(&who), -1);
}

Test(identity, a_copy_that_has_the_file_mapped_does_not_keep_its_parent_alive)
{
	const int fd = open_file();
	const pid_t copy = start_program(), pid = beside_run(map_and_wait, beside_memory(sizeof(uint32_t)));
	struct rec_identity who = { .pid = (uint32_t)pid, .locked = true };
	struct rec_identity self;

	rec_identity_self(&self);
	who.pid_ns = self.pid_ns;
	end_program(pid);
	cr_assert_eq(rec_lock_ask(fd, REC_LOCK_PROGRAM), 1);
	cr_assert_not(rec_identity_is_alive(&who, fd));
	end_program(copy);
	close(fd);
}

Test(identity, the_lock_decides_from_another_namespace)
{
	const int fd = open_file();
	const pid_t pid = start_program();
	struct rec_identity who = { .pid = (uint32_t)pid, .locked = true };
	struct rec_identity self, unknown;

	rec_identity_self(&self);
	/* No namespace has this inode, so no process of it is in /proc. */
	who.pid_ns = self.pid_ns + 1000000;
	cr_assert(rec_identity_is_alive(&who, fd));
	cr_assert(rec_identity_is_certain(&who, fd));
	cr_assert_not(rec_identity_is_seen(&who));
	cr_assert_eq(rec_identity_pid_here(&who), 0);
	unknown = who;
	unknown.pid_ns = 0;
	cr_assert(rec_identity_is_alive(&unknown, fd));
	cr_assert_eq(rec_identity_pid_here(&unknown), pid);
	end_program(pid);
	cr_assert_not(rec_identity_is_alive(&who, fd));
	cr_assert_not(rec_identity_is_alive(&unknown, fd));
	/* If the file system drops locks, the state of the process is unknown. */
	who.locked = false;
	cr_assert_not(rec_identity_is_certain(&who, fd));
	cr_assert(rec_identity_is_alive(&who, fd));
	close(fd);
}

Test(identity, pid_0_is_no_process)
{
	const struct rec_identity nobody = { .pid = 0 }, group = { .pid = UINT32_MAX };
	const int fd = open_file();

	cr_assert_not(rec_identity_is_alive(&nobody, fd));
	cr_assert_not(rec_identity_is_alive(&group, fd));
	close(fd);
}

Test(identity, locks_are_of_the_open_file)
{
	const int one = open_file(), two = open_file();
	int copy;

	cr_assert_eq(rec_lock_take(one, REC_LOCK_LANES + 3), 0);
	cr_assert_eq(rec_lock_ask(one, REC_LOCK_LANES + 3), 0);
	cr_assert_eq(rec_lock_ask(two, REC_LOCK_LANES + 3), 1);
	cr_assert_eq(rec_lock_take(two, REC_LOCK_LANES + 3), -EBUSY);
	cr_assert_eq(rec_lock_take(two, REC_LOCK_LANES + 2), 0);
	/* Giving a file its own owner again changes nothing. */
	rec_lock_give(two, REC_LOCK_LANES + 3);
	cr_assert_eq(rec_lock_ask(two, REC_LOCK_LANES + 3), 1);
	rec_lock_give(one, REC_LOCK_LANES + 3);
	cr_assert_eq(rec_lock_take(two, REC_LOCK_LANES + 3), 0);
	copy = dup(two);
	close(two);
	cr_assert_eq(rec_lock_ask(one, REC_LOCK_LANES + 3), 1);
	close(copy);
	cr_assert_eq(rec_lock_ask(one, REC_LOCK_LANES + 3), 0);
	close(one);
}

/* The name that this process's buffer has in the test's directory, if `number` is empty. */
static void name_file(const char *number)
{
	snprintf(file, sizeof(file), "%s/%d-%llu%s.rec", dir, (int)getpid(),
		 (unsigned long long)rec_process_header()->start_time, number);
}

/* Makes a buffer of a process with our pid and our start time. Returns its header, mapped. */
static struct rec_buffer_header *namesake_numbered(const char *number)
{
	struct rec_buffer_header *header;
	int fd;

	name_file(number);
	fd = open_file();
	header = mmap(NULL, REC_MAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(header, MAP_FAILED);
	close(fd);
	header->state = REC_BUFFER_LIVE;
	return header;
}

static struct rec_buffer_header *namesake(void)
{
	return namesake_numbered("");
}

static void make_buffer_beside(void)
{
	const struct rec_options options = REC_OPTIONS_INIT;

	setenv("RECORDER_DIR", dir, 1);
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_str_neq(rec_process_path(), file);
}

Test(identity, an_earlier_image_of_this_process_is_marked)
{
	const struct rec_buffer_header *header = namesake();

	make_buffer_beside();
	cr_assert_eq(header->state, REC_BUFFER_REPLACED);
}

/* A recorder has removed the files of the images before that one. */
Test(identity, an_earlier_image_with_a_later_name_is_marked)
{
	const struct rec_buffer_header *header = namesake_numbered("-3");

	make_buffer_beside();
	cr_assert_null(strstr(rec_process_path(), "-3" REC_BUFFER_SUFFIX));
	cr_assert_eq(header->state, REC_BUFFER_REPLACED);
}

/* Makes a file system without any room below the test's directory the directory of buffers. */
static void make_dir_full(void)
{
	unsigned char block[REC_MAP_PAGE] = { 0 };
	int fd;

	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		cr_skip("neither root nor user namespaces: no file system to fill");
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", dir, "tmpfs", 0, "size=64k,mode=700"), 0);
	snprintf(file, sizeof(file), "%s/filler", dir);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		continue;
	close(fd);
}

/* An earlier image was killed before its file had memory. */
Test(identity, a_full_file_system_and_an_image_that_left_a_file_without_memory)
{
	const struct rec_options options = REC_OPTIONS_INIT;

	make_dir_full();
	name_file("");
	close(open_file());
	setenv("RECORDER_DIR", dir, 1);
	cr_assert_eq(rec_configure(&options), -ENOMEM);
	cr_assert_eq(umount2(dir, MNT_DETACH), 0);
}

/* The process would give its next buffer this name, and another sweep may be about to remove the file of this name. */
Test(identity, the_buffer_of_an_earlier_image_stays_while_the_process_lives)
{
	struct rec_buffer_header *header = namesake();

	memcpy(header, rec_process_header(), sizeof(*header));
	cr_assert_eq(header->nr_lanes, 0);
	make_buffer_beside();
	cr_assert_eq(header->state, REC_BUFFER_REPLACED);
	rec_sweep();
	cr_assert_eq(access(file, F_OK), 0);
	/* The next process with this pid. */
	header->start_time--;
	rec_sweep();
	cr_assert_eq(access(file, F_OK), -1);
}

/* Two containers that use the same directory may both have a process 1, started in the same hundredth of a second. */
Test(identity, a_namesake_from_another_namespace_is_left_alone)
{
	const struct rec_buffer_header *header = namesake();
	const pid_t pid = start_program();

	make_buffer_beside();
	cr_assert_eq(header->state, REC_BUFFER_LIVE);
	end_program(pid);
}

Test(identity, a_buffer_names_its_process)
{
	struct rec_identity self, who;
	int fd;

	make_buffer_beside();
	rec_identity_self(&self);
	rec_identity_read(rec_process_header(), &who);
	cr_assert_eq(who.pid, self.pid);
	cr_assert_eq(who.pid_ns, self.pid_ns);
	cr_assert_eq(who.start_time, self.start_time);
	fd = open(rec_process_path(), O_RDONLY);
	cr_assert_geq(fd, 0);
	cr_assert_eq(rec_lock_ask(fd, REC_LOCK_PROGRAM), 1);
	cr_assert(rec_identity_is_alive(&who, fd));
	close(fd);
}

/* The pid is invalid here, or is that of another process. */
static const uint64_t foreign[] = { UINT64_C(1) << 32 | INT32_MAX, UINT64_C(1) << 32 | 1 };

Test(identity, a_reader_from_another_namespace_keeps_its_lane)
{
	struct rec_handle *lane;
	struct rec_view *view, *other;
	struct rec_page page;

	reader_begin(8, false);
	lane = reader_lane();
	cr_assert(reader_write(lane, 1, 16));
	for (unsigned int i = 0; i < 2; i++) {
		view = reader_view();
		other = reader_view();
		cr_assert_geq(rec_view_read(view, 0, 0, &page), 0);
		lane->reader->owner = foreign[i];
		cr_assert_eq(rec_view_read(other, 0, 0, &page), -EBUSY);
		rec_view_close(view);
		cr_assert_geq(rec_view_read(other, 0, 0, &page), 0);
		rec_view_close(other);
	}
	reader_end();
}

Test(identity, a_dead_reader_from_another_namespace_does_not)
{
	struct rec_handle *lane;
	struct rec_view *view;
	struct rec_page page;

	reader_begin(8, false);
	lane = reader_lane();
	for (unsigned int i = 0; i < 2; i++) {
		cr_assert(reader_write(lane, i, 16));
		lane->reader->owner = foreign[i];
		view = reader_view();
		cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
		rec_view_close(view);
	}
	reader_end();
}
