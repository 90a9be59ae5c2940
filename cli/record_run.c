/* SPDX-License-Identifier: MIT */
/*
 * A recording, from what is asked for to the file: drain while the command runs, weave at the end.
 *
 * Everything that can be refused is refused before the command starts. From then on the recording is in two places,
 * the spool beside the output and the buffers in the session's directory, and both are removed only when the output
 * is complete: whatever kills the recorder, 'recorder recover' finds the rest.
 */
#include "cli/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/loans.h"
#include "cli/now.h"
#include "cli/progress.h"

/*
 * How long the drain of programs sleeps: short while lanes fill fast, longer and longer while they do not, longest
 * while there is nothing. A thread that writes without pause fills the default lane within about a millisecond, a busy
 * program's in some tens. Each time costs the traced programs some tens of microseconds.
 */
#define SLEEP_MIN_MS	1
#define SLEEP_SLOW_MS	4
#define SLEEP_MAX_MS	10
#define FAST_PERCENT	10

/* The kernel's rings have threads of their own, which need nobody; a command's end wakes us. */
#define SLEEP_KERNEL_MS 100

/* ----------------------------------------------------------------------------------------------- before the start */

/*
 * Remove what killed recorders have left, and get the kernel ready if it is asked for. False: one line was printed.
 */
static bool prepare_kernel(struct record *record)
{
	const int err = record_kernel_open(RECORD, &record->kernel);

	/*
	 * Who may not trace the kernel, or where nobody can (a container's
	 * read-only /sys), can still record programs.
	 */
	return !err || ((err == -EACCES || err == -EROFS || err == -ENODEV) && record->user);
}

/* Make the spool; `what` is recorded. False: one line was printed. */
static bool make_spool(struct record *record, const char *what)
{
	struct spool_head head = {
		.file_version = record->version ? 7 : 6,
		.raw = record->raw,
		.split = record->buffers == 1,
	};

	snprintf(head.session, sizeof(head.session), "%s", record->session.path);
	snprintf(head.command, sizeof(head.command), "%s", what);
	return output_spool(&record->output, &head, &record->spool) &&
	       record_kernel_drain(RECORD, &record->kernel, record->spool);
}

/* What programs need that are started for the recording. */
static bool prepare_session(struct record *record)
{
	int err;

	if (!session_link_spool(RECORD, &record->session, record->output.spool))
		return false;
	err = drain_open(record->spool, record->session.fd, DRAIN_OWNED, NULL, &record->drain);
	if (err)
		complain(RECORD, "cannot drain '%s': %s", record->session.path, strerror(-err));
	return !err;
}

static bool prepare(struct record *record)
{
	if (record->user &&
	    (!record_lanes_check(RECORD, &record->lanes) ||
	     !selections_fit_binary(RECORD, &record->selections, record->command[0])))
		return false;
	if (!output_choose(&record->output, record->output_name) || !prepare_kernel(record) ||
	    (record->user && !session_create(RECORD, &record->session)))
		return false;
	return make_spool(record, record->command[0]) && (!record->user || prepare_session(record));
}

/* -------------------------------------------------------------------------------------------------- the recording */

static void show(struct progress *progress, const struct record *record)
{
	const struct spool *spool = record->spool;
	const struct kernel_drain *kernel = record->kernel.drain;
	char size[32], pages[32], text[48] = "";
	uint64_t lost = 0;

	if (!progress_is_due(progress))
		return;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		lost += spool->entries[i].lost;
	if (kernel) {
		lost += kernel_drain_lost(kernel);
		snprintf(text, sizeof(text), ", the kernel's %s",
			 human_size(kernel_drain_bytes(kernel), pages, sizeof(pages)));
	}
	progress_show(progress, "recording: %" PRIu64 " events, %s%s, %" PRIu64 " lost", spool->events,
		      human_size(spool->end, size, sizeof(size)), text, lost);
}

