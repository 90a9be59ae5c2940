/* SPDX-License-Identifier: MIT */
/*
 * Making this process's buffer, at the start and in a forked child.
 *
 * Guarantees. A linked program never fails because of it: without a directory, room or rights there is simply no buffer,
 * and rec_process.error says why. No descriptor stays open. Memory is taken only for what is used: here a few pages, a
 * lane's at its lease.
 */
#include "process.h"
#include "event_private.h"
#include "rules.h"
#include "shm.h"

#include <librecorder/clock.h>
#include <librecorder/lane.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux 5.14; Debian 12's headers have it, older ones do not. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Files that a start looks at for such as nobody needs; a start must not take long. */
#define SWEEP_MAX 32

/* One process image after another may have the same pid and start time: exec. More than this many is somebody's mischief. */
#define NAMES_MAX 1000

struct rec_process rec_process = { .error = -ENXIO };

static uint32_t lock_word;

/* Held for microseconds and never across anything that blocks; so waiting is a matter of letting the holder run. */
void rec_process_lock(void)
{
	while (!rec_process_trylock())
		sched_yield();
}

bool rec_process_trylock(void)
{
	uint32_t expected = 0;

	return rec_cmpxchg32(&lock_word, &expected, 1);
}

void rec_process_unlock(void)
{
	rec_store_release(&lock_word, 0);
}

/* A number of KiB from the environment; 0 when there is none or it makes no sense. */
static size_t env_kb(const char *name)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long long value;

	if (!text || *text < '0' || *text > '9')
		return 0;
	value = strtoull(text, &end, 10);
	return *end || value > SIZE_MAX / 4096 ? 0 : (size_t)value * 1024;
}

static bool env_is(const char *name, const char *value)
{
	const char *text = secure_getenv(name);

	return text && strcmp(text, value) == 0;
}

/* Fill what the options leave open from the environment. */
static struct rec_options complete_options(const struct rec_options *given)
{
	struct rec_options options = REC_OPTIONS_INIT;

	if (given)
		memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
	if (!options.lane_size)
		options.lane_size = env_kb("RECORDER_BUFFER_KB");
	if (!options.subbuf_size)
		options.subbuf_size = env_kb("RECORDER_SUBBUF_KB");
	if (!options.lane_max)
		options.lane_max = env_kb("RECORDER_BUFFER_MAX_KB");
	if (!options.memory_max)
		options.memory_max = env_kb("RECORDER_MAX_KB");
	if (!options.clock && env_is("RECORDER_CLOCK", "mono"))
		options.clock = REC_CLOCK_MONO;
	else if (!options.clock && env_is("RECORDER_CLOCK", "tsc"))
		options.clock = REC_CLOCK_TSC;
	if (!options.discard)
		options.discard = env_is("RECORDER_MODE", "discard");
	return options;
}

/* An earlier image of this very process left its file: it writes no more. */
static void close_predecessor(int dir, const char *name)
{
	struct rec_buffer_header *header;
	struct stat st;
	const int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(*header)) {
		header = mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (header != MAP_FAILED) {
			rec_store_release(&header->state, REC_BUFFER_REPLACED);
			munmap(header, sizeof(*header));
		}
	}
	close(fd);
}

static int create_file(int dir, uint64_t start_time, char *name, size_t size)
{
	unsigned int i;
	int fd;

	for (i = 0; i < NAMES_MAX; i++) {
		if (i == 0)
			snprintf(name, size, "%d-%llu.rec", (int)getpid(), (unsigned long long)start_time);
		else
			snprintf(name, size, "%d-%llu-%u.rec", (int)getpid(), (unsigned long long)start_time, i);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
		close_predecessor(dir, name);
	}
	return -EEXIST;
}

