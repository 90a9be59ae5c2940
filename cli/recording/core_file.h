/* SPDX-License-Identifier: MIT */
/*
 * Buffers in the core file of a program that crashed: its mappings of *.rec files, reassembled as separate files.
 * Nothing in a core file is trusted: the files written take at most the core file's size plus 256 KiB, and the time is
 * proportional to that size.
 */
#ifndef CLI_CORE_FILE_H
#define CLI_CORE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct core_info {
	uint32_t pid;	      /* 0: not in the file */
	char name[17];	      /* name of the program; "": not in the file */
	unsigned int buffers; /* number of reassembled buffers */
	unsigned int absent;  /* files that were mapped, but whose bytes are not in the core file */
	char path[PATH_MAX];  /* path of the first absent one */
	unsigned int damaged; /* files whose bytes are not a buffer; not 0 only if there are buffers as well */
	bool listed;	      /* the core file has a list of mapped files */
	bool cut;	      /* the file ends early */
};

/* Whether the file begins like an ELF file. */
bool core_file_is_elf(const char *path);

/*
 * Write each buffer in the core file at `path` to a file of its own in `dir`, a directory that no other process writes
 * to, as a buffer that has no reader and no writer. 0, and *ret_info is filled; -ENOEXEC: an ELF file, but not a core
 * file; -EPROTO: of another word size or byte order; -EBADMSG: damaged; -ENOMEM; or the errno of open, read or write.
 */
int core_file_extract(const char *path, const char *dir, struct core_info *ret_info);

#endif
