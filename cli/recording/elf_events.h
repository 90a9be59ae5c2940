/* SPDX-License-Identifier: MIT */
/*
 * The events compiled into a program or shared library: its section "rec_events". The file is not trusted: every
 * number in it is checked against the file's size before it is used.
 */
#ifndef CLI_ELF_EVENTS_H
#define CLI_ELF_EVENTS_H

#include <stddef.h>

/*
 * Read the descriptions, as a log for rec_log_next() (the ids in it are 0), into memory that the caller frees. 0;
 * -ENOEXEC: not an ELF file; -EPROTO: of another byte order; -ENODATA: without such a section; -EBADMSG: damaged;
 * -EFBIG; -ENOMEM; or the errno of open or read.
 */
int elf_events_read(const char *path, void **ret_log, size_t *ret_size);

#endif
