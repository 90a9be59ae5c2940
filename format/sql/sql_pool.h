/* SPDX-License-Identifier: MIT */
/* Texts that are stored once: equal texts have the same address, which stays valid until the pool is closed. */
#ifndef FORMAT_SQL_POOL_H
#define FORMAT_SQL_POOL_H

#include <stddef.h>
#include <stdint.h>

struct sql_text {
	uint32_t size; /* without the NUL that follows */
	char text[];
};

struct sql_pool {
	struct sql_text **slots; /* a hash table: a power of two, or none */
	size_t nr_slots;
	size_t used;
};

/* The pool's copy of a text, which may contain NULs; NULL: out of memory. */
const struct sql_text *sql_pool_add(struct sql_pool *pool, const char *text, size_t size);

/* NULL: the pool does not have it. */
const struct sql_text *sql_pool_find(const struct sql_pool *pool, const char *text, size_t size);

void sql_pool_close(struct sql_pool *pool);

#endif
