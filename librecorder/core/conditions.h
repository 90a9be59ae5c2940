/* SPDX-License-Identifier: MIT */
/* Stores conditions where enable words can name them: struct rec_conditions. */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <librecorder/detail/abi.h>
#include <stddef.h>

/* Where the two halves of the conditions begin: those that other processes make, and those of the program itself. */
#define CONDITIONS_OF_OTHERS  0u
#define CONDITIONS_OF_PROGRAM REC_CONDITIONS_HALF

/* Gives memory to a part of the conditions: 0 or -errno. */
typedef int conditions_populate(void *data, size_t offset, size_t size);

/*
 * Find a condition equal to `condition` (aligned to 8) in one of the halves, or append it. If the condition found has a
 * rate, its count starts again. The caller excludes other writers of the half. 0 and the upper bits of an enable word;
 * -ENOSPC: the half is full; -EBADMSG: it is damaged; or an error of `populate`.
 */
int rec_conditions_place(unsigned char *conditions, size_t half, const struct rec_condition *condition,
			 conditions_populate *populate, void *data, uint32_t *ret_bits);

/*
 * Copy both halves of `from` to `to`, which is empty: then the same words name the same conditions. Their counts of
 * suppressed events begin at 0. Returns 0, -EFAULT (`from` was truncated), or an error of `populate`.
 */
int rec_conditions_copy(unsigned char *to, const unsigned char *from, conditions_populate *populate, void *data);

#endif
