/* SPDX-License-Identifier: MIT */
/*
 * recorder snapshot: copy everything that the lanes of running programs hold, whether another process reads them or
 * not, and weave it. Nothing is taken from the lanes, and no program waits. Each snapshot leaves a mark in the lanes;
 * --new copies only events after the mark.
 */
#include "cli/cmd.h"
#include "cli/common/compression.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <librecorder/reader.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/programs/show_programs.h"
#include "cli/recording/leftovers.h"
#include "cli/recording/spool.h"

#define NAME "snapshot"

static const struct message_sink sink = COMMAND_SINK(NAME);

/*
 * The number of attempts to copy a page if the writer keeps overtaking the copy; after that, the rest of the lane is
 * left to the next snapshot.
 */
#define PAGE_TRIES 1000u

/* A program whose lanes were copied, with the end of each copy. The lanes are marked after the file is complete. */
struct copied {
	struct rec_view *view;
	struct rec_lane_mark *marks;
	unsigned int nr_marks;
};

struct snapshot {
	const char *output_name;
	struct programs programs;
	unsigned int version; /* index into the words of the option */
	bool raw, quiet;
	bool only_new; /* only events newer than the last snapshot */

	struct output output;
	struct spool *spool;
	struct drain_trouble trouble;
	struct copied *copied;
	unsigned int nr_copied;
	bool reported; /* the reason of the failure was printed */
	bool is_empty; /* no event was copied, and so no file was written */
};

static void note_trouble(struct snapshot *snapshot, const struct rec_view *view, unsigned int lane, int err)
{
	const struct rec_view_info *info = rec_view_info(view);
	struct drain_trouble one = { 0 };

	one.bad_lane.pid = info->pid;
	one.bad_lane.lane = lane;
	memcpy(one.bad_lane.comm, info->comm, sizeof(one.bad_lane.comm));
	one.cut_lane = one.bad_lane;
	one.bad_lanes = err == -EBADMSG;
	/* Each lane of a truncated buffer reports it. */
	one.cut_buffers = err == -EFAULT && !snapshot->trouble.cut_buffers;
	drain_trouble_add(&snapshot->trouble, &one);
}

/* Reports a failure of writing to the spool. Returns the result of the write. */
static int written(struct snapshot *snapshot, int result)
{
	if (result < 0)
		complain(NAME, "cannot write '%s': %s", snapshot->output.spool, strerror(-result));
	snapshot->reported |= result < 0;
	return result;
}

/* Copy the lane's pages up to those that begin after `until`. *ret_got is the lane's last result. */
static int copy_pages(struct snapshot *snapshot, unsigned int process, unsigned int lane, struct rec_iter *iter,
		      uint64_t until, int *ret_got)
{
	unsigned int tries = 0;
	struct rec_page page;
	uint64_t time = 0;
	int got = 1, err = 0;

	while (!err && time <= until) {
		got = rec_iter_page(iter, &page);
		if (got == -EAGAIN && ++tries < PAGE_TRIES)
			continue;
		if (got != 1)
			break;
		memcpy(&time, page.data, sizeof(time));
		err = written(snapshot, spool_add_page(snapshot->spool, process, lane, &page, NULL, NULL));
	}
	*ret_got = got;
	return err;
}

static int copy_lane(struct snapshot *snapshot, unsigned int process, const struct copied *copied, unsigned int lane,
		     uint64_t until)
{
	struct rec_iter *iter;
	int err = rec_iter_open(copied->view, lane, &iter), got = 0;

	if (err)
		return err;
	/* A mark of zeros means the oldest event. */
	if (snapshot->only_new)
		err = rec_view_mark(copied->view, lane, &copied->marks[lane]);
	if (!err) {
		rec_iter_continue(iter, &copied->marks[lane]);
		err = copy_pages(snapshot, process, lane, iter, until, &got);
		if (got < 0)
			note_trouble(snapshot, copied->view, lane, got);
	}
	rec_iter_mark(iter, &copied->marks[lane]);
	rec_iter_close(iter);
	return err;
}

