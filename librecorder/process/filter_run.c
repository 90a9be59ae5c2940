/* SPDX-License-Identifier: MIT */
/*
 * Running conditions, in the program and before each commit of an event that has one.
 *
 * Guarantees: those of filter_step.h. A condition is run at most twice for an event. No lock, no system call except the
 * clock's for a rate and, without rseq, that of a comparison with CPU (usually not even these), errno is preserved.
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

/* subject->cpu is the word of rseq. */
static uint32_t cpu_of(const struct subject *subject)
{
	return rec_cpu_number(subject->cpu);
}

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

static inline uint32_t place_of(uint32_t word)
{
	return REC_ENABLE_CONDITION(word) * REC_CONDITION_UNIT;
}

/*
 * `place` is the offset of the condition in the process's conditions. An event passes if the process has none, or the
 * place is outside of them.
 */
static bool passes(uint32_t place, const struct rec_handle *handle, const void *record, size_t size)
{
	unsigned char *conditions = rec_load_relaxed(&rec_event_conditions);
	struct subject subject = { .record = record, .record_size = size };
	struct rec_condition *condition;
	uint32_t rate;

	if (!conditions || place > REC_CONDITIONS_SIZE - sizeof(*condition))
		return true;
	condition = (void *)(conditions + place);
	subject.condition = conditions + place;
	subject.condition_size = REC_CONDITIONS_SIZE - place;
	subject.cpu = rec_load_relaxed(handle->cpu);
	if (run(&subject, NULL) == NO)
		return false;
	rate = rec_load_relaxed(&condition->rate);
	return !rate || rate_allows(condition, rate);
}

/* Not inlined, so that rec_event_offer() can leave by a jump and needs no stack frame for this call. */
static __attribute__((noinline)) int write_offered(struct rec_handle *handle, const void *record, size_t size)
{
	return rec_write(handle, record, (uint32_t)size) < 0 ? -EBUSY : 1;
}

static __attribute__((noinline)) int offer_rare(uint32_t place, struct rec_handle *handle, const void *record,
						size_t size)
{
	return passes(place, handle, record, size) ? write_offered(handle, record, size) : 0;
}

/* A condition that begins at most here has room for all steps that a condition may have. */
#define STEPS_SIZE_MAX (REC_STEPS_MAX * sizeof(struct rec_condition_step))
#define PLACE_MAX      (REC_CONDITIONS_SIZE - sizeof(struct rec_condition) - STEPS_SIZE_MAX)

/*
 * Run the step at `at`, if it compares a whole number of the record. Returns the next step, or a result; 0: run() has
 * to run the condition.
 */
static inline __attribute__((always_inline)) uint32_t next_step(const unsigned char *at, const unsigned char *record,
								size_t size)
{
	const struct rec_condition_step step = load_step(at);
	enum outcome outcome;
	uint64_t number;

	if (REC_UNLIKELY((size_t)step.offset + step.size > size ||
			 !load_field(record + step.offset, step.size, (step.test & REC_TEST_SIGNED) != 0, &number)))
		return 0;
	outcome = compare_numbers(step.test, number, step.value);
	if (REC_UNLIKELY(outcome == SENSELESS))
		return 0;
	return outcome == YES ? step.yes : step.no;
}

/*
 * Most conditions only compare whole numbers, and have no rate. They are run here, by code that calls nothing before
 * the event has passed; for others, offer_rare() begins again from the first step. The steps after the first one are in
 * a function of their own, because the loop needs more registers, which would be saved for a single comparison, too.
 */
static __attribute__((noinline)) int offer_steps(uint32_t place, struct rec_handle *handle, const void *record,
						 size_t size, uint32_t next, const struct rec_condition *condition)
{
	const unsigned char *steps = (const unsigned char *)(condition + 1);
	const uint32_t nr_steps = rec_load_relaxed(&condition->nr_steps);
	uint32_t at = 0;

	/* Others may change the number meanwhile, so it is checked again. */
	while (next > at && next < nr_steps && nr_steps <= REC_STEPS_MAX) {
		at = next;
		next = next_step(steps + at * sizeof(struct rec_condition_step), record, size);
	}
	if (next == REC_STEP_DROP)
		return 0;
	if (REC_UNLIKELY(next != REC_STEP_PASS || rec_load_relaxed(&condition->rate)))
		return offer_rare(place, handle, record, size);
	return write_offered(handle, record, size);
}

int rec_event_offer(uint32_t word, struct rec_handle *handle, const void *record, size_t size)
{
	const uint32_t place = place_of(word);
	const unsigned char *conditions = rec_load_relaxed(&rec_event_conditions);
	const struct rec_condition *condition;
	uint32_t next;

	if (REC_UNLIKELY(!conditions || place > PLACE_MAX))
		return offer_rare(place, handle, record, size);
	condition = (const void *)(conditions + place);
	if (REC_UNLIKELY(rec_load_relaxed(&condition->nr_steps) - 1u >= REC_STEPS_MAX))
		return offer_rare(place, handle, record, size);
	next = next_step((const unsigned char *)(condition + 1), record, size);
	if (next == REC_STEP_DROP)
		return 0;
	if (REC_UNLIKELY(next != REC_STEP_PASS || rec_load_relaxed(&condition->rate)))
		return offer_steps(place, handle, record, size, next, condition);
	return write_offered(handle, record, size);
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
	if (!passes(place_of(word), slot->handle, record, size)) {
		rec_discard(slot, record);
		return 0;
	}
	rec_commit(slot);
	return 1;
}
