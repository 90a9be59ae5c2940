/* SPDX-License-Identifier: MIT */
/*
 * See view_live.h. The pages are copied as recorder snapshot copies them, put into a spool, and woven; so a picture of
 * running programs has the same events as a recording has. Of each lane only the last pages are read, so that a
 * picture takes some tens of milliseconds, however large the lanes are and however fast their threads write. The
 * kernel's rings are handled in the same way.
 */
#include "cli/view/view_live.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/opts.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_pids.h"
#include "cli/recording/spool.h"
#include "cli/recording/spool_to_weave.h"

#define COMMAND "view"

/* Bytes of all pages of programs in a picture, which hold some 50,000 events; and of all pages of the kernel. */
#define PICTURE_BYTES (2u << 20)
#define LANE_BYTES    (64u << 10) /* of each lane, and of each CPU, at least */

/* The least that an event takes in a lane: its word and the common fields. */
#define EVENT_BYTES 12u

/* The number of attempts to copy a page if the writer keeps overtaking the copy. */
#define PAGE_TRIES 1000u

/* The most compressed bytes of the blocks. */
#define ROOM (8u << 20)

static const struct message_sink sink = COMMAND_SINK(COMMAND);

struct taking {
	struct spool *spool;
	size_t lane_bytes;
	unsigned int lanes;
	int err;
};

static void path_of(const struct view_live *live, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", live->dir, name);
}

static size_t share(unsigned int nr)
{
	const size_t bytes = nr ? PICTURE_BYTES / nr : 0;

	return bytes > LANE_BYTES ? bytes : LANE_BYTES;
}

/*
 * Restrict the kernel's events to those of the chosen programs, and of threads and processes that they start. False:
 * one line was printed.
 */
static bool restrict_kernel(struct view_live *live, struct kernel_pids *pids)
{
	if (!live->programs.word)
		return true;
	live->request.follow = true;
	return kernel_pids_find(&sink, &live->programs, true, &live->request, pids) && kernel_pids_are_ours(&sink);
}

/* False: one line was printed. */
static bool open_kernel(struct view_live *live)
{
	struct kernel_pids pids = { .nr = 0 };
	char path[PATH_MAX + 16];
	unsigned int nr = 0;
	bool good;

	instance_sweep(&sink, false);
	good = restrict_kernel(live, &pids) && !kernel_open(&sink, &live->request, "", &live->kernel) &&
	       kernel_pids_catch_up(&sink, &pids, &live->request, live->kernel);
	kernel_pids_close(&pids);
	if (!good)
		return false;
	kernel_cpus(live->kernel, &nr);
	path_of(live, "texts", path, sizeof(path));
	if (kernel_last_open(&sink, live->kernel, path, share(nr), &live->last))
		return false;
	return !kernel_start(live->kernel);
}

static int look_at_nothing(int dir, const char *name, void *data)
{
	(void)dir;
	(void)name;
	(void)data;
	return 0;
}

/* Whether programs can be looked for. False: one line was printed. There need not be a program yet. */
static bool check_programs(const struct view_live *live)
{
	struct programs programs = live->programs;
	bool lacks = false;

	programs.ret_lacks = &lacks;
	return programs_files(&sink, &programs, look_at_nothing, NULL) >= 0 || lacks;
}

bool view_live_open(struct view_live *live)
{
	/* The file is in memory, because a file on a disk would be synced for each picture. */
	const char *tmp = !access("/dev/shm", W_OK) ? "/dev/shm" : getenv("TMPDIR");

	if (!check_programs(live))
		return false;
	live->first = clock_reading_take();
	snprintf(live->dir, sizeof(live->dir), "%s/recorder-view-%d-XXXXXX", tmp && *tmp ? tmp : "/tmp", (int)getpid());
	if (!mkdtemp(live->dir)) {
		complain(COMMAND, "cannot make '%s': %s", live->dir, strerror(errno));
		live->dir[0] = '\0';
		return false;
	}
	return !kernel_request_is_any(&live->request) || open_kernel(live);
}

