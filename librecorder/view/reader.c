/* SPDX-License-Identifier: MIT */
/*
 * Views: a buffer file opened by a reader.
 *
 * Guarantees. Every number from the file is checked once, against the file's size, and then used from a private copy;
 * later changes of the file do no harm. The file is mapped read-only, except for the parts that reader_lane.c opens.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/core/no_controls.h"
#include "librecorder/os/buffer_dir.h"
#include "librecorder/os/high_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest log that is accepted, because readers keep a copy. Programs make logs of 4 MiB. */
#define LOG_SIZE_MAX (UINT64_C(16) << 20)

/* Copy a text that may be unterminated or unprintable. */
static void copy_text(char *to, const char *from, size_t size)
{
	const size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	memset(to + length, 0, size - length);
	rec_no_controls(to);
}

/* Whether [offset, offset + size) lies within `limit`, and offset is a multiple of the page size. */
static bool is_inside(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset % REC_MAP_PAGE == 0 && offset <= limit && size <= limit - offset;
}

static bool layout_is_sane(const struct rec_view *view, const struct rec_buffer_header *h)
{
	const uint64_t subbufs = h->max_subbufs;

	if (!rec_view_shape_is_sane(h->subbuf_size, h->nr_subbufs, subbufs) || subbufs > 65535 || h->max_lanes == 0 ||
	    h->max_lanes > 65535 || h->max_lanes * subbufs > REC_SUBBUFS_MAX || h->log_size > LOG_SIZE_MAX ||
	    (h->clock != REC_CLOCK_TSC && h->clock != REC_CLOCK_MONO))
		return false;
	/* None of these sums and products overflows: counts have 16 bits, and the file's size limits the strides. */
	return is_inside(h->enable, REC_EVENTS_MAX * sizeof(uint32_t), view->size) &&
	       is_inside(h->rules, sizeof(struct rec_rules), view->size) &&
	       is_inside(h->conditions, REC_CONDITIONS_SIZE, view->size) &&
	       is_inside(h->loan, sizeof(struct rec_loan), view->size) &&
	       is_inside(h->log, h->log_size, view->size) && is_inside(h->lanes, 0, view->size) &&
	       h->lane_stride <= (view->size - h->lanes) / h->max_lanes && h->lane_stride % REC_MAP_PAGE == 0 &&
	       is_inside(h->lane_reader, sizeof(struct rec_lane_reader) + subbufs * sizeof(struct rec_link),
			 h->lane_meta) &&
	       h->lane_reader >= sizeof(struct rec_lane) + subbufs * sizeof(struct rec_subbuf) &&
	       is_inside(h->lane_meta, (h->nr_subbufs + UINT64_C(1)) * h->subbuf_size, h->lane_stride);
}

/* Make private copies of everything on which later accesses depend. */
static int read_header(struct rec_view *view)
{
	struct rec_buffer_header h;

	/* Acquire: edge B1. */
	if (!rec_load_acquire(&rec_view_header(view)->ready))
		return -EAGAIN;
	memcpy(&h, view->map, sizeof(h));
	/* From here on only the copy is used; the compiler must not read the file again. */
	rec_signal_fence();
	if (h.magic != REC_ABI_MAGIC)
		return -EBADMSG;
	if (!rec_buffer_is_known(&h))
		return -EPROTO;
	if (!layout_is_sane(view, &h))
		return -EBADMSG;
	view->info = (struct rec_view_info){ .pid = h.pid,
					     .start_time = h.start_time,
					     .parent_pid = h.parent_pid,
					     .parent_start = h.parent_start,
					     .clock = h.clock,
					     .subbuf_size = h.subbuf_size,
					     .nr_subbufs = h.nr_subbufs,
					     .max_lanes = h.max_lanes,
					     .overwrite = h.overwrite };
	copy_text(view->info.comm, h.comm, sizeof(view->info.comm));
	copy_text(view->info.exe, h.exe, sizeof(view->info.exe));
	rec_identity_read(&h, &view->who);
	view->features = h.compatible;
	view->enable = h.enable;
	view->rules = h.rules;
	view->conditions = h.conditions;
	view->loan = h.loan;
	view->log = h.log;
	view->log_size = h.log_size;
	view->lanes = h.lanes;
	view->lane_stride = h.lane_stride;
	view->lane_reader = h.lane_reader;
	view->lane_meta = h.lane_meta;
	view->max_subbufs = h.max_subbufs;
	view->opened = calloc(h.max_lanes, sizeof(*view->opened));
	return view->opened ? 0 : -ENOMEM;
}

