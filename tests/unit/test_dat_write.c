/* SPDX-License-Identifier: MIT */
/* Files appear whole or not at all, whatever fails; the pages of every CPU are in order; both versions. */
#include "format/dat/dat_read.h"
#include "format/dat/dat_repage.h"
#include "format/dat/dat_write.h"
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill_page(unsigned char *page, uint32_t size, unsigned int cpu, unsigned int number)
{
	memset(page, 0, size);
	memcpy(page, &(uint64_t){ number + 1 }, 8);
	memcpy(page + 16, &cpu, 4);
	memcpy(page + 20, &number, 4);
}

/* Add pages of all CPUs in turn; CPU i gets i * pages. */
static int put_pages(struct dat_writer *writer, uint32_t size, unsigned int cpus, unsigned int pages)
{
	unsigned char *page = malloc(size);
	unsigned int number, cpu;
	int err = 0;

	for (number = 0; number < cpus * pages && !err; number++) {
		for (cpu = 0; cpu < cpus && !err; cpu++) {
			if (number >= cpu * pages)
				continue;
			fill_page(page, size, cpu, number);
			err = dat_write_page(writer, 0, cpu, page);
		}
	}
	free(page);
	return err;
}

static void check_pages(const struct dat_file *file, unsigned int cpus, unsigned int pages)
{
	const struct dat_buffer *buffer = &file->buffers[0];
	unsigned char *expected = malloc(file->page_size);
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < buffer->nr_streams; i++) {
		const struct dat_stream *stream = &buffer->streams[i];
		struct dat_error error;
		struct dat_cursor cursor;
		struct dat_page page;
		unsigned int number = 0;

		cr_assert_eq(stream->size, stream->cpu < cpus ? (uint64_t)stream->cpu * pages * file->page_size : 0);
		if (!stream->size)
			continue;
		cr_assert_eq(stream->offset % file->page_size, 0);
		cr_assert_eq(dat_cursor_open(file, buffer, stream, &cursor), 0);
		while (dat_cursor_next(&cursor, &page, &error) > 0) {
			fill_page(expected, file->page_size, stream->cpu, number++);
			cr_assert_eq(page.size, file->page_size);
			cr_assert_arr_eq(page.data, expected, file->page_size);
			seen++;
		}
		dat_cursor_close(&cursor);
	}
	cr_assert_eq(seen, (uint64_t)cpus * (cpus - 1) / 2 * pages);
	free(expected);
}

static void round_trip(unsigned int version, uint32_t page_size, unsigned int cpus, unsigned int pages)
{
	const char *path = fixture_path("round.dat");
	struct dat_writer *writer;
	struct dat_error error;
	struct dat_file *file;
	struct stat st;
	uint64_t size;

	cr_assert_eq(dat_write_open(path, version, page_size, cpus, &writer), 0);
	cr_assert_eq(put_pages(writer, page_size, cpus, pages), 0);
	cr_assert_eq(dat_write_format(writer, "ftrace", "name: bprint\n", 13), 0);
	cr_assert_eq(dat_write_format(writer, "io", "name: a\n", 8), 0);
	cr_assert_eq(dat_write_format(writer, "io", "name: b\n", 8), 0);
	cr_assert_eq(dat_write_text(writer, DAT_CMDLINES, "1 x\n", 4), 0);
	cr_assert_eq(dat_write_text(writer, DAT_STRINGS, "1 x\n", 4), -EINVAL);
	cr_assert_eq(dat_write_option(writer, DAT_UNAME, "here", 5), 0);
	cr_assert_eq(dat_write_finish(writer, "mono", cpus + 2, &size), 0);
	cr_assert_null(dat_write_close(writer));
	cr_assert_eq(dat_open(path, NULL, &file, &error), 0, "%s", error.text);
	cr_assert_eq(fstat(file->fd, &st), 0);
	cr_assert_eq((uint64_t)st.st_size, size);
	cr_assert_eq(file->version, version);
	cr_assert_eq(file->page_size, page_size);
	cr_assert_eq(file->nr_formats, 3);
	cr_assert_str_eq(file->formats[0].system, "ftrace");
	cr_assert_str_eq(file->formats[2].text.text, "name: b\n");
	cr_assert_str_eq(file->cmdlines.text, "1 x\n");
	cr_assert_str_eq(dat_option(file, DAT_UNAME)->data, "here");
	cr_assert_str_eq(dat_option(file, DAT_TRACECLOCK)->data, "[mono]");
	check_pages(file, cpus, pages);
	dat_close(file);
}

