/* SPDX-License-Identifier: MIT */
/*
 * Starting and waiting. The recorder has one thread when it forks, so the child may call any function before exec.
 */
#include "cli/recording/child.h"

#include "cli/base/exec_path.h"
#include "cli/recording/child_trace.h"
#include "cli/recording/child_user.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * nohup ignores SIGHUP, so that the recording outlives the terminal: then it stays ignored. SIGINT and SIGQUIT are
 * received even if they are ignored, because shells ignore them for each command that they start in the background.
 */
static void our_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

/* The child: waits until the recorder lets it start, or is gone; then executes the command, or reports the errno. */
static void run(const struct child *child, char **argv, const struct child_env *env, int go, int tell)
{
	char word;
	ssize_t n;
	int err;

	do
		n = read(go, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);

	for (; env->name; env++) {
		if (env->value)
			setenv(env->name, env->value, 1);
		else
			unsetenv(env->name);
	}
	if (child->old_chld_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	setrlimit(RLIMIT_NOFILE, &child->old_files);
	if (child->keeps_stdout)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	err = child->user ? -child_user_become(child->user) : 0;
	if (!err) {
		execvp(argv[0], argv);
		err = errno;
	}
	while (write(tell, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

int child_prepare(struct child *child)
{
	sigset_t set, blocked;

	*child = (struct child)CHILD_INIT;
	our_signals(&set);
	blocked = set;
	/* A closed stderr must not end the recording either. */
	sigaddset(&blocked, SIGPIPE);
	child->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &blocked, &child->old_mask);
	/* SIGCHLD may be ignored, which is inherited; then the kernel would discard the command's status. */
	child->old_chld_ignored = is_ignored(SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	/* The drain of many CPUs raises this limit. */
	getrlimit(RLIMIT_NOFILE, &child->old_files);
	return 0;
}

static bool may_exist(const char *path)
{
	return !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) || (errno != ENOENT && errno != ENOTDIR);
}

bool child_is_missing(const char *name)
{
	char path[EXEC_PATH_SIZE];

	return exec_path_is_known(name) && !exec_path_find(name, may_exist, path);
}

static void close_pipe(int pipe[2])
{
	for (int i = 0; i < 2; i++)
		if (pipe[i] >= 0)
			close(pipe[i]);
}

int child_fork(struct child *child, char **argv, const struct child_env *env)
{
	int go[2] = { -1, -1 }, tell[2] = { -1, -1 };
	int err = 0;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(tell, O_CLOEXEC) < 0)
		err = -errno;
	child->pid = err ? 0 : fork();
	if (child->pid < 0)
		err = -errno;
	if (err) {
		close_pipe(go);
		close_pipe(tell);
		return err;
	}
	if (!child->pid) {
		close(go[1]);
		run(child, argv, env, go[0], tell[1]);
	}
	close(go[0]);
	close(tell[1]);
	child->go = go[1];
	child->tell = tell[0];
	child->trace_errno = child->at_end ? -child_trace_begin(child) : 0;
	if (child->trace_errno)
		child->at_end = NULL;
	return 0;
}

/* Like waitpid(), but returns only when the process has ended. */
static pid_t wait_end(const struct child *child, int *ret_status, int flags)
{
	pid_t got;

	do {
		got = waitpid(child->pid, ret_status, flags);
		if (got > 0 && WIFSTOPPED(*ret_status))
			child_trace_stopped(child, *ret_status);
	} while (got < 0 ? errno == EINTR : got > 0 && WIFSTOPPED(*ret_status));
	return got;
}

/* Wait for a process that has ended, or is about to end. */
static void reap(const struct child *child)
{
	int status;

	wait_end(child, &status, 0);
}

/*
 * Whether the process ended before it was started. If it did not, it ends now, with 127, because its pipe is closed.
 */
static bool was_ended(struct child *child)
{
	int status = 0;

	close(child->go);
	child->go = -1;
	if (wait_end(child, &status, 0) == child->pid) {
		child->ended = true;
		child->status = status;
	}
	errno = EPIPE;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 127;
}

/*
 * Read the errno of exec; 0: it succeeded, and the pipe was closed without data. A traced process stops at each signal,
 * also before it executes the command, and child_wait() lets it continue.
 */
static int exec_errno(struct child *child)
{
	struct pollfd poll_for[] = { { child->tell, POLLIN, 0 }, { child->signals, POLLIN, 0 } };
	int err = 0;
	ssize_t n;

	while (!poll_for[0].revents)
		/* If both are ready, a signal is for a command that has begun: child_wait() takes it later. */
		if (poll(poll_for, 2, -1) > 0 && !poll_for[0].revents)
			child_wait(child, 0);
	do
		n = read(child->tell, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 0;
}

int child_exec(struct child *child)
{
	ssize_t n;
	int err;

	do
		n = write(child->go, "", 1);
	while (n < 0 && errno == EINTR);
	/* If the process is gone, its status shows why. */
	if (n < 0 && !(errno == EPIPE && was_ended(child))) {
		err = -errno;
		child_drop(child);
		return err;
	}
	err = -exec_errno(child);
	if (child->go >= 0)
		close(child->go);
	close(child->tell);
	child->go = child->tell = -1;
	if (err && !child->ended)
		reap(child);
	return err;
}

void child_drop(struct child *child)
{
	if (child->tell < 0)
		return;
	if (child->go >= 0)
		close(child->go);
	close(child->tell);
	child->go = child->tell = -1;
	reap(child);
}

/*
 * Drop the signals that are pending: once they are unblocked, they would end the recorder, whose work is done. They are
 * signals that came while the file was written, and the SIGPIPE of a write to a closed stderr. If a signal was blocked
 * before, it may be an older one and stays.
 */
static void drop_pending(const struct child *child)
{
	const struct timespec now = { 0, 0 };
	sigset_t set;

	our_signals(&set);
	sigaddset(&set, SIGPIPE);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&child->old_mask, number) == 1)
			sigdelset(&set, number);
	while (sigtimedwait(&set, NULL, &now) > 0 || errno == EINTR)
		;
}

void child_close(struct child *child)
{
	child_drop(child);
	if (child->signals < 0)
		return;
	close(child->signals);
	child->signals = -1;
	drop_pending(child);
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
}

/*
 * Whether the command gets this signal, too. The first process of a container receives the SIGTERM that is meant for
 * the container, and the kernel kills the others when it ends.
 */
static bool is_passed_on(const struct child *child, int number)
{
	const bool has_begun = child->pid && child->tell < 0;

	return number == SIGTERM && getpid() == 1 && has_begun && !child->ended && !child->interrupted_by;
}

static void note_signal(struct child *child, int number)
{
	if (is_passed_on(child, number)) {
		kill(child->pid, number);
		child->interrupted_by = number;
	} else if (!child->no_terminal && (number == SIGINT || number == SIGQUIT)) {
		if (child->interrupted_by)
			child->stopped_by = number;
		else
			child->interrupted_by = number;
	} else if (number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP) {
		child->stopped_by = number;
	}
}

/* The first process of a container is the parent of all orphans, which stay zombies until it waits for them. */
static void reap_orphans(const struct child *child)
{
	siginfo_t info = { 0 };

	if (getpid() != 1)
		return;
	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	       (child->ended || info.si_pid != child->pid))
		waitpid(info.si_pid, NULL, WNOHANG);
}

