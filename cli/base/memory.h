/* SPDX-License-Identifier: MIT */
/* How much memory the machine has available. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdint.h>

/* Bytes available without swapping; UINT64_MAX: unknown. */
uint64_t memory_available(void);

#endif
