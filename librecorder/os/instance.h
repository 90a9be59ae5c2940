/* SPDX-License-Identifier: MIT */
/*
 * Files of a tracefs instance that the library reads. This code does not need libtracefs, which only the command uses.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The directory of an instance: by its name, its absolute path, or NULL for the top level. Returns a descriptor;
 * -ENOENT: no tracefs is mounted, or it has no such instance; -EINVAL: invalid name; -ENAMETOOLONG; or the errno of
 * open.
 */
int rec_instance_open(const char *instance);

/* The contents of a file in the directory, up to size - 1 bytes, terminated by NUL. Its length or -errno. */
int rec_instance_read(int dir, const char *file, char *text, size_t size);

/* Read a file that contains a number. 0; -EPROTO: it contains something else; or -errno. */
int rec_instance_number(int dir, const char *file, uint64_t *ret_number);

/* 0 or -errno. */
int rec_instance_write(int dir, const char *file, const char *text);

#endif
