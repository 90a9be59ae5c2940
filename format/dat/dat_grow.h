/* SPDX-License-Identifier: MIT */
/* Arrays whose room doubles when they are full. */
#ifndef FORMAT_DAT_GROW_H
#define FORMAT_DAT_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* The array with room for one more element than `count`; NULL: out of memory, and the array is as before. */
static inline void *dat_grow(void *array, size_t count, size_t element)
{
	if (count & (count - 1))
		return array;
	if (count > SIZE_MAX / 2 / element)
		return NULL;
	return realloc(array, (count ? 2 * count : 1) * element);
}

#endif