void view_live_close(struct view_live *live)
{
	live->last = kernel_last_close(live->last);
	live->kernel = kernel_close(live->kernel);
	if (live->dir[0])
		rmdir(live->dir);
	live->dir[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------ one lane */

/* The last pages of a lane, in a circular buffer. */
struct pages {
	struct rec_page *pages; /* their data are copies */
	unsigned int first, nr, room;
};

static int keep_page(struct pages *kept, const struct rec_page *page)
{
	const size_t size = page->size + REC_SUBBUF_HEADER_SIZE;
	unsigned char *data = malloc(size);
	struct rec_page *to;

	if (!data)
		return -ENOMEM;
	if (kept->nr == kept->room) {
		free((void *)(uintptr_t)kept->pages[kept->first].data);
		kept->first = (kept->first + 1) % kept->room;
		kept->nr--;
	}
	to = &kept->pages[(kept->first + kept->nr++) % kept->room];
	*to = *page;
	to->data = memcpy(data, page->data, size);
	return 0;
}

/*
 * A place in the lane that at least its last `bytes` bytes of events follow; zeros mean its oldest event. If statistics
 * were reset, they count fewer events, so the place is an earlier one.
 */
static struct rec_lane_mark find_begin(const struct rec_view *view, unsigned int lane, size_t bytes)
{
	const uint64_t wanted = bytes / EVENT_BYTES + 1;
	struct rec_lane_stats stats;
	uint64_t events = 0;

	/* If the lane cannot be read, the walk gets the error, too. */
	if (!rec_view_stats(view, lane, &stats))
		events = stats.read_events + stats.overrun + stats.entries;
	return (struct rec_lane_mark){ .next = events > wanted ? events - wanted : 0 };
}

/*
 * Keep the last pages, up to the first that begins after now. This end is read after the begin, and for each lane:
 * while the other lanes of the program are copied, a fast thread writes more than a picture has of its lane. A page
 * from the middle of a sub-buffer continues the page before it: that page was the last one, and the writer has added
 * events to its sub-buffer since.
 */
static int keep_lane(struct rec_view *view, unsigned int lane, size_t bytes, struct pages *kept)
{
	const struct rec_lane_mark begin = find_begin(view, lane, bytes);
	struct rec_anchor now;
	struct rec_iter *iter;
	struct rec_page page;
	unsigned int tries = 0;
	uint64_t time = 0;
	int err = rec_clock_anchor(rec_view_info(view)->clock, &now), got;

	if (!err)
		err = rec_iter_open(view, lane, &iter);
	if (err)
		return err;
	/* This includes events that a recorder has taken, as long as the lane still has them. */
	rec_iter_continue(iter, &begin);
	while (!err && time <= now.clock) {
		got = rec_iter_page(iter, &page);
		if (got == -EAGAIN && ++tries < PAGE_TRIES)
			continue;
		if (got != 1 || (kept->nr && page.from))
			break;
		memcpy(&time, page.data, sizeof(time));
		err = keep_page(kept, &page);
	}
	rec_iter_close(iter);
	return err;
}

static int take_lane(struct taking *taking, unsigned int process, struct rec_view *view, unsigned int lane)
{
	const uint32_t size = rec_view_info(view)->subbuf_size;
	/* The last page may have only few events. */
	struct pages kept = { .room = (unsigned int)((taking->lane_bytes + size - 1) / size) + 1 };
	int err;

	kept.pages = calloc(kept.room, sizeof(*kept.pages));
	err = kept.pages ? keep_lane(view, lane, taking->lane_bytes, &kept) : -ENOMEM;
	for (unsigned int i = 0; i < kept.nr; i++) {
		struct rec_page *page = &kept.pages[(kept.first + i) % kept.room];

		/* Events before the picture do not count as missing. */
		if (!i)
			page->lost = 0;
		if (!err)
			err = spool_add_page(taking->spool, process, lane, page, NULL, NULL);
		free((void *)(uintptr_t)page->data);
	}
	free(kept.pages);
	return err;
}

/* -------------------------------------------------------------------------------------------------- all programs */

static int count_lanes(int dir, const char *name, void *data)
{
	struct taking *taking = data;
	struct rec_view *view;

	if (!rec_view_open_at(dir, name, &view)) {
		taking->lanes += rec_view_lanes(view);
		rec_view_close(view);
	}
	return 0;
}

static int add_anchors(struct taking *taking, const struct rec_view *view)
{
	const uint32_t clock = rec_view_info(view)->clock;
	struct rec_anchor anchors[REC_ANCHORS + 1];
	unsigned int nr = rec_view_anchors(view, anchors, REC_ANCHORS);
	int err = rec_clock_anchor(clock, &anchors[nr]);

	for (unsigned int i = 0; i <= nr && !err; i++)
		err = spool_add_anchor(taking->spool, clock, &anchors[i]);
	return err;
}

static int add_log(struct taking *taking, unsigned int process, const struct rec_view *view)
{
	size_t size = 0;
	unsigned char *log = programs_log(view, &size);
	const int err = log ? spool_add_log(taking->spool, process, log, size) : -ENOMEM;

	free(log);
	return err;
}

static int take_view(struct taking *taking, struct rec_view *view, const char *name)
{
	struct spool_process process = { .info = *rec_view_info(view), .other_pids = programs_has_other_pids(view) };
	int number, err;

	snprintf(process.file, sizeof(process.file), "%s", name);
	number = spool_add_process(taking->spool, &process);
	err = number < 0 ? number : add_anchors(taking, view);
	for (unsigned int lane = 0; !err && lane < rec_view_lanes(view); lane++) {
		err = take_lane(taking, (unsigned int)number, view, lane);
		/* A damaged lane, or one of a buffer that is just being removed, is not in the picture. */
		if (err == -EBADMSG || err == -EFAULT)
			err = 0;
	}
	/* The log is read after the pages, so it describes all events in them. */
	return err ? err : add_log(taking, (unsigned int)number, view);
}

/* Take the pages of a program. If it ends meanwhile, it is not in the picture. */
static int take_program(int dir, const char *name, void *data)
{
	struct taking *taking = data;
	struct rec_view *view;

	if (rec_view_open_at(dir, name, &view))
		return 0;
	taking->err = take_view(taking, view, name);
	rec_view_close(view);
	return taking->err ? -ECANCELED : 0;
}

static int weave(const struct view_live *live, struct spool *spool, const char *path)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct spool_to_weave to_weave = { .pages = 0 };
	struct weave_params params;
	struct weave_stats stats;
	int err = spool_to_weave_open(&to_weave, spool);

	if (!err) {
		params = (struct weave_params){
			.source = to_weave.source,
			.streams = to_weave.streams,
			.processes = to_weave.processes,
			.nr_processes = spool->nr_entries,
			.output = path,
			.version = 6,
			.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
			.notes = spool_to_weave_notes(spool),
			.refuse_empty = true,
		};
		params.notes.readings[0] = live->first;
		params.notes.readings[1] = clock_reading_take();
		params.notes.nr_readings = CLOCK_READINGS;
		err = weave_to_dat(&params, &stats);
	}
	spool_to_weave_close(&to_weave);
	return err;
}

/* --------------------------------------------------------------------------------------------------- one picture */

static int add_block(void *arg, const void *bytes, size_t size)
{
	struct blob *blocks = arg;

	blob_u32(blocks, (uint32_t)size);
	blob_put(blocks, bytes, size);
	return blocks->error;
}

/* A browser's page asks several times a second. So the reason is printed once until programs can be found again. */
static void report_once(const void *arg, const char *line)
{
	struct view_live *live = (struct view_live *)(uintptr_t)arg;

	if (!live->is_reported)
		command_message(COMMAND, line);
	live->is_reported = true;
}

static int fill_spool(struct view_live *live, struct spool *spool)
{
	const struct message_sink once = { .message = report_once, .word = command_word, .arg = live };
	struct taking taking = { .spool = spool, .err = live->last ? kernel_last_add(live->last, spool) : 0 };
	struct programs programs = live->programs;
	bool lacks = false;

	if (taking.err)
		return taking.err;
	programs.ret_lacks = &lacks;
	if (programs_files(&once, &programs, count_lanes, &taking) >= 0 || lacks)
		live->is_reported = false;
	taking.lane_bytes = share(taking.lanes);
	programs_files(&once, &programs, take_program, &taking);
	return taking.err;
}

int view_live_take(struct view_live *live, struct blob *ret_blocks)
{
	const struct view_sink blocks = { .block = add_block, .arg = ret_blocks, .effort = 1 };
	const struct spool_head head = { .file_version = 6 };
	char spool_path[PATH_MAX + 16], path[PATH_MAX + 16];
	struct view_request request = {
		.path = path, .shown = "running programs", .room = ROOM, .no_plugins = live->no_plugins, .live = true
	};
	struct view_result result;
	struct spool *spool;
	int err;

	path_of(live, "spool", spool_path, sizeof(spool_path));
	path_of(live, "trace.dat", path, sizeof(path));
	err = spool_create(spool_path, &head, &spool);
	if (err)
		return err;
	err = fill_spool(live, spool);
	if (!err)
		err = weave(live, spool, path);
	spool_remove(spool);
	spool_close(spool);
	if (!err)
		err = view_file(&request, &blocks, &result);
	unlink(path);
	return err;
}
