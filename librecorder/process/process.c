/* SPDX-License-Identifier: MIT */
/*
 * Making this process's buffer, at the start and in a child.
 *
 * Guarantees. A linked program never fails because of it: without a directory, room or rights there is no buffer, and
 * rec_process.error has the reason. No descriptor stays open. Only what is used takes memory: here a few pages, and a
 * lane at its lease. In a child the code makes no allocation and needs little stack, because fork() may be called in a
 * signal handler, and the child of a raw clone comes here with its first event.
 *
 * The lanes, the log and the events each get a private copy of the addresses and sizes that they need. Memory in the
 * shared file that a reader may overwrite is never used as an address or a size.
 */
#include "librecorder/process/process_private.h"
#include "librecorder/process/context_private.h"
#include "librecorder/process/debug.h"
#include "librecorder/process/event_private.h"
#include "librecorder/process/lane_life.h"
#include "librecorder/os/clock_private.h"
#include "librecorder/os/identity.h"
#include "librecorder/core/atomic.h"
#include "librecorder/core/loan.h"
#include "librecorder/process/log_private.h"
#include "librecorder/process/options.h"
#include "librecorder/process/requests.h"
#include "librecorder/process/sweep.h"

#include <librecorder/clock.h>
#include <librecorder/lane.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* One in this number of starting programs looks for buffers that are no longer needed. */
#define SWEEP_EVERY 32u

struct rec_process rec_process = { .error = -ENXIO };

/* The data that a new buffer inherits from the one that it replaces. */
struct before {
	struct rec_buffer_header *header;
	struct rec_loan *loan;
	size_t size;
};

/*
 * Make memory that is zeroed in a copy of this process: the word by which the copy knows that it is one, and, from the
 * next cache line on, what the lanes need.
 */
static int make_private(size_t size)
{
	/*
	 * With MAP_NORESERVE the kernel does not merge this mapping with the one beside it. madvise() would have to
	 * split them again, which takes 2 us.
	 */
	unsigned char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, size, MADV_WIPEONFORK);
	rec_process.original = (uint32_t *)(void *)memory;
	*rec_process.original = 1;
	return 0;
}

static void drop_private(size_t size)
{
	munmap(rec_process.original, size);
	rec_process.original = NULL;
}

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_header(const struct rec_geometry *g, const struct rec_options *options, const char *exe)
{
	const struct rec_process *process = &rec_process;
	struct rec_buffer_header *header = process->header;

	header->magic = REC_ABI_MAGIC;
	header->version = REC_ABI_VERSION;
	header->compatible = REC_FEATURES_COMPATIBLE;
	header->incompatible = REC_FEATURES_INCOMPATIBLE;
	header->pid = (uint32_t)process->pid;
	header->clock = options->clock;
	header->start_time = process->start_time;
	header->parent_pid = (uint32_t)process->parent_pid;
	header->parent_start = process->parent_start;
	header->pid_ns = process->pid_ns;
	header->locked = process->locked;
	header->subbuf_size = g->subbuf_size;
	header->nr_subbufs = rec_geometry_pages(g, g->subbuf_size) + 1;
	header->max_subbufs = g->max_subbufs;
	header->max_lanes = g->max_lanes;
	header->overwrite = !options->discard;
	header->file_size = g->file_size;
	header->enable = g->enable;
	header->rules = g->rules;
	header->conditions = g->conditions;
	header->loan = g->loan;
	header->log = g->log;
	header->log_size = g->log_size;
	header->lanes = g->lanes;
	header->lane_stride = g->lane_stride;
	header->lane_reader = g->lane_reader;
	header->lane_meta = g->lane_meta;
	prctl(PR_GET_NAME, header->comm);
	strcpy(header->exe, exe);
	header->state = REC_BUFFER_LIVE;
	rec_clock_anchor(options->clock, &header->anchors[0]);
	header->nr_anchors = 1;
}

/*
 * From here on other processes may open the buffer, and switch its events: its initial contents are complete. Release:
 * a reader that sees `ready` sees all of them (edge B1). If there is no buffer, rec_process_say_why() reports the
 * reason.
 */
static void show_buffer(struct rec_buffer_header *parent)
{
	if (rec_process.header)
		rec_store_release(&rec_process.header->ready, 1);
	else
		rec_process_say_why(parent);
}

/*
 * Make a buffer, and hand it to the lanes and the log; the caller does that for the events. The options are complete,
 * because a child uses what its parent has read: the environment may be another one by then.
 */