/* Whether the command has ended, or all the programs, or the time is over, or a signal says so. */
static bool is_over(struct record *record, uint64_t end, int sleep)
{
	if (child_wait(&record->child, sleep))
		return true;
	if (record->command[0])
		return false;
	if (record->child.interrupts || (end && now_ms() >= end))
		return true;
	if (record->attach)
		return !attach_is_alive(record->attach);
	return record->kernel.pids.nr && !kernel_pids_alive(&record->kernel.pids);
}

static int take(struct record *record)
{
	if (!record->user)
		return 0;
	return record->attach ? attach_run(record->attach) : drain_run(record->drain);
}

static int take_rest(struct record *record)
{
	if (!record->user)
		return 0;
	return record->attach ? attach_finish(record->attach) : drain_finish(record->drain);
}

/*
 * After one of so many ms, behind which the fullest lane was so full; not long
 * beyond the end of a duration, if there is one.
 */
static int next_sleep(const struct record *record, uint64_t end, int sleep, int percent)
{
	const int max = percent > 0 ? SLEEP_SLOW_MS : SLEEP_MAX_MS;
	const uint64_t now = now_ms();

	if (!record->user)
		return end > now && end - now < SLEEP_KERNEL_MS ? (int)(end - now) : SLEEP_KERNEL_MS;
	if (percent >= FAST_PERCENT)
		return SLEEP_MIN_MS;
	return sleep * 2 < max ? sleep * 2 : max;
}

/* Take events until it is over. Returns 0 or what stopped the drain; the command is waited for in that case, too. */
static int drain(struct record *record)
{
	const uint64_t end = record->duration ? now_ms() + record->duration * 1000u : 0;
	struct progress progress;
	int sleep = SLEEP_MIN_MS;
	int taken = 0, err = 0, last;

	progress_init(&progress, record->quiet);
	while (((taken >= 0 && !err) || record->command[0]) && !is_over(record, end, sleep)) {
		if (taken >= 0)
			taken = take(record);
		last = record_kernel_run(&record->kernel);
		err = err ? err : last;
		sleep = next_sleep(record, end, sleep, taken);
		show(&progress, record);
	}
	if (taken >= 0)
		taken = take_rest(record);
	/* Behind the programs, so that what they wrote last lies within what the kernel has. */
	last = record_kernel_finish(&record->kernel);
	progress_clear(&progress);
	if (taken < 0)
		return taken;
	return err ? err : last;
}

/* Remove what the recording had beside its output. */
static void remove_traces(struct record *record)
{
	if (record->spool)
		output_remove_spool(&record->output, record->spool);
	session_remove(&record->session);
}

/* What stopped the drain: a ring or its side file, the spool, or we were short of something ourselves. */
static void say_stopped(const struct record *record, int err)
{
	const struct kernel_drain *kernel = record->kernel.drain;
	char what[PATH_MAX + 16], lost[64] = "";
	const int ring = kernel ? kernel_drain_failed(kernel, what, sizeof(what)) : 0;
	const uint64_t nr = kernel ? kernel_drain_lost(kernel) : 0;

	if (ring)
		err = ring;
	else if (err == -ENOMEM || err == -EMFILE || err == -ENFILE)
		snprintf(what, sizeof(what), "continue");
	else
		snprintf(what, sizeof(what), "write '%s'", record->output.spool);
	if (nr)
		snprintf(lost, sizeof(lost), "; %" PRIu64 " kernel %s lost", nr, nr == 1 ? "event is" : "events are");
	complain(RECORD, "cannot %s: %s%s; what was recorded is in '%s': 'recorder recover %s' makes a trace.dat of it",
		 what, strerror(-err), lost, record->output.spool, record->output.spool);
}

