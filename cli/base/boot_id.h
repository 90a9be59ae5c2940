/* SPDX-License-Identifier: MIT */
/* Which boot of the machine this is: kernels with the same text are one kernel. */
#ifndef CLI_BOOT_ID_H
#define CLI_BOOT_ID_H

#include <fcntl.h>

#include "cli/base/read_at.h"

/* A text that is long enough: a UUID, a line feed, a NUL. */
#define BOOT_ID_SIZE 64u

/* As the kernel shows it. 0, or the errno of open or read. */
static inline int boot_id_read(char *text, size_t size)
{
	return read_text_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, size);
}

#endif
