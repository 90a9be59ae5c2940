/* SPDX-License-Identifier: MIT */
/*
 * A recorder of the kernel inside another program: runs a command, records the kernel's events that it and its children
 * cause, and writes a trace.dat, with the parts that `recorder record -e` consists of (cli/kernel/, cli/recording/).
 *
 *	09_kernel_recorder FILE EVENT COMMAND [ARG]...
 *
 * EVENT is a pattern such as sched:sched_switch, sched or sys_enter_*. Needs the rights to use tracefs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel.h"
#include "cli/kernel/kernel_drain.h"
#include "cli/kernel/kernel_pids.h"
#include "cli/recording/child.h"
#include "cli/recording/drain.h"
#include "cli/recording/output.h"
#include "cli/recording/spool.h"

#define LOOK_EVERY_US 100000

static void tell(const void *arg, const char *line)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, line);
}

static const struct message_sink sink = { .message = tell, .summary = tell, .arg = "09_kernel_recorder" };

struct recording {
	struct child child;
	struct output output;
	struct kernel_event event;
	struct kernel_request request;
	struct kernel *kernel;
	struct spool *spool;
	struct kernel_drain *drain;
};

static bool failed(const char *what, int err)
{
	message(&sink, "cannot %s: %s", what, strerror(-err));
	return false;
}

/*
 * Make the instance in tracefs, with tracing off. Choose the file. Make the spool, which holds events on their way to
 * the file, and the threads that fill it.
 */
static bool prepare(struct recording *recording, char **argv)
{
	const struct kernel_drain_request drain = { .sink = &sink };
	struct spool_head head = { .file_version = 6 };
	int err = child_prepare(&recording->child);

	if (err)
		return failed("wait for signals", err);
	recording->event.pattern = argv[2];
	recording->request =
		(struct kernel_request){ .events = &recording->event, .nr_events = 1, .only_command = true,
					.follow = true };
	snprintf(head.command, sizeof(head.command), "%s", argv[3]);
	return kernel_pids_are_ours(&sink) && output_choose(&recording->output, argv[1]) &&
	       kernel_open(&sink, &recording->request, "", &recording->kernel) == 0 &&
	       output_spool(&recording->output, &head, &recording->spool) &&
	       kernel_drain_open(recording->kernel, recording->spool, &drain, &recording->drain);
}

/* Tracing begins between the command's fork and its exec. */
static bool start(struct recording *recording, char **argv)
{
	const struct child_env env[] = { { NULL, NULL } };
	int err = child_fork(&recording->child, argv + 3, env);

	if (!err)
		err = kernel_add_tids(recording->kernel, &recording->child.pid, 1);
	if (err)
		return failed("start the command", err);
	if (!kernel_drain_start(recording->drain))
		return false;
	if (kernel_start(recording->kernel))
		return false;
	err = child_exec(&recording->child);
	if (err)
		message(&sink, "cannot run '%s': %s", argv[3], strerror(-err));
	return !err;
}

/* Record until the command ends. False: an error was reported. */
static bool record(struct recording *recording)
{
	const struct drain_trouble none = { 0 };
	int err = 0, end;

	while (!child_wait(&recording->child, LOOK_EVERY_US))
		err = err ? err : kernel_drain_run(recording->drain);
	end = kernel_stop(recording->kernel);
	err = err ? err : end;
	end = kernel_drain_finish(recording->drain);
	err = err ? err : end;
	if (err)
		return failed("record the kernel's events", err);
	return output_finish(&recording->output, recording->spool, NULL, &none);
}

int main(int argc, char **argv)
{
	struct recording recording = {
		.child = CHILD_INIT,
		.output = { .sink = &sink, .verb = "recorded" },
	};
	bool started = false, written = false;

	if (argc < 4) {
		fprintf(stderr, "usage: 09_kernel_recorder FILE EVENT COMMAND [ARG]...\n");
		return 2;
	}
	if (prepare(&recording, argv))
		started = start(&recording, argv);
	if (started)
		written = record(&recording);
	kernel_drain_close(recording.drain);
	/* Events that are not in the file stay in the spool, for 'recorder recover'. */
	if (recording.spool && (written || !started))
		output_remove_spool(&recording.output, recording.spool);
	spool_close(recording.spool);
	output_close(&recording.output);
	kernel_close(recording.kernel);
	child_close(&recording.child);
	return written ? child_exit_status(&recording.child) : EXIT_FAILURE;
}
