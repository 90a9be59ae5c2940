/* SPDX-License-Identifier: MIT */
/*
 * ELF core files with any values in their tables: no more is extracted than the core file contains, every refusal is
 * one that the header names, and the extracted buffer is then read as any other, good or bad.
 */
#include "hostile.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/core_file.h"

#define PAGE	 UINT64_C(4096)
#define SEGMENTS 4u
#define BASE	 UINT64_C(0x7f0000000000) /* where the buffer was mapped */

static unsigned char *good; /* a core file */
static size_t good_size, tables_size;
static char out_dir[PATH_MAX];
static int core_fd = -1;

static size_t add_note(unsigned char *at, uint32_t type, const void *bytes, size_t size)
{
	const Elf64_Nhdr note = { .n_namesz = 5, .n_descsz = (Elf64_Word)size, .n_type = type };

	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), "CORE", 5);
	memcpy(at + sizeof(note) + 8, bytes, size);
	return sizeof(note) + 8 + ((size + 3) & ~(size_t)3);
}

/* A program, its buffer in two pieces, and a library. */
static size_t add_program(unsigned char *at, uint64_t buffer_size)
{
	const uint64_t numbers[] = {
		4,
		PAGE,
		0x400000,
		0x401000,
		0,
		BASE,
		BASE + 64 * PAGE,
		0,
		BASE + 64 * PAGE,
		BASE + buffer_size,
		64,
		BASE + buffer_size + PAGE,
		BASE + buffer_size + 2 * PAGE,
		0,
	};
	unsigned char text[sizeof(numbers) + 4 * PATH_MAX];
	size_t size = sizeof(numbers);

	memcpy(text, numbers, sizeof(numbers));
	size += (size_t)sprintf((char *)text + size, "/bin/program") + 1;
	size += (size_t)sprintf((char *)text + size, "%s", hostile_path) + 1;
	size += (size_t)sprintf((char *)text + size, "%s", hostile_path) + 1;
	size += (size_t)sprintf((char *)text + size, "/lib/libc.so (deleted)") + 1;
	return add_note(at, NT_FILE, text, size);
}

/* List the same buffer under many names. */
static size_t add_names(unsigned char *at, uint64_t buffer_size, unsigned int names)
{
	const uint64_t mapping[] = { BASE, BASE + buffer_size, 0 }, head[] = { names, PAGE };
	unsigned char text[PAGE];
	size_t size = sizeof(head);

	memcpy(text, head, sizeof(head));
	for (unsigned int i = 0; i < names; i++, size += sizeof(mapping))
		memcpy(text + size, mapping, sizeof(mapping));
	for (unsigned int i = 0; i < names; i++)
		size += (size_t)sprintf((char *)text + size, "/dir/%u-1.rec", i) + 1;
	return add_note(at, NT_FILE, text, size);
}

/* The header with the tables after it, and the lanes; between these is mostly the log's unused memory. */
static void make_core(unsigned int names)
{
	const int file = open(hostile_path, O_RDONLY | O_CLOEXEC);
	struct elf_prpsinfo info = { .pr_pid = 4711, .pr_fname = "program" };
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_type = ET_CORE,
			      .e_phnum = SEGMENTS,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phoff = sizeof(header) };
	Elf64_Phdr segments[SEGMENTS];
	uint64_t begin[SEGMENTS], end[SEGMENTS], lanes = 0, at;
	struct stat st;

	cr_assert(file >= 0 && fstat(file, &st) == 0);
	good = calloc(1, (size_t)st.st_size + 8 * PAGE);
	at = sizeof(header) + sizeof(segments);
	memset(segments, 0, sizeof(segments));
	segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = at };
	at += add_note(good + at, NT_PRPSINFO, &info, sizeof(info));
	at += names > 1 ? add_names(good + at, (uint64_t)st.st_size, names)
			: add_program(good + at, (uint64_t)st.st_size);
	segments[0].p_filesz = at - segments[0].p_offset;
	tables_size = at;
	begin[1] = 0, end[1] = PAGE;
	begin[2] = PAGE, end[2] = 64 * PAGE;
	cr_assert_eq(pread(file, &lanes, sizeof(lanes), offsetof(struct rec_buffer_header, lanes)),
		     (ssize_t)sizeof(lanes));
	begin[3] = lanes, end[3] = (uint64_t)st.st_size;
	for (unsigned int i = 1; i < SEGMENTS; i++) {
		at = (at + PAGE - 1) / PAGE * PAGE;
		segments[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
					    .p_offset = at,
					    .p_vaddr = BASE + begin[i],
					    .p_filesz = end[i] - begin[i],
					    .p_memsz = end[i] - begin[i] };
		cr_assert_eq(pread(file, good + at, end[i] - begin[i], (off_t)begin[i]), (ssize_t)(end[i] - begin[i]));
		at += end[i] - begin[i];
	}
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(good, &header, sizeof(header));
	memcpy(good + sizeof(header), segments, sizeof(segments));
	good_size = at;
	close(file);
}

