/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full, so a free slot always ends a search. */
#include "format/io/number_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

#define FIRST_SIZE 64u

/* The slot of a key, or the free slot where it belongs. The size is not 0. */
static struct number_entry *find(const struct number_map *map, uint64_t key)
{
	size_t at = (size_t)hash_number(key) & (map->size - 1);

	while (map->entries[at].value && map->entries[at].key != key)
		at = (at + 1) & (map->size - 1);
	return &map->entries[at];
}

uint64_t number_map_get(const struct number_map *map, uint64_t key)
{
	return map->size ? find(map, key)->value : 0;
}

static int grow(struct number_map *map)
{
	struct number_map bigger = { NULL, map->used, map->size ? map->size * 2 : FIRST_SIZE };
	size_t i;

	bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (i = 0; i < map->size; i++)
		if (map->entries[i].value)
			*find(&bigger, map->entries[i].key) = map->entries[i];
	free(map->entries);
	*map = bigger;
	return 0;
}

int number_map_set(struct number_map *map, uint64_t key, uint64_t value)
{
	struct number_entry *entry;

	if (map->used >= map->size / 2 && grow(map))
		return -ENOMEM;
	entry = find(map, key);
	if (!entry->value)
		map->used++;
	entry->key = key;
	entry->value = value;
	return 0;
}

void number_map_free(struct number_map *map)
{
	free(map->entries);
	memset(map, 0, sizeof(*map));
}