Test(dat_write, round_trips)
{
	unsigned int version;

	for (version = 6; version <= 7; version++) {
		round_trip(version, 4096, 3, 5);
		round_trip(version, 4096, 3, 700); /* several slots */
		round_trip(version, 65536, 4, 30);
		round_trip(version, 524288, 3, 5);
		round_trip(version, 4096, 40, 1);
	}
}

/* Write the pages of one CPU after the other straight to their place; CPU i gets i * pages. */
static int put_straight(struct dat_writer *writer, unsigned int cpus, unsigned int pages, uint64_t room)
{
	unsigned char page[4096];
	unsigned int number, cpu;
	int err = dat_write_straight(writer, cpus, room);

	for (cpu = 0; cpu < cpus && !err; cpu++)
		for (number = 0; number < cpu * pages && !err; number++) {
			fill_page(page, sizeof(page), cpu, number);
			err = dat_write_page(writer, 0, cpu, page);
		}
	return err ? err : dat_write_scratch(writer);
}

/* Pages of one CPU of an instance, numbers from `from` on. */
static int put_instance(struct dat_writer *writer, unsigned int buffer, unsigned int from, unsigned int to)
{
	unsigned char page[4096];
	int err = 0;

	for (; from < to && !err; from++) {
		fill_page(page, sizeof(page), 2, from);
		err = dat_write_page(writer, buffer, 2, page);
	}
	return err;
}

static void check_instance(const struct dat_file *file, unsigned int pages)
{
	unsigned char expected[4096];
	struct dat_cursor cursor;
	struct dat_error error;
	struct dat_page page;
	unsigned int i, number = 0;

	cr_assert_eq(file->nr_buffers, 2);
	for (i = 0; i < file->buffers[1].nr_streams; i++) {
		cr_assert_eq(dat_cursor_open(file, &file->buffers[1], &file->buffers[1].streams[i], &cursor), 0);
		while (dat_cursor_next(&cursor, &page, &error) > 0) {
			fill_page(expected, sizeof(expected), 2, number++);
			cr_assert_arr_eq(page.data, expected, sizeof(expected));
		}
		dat_cursor_close(&cursor);
	}
	cr_assert_eq(number, pages);
}

/*
 * Pages are written straight to their place, before and after pages of an instance that wait. There is enough room for
 * what is known only at the end; or so little that the pages are moved, by less than their length and by more.
 */
Test(dat_write, straight)
{
	static const struct { unsigned int pages; uint64_t room, late; } cases[] = {
		{ 200, 65536, 60000 }, { 200, 0, 60000 }, { 200, 65536, 3000000 }, { 3, 4096, 3000000 }, { 1, 0, 0 },
	};
	char *late = calloc(1, 3000001);
	unsigned int version, i;

	memset(late, 'x', 3000000);
	for (i = 0; i < 5; i++)
		for (version = 6; version <= 7; version++) {
			const char *path = fixture_path("straight.dat");
			struct dat_writer *writer;
			struct dat_error error;
			struct dat_file *file;
			unsigned int other;

			cr_assert_eq(dat_write_open(path, version, 4096, 3, &writer), 0);
			cr_assert_eq(dat_write_buffer(writer, "other", &other), 0);
			cr_assert_eq(dat_write_format(writer, "io", "name: a\n", 8), 0);
			cr_assert_eq(put_instance(writer, other, 0, 300), 0);
			cr_assert_eq(put_straight(writer, 3, cases[i].pages, cases[i].room), 0);
			cr_assert_eq(put_instance(writer, other, 300, 333), 0);
			cr_assert_eq(dat_write_text(writer, DAT_CMDLINES, late, cases[i].late), 0);
			cr_assert_eq(dat_write_option(writer, DAT_UNAME, "here", 5), 0);
			cr_assert_eq(dat_write_finish(writer, "mono", 3, NULL), 0);
			dat_write_close(writer);
			cr_assert_eq(dat_open(path, NULL, &file, &error), 0, "%s", error.text);
			cr_assert_eq(file->cmdlines.size, cases[i].late);
			cr_assert_str_eq(dat_option(file, DAT_UNAME)->data, "here");
			check_pages(file, 3, cases[i].pages);
			check_instance(file, 333);
			dat_close(file);
		}
	free(late);
}

/* Many CPUs need as many descriptors as one. */
Test(dat_write, many_cpus_need_two_files)
{
	const struct rlimit limit = { 20, 20 };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	round_trip(6, 4096, 150, 1);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static void check_text(const char *path, const char *text)
{
	char buffer[64] = "";
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file);
	cr_assert_eq(fread(buffer, 1, sizeof(buffer), file), strlen(text));
	cr_assert_str_eq(buffer, text);
	fclose(file);
}

