/* SPDX-License-Identifier: MIT */
/*
 * family {DEED|wait FIFO}...
 *
 * Starts and ends processes in many ways, and records each step with the id of its process. So if a record's thread is
 * not a thread of that process, the record is in another process's lane. At `wait` it waits until FIFO is opened for
 * writing. Exit status 0: all deeds were carried out.
 */
#include <librecorder/event.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACERS	       4
#define TRACED	       3000u
#define FORKS	       60u
#define HANDLER_FORKS  100u
#define BETWEEN_FORKS  2000u /* events at most: 16 MiB hold all of them */

REC_EVENT(test, step, s32(process), string(what));
REC_EVENT(test, seen, s32(process), s32(child));
REC_EVENT(test, count, s32(process), u32(tracer), u64(number));

extern char **environ;
static char **arguments;
static const char *leaf_deed = "leaf";

static void say(const char *what)
{
	REC(test, step, getpid(), what);
}

static int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return status != 0;
}

/* A raw clone, which bypasses fork's handlers. */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* ----------------------------------------------------------------------------------------------------- the deeds */

static int do_fork(void)
{
	pid_t child;

	say("parent");
	child = fork();
	if (!child) {
		say("child");
		child = fork();
		if (!child) {
			say("grandchild");
			_exit(0);
		}
		exit(wait_for(child));
	}
	say("parent too");
	return wait_for(child);
}

static int do_clone(void)
{
	pid_t child;

	say("parent");
	child = raw_fork();
	if (!child) {
		say("clone");
		rec_printf("printed by %s", "clone");
		child = raw_fork();
		if (!child) {
			say("clone of clone");
			_exit(0);
		}
		_exit(wait_for(child));
	}
	say("parent too");
	return wait_for(child);
}

/* The thread has no lane yet when its clone writes its first event. */
static int do_clone_first(void)
{
	const pid_t child = raw_fork();

	if (!child) {
		say("clone");
		_exit(0);
	}
	return wait_for(child);
}

/* vfork's child runs as its parent's thread, so its event counts as that thread's. */
static int do_vfork(void)
{
	const pid_t parent = getpid();
	char *const leaf[] = { arguments[0], (char *)(uintptr_t)leaf_deed, NULL };
	pid_t child;

	say("parent");
	child = vfork();
	if (!child) {
		REC(test, step, parent, "vfork");
		execv("/proc/self/exe", leaf);
		_exit(1);
	}
	say("parent too");
	return wait_for(child);
}

/* The parent's thread has no lane. */
static int do_vfork_first(void)
{
	const pid_t parent = getpid(), child = vfork();

	if (!child) {
		REC(test, step, parent, "vfork");
		_exit(0);
	}
	say("parent");
	return wait_for(child);
}

static int do_spawn(void)
{
	char *const leaf[] = { arguments[0], (char *)(uintptr_t)leaf_deed, NULL };
	pid_t child;

	say("parent");
	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, leaf, environ))
		return 1;
	return wait_for(child);
}

static int do_leaf(void)
{
	say("leaf");
	return 0;
}

/* A new program's events are off until its recorder has found it. */
static int do_patient_leaf(void)
{
	const struct timespec pause_time = { 0, 1000000 };

	for (int i = 0; i < 30000 && !REC_ON(test, step); i++)
		nanosleep(&pause_time, NULL);
	return do_leaf();
}

/* From now on, each program that is started waits until it is recorded. */
static int do_patience(void)
{
	leaf_deed = "patient-leaf";
	return 0;
}

static int do_exec(void)
{
	char *const leaf[] = { arguments[0], (char *)(uintptr_t)leaf_deed, NULL };

	say("before exec");
	execv("/proc/self/exe", leaf);
	return 1;
}

/*
 * Replaces fchmod(), which the library calls for its new file, when the buffer of the previous process image is gone.
 * With SLOW_FILE in the environment it takes 0.7 seconds.
 */
int fchmod(int file, mode_t mode)
{
	const struct timespec pause_time = { 0, 700000000 };

	if (getenv("SLOW_FILE"))
		nanosleep(&pause_time, NULL);
	return (int)syscall(SYS_fchmod, file, mode);
}

/* The program that replaces this one takes longer to make its buffer than a recorder waits when no process is left. */
static int do_slow_exec(void)
{
	if (setenv("SLOW_FILE", "1", 1))
		return 1;
	return do_exec();
}

static int do_argument(void)
{
	pid_t child = 0;

	/* Both processes return from it, and each records its argument. */
	REC(test, seen, getpid(), child = fork());
	if (!child)
		_exit(0);
	return wait_for(child);
}

static volatile sig_atomic_t forks;
static pid_t first;

static void fork_in_handler(int number)
{
	const int saved = errno;
	pid_t child;

	(void)number;
	if (getpid() != first || forks >= (sig_atomic_t)HANDLER_FORKS)
		return;
	forks++;
	child = forks % 2 ? fork() : raw_fork();
	/* The child returns to the code that was interrupted, and finishes it. */
	if (!child)
		say("in handler");
	errno = saved;
}

