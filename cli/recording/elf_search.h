/* SPDX-License-Identifier: MIT */
/* Where the dynamic loader finds a shared library (ld.so(8)). */
#ifndef CLI_ELF_SEARCH_H
#define CLI_ELF_SEARCH_H

#include "cli/recording/elf_file.h"

/* The program or library that needs the library. */
struct elf_needer {
	const struct elf *elf; /* the library is of the same machine and word size */
	const char *path;      /* $ORIGIN is the directory of this path: of a program the real one */
	const char *rpath;     /* DT_RPATH, if there is no DT_RUNPATH; NULL: none */
	const char *runpath;   /* DT_RUNPATH; NULL: none */
};

/*
 * Opens the library that `name` leads to: as a path if it has a slash; otherwise along DT_RPATH, LD_LIBRARY_PATH,
 * DT_RUNPATH, the loader's cache, and the standard directories. 0, and the path in `path`; or -ENOENT.
 */
int elf_search(const struct elf_needer *needer, const char *name, char path[4096], struct elf *ret_elf);

#endif
