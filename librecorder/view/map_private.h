/* SPDX-License-Identifier: MIT */
/* Shared by both kinds of mapped rings. */
#ifndef MAP_PRIVATE_H
#define MAP_PRIVATE_H

#include <librecorder/map.h>
#include <stdbool.h>
#include <stddef.h>

struct map_kind {
	/* As rec_map_get_reader(); ret_page is never NULL. */
	int (*get_reader)(struct rec_map *map, struct rec_page *ret_page);
	/* As rec_map_wait(); percent is in range. */
	int (*wait)(struct rec_map *map, unsigned int percent, int timeout);
	/* Frees everything except the memory of the map itself. */
	void (*close)(struct rec_map *map);
	bool is_copy;
};

struct rec_map {
	const struct map_kind *kind;
	const unsigned char *base; /* the meta page */
	/* Private copies: the program may write a lane's meta page. */
	uint32_t meta_page_size;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
};

/* Sub-buffer `id`, which exists. */
static inline const unsigned char *map_page(const struct rec_map *map, uint32_t id)
{
	return map->base + map->meta_page_size + (size_t)id * map->subbuf_size;
}

#endif
