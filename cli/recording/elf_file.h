/* SPDX-License-Identifier: MIT */
/* ELF files. They are not trusted: every number in them is checked against the file's size before it is used. */
#ifndef CLI_ELF_FILE_H
#define CLI_ELF_FILE_H

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define ELF_NATIVE_ORDER ELFDATA2LSB
#else
#define ELF_NATIVE_ORDER ELFDATA2MSB
#endif

struct elf {
	int fd;
	uint64_t size; /* of the file */
	bool is_64;
	uint16_t machine;
	uint64_t sections; /* offset of the section headers */
	uint64_t nr;
	uint64_t names; /* number of the section with the names */
	dev_t dev;
	ino_t inode;
};

/*
 * 0; -ENOEXEC: not an ELF file; -EPROTO: of another byte order; -ENODATA: without sections; -EBADMSG: damaged; -EISDIR;
 * or the errno of open or read.
 */
int elf_open(const char *path, struct elf *ret_elf);
void elf_close(struct elf *elf);

/* Exactly `size` bytes at `offset`. 0; -EBADMSG: the file is too short; or read's errno. */
int elf_read(const struct elf *elf, void *bytes, size_t size, uint64_t offset);

/* The header of section `number`, below `nr`. 0; -EBADMSG; or read's errno. */
int elf_section(const struct elf *elf, uint64_t number, Elf64_Shdr *ret_header);

#endif
