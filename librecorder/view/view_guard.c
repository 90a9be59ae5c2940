/* SPDX-License-Identifier: MIT */
/*
 * The mappings of views, and what is done when the file behind one of them is cut short.
 *
 * Who may write a file may shorten it, and a full file system has no memory for a hole: then a look at the mapping
 * raises SIGBUS, whatever was checked before. A handler that asks here gets zeros in the mapping's place, which are as
 * good as any other rubbish in it, and the view gives nothing more.
 *
 * The list is locked by waiting. A fault never interrupts the lock's holder, who looks at no mapping; so whoever waits
 * in a handler waits for another thread.
 */
#include "librecorder/view/reader_private.h"

#include <errno.h>
#include <librecorder/detail/atomic.h>
#include <sched.h>
#include <sys/mman.h>

static struct view_map *maps;
static uint32_t lock_word;

static void lock(void)
{
	uint32_t expected = 0;

	for (; !rec_cmpxchg32(&lock_word, &expected, 1); expected = 0)
		sched_yield();
}

static void unlock(void)
{
	rec_store_release(&lock_word, 0);
}

static int map_as(struct rec_view *view, struct view_map *map, int prot, int sharing, uint64_t offset, size_t size)
{
	void *at = mmap(NULL, size, prot, sharing | MAP_NORESERVE, view->fd, (off_t)offset);

	if (at == MAP_FAILED)
		return -errno;
	*map = (struct view_map){ .at = at, .size = size, .prot = prot, .cut = &view->cut };
	lock();
	map->next = maps;
	if (maps)
		maps->back = &map->next;
	map->back = &maps;
	maps = map;
	unlock();
	return 0;
}

int rec_view_map(struct rec_view *view, struct view_map *map, int prot, uint64_t offset, size_t size)
{
	return map_as(view, map, prot, view->read_only && (prot & PROT_WRITE) ? MAP_PRIVATE : MAP_SHARED, offset, size);
}

int rec_view_map_private(struct rec_view *view, struct view_map *map, uint64_t offset, size_t size)
{
	const int r = map_as(view, map, PROT_READ, MAP_PRIVATE, offset, size);

	/* Who has made parts of it writable may be writing there. */
	if (r == 0)
		map->prot = PROT_READ | PROT_WRITE;
	return r;
}

void rec_view_unmap(struct view_map *map)
{
	if (!map->at)
		return;
	lock();
	*map->back = map->next;
	if (map->next)
		map->next->back = map->back;
	unlock();
	munmap(map->at, map->size);
	map->at = NULL;
}

static bool give_zeros(const struct view_map *map)
{
	if (mmap(map->at, map->size, map->prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return false;
	rec_store_relaxed(map->cut, true);
	return true;
}

bool rec_view_fault(const void *address)
{
	const uintptr_t where = (uintptr_t)address;
	const int saved = errno;
	const struct view_map *map;
	bool done = false;

	lock();
	for (map = maps; map && !done; map = map->next)
		if (where - (uintptr_t)map->at < map->size)
			done = give_zeros(map);
	unlock();
	errno = saved;
	return done;
}
