/* SPDX-License-Identifier: MIT */
/* What shm.c offers to the making and the reading of buffers alike. */
#ifndef SHM_H
#define SHM_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Sub-buffers of all lanes together that a buffer may have: 256 GiB of the smallest. It bounds
 * the time that a look at all of them takes.
 */
#define REC_SUBBUFS_MAX (UINT64_C(1) << 26)

/*
 * Whether this version understands a buffer with this header: it has feature bits, and none of the incompatible ones is
 * unknown here. A buffer that is not understood is neither read nor removed.
 */
bool rec_buffer_is_known(const struct rec_buffer_header *header);

/* As rec_buffer_dir(), but returns the directory's descriptor. */
int rec_buffer_dir_open(bool create, char *path, size_t size);

#endif
