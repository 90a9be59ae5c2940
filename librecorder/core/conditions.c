/* SPDX-License-Identifier: MIT */
/*
 * The conditions of a buffer: two halves, each with one writer at a time, which only append. A condition that an
 * enable word has named is never changed or moved, so a writer can run it at any time. Equal conditions share a place,
 * so switching back and forth does not fill a half.
 *
 * The contents may be invalid: sizes are brought into range before they are used.
 */
#include "librecorder/core/conditions.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* Linux 5.14; older headers do not define it. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* The number of bytes in use, including the head; 0 if the value makes no sense. */
static uint32_t bytes_used(const unsigned char *half)
{
	const uint64_t used = rec_load_relaxed(&((const struct rec_conditions *)(const void *)half)->used);

	if (!used)
		return sizeof(struct rec_conditions);
	return used <= REC_CONDITIONS_HALF && used % REC_CONDITION_UNIT == 0 ? (uint32_t)used : 0;
}

static bool is_same(const struct rec_condition *a, const struct rec_condition *b, uint32_t size)
{
	return a->size == b->size && a->nr_steps == b->nr_steps && a->id == b->id && a->rate == b->rate &&
	       memcmp(a + 1, b + 1, size - sizeof(*a)) == 0;
}

/* The size of the condition at `offset`; 0: this is the end, or the size makes no sense. */
static uint32_t size_at(const unsigned char *half, uint32_t used, uint32_t offset)
{
	const struct rec_condition *at = (const struct rec_condition *)(const void *)(half + offset);
	uint32_t size;

	if (used - offset < sizeof(*at))
		return 0;
	size = rec_load_relaxed(&at->size);
	return size < sizeof(*at) || size % REC_CONDITION_UNIT || size > used - offset ? 0 : size;
}

/* The offset of an equal condition in the half; 0: there is no such condition. */
static uint32_t find(const unsigned char *half, uint32_t used, const struct rec_condition *condition)
{
	uint32_t offset = sizeof(struct rec_conditions), size;

	for (; (size = size_at(half, used, offset)); offset += size)
		if (size == condition->size &&
		    is_same((const struct rec_condition *)(const void *)(half + offset), condition, size))
			return offset;
	return 0;
}

/* The copy belongs to another process, which has suppressed nothing yet. */
static void clear_suppressed(unsigned char *half, uint32_t used)
{
	uint32_t offset = sizeof(struct rec_conditions), size;

	for (; (size = size_at(half, used, offset)); offset += size)
		rec_store_relaxed(&((struct rec_condition *)(void *)(half + offset))->suppressed, 0);
}

int rec_conditions_place(unsigned char *conditions, size_t half, const struct rec_condition *condition,
			 conditions_populate *populate, void *data, uint32_t *ret_bits)
{
	struct rec_conditions *head = (struct rec_conditions *)(void *)(conditions + half);
	struct rec_condition *at;
	uint32_t used, offset;
	int r;

	r = populate(data, half, sizeof(*head));
	if (r < 0)
		return r;
	used = bytes_used(conditions + half);
	if (!used)
		return -EBADMSG;
	offset = find(conditions + half, used, condition);
	if (!offset) {
		if (condition->size > REC_CONDITIONS_HALF - used)
			return -ENOSPC;
		r = populate(data, half, used + condition->size);
		if (r < 0)
			return r;
		offset = used;
		memcpy(conditions + half + offset, condition, condition->size);
		/*
		 * This is stored before the caller lets an enable word name the condition. So even if we die in
		 * between, the next condition is not put in the same place.
		 */
		rec_store_release(&head->used, used + condition->size);
	} else if (condition->rate) {
		at = (struct rec_condition *)(void *)(conditions + half + offset);
		rec_store_relaxed(&at->window, 0);
		rec_store_relaxed(&at->suppressed, 0);
	}
	*ret_bits = (uint32_t)((half + offset) / REC_CONDITION_UNIT) << REC_ENABLE_CONDITION_SHIFT;
	return 0;
}

/*
 * Whether the file has memory for these bytes. If not, they were never used, or the file was truncated; reading them
 * would raise a signal.
 */
static bool is_there(const unsigned char *at, size_t size)
{
	return madvise((void *)(uintptr_t)at, size, MADV_POPULATE_READ) == 0 || errno != EFAULT;
}

int rec_conditions_copy(unsigned char *to, const unsigned char *from, conditions_populate *populate, void *data)
{
	static const size_t halves[] = { CONDITIONS_OF_OTHERS, CONDITIONS_OF_PROGRAM };
	uint32_t used;
	int r = 0;

	for (unsigned int i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		if (!is_there(from + halves[i], REC_MAP_PAGE))
			continue;
		used = bytes_used(from + halves[i]);
		if (used <= sizeof(struct rec_conditions))
			continue;
		r = is_there(from + halves[i], used) ? populate(data, halves[i], used) : -EFAULT;
		if (r < 0)
			break;
		memcpy(to + halves[i], from + halves[i], used);
		clear_suppressed(to + halves[i], used);
		/*
		 * Another condition may have been stored in `from` since then. It is not in the copy, so the copy's
		 * size must not include it.
		 */
		rec_store_relaxed(&((struct rec_conditions *)(void *)(to + halves[i]))->used, used);
	}
	return r;
}
