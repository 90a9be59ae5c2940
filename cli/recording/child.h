/* SPDX-License-Identifier: MIT */
/*
 * The command that is recorded: it gets its own descriptors, signal mask, signal dispositions and process group.
 * Waiting for it also waits for the signals that concern the recording.
 *
 * While it runs, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end the recorder. SIGINT and SIGQUIT came from the
 * terminal, so the command gets them too, and the recording ends with it. A second one, and SIGTERM or SIGHUP, end the
 * recording at once and leave the command alone. Without a terminal, the first of them does so. If SIGHUP is ignored
 * when the recorder starts, as nohup does it, it stays ignored. If the recorder is process 1, the first SIGTERM is
 * passed on to the command, as if it came from the terminal.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int signals; /* signalfd */
	int go, tell; /* pipes, while it waits: to start it, and for the errno of exec; -1 otherwise */
	sigset_t old_mask;
	bool old_chld_ignored;
	struct rlimit old_files;
	bool ended;
	int status; /* as of waitpid(), once ended */
	bool no_terminal;  /* SIGINT and SIGQUIT do not come from a terminal, so the command does not get them */
	bool keeps_stdout; /* standard output is the recorder's; the command gets its standard error instead */
	const struct child_user *user; /* user as whom the command runs; NULL: as ourselves */
	/* Called when the process begins to end, while /proc still has its data; NULL: it is not traced. */
	void (*at_end)(pid_t pid, void *arg);
	void *at_end_arg;
	int trace_errno; /* why it could not be traced: at_end is not called */
	int interrupted_by; /* the first signal that the command gets, too; 0: none */
	int stopped_by; /* the signal that ended the recording before the command; 0: none */
};

#define CHILD_INIT { .signals = -1, .go = -1, .tell = -1 }

/* A variable of the command's environment; value NULL: removed. */
struct child_env {
	const char *name;
	const char *value;
};

/*
 * Receive the signals named above from now on, so that none of them ends the recorder between two steps of its
 * preparation. 0 or the errno of signalfd. child_close() restores them, and drops those that have come meanwhile.
 */
int child_prepare(struct child *child);
void child_close(struct child *child);

/*
 * Whether child_exec() is certain to fail because there is no such command: to be called first, so that nothing is
 * prepared, and no other message comes before this one.
 */
bool child_is_missing(const char *name);

/*
 * Make the process that will execute argv[0], which is searched for as a shell does it. It waits until child_exec().
 * `env` ends with a name of NULL; child->user may be set before. 0, or the errno of fork or pipe. child_drop() ends a
 * process that still waits, and so does child_close().
 */
int child_fork(struct child *child, char **argv, const struct child_env *env);

/* Before child_exec(): a signal that has come and ends the recording before the command has begun. 0: none. */
int child_early_signal(struct child *child);

/* 0; or the errno of exec, or of becoming the user; then nothing was started. */
int child_exec(struct child *child);
void child_drop(struct child *child);

/*
 * The recording has ended: if the command is traced and still runs, call at_end, and let it go. A signal that
 * the command gets between the last child_wait() and this call stops it until this call.
 */
void child_let_go(struct child *child);

/* Wait for the command's end or a signal, at most this number of microseconds. True: the recording must end. */
bool child_wait(struct child *child, uint64_t timeout_us);

/* Whether child_exit_status() is known: the command has ended, or a signal has ended the recording. */
bool child_has_status(const struct child *child);

/* The exit status that reports the command's end: its own, or 128 + signal. */
int child_exit_status(const struct child *child);

#endif
