/* SPDX-License-Identifier: MIT */
/*
 * Reading ELF files of both word sizes. Section headers are converted to the 64-bit form, and all other code uses
 * that.
 */
#include "cli/recording/elf_file.h"
#include "format/io/read_at.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any compiler makes. Each header is read separately, and a sparse file could have room for billions. */
#define SECTIONS_MAX (UINT64_C(1) << 20)

int elf_read(const struct elf *elf, void *bytes, size_t size, uint64_t offset)
{
	return read_within(elf->fd, elf->size, bytes, size, offset);
}

int elf_section(const struct elf *elf, uint64_t number, Elf64_Shdr *ret_header)
{
	Elf32_Shdr narrow;
	const uint64_t each = elf->is_64 ? sizeof(*ret_header) : sizeof(narrow);
	int err;

	if (number >= elf->size / each)
		return -EBADMSG;
	if (elf->is_64)
		return elf_read(elf, ret_header, sizeof(*ret_header), elf->sections + number * each);
	err = elf_read(elf, &narrow, sizeof(narrow), elf->sections + number * each);
	if (err)
		return err;
	*ret_header = (Elf64_Shdr){
		.sh_name = narrow.sh_name,
		.sh_type = narrow.sh_type,
		.sh_offset = narrow.sh_offset,
		.sh_size = narrow.sh_size,
		.sh_link = narrow.sh_link,
	};
	return 0;
}

/* Read the parts of the file header that are needed. */
static int read_header(struct elf *elf)
{
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	Elf64_Shdr first;
	uint32_t each;
	int err;

	if (elf_read(elf, ident, sizeof(ident), 0) || memcmp(ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return -EBADMSG;
	if (ident[EI_DATA] != ELF_NATIVE_ORDER)
		return -EPROTO;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (elf->is_64) {
		err = elf_read(elf, &wide, sizeof(wide), 0);
		if (err)
			return err;
		elf->sections = wide.e_shoff;
		elf->nr = wide.e_shnum;
		elf->names = wide.e_shstrndx;
		elf->machine = wide.e_machine;
		each = wide.e_shentsize;
	} else {
		err = elf_read(elf, &narrow, sizeof(narrow), 0);
		if (err)
			return err;
		elf->sections = narrow.e_shoff;
		elf->nr = narrow.e_shnum;
		elf->names = narrow.e_shstrndx;
		elf->machine = narrow.e_machine;
		each = narrow.e_shentsize;
	}
	if (!elf->sections)
		return -ENODATA;
	if (each != (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return -EBADMSG;
	if (elf->sections > elf->size)
		return -EBADMSG;
	/* Numbers that do not fit into the file header are in section header 0. */
	err = elf_section(elf, 0, &first);
	if (err)
		return err;
	if (!elf->nr)
		elf->nr = first.sh_size;
	if (elf->names == SHN_XINDEX)
		elf->names = first.sh_link;
	return elf->names < elf->nr && elf->nr <= SECTIONS_MAX ? 0 : -EBADMSG;
}

int elf_open(const char *path, struct elf *ret_elf)
{
	struct elf elf = { .fd = -1 };
	struct stat st;
	int err;

	/* O_NONBLOCK, because the path may lead to a pipe. */
	elf.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (elf.fd < 0)
		return -errno;
	err = fstat(elf.fd, &st) < 0 ? -errno : 0;
	if (!err && S_ISDIR(st.st_mode))
		err = -EISDIR;
	if (!err && !S_ISREG(st.st_mode))
		err = -ENOEXEC;
	if (!err) {
		elf.size = (uint64_t)st.st_size;
		elf.dev = st.st_dev;
		elf.inode = st.st_ino;
		err = read_header(&elf);
	}
	if (err)
		elf_close(&elf);
	else
		*ret_elf = elf;
	return err;
}

void elf_close(struct elf *elf)
{
	close(elf->fd);
}
