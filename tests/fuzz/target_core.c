/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: a core file of any bytes, whose buffers are extracted. The result is one that core_file.h
 * lists, and no more is written than the core file contains. If FUZZ_SEED names a directory, valid core files are
 * written there, and the process ends.
 */
#include "cli/recording/core_file.h"
#include "small_buffer.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASE	 UINT64_C(0x7f0000000000) /* where the buffer was mapped */
#define SEGMENTS 64u
#define NOTES	 1024u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[] = "/dev/shm/fuzz_core.XXXXXX";

static void check(bool fine)
{
	if (!fine)
		abort();
}

/* -------------------------------------------------------------------------------------------------------- the seeds */

static size_t add_note(unsigned char *at, uint32_t type, const void *bytes, size_t size)
{
	const Elf64_Nhdr note = { .n_namesz = 5, .n_descsz = (Elf64_Word)size, .n_type = type };

	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), "CORE", 5);
	memcpy(at + sizeof(note) + 8, bytes, size);
	return sizeof(note) + 8 + ((size + 3) & ~(size_t)3);
}

/* A program; its buffer in two pieces, a buffer of which the core file has nothing, and a library. */
static size_t add_notes(unsigned char *at, uint64_t size)
{
	static const char names[] = "/dir/7-1.rec\0/dir/7-1.rec\0/dir/8-1.rec (deleted)\0/lib/libc.so";
	const struct elf_prpsinfo info = { .pr_pid = 4711, .pr_fname = "program" };
	const uint64_t numbers[] = {
		4, 4096, BASE, BASE + 8192, 0, BASE + 8192, BASE + size, 2, 4096, 8192, 0, 8192, 12288, 1,
	};
	unsigned char text[sizeof(numbers) + sizeof(names)];
	const size_t process = add_note(at, NT_PRPSINFO, &info, sizeof(info));

	memcpy(text, numbers, sizeof(numbers));
	memcpy(text + sizeof(numbers), names, sizeof(names));
	return process + add_note(at + process, NT_FILE, text, sizeof(text));
}

/* Segments need not be aligned: each has one part of the buffer. */
static unsigned int add_segments(Elf64_Phdr *segments, const unsigned char *bytes, size_t size, uint64_t offset)
{
	unsigned int nr = 0;
	size_t part;

	for (size_t at = 0; nr < SEGMENTS && (part = small_buffer_part(bytes, size, &at)); at += part) {
		segments[nr++] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_offset = offset, .p_vaddr = BASE + at, .p_filesz = part, .p_memsz = part
		};
		offset += part;
	}
	return nr;
}

static void write_seed(const unsigned char *bytes, size_t size, void *name)
{
	Elf64_Ehdr header = {
		.e_ident = ELFMAG, .e_type = ET_CORE, .e_phentsize = sizeof(Elf64_Phdr), .e_phoff = sizeof(header)
	};
	unsigned char notes[NOTES] = { 0 };
	Elf64_Phdr segments[1 + SEGMENTS];
	FILE *seed = fopen(name, "we");
	unsigned int nr;

	segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = sizeof(header) + sizeof(segments) };
	segments[0].p_filesz = add_notes(notes, size);
	nr = add_segments(segments + 1, bytes, size, segments[0].p_offset + sizeof(notes));
	header.e_phnum = (Elf64_Half)(1 + nr);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	check(seed && fwrite(&header, sizeof(header), 1, seed) == 1);
	check(fwrite(segments, sizeof(segments), 1, seed) == 1 && fwrite(notes, sizeof(notes), 1, seed) == 1);
	for (unsigned int i = 1; i <= nr; i++)
		check(fwrite(bytes + (segments[i].p_vaddr - BASE), segments[i].p_filesz, 1, seed) == 1);
	check(fclose(seed) == 0);
}

static void write_seeds(const char *to)
{
	char name[4096];

	for (unsigned int i = 0; i < SMALL_BUFFERS; i++) {
		snprintf(name, sizeof(name), "%s/%u", to, i);
		small_buffer(i, write_seed, name);
	}
}

/* --------------------------------------------------------------------------------------------------------- an input */

static void remove_dir(void)
{
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *seed = getenv("FUZZ_SEED");

	(void)argc;
	(void)argv;
	check(mkdtemp(dir) != NULL);
	setenv("RECORDER_DIR", dir, 1);
	if (seed) {
		write_seeds(seed);
		remove_dir();
		exit(0);
	}
	atexit(remove_dir);
	return 0;
}

/* Remove the extracted files. Returns their number, and adds up the memory they take. */
static unsigned int empty(uint64_t *ret_bytes)
{
	DIR *files = opendir(dir);
	const struct dirent *entry;
	unsigned int nr = 0;
	struct stat st;

	check(files != NULL);
	while ((entry = readdir(files))) {
		if (entry->d_name[0] == '.')
			continue;
		check(fstatat(dirfd(files), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
		check(unlinkat(dirfd(files), entry->d_name, 0) == 0);
		*ret_bytes += (uint64_t)st.st_blocks * 512u;
		nr++;
	}
	closedir(files);
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int core = -1;
	struct core_info info = { 0 };
	uint64_t bytes = 0;
	unsigned int files;
	char path[32];
	int r;

	if (core < 0)
		core = memfd_create("core", MFD_CLOEXEC);
	check(core >= 0 && ftruncate(core, 0) == 0 && pwrite(core, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", core);
	r = core_file_is_elf(path) ? core_file_extract(path, dir, &info) : -ENOEXEC;
	check(r == 0 || r == -ENOEXEC || r == -EPROTO || r == -EBADMSG);
	files = empty(&bytes);
	check(bytes <= size + (256u << 10));
	check(r < 0 || files == info.buffers);
	check(memchr(info.path, 0, sizeof(info.path)) && memchr(info.name, 0, sizeof(info.name)));
	return 0;
}
