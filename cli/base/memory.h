/* SPDX-License-Identifier: MIT */
/* How much memory this process may still use. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdint.h>

/*
 * Bytes that can be had without swapping and within the memory limits of the process's control groups; UINT64_MAX: not
 * known.
 */
uint64_t memory_available(void);

/* The same, according to the files proc and sys below the directory `root`; "": those of the machine. */
uint64_t memory_available_at(const char *root);

#endif
