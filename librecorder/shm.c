/* SPDX-License-Identifier: MIT */
/*
 * Buffer files: where they are, how big, who a process is.
 */
#include "process.h"
#include "shm.h"

#include <librecorder/reader.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LANE_SIZE   (UINT64_C(1) << 20)
#define DEFAULT_SUBBUF_SIZE UINT64_C(4096)
#define DEFAULT_MEMORY_MAX  (UINT64_C(64) << 20)

/* Ids and shapes of a few ten thousand events, and as many thread names; only what is used takes memory. */
#define LOG_SIZE (UINT64_C(4) << 20)

/* Sub-buffer ids have 16 bits (REC_POS_ID). */
#define NR_SUBBUFS_MAX 65535u

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

bool rec_is_subbuf_size(uint64_t size)
{
	return size >= REC_SUBBUF_MIN && size <= REC_SUBBUF_MAX && (size & (size - 1)) == 0;
}

uint64_t rec_lane_pages(uint64_t size, uint64_t subbuf_size)
{
	const uint64_t capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const uint64_t pages = size / capacity + (size % capacity != 0);

	return pages < 2 ? 2 : pages;
}

uint32_t rec_geometry_subbufs(const struct rec_geometry *geometry, uint32_t subbuf_size)
{
	/* The meta page is as large as a sub-buffer. */
	const uint64_t fit = (geometry->lane_stride - geometry->lane_meta) / subbuf_size - 1;

	return (uint32_t)(fit < geometry->max_subbufs ? fit : geometry->max_subbufs);
}

uint32_t rec_geometry_pages(const struct rec_geometry *geometry, uint32_t subbuf_size)
{
	const uint32_t fit = rec_geometry_subbufs(geometry, subbuf_size) - 1;
	const uint64_t pages = geometry->lane_bytes / subbuf_size;

	return (uint32_t)(pages < fit ? pages : fit);
}

int rec_geometry_make(const struct rec_options *options, struct rec_geometry *ret_geometry)
{
	const uint64_t subbuf = options->subbuf_size ? options->subbuf_size : DEFAULT_SUBBUF_SIZE;
	const uint64_t lane = options->lane_size ? options->lane_size : DEFAULT_LANE_SIZE;
	const uint64_t lane_max = options->lane_max > lane ? options->lane_max : lane;
	const uint64_t max = options->memory_max ? options->memory_max : DEFAULT_MEMORY_MAX;
	struct rec_geometry g = { 0 };
	uint64_t data;

	if (!rec_is_subbuf_size(subbuf) || lane_max > UINT64_MAX / 2 || max > UINT64_MAX / 2)
		return -EINVAL;
	if (rec_lane_pages(lane_max, subbuf) + 1 > NR_SUBBUFS_MAX)
		return -EINVAL;
	g.subbuf_size = (uint32_t)subbuf;
	g.lane_bytes = rec_lane_pages(lane, subbuf) * subbuf;
	data = (rec_lane_pages(lane_max, subbuf) + 1) * subbuf;
	/* Should the sub-buffers become smaller, there will be more of them. */
	g.max_subbufs = (uint32_t)(data / REC_SUBBUF_MIN < NR_SUBBUFS_MAX ? data / REC_SUBBUF_MIN : NR_SUBBUFS_MAX);
	g.lane_reader = round_up(sizeof(struct rec_lane) + g.max_subbufs * sizeof(struct rec_subbuf), REC_MAP_PAGE);
	g.lane_meta = g.lane_reader +
		      round_up(sizeof(struct rec_lane_reader) + g.max_subbufs * sizeof(struct rec_link), REC_MAP_PAGE);
	g.lane_stride = g.lane_meta + subbuf + data;
	g.max_lanes = (uint32_t)(max / g.lane_stride > UINT16_MAX ? UINT16_MAX : max / g.lane_stride);
	g.max_lanes = g.max_lanes ? g.max_lanes : 1;
	g.enable = REC_MAP_PAGE;
	g.rules = g.enable + REC_EVENTS_MAX * sizeof(uint32_t);
	g.log = g.rules + REC_MAP_PAGE;
	g.log_size = LOG_SIZE;
	g.lanes = g.log + g.log_size;
	g.file_size = g.lanes + g.max_lanes * g.lane_stride;
	*ret_geometry = g;
	return 0;
}

/* The directory's path as the environment says; a set-user-id program's environment is somebody else's word. */
static int dir_path(char *path, size_t size)
{
	const char *dir = secure_getenv("RECORDER_DIR");
	const char *run = secure_getenv("XDG_RUNTIME_DIR");
	int n;

	if (dir && *dir)
		n = snprintf(path, size, "%s", dir);
	else if (run && *run)
		n = snprintf(path, size, "%s/librecorder", run);
	else
		n = snprintf(path, size, "/dev/shm/librecorder-%u", (unsigned int)geteuid());
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return *path == '/' ? 0 : -EINVAL;
}

int rec_buffer_dir_open(bool create, char *path, size_t size)
{
	struct stat st;
	int fd, r;

	r = dir_path(path, size);
	if (r < 0)
		return r;
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	/* With O_DIRECTORY a link would say ENOTDIR; ask for the link itself to tell the two apart. */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Whoever may write here could put a file of his own in our file's place. */
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		r = -EPERM;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int rec_buffer_dir(bool create, char *path, size_t size)
{
	const int fd = rec_buffer_dir_open(create, path, size);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Field `field` (from 3 on) of a process's stat. The name may hold anything; the fields begin behind its last parenthesis. */
static const char *stat_field(const char *text, int field)
{
	const char *at = strrchr(text, ')');

	for (; at && field > 2; field--)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

int rec_process_start_time(pid_t pid, uint64_t *ret_start_time)
{
	const char *state, *threads, *start;
	char path[48], text[1024];
	ssize_t n;
	int fd;

	/* Of its first thread, which is as old: qemu-user makes up /proc/PID/stat for the process it runs, not this one. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	state = stat_field(text, 3);
	threads = stat_field(text, 20);
	start = stat_field(text, 22);
	if (!start)
		return -EIO;
	/* A process that is over, but its parent has not asked yet; a first thread that ended before the others looks alike. */
	if ((*state == 'Z' || *state == 'X') && strtoul(threads, NULL, 10) <= 1)
		return -ESRCH;
	*ret_start_time = strtoull(start, NULL, 10);
	return 0;
}

bool rec_process_is_alive(uint32_t pid, uint64_t start_time)
{
	uint64_t now = 0;
	const int r = rec_process_start_time((pid_t)pid, &now);

	/* Without /proc only the pid can be asked. */
	if (r < 0)
		return r != -ENOENT && r != -ESRCH;
	return now == start_time;
}
