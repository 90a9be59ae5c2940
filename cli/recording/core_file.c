/* SPDX-License-Identifier: MIT */
/*
 * ELF core files, of this machine's word size and byte order. A note has the names and addresses of the mapped files.
 * The segments hold the memory. Usually each is one mapping, but the writer of the file may cut or join them. So a
 * buffer is put together from whatever segments overlap its mappings.
 */
#include "cli/recording/core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/name_ending.h"
#include "cli/recording/elf_file.h"
#include "cli/recording/session.h"
#include "format/io/out_file.h"
#include "format/io/read_at.h"

/*
 * Limits. The kernel's list of mapped files has at most 4 MiB, and a process has some 65,000 mappings unless root
 * permits more. A program has one mapping of its buffer, a recorder a few of each. Anything beyond these limits is
 * ignored.
 */
#define NOTES_MAX    (UINT64_C(64) << 20)
#define SEGMENTS_MAX (UINT64_C(1) << 18)
#define MAPPINGS_MAX 1024u

/* No buffer is larger than this. With this limit, every offset in the file is a positive off_t. */
#define BUFFER_MAX (UINT64_C(1) << 42)

/* This many bytes more than the core file's size may be written, because segments need not begin and end at a page. */
#define SLACK (UINT64_C(256) << 10)

#define COPY_BLOCK 65536u
#define DELETED	   " (deleted)"

struct core {
	int fd;
	uint64_t size;
	Elf64_Phdr *segments;
	uint64_t nr_segments;
	uint64_t budget;      /* bytes that may still be read or written */
	unsigned char *block; /* COPY_BLOCK bytes */
	int dir;	      /* directory into which the buffers are written */
	struct core_info info;
};

/* A mapping of a file. */
struct mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* ---------------------------------------------------------------------------------------------- the file's tables */

static int read_core(const struct core *core, void *bytes, size_t size, uint64_t offset)
{
	return read_within(core->fd, core->size, bytes, size, offset);
}

/*
 * Subtract bytes from the budget. Each byte of a core file belongs to one mapping or one note, so a malicious file can
 * neither fill the disk nor keep the command busy. 0; -EBADMSG: fewer bytes are left.
 */
static int spend(struct core *core, uint64_t bytes)
{
	if (bytes > core->budget)
		return -EBADMSG;
	core->budget -= bytes;
	return 0;
}

static int read_header(struct core *core, Elf64_Ehdr *header)
{
	int err = read_core(core, header, sizeof(*header), 0);

	if (err)
		return err;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELF_NATIVE_ORDER)
		return -EPROTO;
	if (header->e_type != ET_CORE)
		return -ENOEXEC;
	return header->e_phentsize == sizeof(Elf64_Phdr) ? 0 : -EBADMSG;
}

static int read_segments(struct core *core)
{
	Elf64_Ehdr header;
	Elf64_Shdr first;
	int err = read_header(core, &header);

	if (err)
		return err;
	core->nr_segments = header.e_phnum;
	/* The number of segments does not fit into the header's field: it is in the first section header. */
	if (header.e_phnum == PN_XNUM) {
		err = read_core(core, &first, sizeof(first), header.e_shoff);
		if (err)
			return err;
		core->nr_segments = first.sh_info;
	}
	if (!core->nr_segments || core->nr_segments > SEGMENTS_MAX ||
	    core->nr_segments > core->size / sizeof(Elf64_Phdr))
		return -EBADMSG;
	core->segments = malloc(core->nr_segments * sizeof(Elf64_Phdr));
	if (!core->segments)
		return -ENOMEM;
	return read_core(core, core->segments, core->nr_segments * sizeof(Elf64_Phdr), header.e_phoff);
}

/* The part of a segment's stated contents that is in the file. */
static uint64_t bytes_in_file(struct core *core, const Elf64_Phdr *segment)
{
	const uint64_t there = segment->p_offset < core->size ? core->size - segment->p_offset : 0;

	if (segment->p_filesz <= there)
		return segment->p_filesz;
	core->info.cut = true;
	return there;
}

/* ------------------------------------------------------------------------------------------------------- a buffer */