static int make_buffer(const struct rec_options *complete, struct rec_geometry *g)
{
	struct rec_options options = *complete;
	char exe[sizeof(((struct rec_buffer_header *)0)->exe)];
	struct rec_process *process = &rec_process;
	unsigned char *base;
	struct rec_identity self;
	size_t size;
	int r;

	/* The identity of the process comes first, because rec_process_say_why() needs it. */
	rec_identity_and_exe(&self, exe, sizeof(exe));
	process->pid = (pid_t)self.pid;
	process->pid_ns = self.pid_ns;
	process->start_time = self.start_time;
	/*
	 * The clock may be forbidden, for example in a child of a process that disabled it: reading it would kill the
	 * process.
	 */
	if (!rec_clock_is_allowed())
		return -EOPNOTSUPP;
	if (!process->start_time)
		process->start_time = rec_clock_mono();
	options.clock = options.clock ? options.clock : rec_clock_best();
#if !defined(__x86_64__)
	if (options.clock != REC_CLOCK_MONO)
		return -EINVAL;
#endif
	r = rec_geometry_make(&options, page_size(), g);
	if (r < 0)
		return r;
	size = REC_CACHE_LINE + rec_pool_private_size(g);
	r = make_private(size);
	if (r < 0)
		return r;
	r = rec_process_map_file(g);
	if (r < 0) {
		drop_private(size);
		return r;
	}
	base = (unsigned char *)process->header;
	process->loan = (struct rec_loan *)(void *)(base + g->loan);
	fill_header(g, &options, exe);
	rec_log_begin(base + g->log, g->log_size);
	rec_pool_begin(process->header, g, &options, (unsigned char *)process->original + REC_CACHE_LINE);
	return 0;
}

static void make_first_buffer(void)
{
	struct rec_process *process = &rec_process;
	const struct rec_options options = rec_options_complete(NULL);
	const bool keeps = rec_options_keep();
	struct rec_geometry geometry;
	const char *selectors;

	rec_debug_start();
	/* The parent's start time is not looked up: that takes 10 us, and is not needed here. */
	process->parent_pid = getppid();
	process->keep = keeps;
	process->error = make_buffer(&options, &geometry);
	/*
	 * If the recording has ended, its events are not wanted any more. If there is no buffer, they are wanted:
	 * rec_configure() may make one.
	 */
	selectors = keeps && !process->keep ? NULL : secure_getenv("RECORDER_ENABLE");
	if (selectors)
		rec_requests_add_lines(selectors);
	if (process->error == 0)
		rec_events_begin(&geometry);
	show_buffer(NULL);
}

/*
 * Whether this program sweeps: removes buffers of processes that are gone (sweep.c). With many files a sweep takes
 * longer than the rest of a start, so only some programs do it, unless a quota was set.
 */
static bool is_sweeper(void)
{
	return (uint32_t)rec_process.pid % SWEEP_EVERY == 0 || rec_options_dir_max();
}

int rec_process_init(void)
{
	static uint32_t done;
	const int saved = errno;
	bool first = false;

	/* A process with a buffer needs auto.c at fork and at exit, in a static program, too. */
	__asm__ volatile("" : : "r"(&rec_auto_linked));
	/* Acquire: the thread that made it is done. */
	if (!rec_load_acquire(&done) && rec_process_lock()) {
		first = !done;
		if (first)
			make_first_buffer();
		rec_store_release(&done, 1);
		rec_process_unlock();
	}
	if (first && rec_process.error == 0 && !rec_process.keep && is_sweeper())
		rec_sweep();
	/* In the child of a raw clone, later messages must not concern its parent's buffer. */
	rec_process_is_own();
	errno = saved;
	return rec_process.error;
}

/*
 * A new buffer has replaced the old one, and the events have moved to it. The old mapping is replaced by private
 * memory: an event that fork interrupted may still be finished in the child, and a thread may just be reading an enable
 * word. For the same reason the old handles stay. Both also stay in the children of that child, because it is never
 * known whether the last such event was finished. The cost is the address space of one buffer for each generation, and
 * no memory.
 *
 * Under a limit on the process's data (RLIMIT_DATA) the kernel may refuse private memory, and then permits shared
 * memory. The old mapping must not stay: with it the child would hold its parent's lock, and the parent would seem to
 * be alive after its end.
 */
static void drop_buffer(const struct before *before)
{
	const int flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, access = PROT_READ | PROT_WRITE;

	if (before->header &&
	    mmap(before->header, before->size, access, flags | MAP_PRIVATE, -1, 0) == MAP_FAILED)
		mmap(before->header, before->size, access, flags | MAP_SHARED, -1, 0);
}

