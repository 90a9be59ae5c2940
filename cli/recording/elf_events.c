/* SPDX-License-Identifier: MIT */
/*
 * Reading ELF files of both word sizes. Section headers are brought into the 64-bit form and all else works on that.
 */
#include "cli/recording/elf_events.h"
#include "cli/base/read_at.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION_NAME "rec_events"

/* Ten thousand events of the longest declaration there is would be less. */
#define SECTION_MAX (UINT64_C(64) << 20)

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define NATIVE_ORDER ELFDATA2LSB
#else
#define NATIVE_ORDER ELFDATA2MSB
#endif

struct elf {
	int fd;
	uint64_t size; /* of the file */
	bool is_64;
	uint64_t sections; /* offset of the section headers */
	uint64_t nr;
	uint64_t names; /* number of the section with the names */
};

/* Exactly `size` bytes at `offset`. 0; -EBADMSG: the file has not so many; or read's errno. */
static int read_elf(const struct elf *elf, void *bytes, size_t size, uint64_t offset)
{
	if (offset > elf->size || size > elf->size - offset)
		return -EBADMSG;
	return read_exactly(elf->fd, bytes, size, offset);
}

static int read_section_header(const struct elf *elf, uint64_t number, Elf64_Shdr *ret_header)
{
	Elf32_Shdr narrow;
	const uint64_t each = elf->is_64 ? sizeof(*ret_header) : sizeof(narrow);
	int err;

	if (number >= elf->size / each)
		return -EBADMSG;
	if (elf->is_64)
		return read_elf(elf, ret_header, sizeof(*ret_header), elf->sections + number * each);
	err = read_elf(elf, &narrow, sizeof(narrow), elf->sections + number * each);
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

/* The parts of the file header that matter. */
static int read_header(struct elf *elf)
{
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	Elf64_Shdr first;
	uint32_t each;
	int err;

	if (read_elf(elf, ident, sizeof(ident), 0) || memcmp(ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return -EBADMSG;
	if (ident[EI_DATA] != NATIVE_ORDER)
		return -EPROTO;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (elf->is_64) {
		err = read_elf(elf, &wide, sizeof(wide), 0);
		if (err)
			return err;
		elf->sections = wide.e_shoff;
		elf->nr = wide.e_shnum;
		elf->names = wide.e_shstrndx;
		each = wide.e_shentsize;
	} else {
		err = read_elf(elf, &narrow, sizeof(narrow), 0);
		if (err)
			return err;
		elf->sections = narrow.e_shoff;
		elf->nr = narrow.e_shnum;
		elf->names = narrow.e_shstrndx;
		each = narrow.e_shentsize;
	}
	if (!elf->sections)
		return -ENODATA;
	if (each != (elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return -EBADMSG;
	if (elf->sections > elf->size)
		return -EBADMSG;
	/* Numbers that do not fit stand in the section header 0. */
	err = read_section_header(elf, 0, &first);
	if (err)
		return err;
	if (!elf->nr)
		elf->nr = first.sh_size;
	if (elf->names == SHN_XINDEX)
		elf->names = first.sh_link;
	return elf->names < elf->nr ? 0 : -EBADMSG;
}

static bool has_name(const struct elf *elf, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	char text[sizeof(SECTION_NAME)];

	if (section->sh_name > names->sh_size || sizeof(text) > names->sh_size - section->sh_name ||
	    names->sh_offset > elf->size)
		return false;
	return !read_elf(elf, text, sizeof(text), names->sh_offset + section->sh_name) &&
	       !memcmp(text, SECTION_NAME, sizeof(text));
}

/* Append a section's content to the log. */
static int add_section(const struct elf *elf, const Elf64_Shdr *section, unsigned char **log, size_t *log_size)
{
	/* An object file has several; each begins aligned, as in a log. */
	const size_t room = (section->sh_size + 7) & ~(size_t)7;
	unsigned char *larger;
	int err;

	if (section->sh_offset > elf->size || section->sh_size > elf->size - section->sh_offset)
		return -EBADMSG;
	if (section->sh_size > SECTION_MAX || *log_size + room > SECTION_MAX)
		return -EFBIG;
	if (!room)
		return 0;
	larger = realloc(*log, *log_size + room);
	if (!larger)
		return -ENOMEM;
	*log = larger;
	memset(larger + *log_size, 0, room);
	err = read_elf(elf, larger + *log_size, (size_t)section->sh_size, section->sh_offset);
	if (!err)
		*log_size += room;
	return err;
}

static int read_sections(const struct elf *elf, unsigned char **log, size_t *log_size)
{
	Elf64_Shdr names, section;
	int err;

	err = read_section_header(elf, elf->names, &names);
	for (uint64_t i = 1; !err && i < elf->nr; i++) {
		err = read_section_header(elf, i, &section);
		if (!err && section.sh_type == SHT_PROGBITS && has_name(elf, &names, &section))
			err = add_section(elf, &section, log, log_size);
	}
	return err;
}

int elf_events_read(const char *path, void **ret_log, size_t *ret_size)
{
	struct elf elf = { .fd = -1 };
	unsigned char *log = NULL;
	size_t size = 0;
	struct stat st;
	int err;

	/* Not blocking, should it be a pipe. */
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
		err = read_header(&elf);
	}
	if (!err)
		err = read_sections(&elf, &log, &size);
	if (!err && !size)
		err = -ENODATA;
	close(elf.fd);
	if (err) {
		free(log);
		return err;
	}
	*ret_log = log;
	*ret_size = size;
	return 0;
}
