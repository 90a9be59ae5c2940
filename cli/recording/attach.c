/* SPDX-License-Identifier: MIT */
/*
 * Attaches to programs. The programs that the user named are found once; from then on the directories of their buffers
 * are watched (attach_follow.c).
 */
#include "cli/recording/attach_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/file_limit.h"
#include "cli/base/now.h"
#include "cli/recording/skip_events.h"

/*
 * The recording is over after this many ms with no program alive: the buffer of a child, or of the next program, takes
 * a moment to appear.
 */
#define OVER_AFTER_MS 200u
/*
 * The same while one of the programs runs without a buffer: its next image may be loading, or does not use the
 * library.
 */
#define OVER_AFTER_LONG_MS 5000u

/* How often the recorder checks whether programs are alive. */
#define ALIVE_PERIOD_MS 10u

/*
 * At the end, a child may still be making its buffer: the number of further searches of the directory, and the pause
 * between them.
 */
#define UNREADY_TRIES	20u
#define UNREADY_WAIT_NS 1000000

static int find_watched(struct attach *attach, int dir, struct watched_dir **ret_watched)
{
	struct watched_dir *watched_dirs;
	struct stat wanted, st;

	if (fstat(dir, &wanted) < 0)
		return -errno;
	for (unsigned int i = 0; i < attach->nr; i++) {
		*ret_watched = &attach->watched_dirs[i];
		if (!fstat(attach->watched_dirs[i].fd, &st) && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			return 0;
	}
	watched_dirs = realloc(attach->watched_dirs, (attach->nr + 1) * sizeof(*watched_dirs));
	if (!watched_dirs)
		return -ENOMEM;
	attach->watched_dirs = watched_dirs;
	watched_dirs[attach->nr] = (struct watched_dir){ .fd = fcntl(dir, F_DUPFD_CLOEXEC, 0), .again = true };
	if (watched_dirs[attach->nr].fd < 0)
		return -errno;
	dir_watch_open(&watched_dirs[attach->nr].watch, watched_dirs[attach->nr].fd);
	*ret_watched = &watched_dirs[attach->nr++];
	return 0;
}

/* ------------------------------------------------------------------------------------------ the programs named */

static bool has_reader(struct rec_view *view)
{
	struct rec_view_event event;

	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
		if (rec_view_peek(view, lane, &event) == -EBUSY)
			return true;
	return false;
}

/* Skip earlier events, except those that a killed recorder had yet to read: they belong to this recording. */
static int pass_over(struct attach *attach, const struct watched_dir *watched, struct buffer *buffer,
		     struct rec_view *view)
{
	const bool is_session = watched_dir_is_session(watched);
	char pid[PROGRAMS_PID_SIZE];

	if (rec_view_loan(view) == -EOWNERDEAD || is_session) {
		/* Check the session first: a recorder does not hold lanes that it has not found yet. */
		if ((is_session && watched_dir_is_locked(watched)) || has_reader(view))
			return -EBUSY;
		message(attach->sink,
			"process %s was being recorded when its recorder was killed: what it has recorded since is "
			"kept",
			programs_pid(view, pid));
		return 0;
	}
	buffer->passed_over = true;
	rec_view_losses(view, &buffer->before);
	return skip_events(view);
}

/* Whether an event of the program is on. 1, 0, -ENOMEM. */
static int has_any_on(const struct rec_view *view)
{
	const struct rec_log_record *record;
	size_t size = 0, offset = 0;
	unsigned char *log = programs_log(view, &size);
	/* rec_printf's event has no record in the log, so look at its word. */
	bool on = rec_view_enabled(view, REC_EVENT_ID_FIRST) & REC_ENABLE_ON;

	if (!log)
		return -ENOMEM;
	while (!on && (record = rec_log_next(log, size, &offset)))
		on = record->kind == REC_LOG_EVENT && rec_view_enabled(view, record->id) & REC_ENABLE_ON;
	free(log);
	return on;
}

/* Skip the events that were written before the switch, too. */
static int pass_over_again(const struct watched_dir *watched, struct buffer *buffer)
{
	struct rec_view *view;
	int err = rec_view_open_at(watched->fd, buffer->name, &view);

	if (err)
		return err == -ENOMEM ? err : 0;
	rec_view_losses(view, &buffer->before);
	err = skip_events(view);
	rec_view_close(view);
	return err;
}

static int add(int dir, const char *name, void *data)
{
	struct attach *attach = data;
	struct watched_dir *watched = NULL;
	struct buffer *buffer;
	struct rec_view *view;
	struct stat st;
	int err = find_watched(attach, dir, &watched);

	if (!err && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		err = -errno;
	if (!err)
		err = rec_view_open_at(dir, name, &view);
	if (err)
		return err;
	buffer = watched_dir_add(watched, name, st.st_ino, view);
	err = buffer ? family_add(&attach->family, &buffer->self) : -ENOMEM;
	if (buffer)
		buffer->taken = true;
	if (!err)
		err = rec_view_loan(view) == -EBUSY ? -EBUSY : pass_over(attach, watched, buffer, view);
	/* Open the buffer again for switching: this view is the reader of the lanes, which the drain must find free. */
	rec_view_close(view);
	return err ? err : rec_view_open_at(dir, name, &buffer->view);
}

bool attach_open(const struct message_sink *sink, const struct programs *programs, struct attach **ret_attach)
{
	struct attach *attach = calloc(1, sizeof(*attach));
	int nr = -1;

	if (!attach) {
		message(sink, "out of memory");
		return false;
	}
	attach->sink = sink;
	file_limit_raise();
	nr = programs_files(sink, programs, add, attach);
	if (nr <= 0) {
		attach_close(attach);
		return false;
	}
	*ret_attach = attach;
	return true;
}

/* --------------------------------------------------------------------------------------------- the recording */

/* Whether the filters fit the events of the selected programs. False: one line was printed. */
static bool filters_fit(const struct attach *attach)
{
	bool good = true;

	for (unsigned int i = 0; good && i < attach->nr; i++)
		for (unsigned int at = 0; good && at < attach->watched_dirs[i].nr; at++) {
			const struct rec_view *view = attach->watched_dirs[i].list[at].view;
			size_t size = 0;
			unsigned char *log = view ? programs_log(view, &size) : NULL;

			good = !log || selections_fit(attach->sink, attach->selections, log, size);
			free(log);
		}
	return good;
}

static bool cannot_attach(const struct attach *attach, const struct buffer *buffer, const char *reason)
{
	char pid[PROGRAMS_PID_SIZE];

	message(attach->sink, "cannot attach to process %s (%s): %s", programs_pid(buffer->view, pid),
		rec_view_info(buffer->view)->comm, reason);
	return false;
}

/* Attach to one of the selected programs. False: one line was printed. */
static bool begin_one(struct attach *attach, struct watched_dir *watched, struct buffer *buffer,
		      const struct spool *spool)
{
	/*
	 * If no event was on, nothing was written before the switch. Then the first events after it are kept: they may
	 * be all that a rate allows in this second.
	 */
	const int any_on = buffer->passed_over ? has_any_on(buffer->view) : 0;
	int err = any_on < 0 ? any_on : attach_switch_on(attach, buffer);

	if (err)
		return cannot_attach(attach, buffer, attach_reason(buffer->view, err));
	err = any_on ? pass_over_again(watched, buffer) : 0;
	if (err)
		return cannot_attach(attach, buffer, err == -EBUSY ? "another recorder reads it" : strerror(-err));
	err = drain_add(watched->drain, buffer->name, &buffer->before);
	if (err)
		message(attach->sink, "cannot write '%s': %s", spool->path, strerror(-err));
	return !err;
}

static bool begin_watched(struct attach *attach, struct watched_dir *watched, struct spool *spool)
{
	bool good = true;
	int err = drain_open(spool, watched->fd, DRAIN_NAMED | DRAIN_OWNED, NULL, &watched->drain);

	if (!err)
		err = attach_scan(attach, watched, true);
	if (err < 0) {
		message(attach->sink, "cannot look for buffers: %s", strerror(-err));
		return false;
	}
	for (unsigned int i = 0; good && i < watched->nr; i++)
		good = !watched->list[i].view || begin_one(attach, watched, &watched->list[i], spool);
	return good;
}

bool attach_begin(struct attach *attach, const struct selections *selections, struct spool *spool)
{
	bool good = true;

	attach->selections = selections;
	attach->patterns = selections_patterns(selections);
	if (!attach->patterns) {
		message(attach->sink, "out of memory");
		return false;
	}
	if (!filters_fit(attach))
		return false;
	for (unsigned int i = 0; good && i < attach->nr; i++)
		good = begin_watched(attach, &attach->watched_dirs[i], spool);
	return good;
}

static int run_all(struct attach *attach, int (*run)(struct drain *drain))
{
	int fullest = 0;

	for (unsigned int i = 0; i < attach->nr; i++) {
		const int percent = run(attach->watched_dirs[i].drain);

		if (percent < 0)
			return percent;
		fullest = percent > fullest ? percent : fullest;
	}
	return fullest;
}

/*
 * Stop the helpers of all drains after an error: the recording ends, and with it the spool's stage, so no helper may
 * still fill a block.
 */
static int stop_all(struct attach *attach, int err)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		drain_stop(attach->watched_dirs[i].drain);
	return err;
}

int attach_run(struct attach *attach)
{
	int got = attach_follow(attach);

	if (got >= 0)
		got = run_all(attach, drain_run);
	return got < 0 ? stop_all(attach, got) : got;
}

static void give_back_all(struct attach *attach)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		for (unsigned int at = 0; at < attach->watched_dirs[i].nr; at++)
			if (attach->watched_dirs[i].list[at].view)
				rec_view_give_back(attach->watched_dirs[i].list[at].view);
}