/* Open the file, if it is a regular one: opening a file of another kind may have effects. 0 or -errno. */
static int open_file(struct rec_view *view, int dir, const char *name)
{
	const int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	view->fd = -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EBADMSG;
	view->fd = high_fd(openat(dir, name, O_RDWR | flags));
	if (view->fd < 0 && errno == EROFS) {
		view->read_only = true;
		view->fd = high_fd(openat(dir, name, O_RDONLY | flags));
	}
	return view->fd < 0 ? -errno : 0;
}

/*
 * Users see their own buffers. Root sees all, but in a user's directory only those of that user. 0, -EPERM or -errno.
 */
static int check_owner(int dir, uid_t owner)
{
	struct stat st = { .st_uid = geteuid() };

	if (geteuid() == 0 && dir == AT_FDCWD)
		return 0;
	if (geteuid() == 0 && fstat(dir, &st) < 0)
		return -errno;
	return st.st_uid == owner ? 0 : -EPERM;
}

static int map_file(struct rec_view *view, int dir, const char *name)
{
	struct stat st;
	int r;

	r = open_file(view, dir, name);
	if (r < 0)
		return r;
	if (fstat(view->fd, &st) < 0)
		return -errno;
	/* The program has made the file and is about to set its size. */
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return -EAGAIN;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)REC_MAP_PAGE)
		return -EBADMSG;
	r = check_owner(dir, st.st_uid);
	if (r < 0)
		return r;
	r = rec_view_map(view, &view->file, PROT_READ, 0, (size_t)st.st_size);
	view->map = view->file.at;
	view->size = (size_t)st.st_size;
	return r;
}

/*
 * Why a read of the mapped header failed. The program sets the size of its file and then writes the header; in between
 * the header is a hole, and reading the map fails if the file system has no room. pread() reads a hole as zeros, and
 * finds the data if the program has written them meanwhile; it fails if the file cannot be read.
 */
static int header_fault(const struct rec_view *view)
{
	struct rec_buffer_header h;
	struct stat st;

	if (fstat(view->fd, &st) < 0 || (uint64_t)st.st_size < view->size)
		return -EFAULT;
	return pread(view->fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) ? -EAGAIN : -EFAULT;
}

int rec_view_open_at(int dir, const char *name, struct rec_view **ret_view)
{
	struct rec_view *view = calloc(1, sizeof(*view));
	struct rec_identity self;
	int r;

	if (!view)
		return -ENOMEM;
	view->pidfd = -1;
	r = map_file(view, dir, name);
	if (r == 0)
		r = read_header(view);
	if (rec_view_is_cut(view))
		r = header_fault(view);
	if (r < 0) {
		rec_view_close(view);
		return r;
	}
	rec_identity_self(&self);
	view->self = self.start_time << 32 | self.pid;
	*ret_view = view;
	return 0;
}

int rec_view_open(const char *path, struct rec_view **ret_view)
{
	return rec_view_open_at(AT_FDCWD, path, ret_view);
}

/* The process that opened the view is the lanes' reader; in a forked child of it, only the mappings end. */
static void leave_lanes(struct rec_view *view, bool is_opener)
{
	unsigned int i;

	for (i = 0; view->opened && i < view->info.max_lanes; i++) {
		struct view_lane *lane = &view->opened[i];

		if (!lane->shared.at)
			continue;
		if (!is_opener) {
			rec_view_unmap(&lane->shared);
			continue;
		}
		if (!lane->damaged)
			rec_ring_read_done(&lane->ring);
		rec_view_leave_words(view, i, &lane->shared);
	}
}

/*
 * The locks belong to the open file, which a child that was forked meanwhile may have open for longer than we. So
 * closing our descriptor does not release them.
 */
struct rec_view *rec_view_close(struct rec_view *view)
{
	bool is_opener;

	if (!view)
		return NULL;
	/* A view that could not be opened completely has no `self`, but also no lock. */
	is_opener = (uint32_t)view->self == (uint32_t)getpid();
	leave_lanes(view, is_opener);
	free(view->opened);
	rec_merge_free(&view->merge);
	rec_view_unmap(&view->file);
	if (view->fd >= 0 && is_opener)
		rec_lock_give(view->fd, REC_LOCK_RECORDER);
	if (view->fd >= 0)
		close(view->fd);
	if (view->pidfd >= 0)
		close(view->pidfd);
	free(view);
	return NULL;
}

const struct rec_view_info *rec_view_info(const struct rec_view *view)
{
	return &view->info;
}

/* From the second call on, a descriptor of the process is kept: each further check costs one system call. */
static void watch_process(struct rec_view *view)
{
	if (view->asked && view->pidfd < 0)
		rec_store_relaxed(&view->pidfd, rec_identity_watch(&view->who));
	view->asked = true;
}

