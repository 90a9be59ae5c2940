/* SPDX-License-Identifier: MIT */
/*
 * rec_save() and rec_snapshot(): this process reads its own lanes as any reader would, through its buffer file, and
 * weaves them into a trace.dat. This is the only file of the library that uses format/.
 *
 * Writers continue meanwhile. So each lane is read until it is empty or until a page begins later than the save: the
 * file holds everything that was committed before the call, and some events of the time during the call. A save takes
 * events from the lanes, even if writing the file fails afterwards. A snapshot makes copies, and needs no lane for
 * itself.
 */
#include <librecorder/buffer.h>
#include <librecorder/clock.h>
#include <librecorder/reader.h>

#include "format/weave/weave.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "librecorder/core/atomic.h"
#include "librecorder/os/boot_id.h"
#include "librecorder/os/pid_namespace.h"
#include "librecorder/process/process.h"

/*
 * A writer that moves the head is done within a few instructions, unless it lost its CPU there. A call waits for about
 * a second in all; then the file lacks the events of lanes that cannot be read, and the result says so.
 */
#define AGAIN_YIELDS 1000u
#define AGAIN_SLEEPS 1000u
#define AGAIN_US     1000u

struct save {
	struct rec_source source; /* first: the source is the save */
	struct rec_view *view;
	struct rec_iter **iters; /* for a snapshot: an iterator for each lane; NULL: for a save, which consumes */
	struct weave_stream *streams;
	bool *last; /* for each lane: whether reading is finished */
	unsigned int tries; /* how often the call has waited */
	bool lacks_lane;
	uint64_t begin; /* the buffer's clock */
	int error;
	struct weave_process process;
	unsigned char *log;
	size_t log_size;
	struct rec_anchor anchors[REC_ANCHORS + 1];
};

/* The process that is saving: one save at a time. In a child forked meanwhile the id does not match. */
static uint32_t saving;

/* Threads without a lane that earlier saves of this process (not of its parent) have reported. */
static uint64_t reported_no_lane;
/* For each lane, losses that were reported after its last event; the lane's next page will carry them again. */
static uint64_t *reported_unread;
static unsigned int reported_lanes;
static uint32_t reported_by;

/* Whether to retry after -EAGAIN, after a pause. */
static bool ask_again(struct save *save)
{
	if (save->tries == AGAIN_YIELDS + AGAIN_SLEEPS)
		return false;
	if (++save->tries <= AGAIN_YIELDS)
		sched_yield();
	else
		usleep(AGAIN_US);
	return true;
}

/* The lane cannot be read. Returns 0: no page comes from it. */
static int leave_out(struct save *save, unsigned int lane)
{
	save->last[lane] = true;
	save->lacks_lane = true;
	return 0;
}

static int read_lane(struct save *save, unsigned int lane, struct rec_page *ret_page)
{
	int got;

	do {
		got = save->iters ? rec_iter_page(save->iters[lane], ret_page) :
				    rec_view_read(save->view, lane, 0, ret_page);
	} while (got == -EAGAIN && ask_again(save));
	return got == -EAGAIN ? leave_out(save, lane) : got;
}

/*
 * Become the reader of every existing lane: their sub-buffers keep their sizes from then on, and the largest size that
 * the view reports is valid for the whole save. An error of a lane is reported when it is the lane's turn.
 */
static void open_lanes(struct save *save, unsigned int lanes)
{
	struct rec_view_event event;
	unsigned int lane;
	int r;

	for (lane = 0; lane < lanes; lane++) {
		do {
			r = rec_view_peek(save->view, lane, &event);
		} while (r == -EAGAIN && ask_again(save));
		if (r == -EAGAIN)
			leave_out(save, lane);
	}
}

/* Whether a page began later than the save; a writer that continues would otherwise keep us here. */
static bool is_new(const struct save *save, const struct rec_page *page)
{
	uint64_t time;

	memcpy(&time, page->data, sizeof(time));
	return time > save->begin;
}

static int next_copy(struct rec_source *source, unsigned int lane, struct rec_page *ret_page)
{
	struct save *save = (struct save *)source;
	int got;

	if (save->last[lane])
		return 0;
	got = read_lane(save, lane, ret_page);
	save->last[lane] = got <= 0 || is_new(save, ret_page);
	return got;
}

