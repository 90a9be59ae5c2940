/* SPDX-License-Identifier: MIT */
/*
 * The table of commands, and the options before the name of a command.
 */
#include "cli/base/suggest.h"
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/sigbus.h"
#include "cli/common/terminal.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
};

static const struct command commands[] = {
	{ "record", cmd_record, "record a program's events into a trace.dat" },
	{ "report", cmd_report, "print the events of a trace.dat" },
	{ "view", cmd_view, "show a trace.dat as a picture, in a page for any browser" },
	{ "sql", cmd_sql, "query a trace with SQL" },
	{ "hist", cmd_hist, "count events by their fields, or print how a field is distributed" },
	{ "latency", cmd_latency, "print how long spans take, or the time from one event to another" },
	{ "assert", cmd_assert, "check that assertions about a trace hold" },
	{ "why", cmd_why, "explain why a span took its time" },
	{ "diff", cmd_diff, "print what changed between recordings" },
	{ "top", cmd_top, "print what took the most of a recording" },
	{ "profile", cmd_profile, "print where tasks spent their time in the kernel" },
	{ "list", cmd_list, "list the events of running programs or of a binary" },
	{ "ps", cmd_ps, "show the running programs that use librecorder" },
	{ "enable", cmd_enable, "switch events of running programs on" },
	{ "disable", cmd_disable, "switch events of running programs off" },
	{ "start", cmd_start, "let stopped programs record again" },
	{ "stop", cmd_stop, "stop all recording of running programs" },
	{ "stat", cmd_stat, "show what the lanes of running programs hold and have lost" },
	{ "pages", cmd_pages, "show the pages of mapped rings, a program's or the kernel's" },
	{ "snapshot", cmd_snapshot, "copy the events in running programs' lanes into a trace.dat" },
	{ "export", cmd_export, "write a trace.dat's events for other viewers" },
	{ "dump", cmd_dump, "show the structure of a trace.dat: header, options, buffers, pages" },
	{ "convert", cmd_convert, "write a trace.dat in another version or compression" },
	{ "split", cmd_split, "write some of the events of a trace.dat, or all in parts" },
	{ "merge", cmd_merge, "write several trace.dat files as one, by time" },
	{ "check", cmd_check, "check that a trace.dat keeps the rules of its format" },
	{ "clock", cmd_clock, "measure the offset between the kernel's clock and that of programs" },
	{ "verify", cmd_verify, "check that a trace.dat's events agree with its sched events" },
	{ "recover", cmd_recover, "make a trace.dat of what a killed recorder or program left" },
	{ "clean", cmd_clean, "remove what killed recorders and programs left" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[NR_COMMANDS + 1] = { NULL };
	const char *near;

	for (size_t i = 0; i < NR_COMMANDS; i++)
		names[i] = commands[i].name;
	near = suggest(name, names);
	if (near)
		complain(NULL, "unknown command '%s', did you mean '%s'?", name, near);
	else
		complain(NULL, "unknown command '%s' (see 'recorder --help')", name);
	return EXIT_USAGE;
}

static void print_help(FILE *out)
{
	fputs("usage: recorder COMMAND [OPTION]... [ARG]...\n"
	      "\n"
	      "Record the events of programs that use librecorder, and look at recordings.\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].about);
	fputs("\n"
	      "'recorder COMMAND --help' shows the options of COMMAND, 'recorder --version' the version.\n",
	      out);
}

/* The command recorder help [COMMAND]. */
static int help(int argc, char **argv)
{
	const struct command *command;
	char option[] = "--help";
	char *args[3];

	if (argc > 2) {
		complain(NULL, "'help' takes one command, not %d", argc - 1);
		return EXIT_USAGE;
	}
	if (argc < 2) {
		print_help(stdout);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	args[0] = argv[1];
	args[1] = option;
	args[2] = NULL;
	return command->run(2, args);
}

/*
 * If standard input, output or error is closed, the next file that is opened gets this descriptor's number, and would
 * be read or written instead. So /dev/null takes the number. Its mode is the wrong one, so that reading or writing
 * fails as before, and the descriptor is closed in programs that are started.
 */
static void fill_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static void no_matter(int signal)
{
	(void)signal;
}

/* Whether the reader of the output has closed the pipe, which is not a failure. */
static bool reader_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

/*
 * Report output that could not be written, for example to a full disk. If the failure was earlier, its errno is
 * unknown.
 */
static int end_output(void)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE || reader_is_gone())
		return EXIT_SUCCESS;
	complain(NULL, "cannot write to standard output: %s", errno ? strerror(errno) : "not all of it was written");
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *word;
	int status;

	fill_closed();
	/*
	 * If a file reaches its size limit, write must return an error, as for a full disk. So SIGXFSZ gets a handler.
	 * It is not ignored, because programs that are started would inherit that; if it was ignored before, it stays
	 * so.
	 */
	if (signal(SIGXFSZ, no_matter) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		complain(NULL, "missing COMMAND (see 'recorder --help')");
		return EXIT_USAGE;
	}
	word = argv[1];
	command = find_command(word);
	sigbus_handle();
	if (command) {
		status = command->run(argc - 1, argv + 1);
	} else if (!strcmp(word, "help")) {
		status = help(argc - 1, argv + 1);
	} else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		print_help(stdout);
		status = 0;
	} else if (!strcmp(word, "--version")) {
		printf("recorder %s\n", PACKAGE_VERSION);
		status = 0;
	} else if (word[0] == '-') {
		complain(NULL, "unknown option '%s' (see 'recorder --help')", word);
		status = EXIT_USAGE;
	} else {
		status = unknown_command(word);
	}
	status = terminal_end(status);
	return status ? status : end_output();
}