/* Most changes hit the tables, because the other fuzz tests cover the rest. */
static size_t strike(struct hostile_random *random)
{
	size_t size = good_size;

	for (size_t strikes = 1 + hostile_below(random, 5); strikes; strikes--) {
		const size_t limit = hostile_below(random, 8) ? tables_size : good_size;
		const size_t width = (size_t)1 << hostile_below(random, 4), place = hostile_below(random, limit - 8);
		const size_t at = hostile_below(random, 2) ? place & ~(size_t)7 : place;
		const uint64_t number = hostile_below(random, 4) ? hostile_number(random)
								 : BASE + hostile_below(random, 80) * PAGE;

		if (pwrite(core_fd, &number, width, (off_t)at) != (ssize_t)width)
			abort();
	}
	if (hostile_below(random, 8) == 0)
		size = hostile_below(random, hostile_below(random, 2) ? tables_size : good_size);
	return size;
}

/* Read a part of each lane of the extracted buffer. */
static unsigned int look_at(const char *path)
{
	struct rec_view *view;
	struct rec_page page;
	unsigned int pages = 0;

	if (rec_view_open(path, &view))
		return 0;
	for (unsigned int lane = 0; lane < rec_view_lanes(view) && lane < 8; lane++)
		while (pages < 100 && rec_view_read(view, lane, 0, &page) == 1)
			pages++;
	rec_view_close(view);
	return pages;
}

/* Examine all files and remove them. */
static unsigned int empty(unsigned int *ret_pages, uint64_t *ret_bytes)
{
	DIR *dir = opendir(out_dir);
	const struct dirent *entry;
	char path[PATH_MAX + 256];
	unsigned int nr = 0;
	struct stat st;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", out_dir, entry->d_name);
		if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
			abort();
		*ret_bytes += (uint64_t)st.st_blocks * 512u;
		*ret_pages += look_at(path);
		unlink(path);
		nr++;
	}
	closedir(dir);
	return nr;
}

static void give_up(const char *what, uint64_t number)
{
	fprintf(stderr, "%s: %llu\n", what, (unsigned long long)number);
	abort();
}

static void do_round(uint64_t number)
{
	struct hostile_random random = { number * UINT64_C(0xd1342543de82ef95) };
	struct core_info info = { 0 };
	unsigned int files, pages = 0;
	uint64_t bytes = 0;
	size_t size = good_size;
	char path[64];
	int r;

	if (ftruncate(core_fd, 0) < 0 || pwrite(core_fd, good, good_size, 0) != (ssize_t)good_size)
		abort();
	if (number)
		size = strike(&random);
	if (ftruncate(core_fd, (off_t)size) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", core_fd);
	r = core_file_is_elf(path) ? core_file_extract(path, out_dir, &info) : -ENOEXEC;
	if (r != 0 && r != -ENOEXEC && r != -EPROTO && r != -EBADMSG)
		give_up("a strange answer", (uint64_t)-r);
	files = empty(&pages, &bytes);
	/* A piece that is moved to an unaligned place takes one more page. */
	if (bytes > 2 * good_size)
		give_up("more than there is in the core file", bytes);
	if (r == 0 && files != info.buffers)
		give_up("so many files", files);
	if (!memchr(info.path, 0, sizeof(info.path)))
		give_up("the path has no end", 0);
	if (!number && (r != 0 || info.buffers != 1 || info.pid != 4711 || strcmp(info.name, "program") || !pages))
		give_up("a good core file", pages);
}

static void begin_with(unsigned int names)
{
	hostile_make();
	make_core(names);
	snprintf(out_dir, sizeof(out_dir), "%.4000s.out", hostile_dir);
	cr_assert_eq(mkdir(out_dir, 0700), 0);
	core_fd = memfd_create("core", MFD_CLOEXEC);
	cr_assert(core_fd >= 0);
}

static void begin(void)
{
	begin_with(1);
}

static void end(void)
{
	close(core_fd);
	rmdir(out_dir);
	free(good);
	hostile_remove();
}

static int extract(struct core_info *ret_info)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", core_fd);
	return core_file_extract(path, out_dir, ret_info);
}