/* Beyond the limit on a file's size the kernel does not only refuse, it kills by SIGXFSZ. */
static bool may_be_so_big(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Older kernels cannot populate a mapping; the file can be made to have the room by its name. */
static int allocate_by_name(uint64_t offset, size_t size)
{
	const int fd = open(rec_process.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = !may_be_so_big(offset + size) ? -EFBIG : fallocate(fd, 0, (off_t)offset, (off_t)size) < 0 ? -errno : 0;
	close(fd);
	return r == -ENOSPC ? -ENOMEM : r;
}

int rec_process_populate(void *start, size_t size)
{
	const int saved = errno;
	int r = 0;

	if (madvise(start, size, MADV_POPULATE_WRITE) < 0) {
		/* EFAULT: touching it would have raised SIGBUS, the file system is full. */
		r = errno == EFAULT ? -ENOMEM : -errno;
		if (r == -EINVAL)
			r = allocate_by_name((uint64_t)((unsigned char *)start - (unsigned char *)rec_process.header), size);
	}
	errno = saved;
	return r;
}

int rec_process_grow_log(uint64_t upto)
{
	static uint64_t populated;
	static const unsigned char *of;
	int r;

	if (upto > rec_process.geometry.log_size)
		return -ENOSPC;
	if (of != rec_process.log) {
		of = rec_process.log;
		populated = 0;
	}
	if (upto <= populated)
		return 0;
	upto = (upto + REC_MAP_PAGE - 1) & ~(uint64_t)(REC_MAP_PAGE - 1);
	r = rec_process_populate(rec_process.log + populated, (size_t)(upto - populated));
	if (r == 0)
		populated = upto;
	return r;
}

/* Handles and lane states, zeroed in forked children so that none of them writes to its parent's lanes. */
static int make_handles(struct rec_process *process)
{
	const size_t lanes = process->geometry.max_lanes;
	const size_t size = lanes * (sizeof(*process->handles) + sizeof(*process->lane_states));
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, size, MADV_WIPEONFORK);
	process->handles = memory;
	process->lane_states = (uint32_t *)(void *)(process->handles + lanes);
	return 0;
}

static void read_names(struct rec_buffer_header *header)
{
	ssize_t n;

	prctl(PR_GET_NAME, header->comm);
	n = readlink("/proc/self/exe", header->exe, sizeof(header->exe) - 1);
	header->exe[n > 0 ? n : 0] = '\0';
}

static void fill_header(struct rec_buffer_header *header, const struct rec_process *process, uint64_t start_time)
{
	const struct rec_geometry *g = &process->geometry;

	header->magic = REC_ABI_MAGIC;
	header->version = REC_ABI_VERSION;
	header->pid = (uint32_t)process->pid;
	header->clock = process->clock;
	header->start_time = start_time;
	header->subbuf_size = g->subbuf_size;
	header->nr_subbufs = rec_geometry_pages(g, g->subbuf_size) + 1;
	header->max_subbufs = g->max_subbufs;
	header->max_lanes = g->max_lanes;
	header->overwrite = process->overwrite;
	header->file_size = g->file_size;
	header->enable = g->enable;
	header->rules = g->rules;
	header->log = g->log;
	header->log_size = g->log_size;
	header->lanes = g->lanes;
	header->lane_stride = g->lane_stride;
	header->lane_reader = g->lane_reader;
	header->lane_meta = g->lane_meta;
	read_names(header);
	header->state = REC_BUFFER_LIVE;
	rec_clock_anchor(process->clock, &header->anchors[0]);
	header->nr_anchors = 1;
}

/*
 * From here on others may open the buffer, and switch its events: what it has from the start is in it. Release: a reader
 * that sees it sees all of that (edge B1).
 */
static void show_buffer(void)
{
	if (rec_process.header)
		rec_store_release(&rec_process.header->ready, 1);
}

/* The file, its mapping, the first page; process->path is set. */
static int map_buffer(struct rec_process *process, uint64_t start_time)
{
	char dir_name[PATH_MAX - 64], name[64];
	/* A session's directory is its recorder's to make: a program that outlives the recording must not bring it back. */
	const int dir = rec_buffer_dir_open(!process->keep, dir_name, sizeof(dir_name));
	void *map = MAP_FAILED;
	int fd, r;

	if (dir < 0)
		return dir;
	fd = create_file(dir, start_time, name, sizeof(name));
	if (fd < 0) {
		close(dir);
		return fd;
	}
	snprintf(process->path, sizeof(process->path), "%s/%s", dir_name, name);
	r = may_be_so_big(process->geometry.file_size) ? 0 : -EFBIG;
	if (r == 0)
		r = ftruncate(fd, (off_t)process->geometry.file_size) < 0 ? -errno : 0;
	if (r == 0) {
		map = mmap(NULL, (size_t)process->geometry.file_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
		r = map == MAP_FAILED ? -errno : 0;
	}
	if (r == 0) {
		process->header = map;
		r = rec_process_populate(map, (size_t)process->geometry.enable + REC_MAP_PAGE);
	}
	if (r == 0)
		r = rec_process_populate((unsigned char *)map + process->geometry.rules, REC_MAP_PAGE);
	if (r < 0) {
		unlinkat(dir, name, 0);
		if (map != MAP_FAILED)
			munmap(map, (size_t)process->geometry.file_size);
		process->header = NULL;
	}
	close(fd);
	close(dir);
	return r;
}

static int make_buffer(const struct rec_options *given)
{
	const struct rec_options options = complete_options(given);
	struct rec_process *process = &rec_process;
	uint64_t start_time = 0;
	int r;

	process->pid = getpid();
	process->clock = options.clock ? options.clock : rec_clock_best();
	process->overwrite = !options.discard;
	process->keep = env_is("RECORDER_KEEP", "1");
#if !defined(__x86_64__)
	if (process->clock != REC_CLOCK_MONO)
		return -EINVAL;
#endif
	r = rec_geometry_make(&options, &process->geometry);
	if (r < 0)
		return r;
	if (rec_process_start_time(process->pid, &start_time) < 0)
		start_time = rec_clock_mono();
	r = make_handles(process);
	if (r < 0)
		return r;
	r = map_buffer(process, start_time);
	if (r < 0) {
		munmap(process->handles,
		       process->geometry.max_lanes * (sizeof(*process->handles) + sizeof(*process->lane_states)));
		process->handles = NULL;
		return r;
	}
	process->enable = (uint32_t *)(void *)((unsigned char *)process->header + process->geometry.enable);
	process->rules = (struct rec_rules *)(void *)((unsigned char *)process->header + process->geometry.rules);
	process->log = (unsigned char *)process->header + process->geometry.log;
	fill_header(process->header, process, start_time);
	return 0;
}

/* Whether a buffer file was left by a process that is gone and never wrote an event. */
static bool is_rubbish(int dir, const char *name)
{
	struct rec_buffer_header header;
	unsigned long long start_time;
	unsigned int pid;
	ssize_t n;
	int fd;

	if (sscanf(name, "%u-%llu", &pid, &start_time) != 2 || rec_process_is_alive(pid, start_time))
		return false;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = pread(fd, &header, sizeof(header), 0);
	close(fd);
	return n == (ssize_t)sizeof(header) && header.magic == REC_ABI_MAGIC && header.pid == pid &&
	       header.start_time == start_time && header.nr_lanes == 0;
}

/*
 * Children that end by exec, _exit or a signal leave their files behind. Those that hold no event are of no use to
 * anybody; each program that starts takes some of them away, so that they do not pile up.
 */
static void sweep(void)
{
	char path[PATH_MAX];
	const int fd = rec_buffer_dir_open(false, path, sizeof(path));
	unsigned int looked = 0;
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while (looked < SWEEP_MAX && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		looked++;
		if (is_rubbish(fd, entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	}
	closedir(dir);
}

int rec_process_init(void)
{
	static bool tried;
	const int saved = errno;

	/* Whoever has a buffer needs what auto.c does at fork and at the end, in a static program too. */
	__asm__ volatile("" : : "r"(&rec_auto_linked));
	rec_process_lock();
	if (!tried) {
		tried = true;
		rec_process.error = make_buffer(NULL);
		if (rec_process.error == 0)
			rec_events_set_wish(secure_getenv("RECORDER_ENABLE"));
		show_buffer();
		if (rec_process.error == 0 && !rec_process.keep)
			sweep();
	}
	rec_process_unlock();
	errno = saved;
	return rec_process.error;
}

/*
 * Another buffer takes the place of `old`, whose events have moved already. Its mapping gives way to memory that nobody
 * else sees: an event that fork interrupted may still be finished in the child, and a thread may just be looking at an
 * enable word. For the same reason the old handles stay.
 */
static void drop_buffer(const struct rec_process *old)
{
	if (old->header)
		mmap(old->header, (size_t)old->geometry.file_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static int replace_buffer(const struct rec_options *options)
{
	const struct rec_process old = rec_process;

	rec_process.header = NULL;
	rec_process.error = make_buffer(options);
	if (rec_process.header && old.header) {
		rec_process.header->stopped = old.header->stopped;
		rec_rules_copy(rec_process.rules, old.rules);
	}
	rec_events_move();
	show_buffer();
	drop_buffer(&old);
	return rec_process.error;
}

static struct rec_options present_options(const struct rec_process *process)
{
	const struct rec_geometry *g = &process->geometry;
	/* Another thread may be changing it. */
	const uint32_t subbuf_size = rec_load_relaxed(&g->subbuf_size);
	const size_t capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;

	return (struct rec_options){
		.size = sizeof(struct rec_options),
		.lane_size = rec_geometry_pages(g, subbuf_size) * capacity,
		.lane_max = (rec_geometry_subbufs(g, subbuf_size) - 1) * capacity,
		.subbuf_size = subbuf_size,
		.memory_max = (size_t)(g->max_lanes * g->lane_stride),
		.clock = process->clock,
		.discard = !process->overwrite,
	};
}

/*
 * The parent's handles, where they were not wiped: a kernel before 4.14 does not, and qemu-user says that it does. The
 * child of a raw clone, which does not come here, would write to its parent's lanes there.
 */
static void forget_lanes(void)
{
	const uint32_t lanes = rec_load_acquire(&rec_process.header->nr_lanes);
	uint32_t i;

	for (i = 0; i < lanes && i < rec_process.geometry.max_lanes; i++)
		if (rec_process.handles[i].lane)
			rec_process.handles[i].lane = NULL;
}

void rec_process_forked(void)
{
	const struct rec_options options = present_options(&rec_process);
	const int saved = errno;

	rec_lane_forked();
	if (rec_process.error == 0) {
		forget_lanes();
		replace_buffer(&options);
	}
	rec_store_release(&lock_word, 0);
	errno = saved;
}

int rec_configure(const struct rec_options *options)
{
	struct rec_options complete;
	struct rec_geometry checked;
	int r;

	if (!options || options->size < sizeof(size_t) || options->clock > REC_CLOCK_MONO)
		return -EINVAL;
	/* A program built with an older header gives fewer options. */
	complete = complete_options(options);
	rec_process_init();
	rec_process_lock();
	r = rec_geometry_make(&complete, &checked);
	if (r == 0 && rec_process.header && rec_process.header->nr_lanes)
		r = -EBUSY;
	if (r == 0 && rec_process.header)
		unlink(rec_process.path);
	if (r == 0)
		r = replace_buffer(options);
	if (r == 0 && !rec_process.keep)
		sweep();
	rec_process_unlock();
	return r;
}

void rec_process_exit(void)
{
	/* A child that never came past fork's handlers must not touch its parent's. */
	if (!rec_process.header || rec_process.pid != getpid())
		return;
	rec_store_release(&rec_process.header->state, REC_BUFFER_EXITED);
	rec_lane_wake_readers();
	if (!rec_process.keep)
		unlink(rec_process.path);
}
