/* SPDX-License-Identifier: MIT */
/* How much memory the machine has to spare. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdint.h>

/* Bytes that can be had without swapping; UINT64_MAX: not known. */
uint64_t memory_available(void);

#endif
