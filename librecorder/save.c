/* SPDX-License-Identifier: MIT */
/*
 * rec_save(): this process reads its own lanes as any reader would, through its buffer file, and weaves them into a
 * trace.dat. The only file of the library that knows of format/.
 *
 * Writers go on meanwhile, so each lane is read until it is empty or until a page begins after the save did: the file
 * holds everything that was committed before the call, and some of what came during it. What was read is gone from the
 * lanes, also when the file cannot be written then.
 */
#include <librecorder/buffer.h>
#include <librecorder/clock.h>
#include <librecorder/reader.h>

#include "format/weave.h"

#include <errno.h>
#include <librecorder/atomic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

/* A writer that moves the head is done within a few instructions, unless it lost its CPU there. */
#define AGAIN_YIELDS 1000u
#define AGAIN_SLEEPS 100u
#define AGAIN_US     1000u

struct save {
	struct rec_source source; /* first: the source is the save */
	struct rec_view *view;
	struct weave_stream *streams;
	bool *last; /* of each lane: nothing more is to be read */
	uint64_t begin; /* the buffer's clock */
	int error;
	struct weave_process process;
	unsigned char *log;
	size_t log_size;
	struct rec_anchor anchors[REC_ANCHORS + 1];
};

/* The process that is saving: one save at a time, and a child forked meanwhile is not taken in. */
static uint32_t saving;

/* What earlier saves of this process, and not of the one it was forked from, have told of threads without a lane. */
static uint64_t told_no_lane;
/* And, for each lane, of losses behind its last event, which the lane's next page will carry again. */
static uint64_t *told_behind;
static unsigned int told_lanes;
static uint32_t told_by;

/* Whether to ask once more what said -EAGAIN; not at once. */
static bool ask_again(unsigned int *tries)
{
	if (++*tries > AGAIN_YIELDS + AGAIN_SLEEPS)
		return false;
	if (*tries <= AGAIN_YIELDS)
		sched_yield();
	else
		usleep(AGAIN_US);
	return true;
}

static int read_lane(struct save *save, unsigned int lane, struct rec_page *ret_page)
{
	unsigned int tries = 0;
	int got;

	do {
		got = rec_view_read(save->view, lane, 0, ret_page);
		if (got != -EAGAIN)
			return got;
	} while (ask_again(&tries));
	return 0;
}

/*
 * Become the reader of every lane there is: their sub-buffers keep their sizes from then on, and what the view says of
 * the largest holds for all of the save. What cannot be read is told when it is to be read.
 */
static void open_lanes(struct save *save, unsigned int lanes)
{
	struct rec_view_event event;
	unsigned int lane, tries;

	for (lane = 0; lane < lanes; lane++) {
		tries = 0;
		while (rec_view_peek(save->view, lane, &event) == -EAGAIN && ask_again(&tries))
			continue;
	}
}

static int next_page(struct rec_source *source, unsigned int lane, struct rec_page *ret_page)
{
	struct save *save = (struct save *)source;
	struct rec_lane_stats stats;
	uint64_t time;
	int got;

	if (save->last[lane])
		return 0;
	got = read_lane(save, lane, ret_page);
	if (got > 0) {
		memcpy(&time, ret_page->data, sizeof(time));
		if (ret_page->lost != REC_LOST_UNKNOWN && ret_page->lost >= told_behind[lane])
			ret_page->lost -= told_behind[lane];
		told_behind[lane] = 0;
		save->last[lane] = time > save->begin;
		return got;
	}
	save->last[lane] = true;
	if (got == -EBUSY) {
		save->error = got;
		return -ECANCELED;
	}
	if (got == 0 && !rec_view_stats(save->view, lane, &stats) && stats.lost_unread >= told_behind[lane]) {
		save->streams[lane].lost = stats.lost_unread - told_behind[lane];
		told_behind[lane] = stats.lost_unread;
	}
	return got;
}

/* Append what the log has got since. 1: something; 0: nothing; -ENOMEM. */
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

/* What earlier saves told, for so many lanes; nothing yet in a process that has just been forked. 0 or -ENOMEM. */
static int recall(uint32_t self, unsigned int lanes)
{
	uint64_t *behind;

	if (told_by != self) {
		told_no_lane = 0;
		told_lanes = 0;
		told_by = self;
	}
	behind = realloc(told_behind, (lanes + 1u) * sizeof(*behind));
	if (!behind)
		return -ENOMEM;
	if (lanes > told_lanes) {
		memset(behind + told_lanes, 0, (lanes - told_lanes) * sizeof(*behind));
		told_lanes = lanes;
	}
	told_behind = behind;
	return 0;
}

static int describe(struct save *save)
{
	const struct rec_view_info *info = rec_view_info(save->view);
	const unsigned int lanes = rec_view_lanes(save->view);
	struct rec_view_losses losses;
	unsigned int anchors;
	int err;

	save->source.next = next_page;
	save->source.nr_streams = lanes;
	save->streams = calloc(lanes + 1u, sizeof(*save->streams));
	save->last = calloc(lanes + 1u, sizeof(*save->last));
	if (!save->streams || !save->last)
		return -ENOMEM;
	err = recall(info->pid, lanes);
	if (err)
		return err;
	open_lanes(save, lanes);
	err = read_log(save);
	if (err < 0)
		return err;
	/* Taken now, behind nearly every event there will be, this anchor is what fixes the end of the time line. */
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
		.lost = losses.no_lane - told_no_lane,
	};
	return 0;
}

static int save_view(struct save *save, const char *path)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct weave_stats stats;
	struct weave_params params;
	int err = describe(save);

	if (err)
		return err;
	params = (struct weave_params){
		.source = &save->source,
		.streams = save->streams,
		.processes = &save->process,
		.nr_processes = 1,
		.output = path,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.writer = "librecorder " PACKAGE_VERSION,
		.refresh = refresh_log,
		.refresh_arg = save,
	};
	err = weave_to_dat(&params, &stats);
	if (err == -ECANCELED && save->error)
		err = save->error;
	if (!err)
		told_no_lane += save->process.lost;
	return err;
}

int rec_save(const char *path)
{
	const uint32_t self = (uint32_t)getpid();
	uint32_t holder = __atomic_load_n(&saving, __ATOMIC_RELAXED);
	struct save save;
	int err;

	if (!rec_process.header)
		return -ENXIO;
	/* Acquire, with the release below: what one save leaves in told_no_lane the next one sees. */
	if (holder == self ||
	    !__atomic_compare_exchange_n(&saving, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return -EBUSY;
	memset(&save, 0, sizeof(save));
	err = rec_view_open(rec_process.path, &save.view);
	if (!err)
		err = save_view(&save, path);
	rec_view_close(save.view);
	free(save.log);
	free(save.last);
	free(save.streams);
	__atomic_store_n(&saving, 0, __ATOMIC_RELEASE);
	return err;
}