static unsigned int names_in(const char *directory)
{
	char command[512];
	unsigned int nr = 0;
	FILE *list;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", directory);
	list = popen(command, "r");
	cr_assert_eq(fscanf(list, "%u", &nr), 1);
	pclose(list);
	return nr;
}

/* Write until something fails; the target must be unchanged, with no other file left beside it. */
static int write_and_fail(const char *path, unsigned int pages)
{
	struct dat_writer *writer;
	int err = dat_write_open(path, 6, 4096, 2, &writer);

	if (err)
		return err;
	err = put_pages(writer, 4096, 2, pages);
	if (!err)
		err = dat_write_finish(writer, "mono", 2, NULL);
	dat_write_close(writer);
	return err;
}

Test(dat_write, a_file_size_limit_leaves_the_target)
{
	char path[256];
	struct rlimit limit = { 1 << 20, 1 << 20 };
	char directory[256];

	snprintf(directory, sizeof(directory), "%s", fixture_path("."));
	snprintf(path, sizeof(path), "%s", fixture_path("old.dat"));
	write_text(path, "precious");
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(write_and_fail(path, 4000), -EFBIG); /* while pages come */
	/* The slot of each CPU is within the limit, but the final file is not. */
	cr_assert_eq(write_and_fail(path, 256), -EFBIG);
	check_text(path, "precious");
	cr_assert_eq(names_in(directory), 1);
	cr_assert_eq(write_and_fail(path, 100), 0);
}

Test(dat_write, a_full_disk_leaves_the_target)
{
	char directory[256];
	char path[512];

	snprintf(directory, sizeof(directory), "%s", fixture_path("small"));
	cr_assert_eq(mkdir(directory, 0700), 0);
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		cr_skip("neither root nor user namespaces: no file system to fill");
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", directory, "tmpfs", 0, "size=1m"), 0);
	snprintf(path, sizeof(path), "%s/old.dat", directory);
	write_text(path, "precious");
	cr_assert_eq(write_and_fail(path, 1000), -ENOSPC);
	/* There is room for the scratch file, but not for both files together. */
	cr_assert_eq(write_and_fail(path, 200), -ENOSPC);
	check_text(path, "precious");
	cr_assert_eq(names_in(directory), 1);
	cr_assert_eq(write_and_fail(path, 50), 0);
	cr_assert_eq(umount(directory), 0);
}

