/* SPDX-License-Identifier: MIT */
/* Texts that are stored once: equal texts have the same address, which stays valid until the pool is closed. */
#ifndef FORMAT_TEXT_POOL_H
#define FORMAT_TEXT_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pooled_text {
	uint32_t size; /* without the NUL that follows */
	char text[];
};

struct text_pool {
	struct pooled_text **slots; /* a hash table: a power of two, or none */
	size_t nr_slots;
	size_t used;
};

/* The pool's copy of a text, which may contain NULs; NULL: out of memory. */
const struct pooled_text *text_pool_add(struct text_pool *pool, const char *text, size_t size);

/* NULL: the pool does not have it. */
const struct pooled_text *text_pool_find(const struct text_pool *pool, const char *text, size_t size);

void text_pool_close(struct text_pool *pool);

#endif
