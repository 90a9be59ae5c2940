/* SPDX-License-Identifier: MIT */
#include "cli/place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory that changed this recently may change again without its time stamp showing it: the kernel's ticks are coarse. */
#define MTIME_GRAIN_NS INT64_C(50000000)

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
	struct buffer *list = realloc(place->list, (place->nr + 1) * sizeof(*list)), *buffer;

	if (!list)
		return NULL;
	place->list = list;
	buffer = &list[place->nr];
	*buffer = (struct buffer){ .name = strdup(name),
				   .inode = inode,
				   .self = { info->pid, info->start_time },
				   .parent = { info->parent_pid, info->parent_start } };
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

bool place_has_changed(struct place *place)
{
	struct timespec now;
	struct stat st;
	bool changed;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(place->fd, &st) < 0)
		return true;
	changed = place->again || st.st_mtim.tv_sec != place->changed.tv_sec || st.st_mtim.tv_nsec != place->changed.tv_nsec ||
		  (now.tv_sec - st.st_mtim.tv_sec) * INT64_C(1000000000) + now.tv_nsec - st.st_mtim.tv_nsec < MTIME_GRAIN_NS;
	place->changed = st.st_mtim;
	return changed;
}

void place_close(struct place *place)
{
	while (place->nr)
		drop(place, &place->list[place->nr - 1]);
	free(place->list);
	drain_close(place->drain);
	close(place->fd);
}
