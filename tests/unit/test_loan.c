/* SPDX-License-Identifier: MIT */
/* Events on loan: their holder, their restoration, copies in children, and loans that killed recorders leave. */
#include "librecorder/os/identity.h"
#include "tests/unit/beside.h"
#include "tests/unit/lane_fixture.h"
#include "tests/unit/made_event.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(loan, one, u64(number));
REC_EVENT(loan, two, u64(number));
REC_EVENT(other, three, u64(number));

static void begin(void)
{
	view_begin(4);
}

/* The number of times that a process waited for a lock. */
static uint32_t waits;
int __real_nanosleep(const struct timespec *request, struct timespec *remain);
int __wrap_nanosleep(const struct timespec *request, struct timespec *remain);

int __wrap_nanosleep(const struct timespec *request, struct timespec *remain)
{
	__atomic_fetch_add(&waits, 1, __ATOMIC_RELEASE);
	return __real_nanosleep(request, remain);
}

/* No file can be mapped for writing. */
static bool no_maps;
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (!no_maps || fd < 0 || !(prot & PROT_WRITE))
		return __real_mmap(at, size, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

TestSuite(loan, .init = begin, .fini = lane_end);

/* Which of the three events are on, one letter for each. */
static const char *which(void)
{
	static char text[4];

	text[0] = REC_ON(loan, one) ? '1' : '-';
	text[1] = REC_ON(loan, two) ? '2' : '-';
	text[2] = REC_ON(other, three) ? '3' : '-';
	return text;
}

Test(loan, given_back_as_they_were)
{
	struct made_event later;

	cr_assert_eq(rec_enable("loan:two"), 1);
	cr_assert_eq(rec_view_loan(view), 0);
	cr_assert_eq(rec_view_give_back(view), 0, "nothing to give back");
	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_assert_eq(rec_view_loan(view), 1);
	cr_assert_str_eq(which(), "-2-", "it switches nothing by itself");
	cr_assert_eq(rec_view_switch(view, "loan:*", true), 2);
	cr_assert_str_eq(which(), "12-");
	made_event(&later, "loan", "later, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert_eq(*later.event.enabled & REC_ENABLE_ON, REC_ENABLE_ON);
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert_str_eq(which(), "-2-");
	cr_assert_eq(*later.event.enabled & REC_ENABLE_ON, 0, "one that came meanwhile had not been on");
	cr_assert_eq(rec_view_loan(view), 0);
	cr_assert_eq(rec_view_give_back(view), 0);
	made_event(&later, "loan", "last, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert_eq(*later.event.enabled & REC_ENABLE_ON, 0, "nor is there a rule left");
}

Test(loan, refused)
{
	char longest[REC_LOAN_PATTERNS + 1];

	cr_assert_eq(rec_view_borrow(view, NULL), -EINVAL);
	cr_assert_eq(rec_view_borrow(view, "a:b:c"), -EINVAL);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	cr_assert_eq(rec_view_borrow(view, longest), -ENOSPC);
	cr_assert_eq(rec_view_loan(view), 0);
	longest[sizeof(longest) - 2] = '\0';
	cr_assert_eq(rec_view_borrow(view, longest), 0);
	cr_assert_eq(rec_view_give_back(view), 1);
}

struct beside {
	char path[PATH_MAX];
	uint32_t has_it;
	int loan;
};

/* Takes the loan, switches, and waits to be killed. */
static void borrow(void *data)
{
	struct beside *beside = data;
	struct rec_view *its = NULL;

	beside->loan = rec_view_open(beside->path, &its);
	if (beside->loan == 0)
		beside->loan = rec_view_borrow(its, "loan:*");
	if (beside->loan == 0)
		beside->loan = rec_view_switch(its, "loan:*", true);
	__atomic_store_n(&beside->has_it, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static pid_t let_borrow(struct beside *beside)
{
	pid_t pid;

	strcpy(beside->path, rec_process_path());
	pid = beside_run(borrow, beside);
	while (!__atomic_load_n(&beside->has_it, __ATOMIC_ACQUIRE))
		usleep(1000);
	cr_assert_eq(beside->loan, 2);
	return pid;
}

Test(loan, of_another_process)
{
	struct beside *beside = beside_memory(sizeof(*beside));
	pid_t pid;

	cr_assert_eq(rec_enable("loan:one"), 1);
	pid = let_borrow(beside);
	cr_assert_str_eq(which(), "12-");
	cr_assert_eq(rec_view_loan(view), -EBUSY);
	cr_assert_eq(rec_view_borrow(view, "*"), -EBUSY);
	cr_assert_eq(rec_view_give_back(view), -EBUSY);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(rec_view_loan(view), -EOWNERDEAD);
	cr_assert_str_eq(which(), "12-");
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert_str_eq(which(), "1--");
	cr_assert_eq(rec_view_loan(view), 0);
}

Test(loan, of_a_dead_process_is_given_back_first)
{
	struct beside *beside = beside_memory(sizeof(*beside));
	const pid_t pid = let_borrow(beside);

	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(rec_view_borrow(view, "other:*"), 0);
	cr_assert_str_eq(which(), "---");
	cr_assert_eq(rec_view_switch(view, "other:*", true), 1);
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert_str_eq(which(), "---");
}

Test(loan, of_a_dead_process_is_taken_over_as_it_is)
{
	struct beside *beside = beside_memory(sizeof(*beside));
	pid_t pid;

	cr_assert_eq(rec_enable("loan:one"), 1);
	pid = let_borrow(beside);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_assert_str_eq(which(), "12-", "on all the time");
	cr_assert_eq(rec_view_loan(view), 1);
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert_str_eq(which(), "1--", "as before the first of the two");
}

Test(loan, of_a_dead_process_is_not_locked_unless_taken_over)
{
	struct beside *beside = beside_memory(sizeof(*beside));
	const pid_t pid = let_borrow(beside);
	const int fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);

	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	no_maps = true;
	cr_assert_eq(rec_view_borrow(view, "loan:*"), -ENOMEM);
	no_maps = false;
	cr_expect_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 0);
	cr_assert_eq(rec_view_loan(view), -EOWNERDEAD);
	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_expect_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 1);
	cr_assert_eq(rec_view_give_back(view), 1);
	close(fd);
}

static void tell_path(struct rec_handle *handle, int pipe)
{
	char c;

	(void)handle;
	(void)!read(pipe, &c, 1);
}

Test(loan, goes_to_children)
{
	struct rec_view *childs;
	char path[PATH_MAX];
	pid_t pid;
	int pipe;

	cr_assert_eq(rec_enable("loan:two"), 1);
	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_assert_eq(rec_view_switch(view, "loan:*", true), 2);
	pid = reader_child(tell_path, path, &pipe);
	childs = reader_view_of(path);
	cr_assert_eq(rec_view_info(childs)->parent_pid, (uint32_t)getpid());
	cr_assert_eq(rec_view_info(childs)->parent_start, rec_view_info(view)->start_time);
	cr_assert_eq(rec_view_loan(childs), 1);
	cr_assert_eq(rec_view_borrow(childs, "loan:*"), 0);
	cr_assert(rec_view_enabled(childs, rec_event_loan__one.id) & REC_ENABLE_ON);
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert(rec_view_enabled(childs, rec_event_loan__one.id) & REC_ENABLE_ON, "each is given back by itself");
	cr_assert_eq(rec_view_give_back(childs), 1);
	cr_assert_not(rec_view_enabled(childs, rec_event_loan__one.id) & REC_ENABLE_ON);
	cr_assert(rec_view_enabled(childs, rec_event_loan__two.id) & REC_ENABLE_ON);
	close(pipe);
	waitpid(pid, NULL, 0);
	cr_assert_eq(rec_view_give_back(childs), 0, "there is no process that could hold it");
	rec_view_close(childs);
}

static void *give_back(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)rec_view_give_back(view);
}

/* Two processes give back a dead process's loan; the second finds that the first has already taken it over. */
Test(loan, of_a_dead_process_is_given_back_once)
{
	struct beside *beside = beside_memory(sizeof(*beside));
	const pid_t pid = let_borrow(beside);
	const int fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);
	struct rec_identity parent = { .pid = (uint32_t)getppid() };
	pthread_t second;
	void *r;

	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	waits = 0;
	cr_assert_eq(pthread_create(&second, NULL, give_back, NULL), 0);
	while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE))
		usleep(100);
	/* The first one is another living process, named as readers name themselves. */
	cr_assert_eq(rec_process_start_time((pid_t)parent.pid, &parent.start_time), 0);
	rec_process_header()->recorder = parent.pid | parent.start_time << 32;
	close(fd);
	pthread_join(second, &r);
	cr_assert_eq((intptr_t)r, -EBUSY);
	cr_assert_str_eq(which(), "12-");
	cr_assert_eq(rec_process_header()->recorder, parent.pid | parent.start_time << 32);
}

