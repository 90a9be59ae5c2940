/* SPDX-License-Identifier: MIT */
#include "cli/recording/place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buffer *place_find(struct place *place, const char *name, uint64_t inode)
{
	for (unsigned int i = 0; i < place->nr; i++)
		if (place->list[i].inode == inode && !strcmp(place->list[i].name, name))
			return &place->list[i];
	return NULL;
}

struct buffer *place_add(struct place *place, const char *name, uint64_t inode, const struct rec_view *view)
{
	const struct rec_view_info *info = rec_view_info(view);
	const uint64_t pid_ns = rec_view_pid_namespace(view);
	struct buffer *list = realloc(place->list, (place->nr + 1) * sizeof(*list)), *buffer;

	if (!list)
		return NULL;
	place->list = list;
	buffer = &list[place->nr];
	*buffer = (struct buffer){ .name = strdup(name),
				   .inode = inode,
				   .self = { info->pid, info->start_time, pid_ns },
				   .parent = { info->parent_pid, info->parent_start, pid_ns } };
	if (!buffer->name)
		return NULL;
	place->nr++;
	return buffer;
}

static void drop(struct place *place, struct buffer *buffer)
{
	rec_view_close(buffer->view);
	free(buffer->name);
	*buffer = place->list[--place->nr];
}

void place_forget(struct place *place)
{
	for (unsigned int i = 0; i < place->nr;)
		if (!place->list[i].seen && !place->list[i].view)
			drop(place, &place->list[i]);
		else
			i++;
}

void place_close(struct place *place)
{
	while (place->nr)
		drop(place, &place->list[place->nr - 1]);
	free(place->list);
	drain_close(place->drain);
	dir_watch_close(&place->watch);
	close(place->fd);
}
