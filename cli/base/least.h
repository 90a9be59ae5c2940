/* SPDX-License-Identifier: MIT */
/* The smaller of two numbers. */
#ifndef CLI_LEAST_H
#define CLI_LEAST_H

#include <stdint.h>

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