static int next_page(struct rec_source *source, unsigned int lane, struct rec_page *ret_page)
{
	struct save *save = (struct save *)source;
	struct rec_lane_stats stats;
	int got;

	if (save->last[lane])
		return 0;
	got = read_lane(save, lane, ret_page);
	if (got > 0) {
		if (ret_page->lost != REC_LOST_UNKNOWN && ret_page->lost >= reported_unread[lane])
			ret_page->lost -= reported_unread[lane];
		reported_unread[lane] = 0;
		save->last[lane] = is_new(save, ret_page);
		return got;
	}
	save->last[lane] = true;
	if (got == -EBUSY) {
		save->error = got;
		return -ECANCELED;
	}
	if (got == 0 && !rec_view_stats(save->view, lane, &stats) && stats.lost_unread >= reported_unread[lane]) {
		save->streams[lane].lost = stats.lost_unread - reported_unread[lane];
		reported_unread[lane] = stats.lost_unread;
	}
	return got;
}

/* Begin where the previous snapshot ended. */
static int open_iters(struct save *save, unsigned int lanes)
{
	struct rec_lane_mark mark;
	unsigned int lane;
	int r = 0;

	for (lane = 0; lane < lanes && r == 0; lane++) {
		r = rec_iter_open(save->view, lane, &save->iters[lane]);
		if (r == 0)
			r = rec_view_mark(save->view, lane, &mark);
		if (r == 0)
			rec_iter_continue(save->iters[lane], &mark);
	}
	return r;
}

/* Called when the snapshot is in its file: the next snapshot then begins where this one ended. */
static int set_marks(struct save *save)
{
	struct rec_lane_mark mark;
	unsigned int lane;
	int r = 0;

	for (lane = 0; lane < save->source.nr_streams && r == 0; lane++) {
		rec_iter_mark(save->iters[lane], &mark);
		r = rec_view_set_mark(save->view, lane, &mark);
	}
	return r;
}

/* Append what was added to the log. 1: something; 0: nothing; -ENOMEM. */
static int read_log(struct save *save)
{
	const size_t before = save->log_size;
	size_t room = 65536;

	for (;;) {
		unsigned char *log = realloc(save->log, save->log_size + room);
		size_t n;

		if (!log)
			return -ENOMEM;
		save->log = log;
		n = rec_view_log(save->view, save->log_size, log + save->log_size, room);
		if (!n)
			break;
		save->log_size += n;
		room *= 2;
	}
	return save->log_size > before;
}

static bool refresh_log(void *arg, unsigned int process, const void **ret_log, size_t *ret_size)
{
	struct save *save = arg;

	(void)process;
	if (read_log(save) <= 0)
		return false;
	*ret_log = save->log;
	*ret_size = save->log_size;
	return true;
}

/*
 * Make room for the losses that saves of this process reported for each lane; a process that was just forked begins
 * with 0. Returns 0 or -ENOMEM.
 */
static int recall(uint32_t self, unsigned int lanes)
{
	uint64_t *unread;

	if (reported_by != self) {
		reported_no_lane = 0;
		reported_lanes = 0;
		reported_by = self;
	}
	unread = realloc(reported_unread, (lanes + 1u) * sizeof(*unread));
	if (!unread)
		return -ENOMEM;
	if (lanes > reported_lanes) {
		memset(unread + reported_lanes, 0, (lanes - reported_lanes) * sizeof(*unread));
		reported_lanes = lanes;
	}
	reported_unread = unread;
	return 0;
}

static int describe(struct save *save, bool snapshot)
{
	const struct rec_view_info *info = rec_view_info(save->view);
	const unsigned int lanes = rec_view_lanes(save->view);
	struct rec_view_losses losses;
	unsigned int anchors;
	int err;

	save->source.next = snapshot ? next_copy : next_page;
	save->source.nr_streams = lanes;
	save->streams = calloc(lanes + 1u, sizeof(*save->streams));
	save->last = calloc(lanes + 1u, sizeof(*save->last));
	if (!save->streams || !save->last)
		return -ENOMEM;
	if (snapshot) {
		save->iters = calloc(lanes + 1u, sizeof(struct rec_iter *));
		err = save->iters ? open_iters(save, lanes) : -ENOMEM;
	} else {
		err = recall(info->pid, lanes);
		if (!err)
			open_lanes(save, lanes);
	}
	if (!err)
		err = read_log(save);
	if (err < 0)
		return err;
	/* Taken now, later than nearly all events, this anchor determines the end of the time line. */
	anchors = rec_view_anchors(save->view, save->anchors, REC_ANCHORS);
	err = rec_clock_anchor(info->clock, &save->anchors[anchors]);
	if (err)
		return err;
	save->begin = save->anchors[anchors].clock;
	rec_view_losses(save->view, &losses);
	save->process = (struct weave_process){
		.pid = info->pid,
		.clock = info->clock,
		.subbuf_size = info->subbuf_size,
		.comm = info->comm,
		.log = save->log,
		.log_size = save->log_size,
		.anchors = save->anchors,
		.nr_anchors = anchors + 1,
		.lost = snapshot ? 0 : losses.no_lane - reported_no_lane,
		.other_pids = rec_pid_namespace_is_other(rec_view_pid_namespace(save->view)),
	};
	return 0;
}

