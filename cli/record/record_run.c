/* SPDX-License-Identifier: MIT */
/*
 * A recording, from the request to the file: drain while the command runs, weave at the end.
 *
 * Every check that can refuse the recording is made before the command starts. From then on the recording is in two
 * places, the spool beside the output and the buffers in the session's directory, and both are removed only when the
 * output is complete: if the recorder is killed at any moment, 'recorder recover' finds the rest.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/recording/leftovers.h"
#include "cli/recording/loans.h"
#include "cli/recording/stage.h"
#include "cli/recording/survivors.h"

const struct message_sink record_sink = COMMAND_SINK(RECORD);

/* ----------------------------------------------------------------------------------------------- before the start */

/*
 * Remove what killed recorders have left, and prepare the kernel if it is requested. False: one line was printed.
 */
static bool prepare_kernel(struct record *record)
{
	const int err = record_kernel_open(&record_sink, &record->kernel);

	/*
	 * If this user may not trace the kernel, or no user can (a container's read-only /sys), programs can still be
	 * recorded if -u selects them.
	 */
	return !err || ((err == -EACCES || err == -EROFS || err == -ENODEV) && record->user &&
			(record->user_is_asked || !record_buffers_any(&record->kernel.buffers)));
}

/*
 * Store the patterns of the events that are woven: buffers may contain others, which another process has switched on.
 */
static bool take_wanted(const struct record *record, char *wanted, size_t size)
{
	char *patterns;
	bool fits;

	wanted[0] = '\0';
	if (!record->user || (record->selections.is_default && !record->selections.nr_left_out))
		return true;
	patterns = selections_patterns(&record->selections);
	fits = patterns && strlen(patterns) < size;
	if (fits)
		strcpy(wanted, patterns);
	else if (patterns)
		complain(RECORD, "the patterns of -u and -x are too long: %zu characters of at most %zu",
			 strlen(patterns), size - 1);
	else
		complain(RECORD, "out of memory");
	free(patterns);
	return fits;
}

/* Read the clocks: now, and again at the end. False: one line was printed. */
static bool note_clocks(const struct record *record)
{
	const int err = spool_add_clocks(record->spool);

	if (err)
		complain(RECORD, "cannot write '%s': %s", record->output.spool, strerror(-err));
	return !err;
}

/* Make the spool; `what` is recorded. False: one line was printed. */
static bool make_spool(struct record *record, const char *what)
{
	struct spool_head head = {
		.file_version = record->version == 1 ? 7 : 6,
		.raw = record->raw,
		.split = record->buffers == 1,
		.date = record->date,
		.incompatible = (record->kernel.buffers.nr ? SPOOL_FEATURE_BUFFERS : 0) |
				(record->kernel.limit_kb ? SPOOL_FEATURE_LIMIT : 0),
	};

	snprintf(head.session, sizeof(head.session), "%s", record->session.path);
	snprintf(head.command, sizeof(head.command), "%s", what);
	return take_wanted(record, head.wanted, sizeof(head.wanted)) &&
	       output_spool(&record->output, &head, &record->spool) && note_clocks(record) &&
	       record_kernel_drain(&record_sink, &record->kernel, record->spool);
}

/* Link the session to the spool, and open the drain of its directory. False: one line was printed. */
static bool prepare_session(struct record *record)
{
	int err;

	if (!session_link_spool(&record_sink, &record->session, record->output.spool))
		return false;
	err = drain_open(record->spool, record->session.fd, DRAIN_OWNED, NULL, &record->drain);
	if (err)
		complain(RECORD, "cannot drain '%s': %s", record->session.path, strerror(-err));
	return !err;
}

/* Make the session, in the buffer directory of the user as whom COMMAND runs. False: one line was printed. */
static bool make_session(struct record *record)
{
	const struct child_user *user = record->child.user;
	const int err = user ? child_user_borrow(user) : 0;
	bool good;

	if (err) {
		complain(RECORD, "cannot make files as user '%s': %s", user->name, strerror(-err));
		return false;
	}
	good = session_create(&record_sink, &record->session);
	if (user)
		child_user_back();
	return good;
}