static int add_anchors(struct snapshot *snapshot, const struct rec_view *view, uint64_t *ret_now)
{
	const uint32_t clock = rec_view_info(view)->clock;
	struct rec_anchor anchors[REC_ANCHORS + 1];
	unsigned int nr = rec_view_anchors(view, anchors, REC_ANCHORS);
	int err = rec_clock_anchor(clock, &anchors[nr]);

	if (err)
		return err;
	*ret_now = anchors[nr].clock;
	for (unsigned int i = 0; i <= nr && !err; i++)
		err = written(snapshot, spool_add_anchor(snapshot->spool, clock, &anchors[i]));
	return err;
}

static int copy_log(struct snapshot *snapshot, unsigned int process, const struct rec_view *view)
{
	size_t size = 0;
	unsigned char *log = programs_log(view, &size);
	const int err = !log   ? -ENOMEM
			: size ? written(snapshot, spool_add_log(snapshot->spool, process, log, size))
			       : 0;

	free(log);
	return err;
}

static int copy_lanes(struct snapshot *snapshot, unsigned int process, struct copied *copied, uint64_t until)
{
	const unsigned int lanes = rec_view_lanes(copied->view);
	int err = 0;

	copied->marks = calloc(lanes + 1, sizeof(*copied->marks));
	if (!copied->marks)
		return -ENOMEM;
	for (; !err && copied->nr_marks < lanes; copied->nr_marks++)
		err = copy_lane(snapshot, process, copied, copied->nr_marks, until);
	return err;
}

static int copy_program(int dir, const char *name, void *data)
{
	struct snapshot *snapshot = data;
	struct copied *copied = realloc(snapshot->copied, (snapshot->nr_copied + 1) * sizeof(*copied));
	struct spool_process process = { .inode = 0 };
	uint64_t now = 0;
	int number, err;

	if (!copied)
		return -ENOMEM;
	snapshot->copied = copied;
	copied += snapshot->nr_copied;
	*copied = (struct copied){ .view = NULL };
	err = rec_view_open_at(dir, name, &copied->view);
	if (err)
		return err;
	snapshot->nr_copied++;
	process.info = *rec_view_info(copied->view);
	process.other_pids = programs_has_other_pids(copied->view);
	snprintf(process.file, sizeof(process.file), "%s", name);
	number = written(snapshot, spool_add_process(snapshot->spool, &process));
	err = number < 0 ? number : add_anchors(snapshot, copied->view, &now);
	if (!err)
		err = copy_lanes(snapshot, (unsigned int)number, copied, now);
	/* The log is read after the pages, so it describes all events in them. */
	if (!err)
		err = copy_log(snapshot, (unsigned int)number, copied->view);
	return err && snapshot->reported ? -ECANCELED : err;
}

/* Set the marks where --new continues. If it cannot be stored, the next snapshot repeats what is in this file. */
static void set_marks(const struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < snapshot->nr_copied; i++)
		for (unsigned int lane = 0; lane < snapshot->copied[i].nr_marks; lane++)
			rec_view_set_mark(snapshot->copied[i].view, lane, &snapshot->copied[i].marks[lane]);
}

/* -------------------------------------------------------------------------------------------------- interruptions */

static const struct output *doomed;

/* A signal handler: ends the snapshot and leaves nothing, because the events in its spool are still in the lanes. */
static void give_up(int number)
{
	unlink(doomed->spool);
	if (doomed->stream)
		unlink(doomed->path);
	output_close(doomed);
	raise(number); /* SA_RESETHAND: the second delivery ends the process, as without a handler */
}

/* Set the handler of the signals. They stay blocked until the spool exists: *ret_before is the mask without them. */
static void handle_signals(const struct output *output, sigset_t *set, sigset_t *ret_before)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = give_up, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	doomed = output;
	sigemptyset(set);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(set, numbers[i]);
	sigprocmask(SIG_BLOCK, set, ret_before);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* ------------------------------------------------------------------------------------------------------ the command */

