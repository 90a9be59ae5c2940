/* SPDX-License-Identifier: MIT */
/*
 * A recorder inside another program: runs a command, records all of its events, and writes a trace.dat, with the parts
 * that `recorder record` consists of (cli/recording/).
 *
 *	06_recorder FILE COMMAND [ARG]...
 *
 * These parts print nothing: messages go to the sink, which is this program's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recording/child.h"
#include "cli/recording/drain.h"
#include "cli/recording/output.h"
#include "cli/recording/selection.h"
#include "cli/recording/session.h"
#include "cli/recording/spool.h"
#include "cli/recording/survivors.h"

#define LOOK_EVERY_US 4000

static void tell(const void *arg, const char *line)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, line);
}

static const struct message_sink sink = { .message = tell, .summary = tell, .arg = "06_recorder" };

struct recording {
	struct child child;
	struct output output;
	struct session session;
	struct selections selections;
	char *enable; /* the selected events, for the command's environment */
	struct spool *spool;
	struct drain *drain;
};

/*
 * Choose the file. Make the directory where the command puts its buffers, and the spool, which holds events on their
 * way from the buffers to the file.
 */
static bool prepare(struct recording *recording, char **argv)
{
	struct spool_head head = { .file_version = 6 };
	int err = child_prepare(&recording->child);

	if (err) {
		message(&sink, "cannot wait for signals: %s", strerror(-err));
		return false;
	}
	if (!output_choose(&recording->output, argv[1]) || !selections_add(&sink, &recording->selections, "*", 0) ||
	    !selections_finish(&sink, &recording->selections, NULL) || !session_create(&sink, &recording->session))
		return false;
	recording->enable = selections_text(&recording->selections);
	snprintf(head.session, sizeof(head.session), "%s", recording->session.path);
	snprintf(head.command, sizeof(head.command), "%s", argv[2]);
	if (!recording->enable || !output_spool(&recording->output, &head, &recording->spool) ||
	    !session_link_spool(&sink, &recording->session, recording->output.spool))
		return false;
	err = drain_open(recording->spool, recording->session.fd, DRAIN_OWNED, NULL, &recording->drain);
	if (err)
		message(&sink, "cannot drain '%s': %s", recording->session.path, strerror(-err));
	return !err;
}

static bool start(struct recording *recording, char **argv)
{
	const struct child_env env[] = {
		{ "RECORDER_DIR", recording->session.path },
		{ "RECORDER_KEEP", "1" },
		{ "RECORDER_ENABLE", recording->enable },
		{ NULL, NULL },
	};
	int err = child_fork(&recording->child, argv + 2, env);

	if (!err)
		err = child_exec(&recording->child);
	if (err)
		message(&sink, "cannot run '%s': %s", argv[2], strerror(-err));
	return !err;
}

/* Record until the command ends. False: an error was reported. */
static bool record(struct recording *recording)
{
	int err = 0;

	while (!child_wait(&recording->child, LOOK_EVERY_US))
		if (err >= 0)
			err = drain_run(recording->drain);
	if (err >= 0)
		err = drain_finish(recording->drain);
	if (err < 0) {
		message(&sink, "cannot write '%s': %s", recording->output.spool, strerror(-err));
		return false;
	}
	return output_finish(&recording->output, recording->spool, &recording->selections,
			     drain_trouble(recording->drain));
}

int main(int argc, char **argv)
{
	struct recording recording = {
		.child = CHILD_INIT,
		.output = { .sink = &sink, .verb = "recorded" },
		.session = SESSION_INIT,
	};
	bool started = false, written = false;

	if (argc < 3) {
		fprintf(stderr, "usage: 06_recorder FILE COMMAND [ARG]...\n");
		return 2;
	}
	if (prepare(&recording, argv))
		started = start(&recording, argv);
	if (started)
		written = record(&recording);
	/* Events that are not in the file stay in the spool, for 'recorder recover'. */
	if (written || !started) {
		if (recording.spool)
			output_remove_spool(&recording.output, recording.spool);
		survivors_release(&sink, &recording.session, &recording.selections);
	}
	drain_close(recording.drain);
	spool_close(recording.spool);
	output_close(&recording.output);
	session_close(&recording.session);
	child_close(&recording.child);
	selections_free(&recording.selections);
	free(recording.enable);
	return written ? child_exit_status(&recording.child) : EXIT_FAILURE;
}