static bool prepare(struct record *record)
{
	if (record->user && (!record_lanes_check(&record_sink, &record->lanes) ||
			     !selections_fit_binary(&record_sink, &record->selections, record->command[0])))
		return false;
	if (!output_choose(&record->output, record->output_name) || !prepare_kernel(record) ||
	    (record->user && !make_session(record)))
		return false;
	return make_spool(record, record->command[0]) && (!record->user || prepare_session(record));
}

/* -------------------------------------------------------------------------------------------------- the recording */

static void take_map(pid_t pid, void *maps)
{
	proc_maps_take(maps, pid);
}

static int take_program_map(struct rec_view *view, const char *pid, unsigned int nr, void *maps)
{
	const uint32_t here = rec_view_pid(view);

	(void)pid;
	(void)nr;
	/* The process is not visible from here, or has just ended: then it has no map. */
	return here && proc_maps_take(maps, (pid_t)here) == -ENOMEM ? -ENOMEM : 0;
}

/*
 * Take the maps of running programs. They are taken once more at the end, because a program may load libraries. False:
 * one line was printed.
 */
static bool take_maps(struct record *record)
{
	struct programs programs = record->programs;
	struct proc_maps *maps = &record->maps;
	bool none = false;

	if (!record->proc_map)
		return true;
	kernel_pids_each(&record->kernel.pids, take_map, maps);
	/* If all of them have just ended, their events are recorded all the same. */
	programs.ret_lacks = &none;
	return !record->attach || programs_look(&record_sink, &programs, take_program_map, maps) >= 0 || none;
}

/* Take the maps again, and store them. 0 or -errno. */
static int save_maps(struct record *record)
{
	if (!record->proc_map)
		return 0;
	proc_maps_take_again(&record->maps);
	return proc_maps_save(&record->maps, record->spool);
}

/*
 * Remove the recording's temporary files. The buffers of programs that are still running move to the buffer directory
 * (survivors.h).
 */
static void remove_traces(struct record *record)
{
	if (record->spool)
		output_remove_spool(&record->output, record->spool);
	survivors_release(&record_sink, &record->session, &record->selections);
}

