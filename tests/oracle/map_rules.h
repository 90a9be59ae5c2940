/* SPDX-License-Identifier: MIT */
/* What may be done with a mapping, and beside it. */
#ifndef MAP_RULES_H
#define MAP_RULES_H

#include "map_back.h"

#include <stddef.h>

uint64_t sum_of(const void *page, uint32_t size);

/* The mapping as it is; and what each attempt to do more with it gives, one after the other. */
void check_mapping(struct back *back);
void check_rules(struct back *back);

#endif
