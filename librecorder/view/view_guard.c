/* SPDX-License-Identifier: MIT */
/*
 * The mappings of views, and the reaction when a mapped file is truncated.
 *
 * A process that may write a file may truncate it, and a full file system has no memory for a hole. Then an access to
 * the mapping raises SIGBUS, whatever was checked before. A handler that calls this code gets zeros in place of the
 * mapping, which are as valid as any other contents, and the view returns no more events.
 *
 * The list has a lock whose waiters sleep (backoff.h). Its holder accesses no mapping, and has all signals blocked: the
 * handler of another signal may read a view (rec_view_stopped()) and fault. So a handler that waits for the lock waits
 * for another thread.
 *
 * A process may fork while one of its threads holds the lock. That thread does not exist in the child, so the child
 * takes over the lock. The lock contains the holder's pid, so this also works if no fork handler runs in the child. The
 * forward links of the list are valid at every moment; the child makes the backward links anew. The list is in the
 * heap: a mapping of another thread stays in the child's list, and the child uses the stack of that thread for its own
 * threads. vfork's child has the same list and another pid: it would take over a lock whose holder continues. So it may
 * not call this code (reader.h).
 *
 * The child may close a view whose lane another thread was just opening or leaving. Two interleavings give the child a
 * mapping without an entry in the list. The thread stores the mapping in the view, the process forks, and the thread
 * adds the entry. Or the thread takes the entry out, the process forks, and the thread clears the mapping in the view.
 * The links of such an entry must not be used: they may be unset, or name entries that the child has freed since. So
 * `back` of an entry that is not in the list, not yet or not any more, points to the entry's own `next`.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/os/backoff.h"
#include "librecorder/os/signal_block.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded_map {
	unsigned char *at;
	size_t size;
	int prot;  /* of the zeros that may replace it */
	bool *cut; /* points to the view's `cut` */
	struct guarded_map *next;
	struct guarded_map **back; /* the link that names this entry; &next: it is not in the list */
};

static struct guarded_map *maps;
static uint32_t lock_word; /* the holder's process; 0: none */

/* Make the backward links anew, which a holder that is gone may not have finished. */
static void mend_links(void)
{
	struct guarded_map **link;

	for (link = &maps; *link; link = &(*link)->next)
		(*link)->back = link;
}

static void lock(struct rec_signal_block *ret_block)
{
	const uint32_t self = (uint32_t)getpid();
	unsigned int tries = 0;
	uint32_t was = 0;

	rec_signal_block_begin(ret_block);
	while (!rec_cmpxchg32(&lock_word, &was, self)) {
		/* The holder is in a process from which this one was forked, so it never releases the lock here. */
		if (was && was != self && rec_cmpxchg32(&lock_word, &was, self)) {
			mend_links();
			return;
		}
		was = 0;
		rec_backoff(&tries);
	}
}

static void unlock(const struct rec_signal_block *block)
{
	rec_store_release(&lock_word, 0);
	rec_signal_block_end(block);
}

static void add(struct guarded_map *guard)
{
	struct rec_signal_block block;

	lock(&block);
	guard->next = maps;
	/* Release: a child that is forked now finds it complete. */
	rec_store_release(&maps, guard);
	/* Release: a child in which this is stored finds the entry in the list. */
	rec_store_release(&guard->back, &maps);
	if (guard->next)
		guard->next->back = &guard->next;
	unlock(&block);
}

/* With the lock held. Does nothing if the entry is not in the list. */
static void take_out(struct guarded_map *guard)
{
	struct guarded_map **back = guard->back;

	if (back == &guard->next)
		return;
	/* This comes first: a child that is forked before the next store mends the `back` of an entry in the list. */
	rec_store_release(&guard->back, &guard->next);
	rec_store_release(back, guard->next);
	if (guard->next)
		guard->next->back = back;
}

/* Zeros that replace the mapping, if the file is truncated, have the protection `zeros`. */
static int map_as(struct rec_view *view, struct view_map *map, int prot, int zeros, int sharing, uint64_t offset,
		  size_t size)
{
	struct guarded_map *guard = malloc(sizeof(*guard));
	void *at;
	int r;

	if (!guard)
		return -ENOMEM;
	at = mmap(NULL, size, prot, sharing | MAP_NORESERVE, view->fd, (off_t)offset);
	if (at == MAP_FAILED) {
		r = -errno;
		free(guard);
		return r;
	}
	*guard = (struct guarded_map){ .at = at, .size = size, .prot = zeros, .cut = &view->cut, .back = &guard->next };
	map->size = size;
	map->guard = guard;
	/* Release: a child that finds the mapping finds its entry complete. */
	rec_store_release(&map->at, at);
	add(guard);
	return 0;
}

int rec_view_map(struct rec_view *view, struct view_map *map, int prot, uint64_t offset, size_t size)
{
	const int sharing = view->read_only && (prot & PROT_WRITE) ? MAP_PRIVATE : MAP_SHARED;

	return map_as(view, map, prot, prot, sharing, offset, size);
}

int rec_view_map_private(struct rec_view *view, struct view_map *map, uint64_t offset, size_t size)
{
	/* The caller may make parts of this mapping writable, so zeros that replace it must accept writes as well. */
	return map_as(view, map, PROT_READ, PROT_READ | PROT_WRITE, MAP_PRIVATE, offset, size);
}

void rec_view_unmap(struct view_map *map)
{
	struct guarded_map *guard = map->guard;
	unsigned char *at = map->at;
	struct rec_signal_block block;

	if (!at)
		return;
	lock(&block);
	take_out(guard);
	/*
	 * Before munmap(), after which another thread may get this address: a child that found it here would unmap what
	 * is there now. A child that is forked in between keeps the mapping, which it does not use.
	 */
	rec_store_release(&map->at, NULL);
	unlock(&block);
	munmap(at, map->size);
	free(guard);
}

static bool give_zeros(const struct guarded_map *map)
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
	const struct guarded_map *map;
	struct rec_signal_block block;
	bool done = false;

	lock(&block);
	for (map = maps; map && !done; map = map->next)
		if (where - (uintptr_t)map->at < map->size)
			done = give_zeros(map);
	unlock(&block);
	errno = saved;
	return done;
}