Test(fuzz_core, anything_in_its_tables, .init = begin, .fini = end, .timeout = 100000)
{
	hostile_rounds("fuzz_core", do_round);
}

Test(fuzz_core, one_mapping_under_many_names, .fini = end)
{
	struct core_info info;
	unsigned int pages = 0;
	uint64_t bytes = 0;

	begin_with(50);
	cr_assert_eq(pwrite(core_fd, good, good_size, 0), (ssize_t)good_size);
	cr_assert_eq(extract(&info), -EBADMSG);
	cr_assert_gt(empty(&pages, &bytes), 1);
	cr_assert_leq(bytes, 2 * good_size);
}

/* Replace bytes that the good core file has once. */
static void patch(const void *from, const void *to, size_t size)
{
	unsigned char *at = memmem(good, tables_size, from, size);

	cr_assert_not_null(at);
	memcpy(at, to, size);
}

/* The program's own mapping becomes that of a first buffer, in a page of the log that is not in use. */
Test(fuzz_core, a_damaged_buffer_does_not_hide_the_others, .fini = end)
{
	const uint64_t program[] = { 0x400000, 0x401000 }, page[] = { BASE + 62 * PAGE, BASE + 63 * PAGE };
	struct core_info info;
	unsigned int pages = 0;
	Elf64_Phdr segment;
	uint64_t bytes = 0;

	begin_with(1);
	patch(program, page, sizeof(program));
	patch("/bin/program", "/dir/1-1.rec", strlen("/bin/program"));
	memcpy(&segment, good + sizeof(Elf64_Ehdr) + 2 * sizeof(segment), sizeof(segment));
	memset(good + segment.p_offset + 61 * PAGE, 'x', PAGE);
	cr_assert_eq(pwrite(core_fd, good, good_size, 0), (ssize_t)good_size);
	cr_assert_eq(extract(&info), 0);
	cr_assert_eq(info.buffers, 1);
	cr_assert_eq(info.damaged, 1);
	cr_assert_eq(empty(&pages, &bytes), 1);
	cr_assert_gt(pages, 0);
}

Test(fuzz_core, without_a_list_of_mappings, .fini = end)
{
	const uint32_t list = NT_FILE, other = 0;
	struct core_info info;
	unsigned int pages = 0;
	uint64_t bytes = 0;

	begin_with(1);
	patch(&list, &other, sizeof(list));
	cr_assert_eq(pwrite(core_fd, good, good_size, 0), (ssize_t)good_size);
	cr_assert_eq(extract(&info), 0);
	cr_assert_not(info.listed);
	cr_assert_eq(info.buffers, 0);
	cr_assert_eq(empty(&pages, &bytes), 0);
}

/* ------------------------------------------------------------------- tables that use the same bytes many times */