/* Take the events and write the file. False: one line was printed; what there is stays. */
static bool record_events(struct record *record)
{
	static const struct drain_trouble none;
	const struct drain_trouble *trouble = &none;
	const int err = drain(record);

	if (err)
		say_stopped(record, err);
	/* It takes a while, in which the file is written. */
	if (record->kernel.drain)
		kernel_drain_about(record->kernel.drain, record->output.drained, sizeof(record->output.drained));
	record_kernel_leave(&record->kernel);
	if (err)
		return false;
	if (record->child.stopped_by && record->command[0] && !record->quiet)
		complain(RECORD, "stopped by %s, '%s' keeps running, unrecorded", strsignal(record->child.stopped_by),
			 record->command[0]);
	if (record->attach && !record->quiet)
		attach_say_missed(record->attach);
	if (record->user)
		trouble = record->attach ? attach_trouble(record->attach) : drain_trouble(record->drain);
	if (!output_finish(&record->output, record->spool, record->user ? &record->selections : NULL, trouble))
		return false;
	if (trouble->unread) {
		complain(RECORD, "some buffers could not be read; retry with 'recorder recover %s'",
			 record->output.spool);
		return false;
	}
	remove_traces(record);
	return true;
}

/* What runs, or all that the kernel does. */
static int run_without_command(struct record *record)
{
	const char *what = record->programs.word ? record->programs.word : "the kernel";

	if (!output_choose(&record->output, record->output_name) ||
	    (record->user && !attach_open(RECORD, &record->programs, &record->attach)) ||
	    !record_kernel_find(RECORD, &record->kernel, &record->programs, record->threads, record->user) ||
	    !prepare_kernel(record))
		return EXIT_FAILURE;
	if (!make_spool(record, what) || !record_kernel_start(RECORD, &record->kernel, 0) ||
	    (record->user && !attach_begin(record->attach, &record->selections, record->spool))) {
		remove_traces(record);
		return EXIT_FAILURE;
	}
	loans_sweep(RECORD, record->programs.dir, record->quiet);
	return record_events(record) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cannot_run(const struct record *record, int err)
{
	complain(RECORD, "cannot run '%s': %s", record->command[0], strerror(-err));
	/* As shells have it: not found, and found but not to be run. */
	return err == -ENOENT ? 127 : 126;
}

static int run_command(struct record *record)
{
	struct child_env env[RECORD_LANES_ENV] = { { NULL, NULL } };
	char left[PATH_MAX];
	int status = EXIT_FAILURE;
	int err;

	if (!prepare(record))
		goto remove;
	if (session_sweep(left, sizeof(left)) && !record->quiet)
		complain(RECORD,
			 "'%s' is left from a recorder that was killed; 'recorder recover %s' makes a trace.dat of it",
			 left, left);
	loans_sweep(RECORD, NULL, record->quiet);
	if (record->user)
		record_lanes_env(&record->lanes, record->session.path, record->enable, env);
	/* Before anything has threads. */
	err = child_fork(&record->child, record->command, env);
	if (!err && !record_kernel_start(RECORD, &record->kernel, record->child.pid))
		goto remove;
	if (!err)
		err = child_exec(&record->child);
	if (err) {
		status = cannot_run(record, err);
		goto remove;
	}
	if (record_events(record))
		return child_exit_status(&record->child);
	/* The command's own failure says more than ours. */
	status = child_exit_status(&record->child);
	return status ? status : EXIT_FAILURE;

remove:
	/* It has open what the kernel half has, which cannot be removed so. */
	child_drop(&record->child);
	remove_traces(record);
	return status;
}

int record_run(struct record *record)
{
	const int err = child_prepare(&record->child);

	if (err) {
		complain(RECORD, "cannot wait for signals: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	return record->command[0] ? run_command(record) : run_without_command(record);
}

void record_close(struct record *record)
{
	record_kernel_close(&record->kernel);
	attach_close(record->attach);
	drain_close(record->drain);
	spool_close(record->spool);
	session_close(&record->session);
	child_close(&record->child);
}
