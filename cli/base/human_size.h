/* SPDX-License-Identifier: MIT */
/* Sizes as a person reads them. */
#ifndef CLI_HUMAN_SIZE_H
#define CLI_HUMAN_SIZE_H

#include <stdint.h>

/* Bytes as a person reads them: "842 bytes", "84.2 MB"; returns `text`. */
const char *human_size(uint64_t bytes, char *text, int size);

#endif
