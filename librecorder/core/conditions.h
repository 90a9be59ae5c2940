/* SPDX-License-Identifier: MIT */
/* Putting conditions where enable words can name them: struct rec_conditions. */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <librecorder/detail/abi.h>
#include <stddef.h>

/* The halves of the conditions, from their beginning. */
#define CONDITIONS_OF_OTHERS  0u
#define CONDITIONS_OF_PROGRAM REC_CONDITIONS_HALF

/* Gives memory to a part of the conditions: 0 or -errno. */
typedef int conditions_populate(void *data, size_t offset, size_t size);

/*
 * Find a condition like `condition` (aligned to 8) in one of the halves, or append it. One that is found and has a
 * rate begins to count anew. The caller keeps other writers of the half away. 0 and the upper bits of an enable word;
 * -ENOSPC: the half is full; -EBADMSG: it is damaged; or as `populate`.
 */
int rec_conditions_place(unsigned char *conditions, size_t half, const struct rec_condition *condition,
			 conditions_populate *populate, void *data, uint32_t *ret_bits);

/* Give `to`, which has none, both halves of `from`: the same words name the same conditions. 0 or as `populate`. */
int rec_conditions_copy(unsigned char *to, const unsigned char *from, conditions_populate *populate, void *data);

#endif