/* Whether the error is a lack of resources, and not of a file. */
static bool is_short(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

/*
 * Write to `what` what could not be done when `err` stopped the drain. The cause is an error of a ring or its side
 * file, of switching tracing off, of the spool, or a lack of resources. Returns the cause's error, which may be another
 * one than `err`.
 */
static int find_stopped(const struct record *record, int err, char *what, size_t size)
{
	const int ring = record_kernel_is_on(&record->kernel) ? record_kernel_failed(&record->kernel, what, size) : 0;

	if (ring)
		return ring;
	if (is_short(err))
		snprintf(what, size, "continue");
	else
		snprintf(what, size, "write '%s'", record->output.spool);
	return err;
}

/*
 * What the error does to the events that COMMAND causes. If the spool cannot be written, the rings are still drained
 * into files of their own; the lanes are not, even if their drain has not noticed it yet.
 */
static const char *consequence_of(const struct record *record, int programs, int err)
{
	char what[PATH_MAX + 16];
	const bool rings = record_kernel_is_on(&record->kernel) &&
			   record_kernel_failed(&record->kernel, what, sizeof(what));
	const bool lanes = programs < 0 || (!rings && record->user && !is_short(err));

	if (rings && lanes)
		return "but the kernel's events are lost from now on, and its own once its lanes are full";
	if (rings)
		return "but the kernel's events are lost from now on";
	if (lanes)
		return "and its events stay in its lanes; once these are full, events are lost";
	return "and events are still recorded";
}

void record_say_failing(struct record *record, int programs, int kernel)
{
	char what[PATH_MAX + 16], recover[OUTPUT_RECOVER_SIZE];
	int err;

	if (record->failure_is_reported)
		return;
	record->failure_is_reported = true;
	err = find_stopped(record, programs < 0 ? programs : kernel, what, sizeof(what));
	output_put_recover(record->output.sink, record->output.spool, err, recover);
	complain(RECORD,
		 "cannot %s: %s; '%s' keeps running, %s; when it has ended, %s makes a trace.dat of what was recorded",
		 what, strerror(-err), record->command[0], consequence_of(record, programs, err), recover);
}

/* Report the error that stopped the drain. If it was reported before, report only what was not known then. */
static void say_stopped(const struct record *record, int err)
{
	const uint64_t nr = record_kernel_is_on(&record->kernel) ? record_kernel_lost(&record->kernel) : 0;
	char what[PATH_MAX + 16], first[PATH_MAX + 128] = "the recording has failed", lost[64] = "";
	char recover[OUTPUT_RECOVER_SIZE];

	if (nr)
		snprintf(lost, sizeof(lost), "; %" PRIu64 " kernel %s lost", nr, nr == 1 ? "event is" : "events are");
	else if (record->failure_is_reported)
		return;
	if (!record->failure_is_reported) {
		err = find_stopped(record, err, what, sizeof(what));
		snprintf(first, sizeof(first), "cannot %s: %s", what, strerror(-err));
	}
	output_put_recover(record->output.sink, record->output.spool, err, recover);
	complain(RECORD, "%s%s; what was recorded is in '%s': %s makes a trace.dat of it", first, lost,
		 record->output.spool, recover);
}

static bool has_unread(const struct record *record, const struct drain_trouble *trouble)
{
	if (trouble->unread)
		complain(RECORD, "some buffers could not be read; retry with 'recorder recover %s'",
			 record->output.spool);
	return trouble->unread;
}

/* Report that the command has not ended. The kernel ends it together with the first process of its container. */
static void say_unfinished(const struct record *record)
{
	const char *fate = getpid() == 1 ? "ends with the recorder, which is process 1" : "keeps running, unrecorded";

	if (record->child.stopped_by)
		complain(RECORD, "stopped by %s, '%s' %s", strsignal(record->child.stopped_by), record->command[0],
			 fate);
	else if (record->time_is_over)
		complain(RECORD, "the time is over (--duration), '%s' %s", record->command[0], fate);
}

/* Take the events and write the file. False: one line was printed; the spool and the buffers stay. */
static bool record_events(struct record *record)
{
	static const struct drain_trouble none;
	const struct drain_trouble *trouble = &none;
	int err;

	err = record_drain(record);
	if (!err)
		err = save_maps(record);

	if (err)
		say_stopped(record, err);
	/* Begin to remove the instances: this takes a while, during which the file is written. */
	if (record_kernel_is_on(&record->kernel))
		record_kernel_about(&record->kernel, record->output.drained, sizeof(record->output.drained));
	record_kernel_leave(&record->kernel);
	if (err)
		return false;
	if (record->command[0] && !record->child.ended && !record->quiet)
		say_unfinished(record);
	if (record->attach && !record->quiet)
		attach_say_missed(record->attach);
	if (record->user)
		trouble = record->attach ? attach_trouble(record->attach) : drain_trouble(record->drain);
	if (!progress_finish(&record->output, record->spool, record->user ? &record->selections : NULL, trouble)) {
		if ((record->is_empty || record->is_unsent) && !has_unread(record, trouble))
			remove_traces(record);
		return false;
	}
	if (has_unread(record, trouble))
		return false;
	remove_traces(record);
	return true;
}

/*
 * Remove stages that killed recorders left in the directory where this recording has its own, and buffers without an
 * event that dead programs left.
 */
static void sweep_left(const struct record *record)
{
	char path[PATH_MAX];
	const int dir = rec_buffer_dir(false, path, sizeof(path)) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	leftovers_sweep_all(record->programs.dir);
	if (dir < 0)
		return;
	stage_sweep(dir, true, false);
	close(dir);
}

/*
 * Find the running programs, unless only the kernel is recorded. Programs that are named for the kernel's events need
 * not use librecorder. False: one line was printed.
 */
static bool find_programs(struct record *record)
{
	if (!record->user)
		return true;
	record->programs.ret_lacks = record->output.programs_may_lack ? &record->lacks_programs : NULL;
	if (attach_open(&record_sink, &record->programs, &record->attach))
		return true;
	record->user = false;
	return record->lacks_programs;
}

/* Record running programs, or the whole kernel. */
static int run_without_command(struct record *record)
{
	const char *what = record->programs.word ? record->programs.word : "the kernel";

	if (!output_choose(&record->output, record->output_name) || !find_programs(record) ||
	    !record_kernel_find(&record_sink, &record->kernel, &record->programs, record->threads, record->user) ||
	    !prepare_kernel(record))
		return EXIT_FAILURE;
	if (!make_spool(record, what)) {
		remove_traces(record);
		return EXIT_FAILURE;
	}
	/* If programs have left many buffers, this takes a while: do it before events are switched on. */
	sweep_left(record);
	record_go_first(record);
	if (!record_kernel_start(&record_sink, &record->kernel, 0) ||
	    (record->user && !attach_begin(record->attach, &record->selections, record->spool)) || !take_maps(record)) {
		remove_traces(record);
		return EXIT_FAILURE;
	}
	if (record->attach && !record->quiet)
		attach_say_stopped(record->attach);
	return record_events(record) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cannot_run(const struct record *record, int err)
{
	complain(RECORD, "cannot run '%s': %s", record->command[0], strerror(-err));
	/* As in shells: 127: not found; 126: found but not executable. */
	return err == -ENOENT ? 127 : 126;
}

/* A signal came before the command was started. Returns the exit status. */
static int stopped_early(const struct record *record, int number)
{
	if (!record->quiet)
		complain(RECORD, "stopped by %s before '%s' was started", strsignal(number), record->command[0]);
	return 128 + number;
}

static int run_command(struct record *record)
{
	struct child_env env[RECORD_LANES_ENV] = { { NULL, NULL } };
	char left[PATH_MAX];
	int status = EXIT_FAILURE;
	int err, early;

	if (record->as_user && !child_user_find(&record_sink, record->as_user, &record->child_user))
		return EXIT_FAILURE;
	if (child_is_missing(record->command[0]))
		return cannot_run(record, -ENOENT);
	record->child.no_terminal = record->daemonize;
	record->child.keeps_stdout = !strcmp(record->output_name, "-");
	record->child.user = record->as_user ? &record->child_user : NULL;
	record->child.at_end = record->proc_map ? take_map : NULL;
	record->child.at_end_arg = &record->maps;
	if (!prepare(record))
		goto remove;
	if (session_sweep(left, sizeof(left)) && !record->quiet)
		complain(RECORD,
			 "'%s' is left from an unfinished recording; 'recorder recover %s' makes a trace.dat of it",
			 left, left);
	loans_sweep(&record_sink, NULL, record->quiet);
	sweep_left(record);
	if (record->user)
		record_lanes_env(&record->lanes, record->session.path, record->enable, env);
	/* This comes before any thread is started. */
	err = child_fork(&record->child, record->command, env);
	record_go_first(record);
	if (!err && !record_kernel_start(&record_sink, &record->kernel, record->child.pid))
		goto remove;
	if (record->child.trace_errno)
		complain(RECORD, "cannot trace the exit of '%s', so its map is missing (--proc-map): %s",
			 record->command[0], strerror(record->child.trace_errno));
	early = err ? 0 : child_early_signal(&record->child);
	if (early) {
		status = stopped_early(record, early);
		goto remove;
	}
	if (!err)
		err = child_exec(&record->child);
	if (err) {
		status = cannot_run(record, err);
		goto remove;
	}
	err = record_events(record) ? EXIT_SUCCESS : EXIT_FAILURE;
	/* The command's own failure is more important than ours. */
	status = child_has_status(&record->child) ? child_exit_status(&record->child) : EXIT_SUCCESS;
	return status ? status : err;

remove:
	/* The waiting child has files of the instance open; the instance can be removed only after its end. */
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
	output_close(&record->output);
	attach_close(record->attach);
	drain_close(record->drain);
	spool_close(record->spool);
	session_close(&record->session);
	child_close(&record->child);
	child_user_free(&record->child_user);
	proc_maps_free(&record->maps);
}
