/* SPDX-License-Identifier: MIT */
/* The shared libraries that a program or library needs, directly or through other libraries. No code of them is run. */
#ifndef CLI_ELF_LIBRARIES_H
#define CLI_ELF_LIBRARIES_H

#include <sys/types.h>

/* The first one is the file itself; the others follow in the order in which the loader loads them, each once. */
struct elf_libraries {
	struct elf_library {
		char *path;
		char *name; /* by which it was found */
		dev_t dev;
		ino_t inode;
	} *all;
	unsigned int nr;
	char **missing; /* the names of those that cannot be found, each once */
	unsigned int nr_missing;
};

/* 0, or as elf_open(), or -ENOMEM; elf_libraries_free() in both cases. */
int elf_libraries_find(const char *path, struct elf_libraries *libraries);
void elf_libraries_free(struct elf_libraries *libraries);

#endif