Test(dat_write, targets_that_are_no_files)
{
	struct dat_writer *writer;
	char link_path[256];
	char path[256];
	struct stat st;

	cr_assert_eq(dat_write_open("/dev/null", 6, 4096, 1, &writer), -EINVAL);
	cr_assert_eq(dat_write_open("/tmp", 6, 4096, 1, &writer), -EISDIR);
	cr_assert_eq(dat_write_open("/nonexistent/x", 6, 4096, 1, &writer), -ENOENT);
	cr_assert_eq(dat_write_open(fixture_path("x"), 5, 4096, 1, &writer), -EINVAL);
	cr_assert_eq(dat_write_open(fixture_path("x"), 6, 4095, 1, &writer), -EINVAL);
	cr_assert_eq(dat_write_open(fixture_path("x"), 6, 1 << 20, 1, &writer), -EINVAL);

	/* A link remains a link, and what it points to is replaced. */
	snprintf(path, sizeof(path), "%s", fixture_path("real.dat"));
	snprintf(link_path, sizeof(link_path), "%s", fixture_path("link.dat"));
	write_text(path, "old");
	cr_assert_eq(chmod(path, 0604), 0);
	cr_assert_eq(symlink("real.dat", link_path), 0);
	umask(027);
	cr_assert_eq(write_and_fail(link_path, 1), 0);
	cr_assert_eq(lstat(link_path, &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_gt(st.st_size, 4096);
	/* A replaced file keeps its mode; a new one gets the mode that the umask permits. */
	cr_assert_eq(st.st_mode & 0777, 0604);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(write_and_fail(path, 1), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0640);
}

Test(dat_write, what_is_not_finished_leaves_nothing)
{
	struct dat_writer *writer;
	char directory[256];

	snprintf(directory, sizeof(directory), "%s", fixture_path("."));
	cr_assert_eq(dat_write_open(fixture_path("never.dat"), 6, 4096, 1, &writer), 0);
	cr_assert_eq(put_pages(writer, 4096, 2, 300), 0);
	dat_write_close(writer);
	cr_assert_eq(names_in(directory), 0);
}

/* What their number costs is counted by tests/host/names.sh. */
Test(dat_write, formats_of_thousands_of_systems)
{
	enum { SYSTEMS = 3000, FORMATS = 2 * SYSTEMS };
	const char *path = fixture_path("systems.dat");
	struct dat_writer *writer;
	struct dat_error error;
	struct dat_file *file;
	char name[24], format[24];

	cr_assert_eq(dat_write_open(path, 7, 4096, 1, &writer), 0);
	for (unsigned int i = 0; i < FORMATS; i++) {
		snprintf(name, sizeof(name), "system_%u", i % SYSTEMS);
		snprintf(format, sizeof(format), "name: e%u\n", i);
		cr_assert_eq(dat_write_format(writer, name, format, strlen(format)), 0);
	}
	cr_assert_eq(dat_write_finish(writer, "mono", 1, NULL), 0);
	dat_write_close(writer);
	cr_assert_eq(dat_open(path, NULL, &file, &error), 0, "%s", error.text);
	cr_assert_eq(file->nr_systems, SYSTEMS);
	cr_assert_eq(file->nr_formats, FORMATS);
	/* The formats of a system are together, in the order in which they were written. */
	for (unsigned int i = 0; i < FORMATS; i++) {
		snprintf(name, sizeof(name), "system_%u", i / 2);
		snprintf(format, sizeof(format), "name: e%u\n", i / 2 + i % 2 * SYSTEMS);
		cr_assert_str_eq(file->formats[i].system, name);
		cr_assert_str_eq(file->formats[i].text.text, format);
	}
	dat_close(file);
}

/* ------------------------------------------------------------------------------------------------------ many CPUs */

/* Bytes that are allocated. 0 under a sanitizer, which has an allocator of its own. */
static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

/* With thousands of CPUs, no page of any of them waits in memory. */
Test(dat_write, pages_of_thousands_of_cpus)
{
	enum { CPUS = 5000 };
	const char *path = fixture_path("thousands.dat");
	unsigned char page[4096], expected[4096];
	const size_t before = allocated();
	struct dat_writer *writer;
	struct dat_cursor cursor;
	struct dat_error error;
	struct dat_file *file;
	struct dat_page found;

	cr_assert_eq(dat_write_open(path, 7, 4096, CPUS, &writer), 0);
	for (unsigned int number = 0; number < 2; number++) {
		for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
			fill_page(page, sizeof(page), cpu, number);
			cr_assert_eq(dat_write_page(writer, 0, cpu, page), 0);
		}
	}
	cr_expect_leq(allocated(), before + (2u << 20));
	cr_assert_eq(dat_write_finish(writer, "mono", CPUS, NULL), 0);
	dat_write_close(writer);
	cr_assert_eq(dat_open(path, NULL, &file, &error), 0, "%s", error.text);
	cr_assert_eq(file->buffers[0].nr_streams, (uint32_t)CPUS);
	for (unsigned int cpu = 0; cpu < CPUS; cpu += 99) {
		cr_assert_eq(dat_cursor_open(file, &file->buffers[0], &file->buffers[0].streams[cpu], &cursor), 0);
		for (unsigned int number = 0; number < 2; number++) {
			fill_page(expected, sizeof(expected), cpu, number);
			cr_assert_eq(dat_cursor_next(&cursor, &found, &error), 1);
			cr_assert_arr_eq(found.data, expected, sizeof(expected));
		}
		cr_assert_eq(dat_cursor_next(&cursor, &found, &error), 0);
		dat_cursor_close(&cursor);
	}
	dat_close(file);
}

/* A page that is being made takes as much memory as its events. */
Test(dat_write, thousands_of_small_pages)
{
	enum { CPUS = 5000 };
	const struct dat_file form = { .commit_size = 8 };
	static const uint32_t page_size = 65536;
	static const unsigned char data[32];
	struct dat_writer *writer;
	struct dat_repage *repage;
	size_t before;

	cr_assert_eq(dat_write_open(fixture_path("small.dat"), 7, page_size, CPUS, &writer), 0);
	before = allocated();
	cr_assert_eq(dat_repage_open(writer, &form, &page_size, 1, &repage), 0);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		const struct dat_repage_event event = {
			.cpu = cpu, .time = cpu + 1, .marked = DAT_NO_MARKER, .data = data, .size = sizeof(data)
		};

		cr_assert_eq(dat_repage_put(repage, &event), 0);
	}
	cr_expect_leq(allocated(), before + (4u << 20));
	cr_assert_eq(dat_repage_flush(repage), 0);
	dat_repage_close(repage);
	dat_write_close(writer);
}
