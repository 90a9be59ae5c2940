/* SPDX-License-Identifier: MIT */
/* See text_pool.h. */
#include "format/io/text_pool.h"

#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

#define SLOTS_MIN 256u

/* The slot that has the text, or the free slot where it belongs. */
static size_t slot_of(const struct text_pool *pool, const char *text, size_t size)
{
	size_t i = (size_t)hash_bytes(text, size) & (pool->nr_slots - 1);

	while (pool->slots[i] && (pool->slots[i]->size != size || memcmp(pool->slots[i]->text, text, size) != 0))
		i = (i + 1) & (pool->nr_slots - 1);
	return i;
}

static int grow(struct text_pool *pool)
{
	const struct text_pool old = *pool;

	pool->nr_slots = old.nr_slots ? 2 * old.nr_slots : SLOTS_MIN;
	pool->slots = calloc(pool->nr_slots, sizeof(struct pooled_text *));
	if (!pool->slots) {
		*pool = old;
		return -1;
	}
	for (size_t i = 0; i < old.nr_slots; i++) {
		if (old.slots[i])
			pool->slots[slot_of(pool, old.slots[i]->text, old.slots[i]->size)] = old.slots[i];
	}
	free(old.slots);
	return 0;
}

const struct pooled_text *text_pool_find(const struct text_pool *pool, const char *text, size_t size)
{
	return pool->nr_slots ? pool->slots[slot_of(pool, text, size)] : NULL;
}

const struct pooled_text *text_pool_add(struct text_pool *pool, const char *text, size_t size)
{
	struct pooled_text *copy;
	size_t slot;

	/* Grow before more than three quarters of the slots are used. */
	if (size > UINT32_MAX || (4 * (pool->used + 1) > 3 * pool->nr_slots && grow(pool)))
		return NULL;
	slot = slot_of(pool, text, size);
	if (pool->slots[slot])
		return pool->slots[slot];
	copy = malloc(sizeof(*copy) + size + 1);
	if (!copy)
		return NULL;
	copy->size = (uint32_t)size;
	memcpy(copy->text, text, size);
	copy->text[size] = '\0';
	pool->slots[slot] = copy;
	pool->used++;
	return copy;
}

void text_pool_close(struct text_pool *pool)
{
	for (size_t i = 0; i < pool->nr_slots; i++)
		free(pool->slots[i]);
	free(pool->slots);
	*pool = (struct text_pool){ 0 };
}
