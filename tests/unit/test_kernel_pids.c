/* SPDX-License-Identifier: MIT */
/* The processes to which a recording of the kernel is restricted, and those that they begin while it is prepared. */
#include "cli/kernel/kernel_pids.h"
#include "cli/kernel/kernel.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kernel_pids pids;
static struct kernel_request request;
static int alive[2]; /* a pipe; children live until it is closed */
static pid_t last; /* the child that begins during the first kernel_add_tids() */
static unsigned int nr_added, nr_said;

static void say(const void *arg, const char *line)
{
	(void)arg;
	nr_said++;
	fprintf(stderr, "%s\n", line);
}

static const struct message_sink sink = { .message = say };

/* Finds programs that use librecorder, which are not asked for here. */
int programs_files(const struct message_sink *to, const struct programs *which,
		   int (*take)(int dir, const char *name, void *data), void *data)
{
	(void)to;
	(void)which;
	(void)take;
	(void)data;
	return 0;
}

/* A child that does nothing; with `report`, it begins another one, and writes its pid there. */
static pid_t begin_child(int report)
{
	const pid_t child = fork();
	char byte;

	if (child)
		return child;
	close(alive[1]);
	if (report >= 0) {
		const pid_t grandchild = begin_child(-1);

		if (write(report, &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
	}
	_exit(read(alive[0], &byte, 1) < 0);
}

/* The kernel's part: a child begins during the first call. */
int kernel_add_tids(struct kernel *kernel, const pid_t *tids, unsigned int nr)
{
	(void)kernel;
	(void)tids;
	nr_added += nr;
	if (!last)
		last = begin_child(-1);
	return 0;
}

static bool has(pid_t tid)
{
	for (unsigned int i = 0; i < request.nr_tids; i++)
		if (request.tids[i] == tid)
			return true;
	return false;
}

/* A process that ends, and is waited for, as soon as kernel_pids.c has read its pid; 0: none. */
static pid_t mortal;

unsigned long __real_proc_status_number(int dir, const char *path, const char *name);
unsigned long __wrap_proc_status_number(int dir, const char *path, const char *name);
unsigned long __wrap_proc_status_number(int dir, const char *path, const char *name)
{
	const unsigned long number = __real_proc_status_number(dir, path, name);

	if (mortal && number == (unsigned long)mortal && !strcmp(name, "Tgid")) {
		kill(mortal, SIGKILL);
		waitpid(mortal, NULL, 0);
		mortal = 0;
	}
	return number;
}

/* An emulator adds threads to each process. */
static bool is_thread_of(pid_t process, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", process, tid);
	return access(path, F_OK) == 0;
}

Test(kernel_pids, children_that_begin_meanwhile)
{
	struct programs which = { .word = NULL };
	pid_t before, child, grandchild = 0;
	unsigned int found;
	char word[16];
	int report[2];

	cr_assert_eq(pipe(alive) | pipe(report), 0);
	before = begin_child(-1);
	snprintf(word, sizeof(word), "%d", getpid());
	which.word = word;
	cr_assert(kernel_pids_find(&sink, &which, false, &request, &pids));
	cr_assert(has(getpid()));
	found = request.nr_tids;
	child = begin_child(report[1]);
	cr_assert_eq(read(report[0], &grandchild, sizeof(grandchild)), (ssize_t)sizeof(grandchild));
	cr_assert(kernel_pids_catch_up(&sink, &pids, &request, NULL));
	cr_expect(!has(before), "a child that was there before is recorded");
	cr_expect(has(child), "a child that began meanwhile is not recorded");
	cr_expect(has(grandchild), "its child is not recorded");
	cr_expect(has(last), "a child that began later is not recorded");
	cr_expect_eq(nr_added, request.nr_tids - found);
	for (unsigned int i = found; i < request.nr_tids; i++) {
		const pid_t tid = request.tids[i];

		cr_expect(is_thread_of(child, tid) || is_thread_of(grandchild, tid) || is_thread_of(last, tid));
	}
	cr_expect_eq(pids.nr, 1u, "the recording waits for the children");
	close(alive[1]);
	while (wait(NULL) > 0)
		;
	kernel_pids_close(&pids);
	free(request.tids);
}

/* A lack of descriptors is not taken for the end of a process; `room` is the number of descriptors that are left. */
static void check_no_room(rlim_t room)
{
	struct programs which = { .word = NULL };
	struct rlimit limit;
	char word[16];

	cr_assert_eq(pipe(alive), 0);
	snprintf(word, sizeof(word), "%d", getpid());
	which.word = word;
	cr_assert(kernel_pids_find(&sink, &which, false, &request, &pids));
	begin_child(-1);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)dup(alive[0]) + room;
	close((int)(limit.rlim_cur - room));
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	nr_said = 0;
	cr_expect_not(kernel_pids_catch_up(&sink, &pids, &request, NULL));
	cr_expect_eq(nr_said, 1u);
	close(alive[1]);
	while (wait(NULL) > 0)
		;
	kernel_pids_close(&pids);
	free(request.tids);
}

/* One descriptor for /proc, and none for the process there. */
Test(kernel_pids, no_descriptor_for_a_process)
{
	check_no_room(1);
}

/* None for its status. */
Test(kernel_pids, no_descriptor_for_a_status)
{
	check_no_room(2);
}

/* Whichever of the processes with the name /proc lists first, the other one is recorded. */
Test(kernel_pids, a_process_with_the_name_ends_meanwhile)
{
	struct programs which = { .word = NULL };
	char name[32] = "";
	FILE *comm = fopen("/proc/self/comm", "r");
	pid_t stays, ends;

	cr_assert(comm && fgets(name, sizeof(name), comm));
	fclose(comm);
	name[strcspn(name, "\n")] = '\0';
	which.word = name;
	cr_assert_eq(pipe(alive), 0);
	stays = begin_child(-1);
	ends = mortal = begin_child(-1);
	cr_assert(kernel_pids_find(&sink, &which, false, &request, &pids));
	cr_assert_eq(mortal, 0);
	cr_expect(has(stays));
	cr_expect_not(has(ends));
	close(alive[1]);
	while (wait(NULL) > 0)
		;
	kernel_pids_close(&pids);
	free(request.tids);
}
