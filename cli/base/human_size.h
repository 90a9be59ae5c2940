/* SPDX-License-Identifier: MIT */
/* Sizes with units, for people. */
#ifndef CLI_HUMAN_SIZE_H
#define CLI_HUMAN_SIZE_H

#include <stdint.h>

/* A number of bytes with its unit: "842 bytes", "84.2 MB"; returns `text`. */
const char *human_size(uint64_t bytes, char *text, int size);

#endif