/*
 * Copy the loan if a recorder is attached to the process of which this one is a copy. A recorder stores `recorder`
 * before it switches anything, and clears it last. It is loaded twice: by the caller, before the enable words were
 * copied, and here. So if an event is on because of a recorder, one of the two loads finds the recorder.
 */
static void copy_loan(const struct before *before, uint64_t recorder)
{
	size_t size;

	if (!recorder)
		recorder = rec_load_acquire(&before->header->recorder);
	if (!recorder)
		return;
	size = rec_loan_size(before->loan);
	if (rec_process_populate(rec_process.loan, size) < 0)
		return;
	memcpy(rec_process.loan, before->loan, size);
	rec_process.header->recorder = recorder;
}

static int replace_buffer(const struct rec_options *options, bool forked)
{
	const struct before before = { rec_process.header, rec_process.loan, rec_process.size };
	const uint64_t recorder = before.header ? rec_load_acquire(&before.header->recorder) : 0;
	struct rec_geometry geometry = { 0 };

	rec_process.header = NULL;
	rec_pool_end();
	rec_process.error = make_buffer(options, &geometry);
	rec_events_move(before.header, &geometry, recorder != 0);
	rec_context_moved();
	rec_task_moved();
	if (rec_process.header && before.header)
		copy_loan(&before, recorder);
	show_buffer(forked ? before.header : NULL);
	drop_buffer(&before);
	return rec_process.error;
}

void rec_process_forked(void)
{
	struct rec_options options;
	const int saved = errno;

	rec_lane_forked();
	rec_process.parent_pid = rec_process.pid;
	rec_process.parent_start = rec_process.start_time;
	rec_process.pid = getpid();
	if (rec_process.error == 0) {
		options = rec_pool_options();
		replace_buffer(&options, true);
	}
	errno = saved;
}

struct rec_buffer_header *rec_process_header(void)
{
	return rec_process.header;
}

const char *rec_process_path(void)
{
	const struct rec_process *process = &rec_process;
	const bool is_moved = *process->moved_path && access(process->path, F_OK) < 0 &&
			      access(process->moved_path, F_OK) == 0;

	return is_moved ? process->moved_path : process->path;
}

pid_t rec_process_pid(void)
{
	return rec_process.pid;
}

static bool is_copy(void)
{
	return rec_process.original && !rec_load_relaxed(rec_process.original);
}

bool rec_process_is_guest(void)
{
	return rec_process.pid && rec_process.pid != getpid() && !is_copy();
}

bool rec_process_is_maker(void)
{
	/* The pid does not suffice: the first process of each pid namespace has pid 1. */
	return rec_process.pid == getpid() && !is_copy();
}

bool rec_process_is_own(void)
{
	if (rec_process_is_maker())
		return true;
	if (!is_copy() || !rec_process_lock())
		return false;
	if (is_copy())
		rec_process_forked();
	rec_process_unlock();
	return true;
}

int rec_configure(const struct rec_options *options)
{
	struct rec_options complete;
	struct rec_geometry checked;
	int r;

	if (!options || !rec_options_are_known(options))
		return -EINVAL;
	complete = rec_options_complete(options);
	if (complete.clock > REC_CLOCK_MONO)
		return -EINVAL;
	rec_process_init();
	if (!rec_process_lock())
		return -EBUSY;
	r = rec_geometry_make(&complete, page_size(), &checked);
	if (r == 0 && rec_process.header && rec_process.header->nr_lanes)
		r = -EBUSY;
	if (r == 0 && rec_process.header)
		unlink(rec_process_path());
	else if (r == 0)
		rec_process_take_back_why();
	if (r == 0) {
		/* The environment is read again. */
		rec_process.dir_size = 0;
		rec_process.dir_is_users = false;
		rec_process.keep = rec_options_keep();
		r = replace_buffer(&complete, false);
	}
	rec_process_unlock();
	if (r == 0 && !rec_process.keep)
		rec_sweep();
	return r;
}

void rec_process_exit(void)
{
	/* A child that bypassed fork's handlers must not touch its parent's buffer. */
	if (!rec_process.header || !rec_process_is_maker())
		return;
	rec_lane_exit();
	rec_store_release(&rec_process.header->state, REC_BUFFER_EXITED);
	rec_lane_wake_readers();
	/* A recorder that has attached still has to take the events; it removes the file afterwards. */
	if (!rec_process.keep && !rec_load_relaxed(&rec_process.header->recorder))
		unlink(rec_process.path);
}
