/* SPDX-License-Identifier: MIT */
#include "cli/common/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signal handlers read the pager's pid. */
static struct {
	bool used; /* terminal_use() */
	bool is;
	bool color;
	bool goes_on; /* terminal_start_answer(): this process continues after the pager has ended */
	pid_t pager; /* 0: none */
	/* while the pager runs: copies of the terminal's descriptors; err -1: stderr does not go to the pager */
	int out, err;
} terminal;

/* ------------------------------------------------------------------------------------------------------- colours */

const char *paint(enum paint what)
{
	/*
	 * Only attributes and the terminal's own palette are used, which are legible on light and on dark backgrounds.
	 */
	static const char *const codes[] = {
		[PAINT_TITLE] = "\033[1m", [PAINT_NAME] = "\033[36m", [PAINT_TIME] = "\033[32m",
		[PAINT_GOOD] = "\033[32m", [PAINT_DIM] = "\033[2m",   [PAINT_BAD] = "\033[31m",
	};

	return terminal.color ? codes[what] : "";
}

const char *paint_end(void)
{
	return terminal.color ? "\033[0m" : "";
}

/* Whether colours are wanted by default: see https://no-color.org; some terminals have none. */
static bool color_by_default(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return terminal.is && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

void terminal_use(unsigned int when)
{
	terminal.used = true;
	terminal.is = isatty(STDOUT_FILENO) == 1;
	terminal.color = when == TERMINAL_COLOR_ALWAYS || (when == TERMINAL_COLOR_AUTO && color_by_default());
}

/* --------------------------------------------------------------------------------------------------------- pager */

/* Whether this is one of the shell's statuses for a command that cannot be run. */
static bool could_not_run(int status)
{
	return status == 126 || status == 127;
}

/*
 * The handler of SIGCHLD. If the user has quit the pager, the rest of the output has no reader, and this process ends;
 * after terminal_start_answer() it continues. If the pager could not be run, terminal_end() reports that.
 */
static void on_child(int signal)
{
	const int saved = errno;
	siginfo_t info = { .si_pid = 0 };

	(void)signal;
	if (!terminal.goes_on &&
	    !waitid(P_PID, (id_t)terminal.pager, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == terminal.pager &&
	    !(info.si_code == CLD_EXITED && could_not_run(info.si_status)))
		_exit(EXIT_SUCCESS);
	errno = saved;
}

/*
 * The handler of Ctrl-C, which ends the output, but not the pager: the pager shows the text that it has got, and keeps
 * the terminal until the user quits it.
 */
static void on_interrupt(int signal)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(terminal.pager, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(128 + signal);
}

static void handle(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	/* Both signals are blocked in the handler, so only one handler runs at a time. */
	sigaddset(&action.sa_mask, SIGCHLD);
	sigaddset(&action.sa_mask, SIGINT);
	sigaction(signal, &action, NULL);
}

/* Runs in the child process. */
static void run_pager(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	/* For less: exit if the text fits on the screen, pass colours through, leave the text on the screen. */
	setenv("LESS", "FRX", 0);
	if (command) {
		execlp("sh", "sh", "-c", command, NULL);
	} else {
		execlp("less", "less", NULL);
		execlp("more", "more", NULL);
		execlp("cat", "cat", NULL);
	}
	_exit(127);
}

static void signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

void terminal_start_answer(void)
{
	terminal.goes_on = true;
	terminal_start();
}

void terminal_start(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!terminal.used || !terminal.is || terminal.pager)
		return;
	if ((command && (!*command || !strcmp(command, "cat"))) || pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	/* The handlers are set only now, because they need the pid. */
	signals(SIG_BLOCK);
	terminal.pager = fork();
	if (!terminal.pager) {
		signals(SIG_UNBLOCK);
		run_pager(command, ends[0]);
	}
	if (terminal.pager > 0) {
		terminal.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		terminal.err = isatty(STDERR_FILENO) == 1 ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
		dup2(ends[1], STDOUT_FILENO);
		if (terminal.err >= 0)
			dup2(ends[1], STDERR_FILENO);
		signal(SIGPIPE, SIG_IGN);
		handle(SIGCHLD, on_child);
		handle(SIGINT, on_interrupt);
	} else {
		terminal.pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
	signals(SIG_UNBLOCK);
}

int terminal_end(int status)
{
	const char *command = getenv("PAGER");
	int how = 0;

	if (!terminal.pager)
		return status;
	fflush(stdout);
	signal(SIGCHLD, SIG_DFL);
	if (ferror(stdout)) {
		/* The pager has ended; the rest of the output has no reader. */
		__fpurge(stdout);
		clearerr(stdout);
	}
	/* The pager finds the end of the text when no process has the pipe open any more. */
	dup2(terminal.out, STDOUT_FILENO);
	if (terminal.err >= 0)
		dup2(terminal.err, STDERR_FILENO);
	while (waitpid(terminal.pager, &how, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	terminal.pager = 0;
	if (!WIFEXITED(how) || !could_not_run(WEXITSTATUS(how)))
		return status;
	complain(NULL, "cannot run the pager '%s' (PAGER=cat uses none)", command ? command : "cat");
	return EXIT_FAILURE;
}
