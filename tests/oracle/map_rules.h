/* SPDX-License-Identifier: MIT */
/* The operations that are permitted on a mapping, and while it exists. */
#ifndef MAP_RULES_H
#define MAP_RULES_H

#include "map_back.h"

#include <stddef.h>

uint64_t sum_of(const void *page, uint32_t size);

/* Check the unchanged mapping; and the result of each attempt to do more with it, one after the other. */
void check_mapping(struct back *back);
void check_rules(struct back *back);

#endif