static bool is_waiting(const struct attach *attach)
{
	for (unsigned int i = 0; i < attach->nr; i++)
		if (attach->watched_dirs[i].again)
			return true;
	return false;
}

static bool is_filtered(const struct attach *attach)
{
	for (unsigned int i = 0; i < attach->selections->nr; i++)
		if (strcmp(attach->selections->list[i].selector, attach->selections->list[i].patterns) != 0)
			return true;
	return false;
}

/*
 * Switch a program's events off at the end of the recording. Its count of suppressed events is read just before, and
 * not earlier together with those of the other programs: events that a rate suppresses in between are missing from the
 * count. 0 or the error of the spool.
 */
static int end_one(const struct attach *attach, const struct watched_dir *watched, const struct buffer *buffer,
		   bool filtered)
{
	const int err = drain_add_rates(watched->drain, buffer->name);

	if (!err && !filtered)
		rec_view_give_back(buffer->view);
	for (unsigned int i = 0; !err && filtered && i < attach->selections->nr; i++)
		rec_view_switch(buffer->view, attach->selections->list[i].patterns, false);
	return err;
}

/*
 * Switch all programs' events off. If there are filters or rates, all events are switched off before any is restored.
 * Otherwise an event that was on before, and is restored without its filter, would be recorded until the last look at
 * the lanes. 0 or the error of the spool.
 */
