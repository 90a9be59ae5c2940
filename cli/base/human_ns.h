/* SPDX-License-Identifier: MIT */
#ifndef CLI_HUMAN_NS_H
#define CLI_HUMAN_NS_H

#include <stdint.h>

#define HUMAN_NS_SIZE 32u

/*
 * "  1.234 ms" or "  1.234 s ", in the unit in which it has one to three digits before the point; at least 10 columns.
 * Returns `to`.
 */
const char *human_ns(uint64_t ns, char to[HUMAN_NS_SIZE]);

/* The same without blanks around it. */
const char *human_ns_trimmed(uint64_t ns, char to[HUMAN_NS_SIZE]);

#endif
