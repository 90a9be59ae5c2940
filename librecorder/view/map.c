/* SPDX-License-Identifier: MIT */
/* Mapped rings: the part that lanes and the kernel's rings have in common. */
#include "librecorder/view/map_private.h"

#include <errno.h>
#include <stdlib.h>

int rec_map_is_copy(const struct rec_map *map)
{
	return map->kind->is_copy;
}

struct rec_map *rec_map_close(struct rec_map *map)
{
	if (!map)
		return NULL;
	map->kind->close(map);
	free(map);
	return NULL;
}

const struct rec_meta *rec_map_meta(const struct rec_map *map)
{
	return (const struct rec_meta *)(const void *)map->base;
}

const void *rec_map_page(const struct rec_map *map, uint32_t id)
{
	return id < map->nr_subbufs ? map_page(map, id) : NULL;
}

int rec_map_get_reader(struct rec_map *map, struct rec_page *ret_page)
{
	struct rec_page page;
	const int r = map->kind->get_reader(map, &page);

	if (r == 1 && ret_page)
		*ret_page = page;
	return r;
}

int rec_map_wait(struct rec_map *map, unsigned int percent, int timeout)
{
	return percent > 100 ? -EINVAL : map->kind->wait(map, percent, timeout);
}