static int end_all(struct attach *attach)
{
	const bool filtered = is_filtered(attach);
	int err = 0;

	for (unsigned int i = 0; i < attach->nr; i++) {
		const struct watched_dir *watched = &attach->watched_dirs[i];

		for (unsigned int at = 0; !err && at < watched->nr; at++)
			if (watched->list[at].view)
				err = end_one(attach, watched, &watched->list[at], filtered);
	}
	return err;
}

/*
 * Switch everything off, repeatedly: a child that was forked while its parent's loan was given back still has that
 * loan. 0 or -errno.
 */
static int end_programs(struct attach *attach)
{
	const struct timespec wait = { .tv_nsec = UNREADY_WAIT_NS };
	int got;

	for (unsigned int tries = 0; tries < UNREADY_TRIES; tries++) {
		got = end_all(attach);
		if (got < 0)
			return got;
		for (unsigned int i = 0; i < attach->nr; i++) {
			attach->watched_dirs[i].again = true;
			dir_watch_retry(&attach->watched_dirs[i].watch);
		}
		got = attach_follow(attach);
		if (got < 0)
			return got;
		if (!got && !is_waiting(attach))
			break;
		if (!got)
			nanosleep(&wait, NULL);
	}
	return end_all(attach);
}

int attach_finish(struct attach *attach)
{
	int got = end_programs(attach);

	if (!got) {
		got = run_all(attach, drain_finish);
		give_back_all(attach);
	}
	return got < 0 ? stop_all(attach, got) : got;
}