bool child_wait(struct child *child, uint64_t timeout_us)
{
	const struct timespec timeout = { (time_t)(timeout_us / 1000000u), (long)(timeout_us % 1000000u) * 1000 };
	struct pollfd poll_for = { child->signals, POLLIN, 0 };
	struct signalfd_siginfo info;

	if (ppoll(&poll_for, 1, &timeout, NULL) > 0)
		while (read(child->signals, &info, sizeof(info)) == sizeof(info))
			note_signal(child, (int)info.ssi_signo);
	/* Check this separately: several SIGCHLD may arrive as one, and a stop of the child also raises SIGCHLD. */
	if (child->pid && !child->ended && wait_end(child, &child->status, WNOHANG) == child->pid)
		child->ended = true;
	reap_orphans(child);
	return child->ended || child->stopped_by;
}

int child_early_signal(struct child *child)
{
	child_wait(child, 0);
	return child->stopped_by ? child->stopped_by : child->interrupted_by;
}

void child_let_go(struct child *child)
{
	int status;

	if (!child->pid || child->ended || !child->at_end || !child_trace_end(child, &status))
		return;
	child->ended = true;
	child->status = status;
}

bool child_has_status(const struct child *child)
{
	return child->ended || child->stopped_by;
}

int child_exit_status(const struct child *child)
{
	if (!child->ended)
		return 128 + child->stopped_by;
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