static int do_handler(void)
{
	const struct sigaction action = { .sa_handler = fork_in_handler, .sa_flags = SA_RESTART };
	const struct itimerspec often = { { 0, 200000 }, { 0, 200000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;
	int status, failed = 0;
	unsigned int nr = 0, since = 0;
	sig_atomic_t last = 0;
	uint64_t i;

	first = getpid();
	if (sigaction(SIGUSR1, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		return 1;
	for (i = 0; forks < (sig_atomic_t)HANDLER_FORKS && getpid() == first; i++) {
		REC(test, count, getpid(), 0, i);
		since = forks == last ? since + 1 : 0;
		last = forks;
		/* Wait for the next signal of the timer. A child has no timer. */
		if (since == BETWEEN_FORKS && getpid() == first)
			pause();
	}
	if (getpid() != first) {
		say("after handler");
		_exit(0);
	}
	timer_delete(timer);
	for (; wait(&status) > 0; nr++)
		failed |= status != 0;
	say(failed || nr != HANDLER_FORKS ? "failed" : "parent");
	return failed;
}

static unsigned int stop;

static void *trace(void *arg)
{
	const unsigned int tracer = (unsigned int)(size_t)arg;

	for (unsigned int i = 0; i < TRACED; i++) {
		REC(test, count, getpid(), tracer, i);
		if (i % 64 == 63)
			sched_yield();
	}
	return NULL;
}

/* Threads that come and go, each with a lane to lease and a name to note. */
static void *breed(void *arg)
{
	pthread_t thread;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		rec_enable("nobody:*");
		rec_disable("nobody:*");
		if (!pthread_create(&thread, NULL, (void *(*)(void *))(void *)sched_yield, NULL))
			pthread_join(thread, NULL);
	}
	return NULL;
}

static int do_threads(void)
{
	pthread_t threads[TRACERS], breeder;
	int failed = 0;

	if (pthread_create(&breeder, NULL, breed, NULL))
		return 1;
	for (size_t i = 0; i < TRACERS; i++)
		if (pthread_create(&threads[i], NULL, trace, (void *)i))
			return 1;
	for (unsigned int i = 0; i < FORKS; i++) {
		const pid_t child = i % 2 ? fork() : raw_fork();

		if (!child) {
			say("child");
			_exit(0);
		}
		failed |= wait_for(child);
	}
	for (size_t i = 0; i < TRACERS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(breeder, NULL);
	return failed;
}

/* The child carries out all remaining deeds. */
static int do_heir(void)
{
	const pid_t child = fork();

	if (child)
		exit(wait_for(child));
	return 0;
}

/* Like daemon(3), forked twice, and every descriptor closed. */
static int do_daemon(void)
{
	say("parent");
	if (fork())
		return 0;
	say("middle");
	setsid();
	if (fork())
		_exit(0);
	if (chdir("/"))
		_exit(1);
	closefrom(0);
	say("daemon");
	_exit(0);
}

static int child_says(const char *what)
{
	const pid_t child = fork();

	if (!child) {
		say(what);
		_exit(0);
	}
	return wait_for(child);
}

static int do_closefrom(void)
{
	say("before");
	closefrom(3);
	say("after");
	return child_says("child");
}

static int do_clearenv(void)
{
	say("before");
	if (clearenv())
		return 1;
	return child_says("child");
}

static int do_nofile(void)
{
	const struct rlimit none = { 0, 0 };

	say("before");
	if (setrlimit(RLIMIT_NOFILE, &none))
		return 1;
	say("after");
	/* The process has no buffer, and works. */
	return child_says("child");
}

static int do_chroot(void)
{
	say("before");
	if (chroot("/proc/self") || chdir("/"))
		return 1;
	say("after");
	return child_says("child");
}

static int do_setuid(void)
{
	say("before");
	if (setgid(65534) || setuid(65534))
		return 1;
	say("after");
	return child_says("child");
}

static const struct {
	const char *name;
	int (*run)(void);
} deeds[] = {
	{ "fork", do_fork },	     { "clone", do_clone },	  { "clone-first", do_clone_first },
	{ "vfork", do_vfork },	     { "vfork-first", do_vfork_first }, { "spawn", do_spawn },	  { "leaf", do_leaf },
	{ "heir", do_heir },
	{ "patience", do_patience },
	{ "patient-leaf", do_patient_leaf },
	{ "slow-exec", do_slow_exec },
	{ "exec", do_exec },	     { "argument", do_argument }, { "handler", do_handler },
	{ "threads", do_threads },   { "daemon", do_daemon },	  { "closefrom", do_closefrom },
	{ "clearenv", do_clearenv },
	{ "nofile", do_nofile },     { "chroot", do_chroot },	  { "setuid", do_setuid },
};

static int run(const char *name)
{
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (!strcmp(deeds[i].name, name))
			return deeds[i].run();
	return 2;
}

static int wait_at(const char *fifo)
{
	const int fd = open(fifo, O_RDONLY | O_CLOEXEC);

	return fd < 0 || close(fd);
}

int main(int argc, char **argv)
{
	int failed = 0;

	arguments = argv;
	for (int at = 1; at < argc && !failed; at++)
		failed = strcmp(argv[at], "wait") ? run(argv[at]) : ++at == argc || wait_at(argv[at]);
	return failed;
}