bool attach_is_alive(struct attach *attach)
{
	const uint64_t now = now_ms();
	bool alive = false, closed = false;

	if (now - attach->looked_ms < ALIVE_PERIOD_MS)
		return true;
	attach->looked_ms = now;
	for (unsigned int i = 0; i < attach->nr; i++)
		for (unsigned int at = 0; at < attach->watched_dirs[i].nr; at++) {
			struct buffer *buffer = &attach->watched_dirs[i].list[at];

			if (!buffer->view)
				continue;
			if (rec_view_alive(buffer->view)) {
				alive = true;
				continue;
			}
			buffer->view = rec_view_close(buffer->view);
			closed = true;
		}
	/* Scan again the directories with a buffer that could not be opened because there was no free descriptor. */
	for (unsigned int i = 0; closed && i < attach->nr; i++)
		if (attach->watched_dirs[i].full) {
			attach->watched_dirs[i].again = true;
			dir_watch_retry(&attach->watched_dirs[i].watch);
		}
	if (alive || !attach->alive_ms)
		attach->alive_ms = now;
	return now - attach->alive_ms < OVER_AFTER_MS ||
	       (now - attach->alive_ms < OVER_AFTER_LONG_MS && family_runs(&attach->family));
}

const struct drain_trouble *attach_trouble(struct attach *attach)
{
	struct drain_trouble *all = &attach->trouble;

	memset(all, 0, sizeof(*all));
	for (unsigned int i = 0; i < attach->nr; i++)
		drain_trouble_add(all, drain_trouble(attach->watched_dirs[i].drain));
	return all;
}

void attach_say_missed(const struct attach *attach)
{
	const struct missed *missed = &attach->missed;

	if (attach->waiting)
		message(attach->sink,
			"up to %u %s that started meanwhile waited for file descriptors, four for each; the limit is "
			"%" PRIu64 " (ulimit -Hn): events that they wrote until then are not recorded",
			attach->waiting, attach->waiting == 1 ? "process" : "processes", file_limit());
	if (missed->nr)
		message(attach->sink, "%u %s that started meanwhile %s not recorded, %s%s (%s): %s", missed->nr,
			missed->nr == 1 ? "process" : "processes", missed->nr == 1 ? "was" : "were",
			missed->nr == 1 ? "" : "the first ", missed->pid, missed->comm, missed->reason);
	for (unsigned int i = 0; i < attach->nr; i++)
		if (attach->watched_dirs[i].err)
			message(attach->sink,
				"cannot look for processes that started meanwhile, some may be missing: %s",
				strerror(-attach->watched_dirs[i].err));
}

struct attach *attach_close(struct attach *attach)
{
	if (!attach)
		return NULL;
	give_back_all(attach);
	for (unsigned int i = 0; i < attach->nr; i++)
		watched_dir_close(&attach->watched_dirs[i]);
	free(attach->watched_dirs);
	family_free(&attach->family);
	free(attach->patterns);
	free(attach);
	return NULL;
}