/* Copy and write the file. *ret_keep: whether the spool must stay. */
static bool copy(struct snapshot *snapshot, bool *ret_keep)
{
	if (written(snapshot, spool_add_clocks(snapshot->spool)) ||
	    programs_files(&sink, &snapshot->programs, copy_program, snapshot) < 0)
		return false;
	if (progress_finish(&snapshot->output, snapshot->spool, NULL, &snapshot->trouble)) {
		set_marks(snapshot);
		return true;
	}
	*ret_keep = !snapshot->is_empty;
	return false;
}

static bool run(struct snapshot *snapshot)
{
	struct spool_head head = { .file_version = snapshot->version == 1 ? 7 : 6, .raw = snapshot->raw };
	bool good = false, keep = false;
	sigset_t set, before;

	snprintf(head.command, sizeof(head.command), "%s", snapshot->programs.word);
	if (!output_choose(&snapshot->output, snapshot->output_name))
		return false;
	/* If the reader of the output is gone, a message names the file. */
	if (snapshot->output.stream)
		signal(SIGPIPE, SIG_IGN);
	/* Signals are handled only while the spool exists and is ours. */
	handle_signals(&snapshot->output, &set, &before);
	if (output_spool(&snapshot->output, &head, &snapshot->spool)) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		good = copy(snapshot, &keep);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (!keep)
			output_remove_spool(&snapshot->output, snapshot->spool);
	}
	return good;
}

static void close_all(struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < snapshot->nr_copied; i++) {
		rec_view_close(snapshot->copied[i].view);
		free(snapshot->copied[i].marks);
	}
	free(snapshot->copied);
	spool_close(snapshot->spool);
	output_close(&snapshot->output);
}

int cmd_snapshot(int argc, char **argv)
{
	struct snapshot snapshot = { .output_name = "trace.dat",
				     .version = UINT32_MAX,
				     .output = { .sink = &sink, .verb = "copied", .tell_times = true } };
	const char *compression = NULL;
	const struct opt table[] = {
		OPT_STRING('P', "pid", "PROGRAM",
			   "copy from these running programs: pids separated by commas, or a name",
			   &snapshot.programs.word),
		OPT_PROGRAMS_DIR(snapshot.programs),
		OPT_STRING('o', "output", "FILE", "write to FILE (trace.dat); -: to standard output",
			   &snapshot.output_name),
		OPT_FLAG(0, "new", "copy only the events since the last snapshot", &snapshot.only_new),
		OPT_CHOICE(0, "file-version", "6|7", "version of the file (6; compressed: 7)", &snapshot.version),
		OPT_STRING(0, "compression", "METHOD", "none, any, zstd, or zstd:LEVEL (none)", &compression),
		OPT_FLAG(0, "raw", "write each thread's lane as it is, as one \"CPU\" of the file", &snapshot.raw),
		OPT_FLAG('q', "quiet", "print only errors", &snapshot.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "-P PROGRAM",
		.about =
			"Write everything that the lanes of running programs hold to a trace.dat. The programs and "
			"their\n"
			"recordings are not disturbed, and the events stay for the next snapshot.\n",
		.table = table,
	};
	struct dat_packing packing;
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!compression_choose(NAME, compression, &snapshot.version, &packing, &snapshot.output.packing))
		return EXIT_USAGE;
	snapshot.output.quiet = snapshot.quiet;
	snapshot.output.ret_empty = &snapshot.is_empty;
	snapshot.output.why_empty = snapshot.only_new
					    ? "there is no event since the last snapshot"
					    : "no lane holds an event ('recorder list' shows which events are on)";
	if (!snapshot.programs.word) {
		complain(NAME, "missing -P and a running program (see 'recorder snapshot --help')");
		return EXIT_USAGE;
	}
	status = run(&snapshot) ? EXIT_SUCCESS : EXIT_FAILURE;
	close_all(&snapshot);
	leftovers_sweep_all(snapshot.programs.dir);
	return status;
}