/* A core file that is only tables: its list has `names` buffers with these bytes of memory. */
static size_t begin_tables(unsigned int segments, unsigned int names, uint64_t buffer_size)
{
	const size_t tables = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_type = ET_CORE,
			      .e_phnum = (Elf64_Half)segments,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phoff = sizeof(header) };
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_offset = tables };
	unsigned char bytes[2 * PAGE] = { 0 };

	strcpy(hostile_dir, "/dev/shm/fuzz.XXXXXX");
	cr_assert_not_null(mkdtemp(hostile_dir));
	snprintf(out_dir, sizeof(out_dir), "%.4000s.out", hostile_dir);
	cr_assert_eq(mkdir(out_dir, 0700), 0);
	core_fd = memfd_create("core", MFD_CLOEXEC);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	notes.p_filesz = add_names(bytes, buffer_size, names);
	cr_assert_eq(pwrite(core_fd, &header, sizeof(header), 0), sizeof(header));
	cr_assert_eq(pwrite(core_fd, &notes, sizeof(notes), sizeof(header)), sizeof(notes));
	cr_assert_eq(pwrite(core_fd, bytes, notes.p_filesz, (off_t)tables), (ssize_t)notes.p_filesz);
	return tables + notes.p_filesz;
}

static void add_segment(unsigned int number, const Elf64_Phdr *segment)
{
	const off_t at = (off_t)(sizeof(Elf64_Ehdr) + number * sizeof(*segment));

	cr_assert_eq(pwrite(core_fd, segment, sizeof(*segment), at), sizeof(*segment));
}

static void end_tables(void)
{
	close(core_fd);
	cr_assert_eq(rmdir(out_dir), 0);
	cr_assert_eq(rmdir(hostile_dir), 0);
}

/* Repeats the first segment, the notes. */
static int extract_notes(unsigned int segments, struct core_info *ret_info)
{
	Elf64_Phdr notes;

	begin_tables(segments, 40, PAGE);
	cr_assert_eq(pread(core_fd, &notes, sizeof(notes), sizeof(Elf64_Ehdr)), sizeof(notes));
	for (unsigned int i = 1; i < segments; i++)
		add_segment(i, &notes);
	return extract(ret_info);
}

/* Many segments are the same notes: without a limit the time would grow with segments times entries of the notes. */
Test(fuzz_core, many_segments_are_the_same_notes, .fini = end_tables)
{
	struct core_info info;

	cr_assert_eq(extract_notes(1000, &info), -EBADMSG);
}

Test(fuzz_core, a_second_list_of_mappings_is_ignored, .fini = end_tables)
{
	struct core_info info;

	cr_assert_eq(extract_notes(2, &info), 0);
	cr_assert_eq(info.absent, 40);
}

/* Each segment has one byte, in a page of its own. */
Test(fuzz_core, segments_of_one_byte, .fini = end_tables)
{
	const unsigned int segments = 2000;
	const size_t size = begin_tables(segments, 1, segments * PAGE);
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_offset = 1, .p_filesz = 1, .p_memsz = 1 };
	struct core_info info;
	unsigned int pages = 0;
	uint64_t bytes = 0;

	for (unsigned int i = 1; i < segments; i++) {
		segment.p_vaddr = BASE + i * PAGE;
		add_segment(i, &segment);
	}
	cr_assert_eq(extract(&info), -EBADMSG);
	cr_assert_eq(empty(&pages, &bytes), 1);
	cr_assert_leq(bytes, size + (256u << 10));
}

/* A buffer that claims the largest number of lanes, all at the same place. */
Test(fuzz_core, lanes_without_memory, .fini = end)
{
	const uint32_t lanes = UINT16_MAX;
	const uint64_t stride = 0;
	unsigned int pages = 0;
	struct core_info info;
	Elf64_Phdr segment;
	uint64_t bytes = 0;

	begin_with(1);
	memcpy(&segment, good + sizeof(Elf64_Ehdr) + sizeof(segment), sizeof(segment));
	memcpy(good + segment.p_offset + offsetof(struct rec_buffer_header, nr_lanes), &lanes, sizeof(lanes));
	memcpy(good + segment.p_offset + offsetof(struct rec_buffer_header, lane_stride), &stride, sizeof(stride));
	cr_assert_eq(pwrite(core_fd, good, good_size, 0), (ssize_t)good_size);
	cr_assert_eq(extract(&info), -EBADMSG);
	empty(&pages, &bytes);
}