/* True: the process is certainly alive. False: this is not known. */
static bool is_seen_alive(const struct rec_view *view)
{
	struct pollfd process = { .fd = rec_load_relaxed(&view->pidfd), .events = POLLIN };

	return process.fd >= 0 && poll(&process, 1, 0) == 0;
}

/* A process that is gone stays gone: so that answer, for which many processes may be examined, is stored. */
static bool process_is_alive(const struct rec_view *view)
{
	/* Threads that read different lanes call this at the same time. */
	bool *gone = &((struct rec_view *)(uintptr_t)view)->gone;

	if (is_seen_alive(view))
		return true;
	if (!rec_load_relaxed(gone) && !rec_identity_is_alive(&view->who, view->fd) &&
	    !rec_identity_is_seen(&view->who))
		rec_store_relaxed(gone, true);
	return !rec_load_relaxed(gone);
}

/*
 * Whether the process of a program that is in exit() still exists. If this is unknown, it counts as gone, because no
 * sign of its end will follow.
 */
static bool is_in_exit(const struct rec_view *view)
{
	return is_seen_alive(view) || rec_identity_is_certain(&view->who, view->fd) || rec_identity_is_seen(&view->who);
}

bool rec_view_alive(const struct rec_view *view)
{
	const uint32_t state = rec_load_acquire(&rec_view_header(view)->state);

	/* In a file that was truncated, the state is 0. */
	if ((state != REC_BUFFER_LIVE && state != REC_BUFFER_EXITED) || !process_is_alive(view) ||
	    (state == REC_BUFFER_EXITED && !is_in_exit(view)))
		return false;
	watch_process((struct rec_view *)(uintptr_t)view);
	return true;
}

uint32_t rec_view_pid(const struct rec_view *view)
{
	return (uint32_t)rec_identity_pid_here(&view->who);
}

uint64_t rec_view_pid_namespace(const struct rec_view *view)
{
	return view->who.pid_ns;
}

unsigned int rec_view_lanes(const struct rec_view *view)
{
	const uint32_t lanes = rec_load_acquire(&rec_view_header(view)->nr_lanes);

	return lanes < view->info.max_lanes ? lanes : view->info.max_lanes;
}

/*
 * The threads of a program that exits may write until its process is gone; a program that was replaced by exec has no
 * threads left.
 */
bool rec_view_writers_are_gone(const struct rec_view *view)
{
	return rec_load_acquire(&rec_view_header(view)->state) == REC_BUFFER_REPLACED || !process_is_alive(view);
}

void rec_view_losses(const struct rec_view *view, struct rec_view_losses *ret_losses)
{
	const struct rec_buffer_header *header = rec_view_header(view);

	ret_losses->no_lane = rec_load_relaxed(&header->lost_no_lane);
	ret_losses->log_full = rec_load_relaxed(&header->lost_log_full);
	ret_losses->lease_errno = (int)rec_load_relaxed(&header->lease_errno);
}

unsigned int rec_view_unrecorded(const struct rec_view *view, int *ret_errno)
{
	const uint32_t word = rec_load_relaxed(&rec_view_header(view)->unrecorded);

	const unsigned int nr = word & UINT16_MAX;

	if (nr)
		*ret_errno = (int)(word >> 16);
	return nr;
}

size_t rec_view_log(const struct rec_view *view, uint64_t from, void *bytes, size_t size)
{
	/* Acquire: records below log_used are complete (edge G1). */
	uint64_t used = rec_load_acquire(&rec_view_header(view)->log_used);

	used = used < view->log_size ? used : view->log_size;
	if (from >= used)
		return 0;
	size = size < used - from ? size : (size_t)(used - from);
	memcpy(bytes, view->map + view->log + from, size);
	return rec_view_is_cut(view) ? 0 : size;
}

unsigned int rec_view_anchors(const struct rec_view *view, struct rec_anchor *anchors, unsigned int max)
{
	const struct rec_buffer_header *header = rec_view_header(view);
	const uint64_t written = rec_load_acquire(&header->nr_anchors);
	uint64_t have = written < REC_ANCHORS ? written : REC_ANCHORS;
	unsigned int i;

	have = have < max ? have : max;
	for (i = 0; i < have; i++)
		anchors[i] = header->anchors[(written - have + i) % REC_ANCHORS];
	return rec_view_is_cut(view) ? 0 : (unsigned int)have;
}

uint32_t rec_view_enabled(const struct rec_view *view, unsigned int id)
{
	const uint32_t *enable = (const uint32_t *)(const void *)(view->map + view->enable);

	if (id < REC_EVENT_ID_FIRST || id >= REC_EVENT_ID_FIRST + REC_EVENTS_MAX)
		return 0;
	return rec_load_relaxed(&enable[id - REC_EVENT_ID_FIRST]);
}
