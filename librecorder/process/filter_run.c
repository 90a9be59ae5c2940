/* SPDX-License-Identifier: MIT */
/*
 * Running conditions, in the program and before each commit of an event that has one.
 *
 * Guarantees: those of filter_step.h. A condition is run at most twice for an event. No lock, no system call except the
 * clock's for a rate (usually not even that), errno is preserved.
 */
#include <librecorder/filter.h>

#include <errno.h>
#include <librecorder/detail/event_macros.h>
#include <string.h>

#include "librecorder/core/atomic.h"
#include "librecorder/core/filter_step.h"
#include "librecorder/process/event_private.h"
#include "librecorder/ring/ring_private.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/*
 * Whether this second has room for one more event. An event that passes has raised the count from below the rate, in
 * the one word that also names the second: so no second has more events than the rate, however many threads compete. A
 * thread whose clock reading is from the previous second counts in the present one.
 */
static bool rate_allows(struct rec_condition *condition, uint32_t rate)
{
	const uint32_t second = (uint32_t)(rec_clock_mono() / NS_PER_SECOND);
	uint64_t window = rec_load_relaxed(&condition->window);

	/* If this thread fails to begin the second, another one has begun it. */
	if ((int32_t)(second - (uint32_t)(window >> 32)) > 0 &&
	    rec_cmpxchg64(&condition->window, &window, (uint64_t)second << 32 | 1))
		return true;
	/* Read first, so that the count cannot overflow into the second. */
	if ((uint32_t)window < rate && (uint32_t)__atomic_fetch_add(&condition->window, 1, __ATOMIC_RELAXED) < rate)
		return true;
	__atomic_fetch_add(&condition->suppressed, 1, __ATOMIC_RELAXED);
	return false;
}

/*
 * Find the condition that the enable word names, and store what a run of it may read. Returns NULL if the process has
 * no conditions, or the word names a place outside of them: such an event passes.
 */
static inline struct rec_condition *condition_of(uint32_t word, const struct rec_handle *handle, const void *record,
						 size_t size, struct subject *ret_subject)
{
	const uint64_t place = (uint64_t)REC_ENABLE_CONDITION(word) * REC_CONDITION_UNIT;
	unsigned char *conditions = rec_load_relaxed(&rec_event_conditions);

	if (!conditions || place > REC_CONDITIONS_SIZE - sizeof(struct rec_condition))
		return NULL;
	*ret_subject = (struct subject){ conditions + place, REC_CONDITIONS_SIZE - (size_t)place, record, size,
					 rec_load_relaxed(handle->cpu) };
	return (struct rec_condition *)(void *)(conditions + place);
}

static bool passes(uint32_t word, const struct rec_handle *handle, const void *record, size_t size)
{
	struct rec_condition *condition;
	struct subject subject;
	uint32_t rate;

	condition = condition_of(word, handle, record, size, &subject);
	if (!condition)
		return true;
	if (run(&subject, NULL, false) == NO)
		return false;
	rate = rec_load_relaxed(&condition->rate);
	return !rate || rate_allows(condition, rate);
}

static __attribute__((noinline)) int offer_rare(uint32_t word, struct rec_handle *handle, const void *record,
						size_t size)
{
	if (!passes(word, handle, record, size))
		return 0;
	return rec_write(handle, record, (uint32_t)size) < 0 ? -EBUSY : 1;
}

/* Most conditions are on whole numbers and have no rate. For others, offer_rare() begins again from the first step. */
int rec_event_offer(uint32_t word, struct rec_handle *handle, const void *record, size_t size)
{
	struct rec_condition *condition;
	struct subject subject;
	enum outcome outcome;

	condition = condition_of(word, handle, record, size, &subject);
	if (REC_UNLIKELY(!condition))
		return offer_rare(word, handle, record, size);
	outcome = run(&subject, NULL, true);
	if (outcome == NO)
		return 0;
	if (REC_UNLIKELY(outcome == RARE || rec_load_relaxed(&condition->rate)))
		return offer_rare(word, handle, record, size);
	return rec_write(handle, record, (uint32_t)size) < 0 ? -EBUSY : 1;
}

int rec_event_finish(uint32_t word, const struct rec_slot *slot, void *record, size_t size)
{
	if (!word) {
		rec_commit(slot);
		return 1;
	}
	/*
	 * A handler copied the process by a raw clone and returned in the copy: the handle is zeroed, the lane is not
	 * ours.
	 */
	if (slot->handle->lane != slot->lane)
		return -EBUSY;
	if (!passes(word, slot->handle, record, size)) {
		rec_discard(slot, record);
		return 0;
	}
	rec_commit(slot);
	return 1;
}