/* The wait for a lock that is held for long ends. */
Test(loan, another_process_holds_the_lock)
{
	const int fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);

	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(rec_view_borrow(view, "loan:*"), -EBUSY);
	cr_assert_eq(rec_view_switch(view, "loan:*", true), -EBUSY);
	close(fd);
	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_assert_eq(rec_view_give_back(view), 1);
}

static void sleep_on(void *data)
{
	(void)data;
	for (;;)
		pause();
}

static void close_it(void *inherited)
{
	rec_view_close(inherited);
}

/* A forked child has the holder's lock, too. It does not release the lock, and does not keep it. */
Test(loan, of_a_process_that_has_forked)
{
	const int fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);
	int status;
	pid_t pid;

	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	pid = beside_run(close_it, view);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	cr_expect_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 1, "the child has closed the view");
	pid = beside_run(sleep_on, NULL);
	view = rec_view_close(view);
	cr_expect_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 0, "the parent has closed the view");
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(fd);
}

/* A recorder of another pid namespace knows the holder only by the lock. */
Test(loan, one_that_could_not_be_given_back_keeps_its_lock)
{
	const int fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);

	cr_assert_eq(rec_view_borrow(view, "loan:*"), 0);
	cr_assert_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 1);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(rec_view_give_back(view), -EBUSY);
	cr_assert_eq(rec_view_loan(view), 1);
	cr_assert_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 1);
	cr_assert_eq(flock(fd, LOCK_UN), 0);
	cr_assert_eq(rec_view_give_back(view), 1);
	cr_assert_eq(rec_lock_ask(fd, REC_LOCK_RECORDER), 0);
	close(fd);
}
