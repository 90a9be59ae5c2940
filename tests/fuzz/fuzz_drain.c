/* SPDX-License-Identifier: MIT */
/*
 * The command on a buffer file in which any byte may have any value, before and while it reads. The file is drained,
 * woven and reported, as record and recover do. It exits normally, its messages are lines without control characters,
 * and report can read the file that it wrote.
 */
#include "hostile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/common/opts.h"
#include "cli/common/sigbus.h"
#include "cli/recording/drain.h"
#include "cli/recording/output.h"

static struct hostile_random random_turns;
static const struct message_sink sink = COMMAND_SINK("fuzz");
static struct output output = { .sink = &sink, .verb = "recorded", .name = "fuzz.dat" };
static int said = -1; /* standard output and error */

static void give_up(const char *what)
{
	char text[8192];
	const ssize_t size = pread(said, text, sizeof(text), 0);

	fprintf(stderr, "%s; its messages: %.*s\n", what, size > 0 ? (int)size : 0, text);
	abort();
}

/* Run something with its output redirected. */
static void begin_listening(int saved[2])
{
	fflush(stdout);
	saved[0] = dup(1);
	saved[1] = dup(2);
	if (ftruncate(said, 0) < 0 || lseek(said, 0, SEEK_SET) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
		abort();
}

static void end_listening(const int saved[2])
{
	fflush(stdout);
	for (int fd = 1; fd <= 2; fd++) {
		if (dup2(saved[fd - 1], fd) < 0)
			abort();
		close(saved[fd - 1]);
	}
}

static void expect_plain_text(void)
{
	char text[65536];
	const ssize_t size = pread(said, text, sizeof(text), 0);

	for (ssize_t i = 0; i < size; i++)
		if ((text[i] >= 0 && text[i] < ' ' && text[i] != '\n') || text[i] == 127)
			give_up("a control character");
}

static void run(int (*command)(int argc, char **argv), const char *name, const char *option, const char *operand)
{
	const char *words[] = { name, option, operand, NULL };
	char *argv[4] = { NULL };
	int argc = 0, status, saved[2];

	while (words[argc]) {
		argv[argc] = (char *)(uintptr_t)words[argc];
		argc++;
	}
	begin_listening(saved);
	status = command(argc, argv);
	end_listening(saved);
	if (status != 0 && status != 1)
		give_up("a strange status");
	/* Events and thread names are shown as trace-cmd does. */
	if (command != cmd_report)
		expect_plain_text();
}

/* Drain several times, as a recording does while the program runs. False: the directory could not be drained. */
static bool drain(struct spool *spool)
{
	const int dir = open(hostile_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct drain *drain = NULL;
	int r = drain_open(spool, dir, DRAIN_OWNED, NULL, &drain);

	for (size_t turns = hostile_below(&random_turns, 4); r >= 0 && turns; turns--)
		r = drain_run(drain);
	if (r >= 0)
		r = drain_finish(drain);
	if (r >= 0 && !output_finish(&output, spool, NULL, drain_trouble(drain)))
		give_up("no file");
	drain_close(drain);
	close(dir);
	return r >= 0;
}

static void record(void)
{
	struct spool_head head = { .file_version = 6 + (uint32_t)hostile_below(&random_turns, 2),
				   .raw = hostile_below(&random_turns, 3) == 0 };
	struct spool *spool = NULL;
	int saved[2];
	bool done;

	unlink(output.spool);
	unlink(output.path);
	if (spool_create(output.spool, &head, &spool) < 0)
		abort();
	begin_listening(saved);
	done = drain(spool);
	end_listening(saved);
	if (!done)
		give_up("the drain failed");
	expect_plain_text();
	spool_close(spool);
}

static void do_round(uint64_t number, bool alone)
{
	random_turns.state = number * UINT64_C(0xd1342543de82ef95);
	hostile_restore(hostile_below(&random_turns, 2));
	if (alone)
		hostile_strike(&random_turns);
	else
		hostile_scribble(number);
	run(cmd_ps, "ps", NULL, NULL);
	run(cmd_stat, "stat", NULL, NULL);
	run(cmd_list, "list", NULL, NULL);
	record();
	if (!alone)
		hostile_scribble_end();
	run(cmd_report, "report", hostile_below(&random_turns, 2) ? "-N" : "-NR", output.path);
	run(cmd_dump, "dump", "--records", output.path);
}

static void spoilt_before(uint64_t number)
{
	do_round(number, true);
}

static void spoilt_meanwhile(uint64_t number)
{
	do_round(number, false);
}

static void begin(void)
{
	hostile_make();
	sigbus_handle();
	said = memfd_create("said", MFD_CLOEXEC);
	cr_assert(said >= 0);
	snprintf(output.path, sizeof(output.path), "%.4000s.dat", hostile_dir);
	snprintf(output.spool, sizeof(output.spool), "%.4000s.dat.spool", hostile_dir);
}

static void end(void)
{
	unlink(output.path);
	unlink(output.spool);
	hostile_remove();
}

Test(fuzz_drain, spoilt_before, .init = begin, .fini = end, .timeout = 100000)
{
	hostile_rounds("fuzz_drain/spoilt_before", spoilt_before);
}

Test(fuzz_drain, spoilt_meanwhile, .init = begin, .fini = end, .timeout = 100000)
{
	hostile_rounds("fuzz_drain/spoilt_meanwhile", spoilt_meanwhile);
}
