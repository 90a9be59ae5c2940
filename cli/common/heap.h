/* SPDX-License-Identifier: MIT */
/* A binary heap of pointers: items[0] comes before all others. */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

#include <stdbool.h>

struct heap {
	void **items; /* the caller's */
	unsigned int nr;
	bool (*is_before)(const void *arg, const void *a, const void *b);
	const void *arg;
};

/* Move an item down, until it is before the items below it. */
static inline void heap_sift_down(struct heap *heap, unsigned int i)
{
	for (;;) {
		unsigned int least = i;
		void *moved = heap->items[i];

		for (unsigned int child = 2 * i + 1; child < 2 * i + 3 && child < heap->nr; child++) {
			if (heap->is_before(heap->arg, heap->items[child], heap->items[least]))
				least = child;
		}
		if (least == i)
			return;
		heap->items[i] = heap->items[least];
		heap->items[least] = moved;
		i = least;
	}
}

/* Put the items in order, which may be in any order. */
static inline void heap_order(struct heap *heap)
{
	for (unsigned int i = heap->nr / 2; i-- > 0;)
		heap_sift_down(heap, i);
}

/* The first item has changed; is_done: it is removed. */
static inline void heap_advance(struct heap *heap, bool is_done)
{
	if (is_done)
		heap->items[0] = heap->items[--heap->nr];
	heap_sift_down(heap, 0);
}

#endif