/* The time of the anchor that was taken just now. */
static struct clock_reading read_clocks(const struct rec_anchor *anchor)
{
	struct timespec mono = { 0 }, boot = { 0 };
	int64_t asleep;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	asleep = (int64_t)(boot.tv_sec - mono.tv_sec) * 1000000000 + boot.tv_nsec - mono.tv_nsec;
	return (struct clock_reading){ .mono = anchor->mono,
				       .realtime = anchor->realtime,
				       .boottime = anchor->mono + (uint64_t)asleep };
}

static int save_view(struct save *save, bool snapshot, const char *path)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char boot[BOOT_ID_SIZE];
	struct weave_stats stats;
	struct weave_params params;
	int err = describe(save, snapshot);

	if (err)
		return err;
	if (boot_id_read(boot, sizeof(boot)))
		boot[0] = '\0';
	params = (struct weave_params){
		.source = &save->source,
		.streams = save->streams,
		.processes = &save->process,
		.nr_processes = 1,
		.output = path,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.notes = { .program = "librecorder " PACKAGE_VERSION,
			   .readings = { read_clocks(&save->anchors[save->process.nr_anchors - 1]) },
			   .nr_readings = 1,
			   .boot = boot },
		.refresh = refresh_log,
		.refresh_arg = save,
	};
	err = weave_to_dat(&params, &stats);
	if (err == -ECANCELED && save->error)
		err = save->error;
	if (!err)
		reported_no_lane += save->process.lost;
	if (!err && snapshot)
		err = set_marks(save);
	return !err && save->lacks_lane ? -EAGAIN : err;
}

static void close_save(struct save *save)
{
	unsigned int lane;

	for (lane = 0; save->iters && lane < save->source.nr_streams; lane++)
		rec_iter_close(save->iters[lane]);
	rec_view_close(save->view);
	free(save->iters);
	free(save->log);
	free(save->last);
	free(save->streams);
}

static int save_to(const char *path, bool snapshot)
{
	const uint32_t self = (uint32_t)getpid();
	uint32_t holder = __atomic_load_n(&saving, __ATOMIC_RELAXED);
	struct save save;
	int err;

	if (!rec_process_is_own() || !rec_process_header())
		return -ENXIO;
	/* Acquire, paired with the release below: the next save sees what this one stores in reported_no_lane. */
	if (holder == self ||
	    !__atomic_compare_exchange_n(&saving, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return -EBUSY;
	memset(&save, 0, sizeof(save));
	err = rec_view_open(rec_process_path(), &save.view);
	if (!err)
		err = save_view(&save, snapshot, path);
	close_save(&save);
	__atomic_store_n(&saving, 0, __ATOMIC_RELEASE);
	return err;
}

static bool limit_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

/*
 * A thread that ended in the middle would leave `saving` set, and this process the reader of its own lanes. So it is
 * not cancelled; and SIGXFSZ, which the kernel raises for a thread that writes beyond the limit on a file's size, is
 * blocked, and taken back at the end. The write has returned EFBIG.
 */
static int save_unharmed(const char *path, bool snapshot)
{
	const struct timespec now = { 0 };
	sigset_t limit, mask;
	int cancel, ours, err;
	bool was_pending;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &mask);
	was_pending = limit_is_pending();
	err = save_to(path, snapshot);
	if (!was_pending && limit_is_pending())
		sigtimedwait(&limit, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(cancel, &ours);
	return err;
}

int rec_save(const char *path)
{
	return save_unharmed(path, false);
}

int rec_snapshot(const char *path)
{
	return save_unharmed(path, true);
}
