/* SPDX-License-Identifier: MIT */
/* Files of a tracefs instance, as far as the library reads them: without libtracefs, which the command has. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The directory of an instance: by its name, its absolute path, or NULL for the top level. Returns a descriptor;
 * -ENOENT: no tracefs is mounted, or it has no such instance; -EINVAL: no name; -ENAMETOOLONG; or open's errno.
 */
int rec_instance_open(const char *instance);

/* What a file in the directory holds, up to size - 1 bytes, ended with NUL. Its length or -errno. */
int rec_instance_read(int dir, const char *file, char *text, size_t size);

/* A file that holds a number. 0, -EPROTO: it does not; or -errno. */
int rec_instance_number(int dir, const char *file, uint64_t *ret_number);

/* 0 or -errno. */
int rec_instance_write(int dir, const char *file, const char *text);

#endif
