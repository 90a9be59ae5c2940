/* SPDX-License-Identifier: MIT */
#include "map_rules.h"

#include "librecorder/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/lane.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t sum_of(const void *page, uint32_t size)
{
	const unsigned char *at = page;
	uint64_t sum = 0;

	while (size--)
		sum = sum * 31 + *at++;
	return sum;
}

/* The value that a child reads from the mapping; 0: the child does not have the memory. */
static int child_sees(const void *at)
{
	unsigned char there = 0;
	int status = 0;
	/* _Fork() runs no handlers: the library's would map the child's buffer, perhaps at this very address. */
	pid_t child = _Fork();

	if (child == 0)
		_exit(mincore((void *)(uintptr_t)at, 1, &there) < 0 && errno == ENOMEM ? 0 : 1);
	waitpid(child, &status, 0);
	return status;
}

void check_mapping(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	unsigned char *page = (unsigned char *)(uintptr_t)rec_map_page(back->map, 1);

	check(meta->meta_struct_len == 80 && meta->meta_page_size == meta->subbuf_size, back->name,
	      "the meta page has its sizes");
	check(page == (const unsigned char *)meta + meta->meta_page_size + meta->subbuf_size, back->name,
	      "sub-buffers follow it by number");
	check(!rec_map_page(back->map, meta->nr_subbufs) && rec_map_page(back->map, meta->nr_subbufs - 1), back->name,
	      "and are as many as it counts");
	check(child_sees(meta) == 0, back->name, "a child has no part in it");
	check(!rec_map_is_copy(back->map), back->name, "it is no copy");
}

/* Map the kernel's ring once more, with these arguments. 0 or -errno. */
static int map_raw(struct back *back, int mode, int prot, int sharing, size_t offset, size_t size)
{
	const int fd = tracefs_cpu_fd(&back->fs, back->cpu, mode, "trace_pipe_raw");
	void *at = mmap(NULL, size, prot, sharing, fd, (off_t)offset);
	const int r = at == MAP_FAILED ? -errno : 0;

	if (r == 0)
		munmap(at, size);
	close(fd);
	return r;
}

static size_t size_of(const struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);

	return meta->meta_page_size + (size_t)meta->nr_subbufs * meta->subbuf_size;
}

static int map_private(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_PRIVATE, 0, size_of(back));
}

static int map_to_write(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ | PROT_WRITE, MAP_SHARED, 0, size_of(back));
}

static int map_to_execute(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ | PROT_EXEC, MAP_SHARED, 0, size_of(back));
}

static int map_beyond(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_SHARED, 0, size_of(back) + rec_map_meta(back->map)->subbuf_size);
}

static int map_again(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_SHARED, 0, size_of(back));
}

/* A page that is not the reader's. */
static unsigned char *some_page(const struct back *back)
{
	return (unsigned char *)(uintptr_t)rec_map_page(back->map, rec_map_meta(back->map)->reader_id == 2 ? 3 : 2);
}

/* A write may change only this process's own copy: once that is dropped, the ring's contents show again. */
static int make_writable(struct back *back)
{
	unsigned char *page = some_page(back);
	const uint64_t sum = sum_of(page, 4096);

	if (mprotect(page, 4096, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	page[100] ^= 1;
	if (mprotect(page, 4096, PROT_READ) < 0 || sum_of(page, 4096) == sum || madvise(page, 4096, MADV_DONTNEED) < 0)
		return -EPROTO;
	return sum_of(page, 4096) == sum ? 0 : -EPROTO;
}

static int grow_mapping(struct back *back)
{
	const size_t size = size_of(back);
	void *at = (void *)(uintptr_t)rec_map_meta(back->map);

	return mremap(at, size, size + 4096, MREMAP_MAYMOVE) == MAP_FAILED ? -errno : 0;
}

static int read_beside(struct back *back)
{
	unsigned char page[8192];
	const int fd = tracefs_cpu_fd(&back->fs, back->cpu, O_RDONLY | O_NONBLOCK, "trace_pipe_raw");
	int r;

	back->write(back);
	r = read(fd, page, sizeof(page)) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* Reads through another view; the map must remain valid. */
static int read_by_another(struct back *back)
{
	struct rec_view *other;
	struct rec_map *map;
	struct rec_page page;
	int r;

	back->write(back);
	must(rec_view_open(rec_process_path(), &other) == 0, "rec_view_open");
	r = rec_map_lane(other, back->lane, &map);
	if (r == -EBUSY)
		r = rec_view_read(other, back->lane, 0, &page);
	rec_view_close(other);
	return rec_map_get_reader(back->map, NULL) == 1 ? r : -EPROTO;
}

static int resize(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	const unsigned char *page = some_page(back);
	const uint64_t sum = sum_of(page, 4096);
	const uint32_t nr = meta->nr_subbufs;
	const int r = back->resize(back);

	return meta->nr_subbufs == nr && sum_of(page, 4096) == sum ? r : -EPROTO;
}

static int change_subbuf_size(struct back *back)
{
	const uint32_t size = rec_map_meta(back->map)->subbuf_size;
	int r;

	if (back->view) {
		back->write(back);
		r = rec_subbuf_resize(2 * size);
		if (rec_map_get_reader(back->map, NULL) != 1)
			r = -EPROTO;
		must(rec_subbuf_resize(size) == 0, "rec_subbuf_resize");
	} else {
		r = tracefs_set(&back->fs, "buffer_subbuf_size_kb", size == 4096 ? "8" : "4");
	}
	return rec_map_meta(back->map)->subbuf_size == size ? r : -EPROTO;
}

/* This unmaps the last sub-buffer, which may be in the ring then; so this attempt comes last. */
static int unmap_part(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);

	return munmap((void *)(uintptr_t)rec_map_page(back->map, meta->nr_subbufs - 2), meta->subbuf_size) < 0 ? -errno
													       : 0;
}

#define NO_SUCH_THING 1

/* Facts D2, and what rec_map_lane(3) promises for lanes: the result of each attempt, one after the other. */
static const struct rule {
	const char *what;
	int (*does)(struct back *back);
	int kernel, lane;
} rules[] = {
	{ "mapped privately", map_private, -EPERM, NO_SUCH_THING },
	{ "mapped to be written", map_to_write, -EACCES, NO_SUCH_THING },
	{ "mapped to be executed", map_to_execute, -EPERM, NO_SUCH_THING },
	{ "mapped beyond its end", map_beyond, -EINVAL, NO_SUCH_THING },
	{ "mapped once more", map_again, 0, NO_SUCH_THING },
	{ "made writable", make_writable, -EACCES, 0 },
	{ "the mapping grown", grow_mapping, -EFAULT, -EFAULT },
	{ "read by another besides", read_beside, 0, NO_SUCH_THING },
	{ "read by another besides", read_by_another, NO_SUCH_THING, -EBUSY },
	{ "resized", resize, -EBUSY, 0 },
	{ "another sub-buffer size", change_subbuf_size, -EBUSY, 0 },
	{ "a part unmapped", unmap_part, -EINVAL, 0 },
};

void check_rules(struct back *back)
{
	char what[128];

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const int expected = back->view ? rules[i].lane : rules[i].kernel;
		int got;

		if (expected == NO_SUCH_THING)
			continue;
		got = rules[i].does(back);
		snprintf(what, sizeof(what), "%s: %s", rules[i].what,
			 expected ? strerror(-expected) : "allowed, without harm to others");
		check(got == expected, back->name, what);
		if (got != expected)
			printf("# it gave %d\n", got);
	}
}