static bool is_zero(const unsigned char *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* The size of the pages that contain these bytes of a file. Neither number is above BUFFER_MAX. */
static uint64_t whole_pages(uint64_t at, uint64_t size)
{
	const uint64_t first = at / REC_MAP_PAGE, last = (at + size - 1) / REC_MAP_PAGE;

	return (last - first + 1) * REC_MAP_PAGE;
}

/* Copy `size` bytes of the core file at `from` to the buffer at `to`; zeros stay holes. */
static int copy(struct core *core, uint64_t from, int fd, uint64_t to, uint64_t size)
{
	int err = spend(core, whole_pages(to, size));

	while (size && !err) {
		const size_t piece = size < COPY_BLOCK ? (size_t)size : COPY_BLOCK;

		err = read_core(core, core->block, piece, from);
		for (size_t at = 0; !err && at < piece; at += REC_MAP_PAGE) {
			const size_t page = piece - at < REC_MAP_PAGE ? piece - at : REC_MAP_PAGE;

			if (!is_zero(core->block + at, page))
				err = out_write_at(fd, core->block + at, page, to + at);
		}
		from += piece;
		to += piece;
		size -= piece;
	}
	return err;
}

/* Copy the parts of a mapping that the segments contain. */
static int copy_mapping(struct core *core, const struct mapping *mapping, int fd)
{
	int err = 0;

	for (uint64_t i = 0; i < core->nr_segments && !err; i++) {
		const Elf64_Phdr *segment = &core->segments[i];
		const uint64_t from = segment->p_vaddr > mapping->start ? segment->p_vaddr : mapping->start;
		uint64_t to, size;

		if (segment->p_type != PT_LOAD || from >= mapping->end)
			continue;
		size = bytes_in_file(core, segment);
		/* No segment reaches beyond the end of the address space. */
		to = size <= UINT64_MAX - segment->p_vaddr ? segment->p_vaddr + size : UINT64_MAX;
		to = to < mapping->end ? to : mapping->end;
		if (from < to)
			err = copy(core, segment->p_offset + (from - segment->p_vaddr), fd,
				   mapping->offset + (from - mapping->start), to - from);
	}
	return err;
}

/* Change the copied lane so that it has no reader. */
static int free_lane(struct core *core, int fd, uint64_t at)
{
	static const uint64_t no_owner;
	uint64_t owner = 0;
	int err = spend(core, sizeof(owner));

	if (!err)
		err = read_exactly(fd, &owner, sizeof(owner), at);
	return err || !owner ? err : out_write_at(fd, &no_owner, sizeof(no_owner), at);
}

/* Change the header and the lanes of the copy so that it has no writer and no reader. 1: it is not a buffer. */
static int release(struct core *core, int fd, uint64_t size)
{
	static const uint32_t state = REC_BUFFER_REPLACED;
	struct rec_buffer_header header;
	int err = read_exactly(fd, &header, sizeof(header), 0);

	if (err || header.magic != REC_ABI_MAGIC)
		return err ? err : 1;
	err = out_write_at(fd, &state, sizeof(state), offsetof(struct rec_buffer_header, state));
	for (uint32_t i = 0; i < header.nr_lanes && i < UINT16_MAX && !err; i++) {
		const uint64_t at = header.lanes + i * header.lane_stride + header.lane_reader +
				    offsetof(struct rec_lane_reader, owner);

		if (at > size - sizeof(uint64_t))
			break;
		err = free_lane(core, fd, at);
	}
	return err;
}

/* ------------------------------------------------------------------------------------------- the list of mappings */

/* Remove a file that was not put together, and count it. */
static void drop(struct core *core, const char *name, unsigned int *nr)
{
	unlinkat(core->dir, name, 0);
	(*nr)++;
}

/* Reassemble one file, from all its mappings in the list. */
static int extract(struct core *core, const struct mapping *list, unsigned int nr, const char *path)
{
	uint64_t size = 0;
	struct stat st;
	char name[256];
	int fd, err = 0;

	/* Buffers of different directories may have the same name. */
	snprintf(name, sizeof(name), "%u-%.200s", core->info.buffers + core->info.absent + core->info.damaged,
		 base_name(path));
	fd = openat(core->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	for (unsigned int i = 0; i < nr && !err; i++) {
		const uint64_t end = list[i].offset + (list[i].end - list[i].start);

		if (strcmp(list[i].path, path))
			continue;
		err = copy_mapping(core, &list[i], fd);
		size = size > end ? size : end;
	}
	if (!err && fstat(fd, &st) < 0)
		err = -errno;
	if (!err && (uint64_t)st.st_size >= sizeof(struct rec_buffer_header)) {
		err = ftruncate(fd, (off_t)size) < 0 ? -errno : release(core, fd, size);
		core->info.buffers += !err;
		if (err > 0)
			drop(core, name, &core->info.damaged);
	} else if (!err) {
		if (!core->info.absent)
			snprintf(core->info.path, sizeof(core->info.path), "%s", path);
		drop(core, name, &core->info.absent);
	}
	close(fd);
	return err < 0 ? err : 0;
}

/*
 * Whether the library names buffers in this way; what the kernel appends to the name of an unlinked file is cut off.
 */
static bool is_buffer(char *path)
{
	const size_t size = strlen(path), linked = name_before(path, DELETED);
	unsigned long long start_time;
	const char *slash;
	unsigned int pid;

	if (linked)
		path[linked] = '\0';
	slash = strrchr(path, '/');
	return size < PATH_MAX && slash && rec_buffer_is_name(slash + 1) &&
	       sscanf(slash + 1, "%u-%llu", &pid, &start_time) == 2;
}

static bool is_first(const struct mapping *list, unsigned int number)
{
	for (unsigned int i = 0; i < number; i++)
		if (!strcmp(list[i].path, list[number].path))
			return false;
	return true;
}

/*
 * List the mappings of buffers in the note NT_FILE. The note has the number of mappings, the unit of offsets, the
 * start, end and offset of each mapping, and the names.
 */
static int list_mappings(char *note, uint64_t size, struct mapping *list, unsigned int *ret_nr)
{
	uint64_t head[2], entry[3];
	unsigned int nr = 0;
	char *path;

	if (size < sizeof(head) || note[size - 1])
		return -EBADMSG;
	memcpy(head, note, sizeof(head));
	if (head[0] > (size - sizeof(head)) / sizeof(entry) || !head[1] || head[1] > BUFFER_MAX)
		return -EBADMSG;
	path = note + sizeof(head) + head[0] * sizeof(entry);
	for (uint64_t i = 0; i < head[0] && path < note + size && nr < MAPPINGS_MAX; i++) {
		char *next = path + strlen(path) + 1;

		memcpy(entry, note + sizeof(head) + i * sizeof(entry), sizeof(entry));
		if (is_buffer(path) && entry[0] < entry[1] && entry[1] - entry[0] <= BUFFER_MAX &&
		    entry[2] <= BUFFER_MAX / head[1])
			list[nr++] = (struct mapping){ entry[0], entry[1], entry[2] * head[1], path };
		path = next;
	}
	*ret_nr = nr;
	return 0;
}

static int read_files(struct core *core, char *note, uint64_t size)
{
	struct mapping *list = malloc(MAPPINGS_MAX * sizeof(*list));
	unsigned int nr = 0;
	int err = list ? list_mappings(note, size, list, &nr) : -ENOMEM;

	for (unsigned int i = 0; i < nr && !err; i++)
		if (is_first(list, i))
			err = extract(core, list, nr, list[i].path);
	free(list);
	return err;
}

/* ------------------------------------------------------------------------------------------------------ the notes */

static void read_process(struct core *core, const char *note, uint64_t size)
{
	struct elf_prpsinfo info;

	if (size < sizeof(info))
		return;
	memcpy(&info, note, sizeof(info));
	core->info.pid = (uint32_t)info.pr_pid;
	snprintf(core->info.name, sizeof(core->info.name), "%.16s", info.pr_fname);
}

static uint64_t rounded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

static int read_notes(struct core *core, char *notes, uint64_t size)
{
	uint64_t at = 0;
	Elf64_Nhdr note;
	int err = 0;

	while (!err && at + sizeof(note) <= size) {
		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note) + rounded(note.n_namesz);
		if (at > size || note.n_descsz > size - at)
			return -EBADMSG;
		if (note.n_type == NT_PRPSINFO)
			read_process(core, notes + at, note.n_descsz);
		/* A core file has one list; with a second one, MAPPINGS_MAX would not be the limit. */
		else if (note.n_type == NT_FILE && !core->info.listed) {
			core->info.listed = true;
			err = read_files(core, notes + at, note.n_descsz);
		}
		at += rounded(note.n_descsz);
	}
	return err;
}

static int read_note_segment(struct core *core, const Elf64_Phdr *segment)
{
	const uint64_t size = bytes_in_file(core, segment);
	char *notes;
	int err;

	if (!size || size > NOTES_MAX)
		return size ? -EBADMSG : 0;
	err = spend(core, size);
	if (err)
		return err;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	err = read_core(core, notes, size, segment->p_offset);
	if (!err)
		err = read_notes(core, notes, size);
	free(notes);
	return err;
}

/* ---------------------------------------------------------------------------------------------------------------- */

bool core_file_is_elf(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG];
	bool is_elf;

	if (fd < 0)
		return false;
	is_elf = !read_exactly(fd, magic, sizeof(magic), 0) && !memcmp(magic, ELFMAG, SELFMAG);
	close(fd);
	return is_elf;
}

static int open_files(struct core *core, const char *path, const char *dir)
{
	struct stat st;

	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (core->fd < 0 || fstat(core->fd, &st) < 0)
		return -errno;
	core->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (core->dir < 0)
		return -errno;
	core->size = (uint64_t)st.st_size;
	core->budget = core->size + SLACK;
	core->block = malloc(COPY_BLOCK);
	return core->block ? 0 : -ENOMEM;
}

int core_file_extract(const char *path, const char *dir, struct core_info *ret_info)
{
	struct core core = { .fd = -1, .dir = -1 };
	int err = open_files(&core, path, dir);

	if (!err)
		err = read_segments(&core);
	for (uint64_t i = 0; i < core.nr_segments && !err; i++)
		if (core.segments[i].p_type == PT_NOTE)
			err = read_note_segment(&core, &core.segments[i]);
	if (!err && core.info.damaged && !core.info.buffers)
		err = -EBADMSG;
	if (!err)
		*ret_info = core.info;
	free(core.segments);
	free(core.block);
	if (core.dir >= 0)
		close(core.dir);
	if (core.fd >= 0)
		close(core.fd);
	return err;
}
