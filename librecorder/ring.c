/* SPDX-License-Identifier: MIT */
/*
 * The writer's rare cases of a reservation: end of a sub-buffer, moving the head, time and CPU stated anew, nested
 * writers. What comes after, commit and discard, is in ring_commit.c.
 *
 * Guarantees: those of ring.h; every loop here is bounded by the number of times that nested writers interrupt it, and
 * cut off at TRIES_MAX. The algorithm is the one of the kernel's design text; three things differ.
 *
 *  - Tail page and write index are one word (a position), so one exchange moves both, the write index never runs past the
 *    end, and there is no filler to write.
 *  - The outermost writer is the one that finds the commit position where its own reservation began; there are no nesting
 *    counts. Nested writers that finish while the outermost has not reserved yet are outermost themselves, so they may
 *    wrap the lane any number of times meanwhile: whatever the outermost read before is checked again by the exchanges,
 *    which carry a sequence number (positions) or a generation (links).
 *  - Losses are not counted where they happen. When the commit position enters a sub-buffer, the number of its first event
 *    is written down (rec_subbuf.first); the reader subtracts.
 *
 * Lettered steps of a reservation, A to G, are marked below and told in docs/MEMORY-MODEL.md.
 */
#include <librecorder/ring.h>

#include "ring_private.h"

#include <sched.h>
#include <string.h>

/*
 * The kernel gives up after as many (facts B1.4). More interruptions of one
 * reservation than this are counted as a refusal.
 */
#define TRIES_MAX 1000

/* A marker and the absolute time stamp behind it. */
#define RESTATE_SIZE (REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE)

enum step { STEP_OK, STEP_RETRY, STEP_REFUSED };

/* What a reservation is going to be. */
struct plan {
	uint64_t old; /* tail */
	uint64_t new; /* tail afterwards */
	uint64_t now;
	uint64_t delta; /* to the event before */
	uint32_t cpu;
	uint32_t lead; /* bytes in front of the event: 0, a time extend, or marker and stamp */
	uint32_t total;
	uint32_t next; /* the sub-buffer to enter */
	bool cross;
};

static uint32_t read_cpu(const struct rec_handle *handle)
{
	uint32_t cpu = rec_load_relaxed(handle->cpu);

	/* Without rseq the word holds one of its small negative states. */
	return (int32_t)cpu >= 0 ? cpu : (uint32_t)sched_getcpu();
}

/* The clock, and the CPU it was read on: read again if the thread moved in between. */
static void read_clock(const struct rec_handle *handle, struct plan *plan)
{
	unsigned int tries = 8;

	do {
		plan->cpu = read_cpu(handle);
		plan->now = rec_clock_read(handle->clock);
	} while (read_cpu(handle) != plan->cpu && --tries);
}

static bool set_link(const struct rec_handle *handle, uint32_t id, uint64_t was, uint32_t flag)
{
	return rec_cmpxchg64(&handle->links[id].next, &was,
			     REC_LINK(REC_LINK_ID(was), flag, REC_LINK_GEN(was) + 1));
}

/*
 * A head is given up. Its first event begins a gap unless the one before it was lost too; a reader that comes to
 * the end of the gap wants the time of its beginning. Nested movers of one head all come here, and the exchange
 * picks one. Two slots by turns: a third gap begins only after the reader took a sub-buffer behind the first.
 */
void rec_ring_note_lost(struct rec_lane *lane, const struct rec_lost *lost)
{
	const uint64_t until = rec_load_relaxed(&lane->lost_until);

	if (lost->end <= until || !rec_local_cmpxchg64(&lane->lost_until, until, lost->end))
		return;
	rec_local_add64(&lane->pages_lost, 1);
	if (lost->first != until || !lane->nr_gaps) {
		struct rec_gap *gap = &lane->gaps[lane->nr_gaps++ % 2];

		/* The reader may be looking at this slot: for the other gap, which it tells by its number. */
		rec_store_relaxed(&gap->time, lost->time);
		rec_store_relaxed(&gap->first, lost->first);
	}
}

/* Count a refusal; the clock is read for the first one of a run only. */
static enum step refuse(const struct rec_handle *handle, uint64_t *counter)
{
	rec_local_add64(counter, 1);
	REC_TESTPOINT(refuse_count);
	if (REC_UNLIKELY(!handle->lane->refused_time))
		handle->lane->refused_time = rec_clock_read(handle->clock);
	REC_TESTPOINT(refuse_time);
	return STEP_REFUSED;
}

/*
 * Overwrite mode, the tail stands before the head: push the head on by one (design text, "The way
 * the head page moves forward"). UPDATE keeps the reader off while it lasts. Nested writers that
 * find it help, but only its owner clears it.
 *
 * Nested writers may have finished and published any number of pages before we go on, so everything is exchanged
 * from the very value that was read before the tail was looked at: who moved the tail into the old head has changed
 * the link behind it. And nobody goes round to a sub-buffer whose link an interrupted writer holds in UPDATE: at
 * its clearing there would be no head left. The kernel's commit page stands there and refuses as well.
 */
static enum step move_head(struct rec_handle *handle, uint64_t old, uint64_t link, const struct rec_lost *lost)
{
	const uint64_t outer = handle->moving;
	const uint32_t tail = REC_POS_ID(old);
	const uint32_t head = rec_link_id(handle, link);
	const uint64_t update = REC_LINK(REC_LINK_ID(link), REC_LINK_UPDATE, REC_LINK_GEN(link) + 1);
	const bool owner = REC_LINK_FLAG(link) == REC_LINK_HEAD;
	const uint64_t after_head = rec_read_link(handle, head);

	if (REC_LINK_FLAG(after_head) == REC_LINK_UPDATE)
		return refuse(handle, &handle->lane->commit_overrun);
	if (owner) {
		/* Until UPDATE is undone: should we never come back, rec_ring_repair() knows where to look. */
		rec_store_relaxed(&handle->moving, old);
		rec_signal_fence();
	}
	/* Fails when the reader swapped this head, or a nested writer moved it. Release and acquire: edges L1, L2. */
	if (owner && !set_link(handle, tail, link, REC_LINK_UPDATE)) {
		rec_store_relaxed(&handle->moving, outer);
		return STEP_RETRY;
	}
	REC_TESTPOINT(head_update);
	rec_ring_note_lost(handle->lane, lost);
	REC_TESTPOINT(head_lost);
	rec_signal_fence();
	/* Has a nested writer entered the old head, it has set the new one. If one does now, the exchange fails. */
	if (rec_load_relaxed(&handle->lane->tail) >> REC_POS_SEQ_SHIFT == old >> REC_POS_SEQ_SHIFT &&
	    REC_LINK_FLAG(after_head) == REC_LINK_NORMAL)
		set_link(handle, head, after_head, REC_LINK_HEAD);
	REC_TESTPOINT(head_set);
	if (owner) {
		set_link(handle, tail, update, REC_LINK_NORMAL);
		rec_signal_fence();
		rec_store_relaxed(&handle->moving, outer);
	}
	REC_TESTPOINT(head_clear);
	return STEP_OK;
}

/* Which sub-buffer comes next, and is it ours to enter? Answers before any clock is read. */
static enum step next_subbuf(struct rec_handle *handle, struct plan *plan)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t link = rec_read_link(handle, REC_POS_ID(plan->old));
	const uint64_t commit = rec_load_relaxed(&lane->commit);

	struct rec_lost lost;

	plan->next = rec_link_id(handle, link);
	lost = rec_look_at(handle, plan->next);
	rec_signal_fence();
	/* A nested writer came between: what was just read may not belong to the tail that we hold. */
	if (rec_load_relaxed(&lane->tail) != plan->old)
		return STEP_RETRY;
	/* The tail never enters the commit sub-buffer: that would let one writer overwrite what another is filling. */
	if (plan->next == REC_POS_ID(commit))
		return refuse(handle, &lane->commit_overrun);
	if (REC_LINK_FLAG(link) == REC_LINK_NORMAL)
		return STEP_OK;
	/*
	 * A commit sub-buffer that the reader holds is not met on the way round;
	 * the head is, and that means we wrapped.
	 */
	if (!rec_is_in_ring(handle, REC_POS_ID(commit))) {
		/* Unless the reader took the head and then this one while we looked: now there is room. */
		if (rec_read_link(handle, REC_POS_ID(plan->old)) != link)
			return STEP_RETRY;
		return refuse(handle, &lane->commit_overrun);
	}
	if (!handle->overwrite)
		return refuse(handle, &lane->dropped);
	return move_head(handle, plan->old, link, &lost);
}

static uint32_t plan_words(const struct plan *plan)
{
	return (plan->lead + plan->total) / 4;
}

/*
 * Decide the form of the event. A sub-buffer begins with marker and absolute stamp; so does an event that may have
 * interrupted another one's stamps (before and after differ), or was made on another CPU than the one before.
 */
static void choose_form(struct rec_handle *handle, struct plan *plan, bool begins)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t after = rec_load_relaxed(&lane->after);
	const uint64_t before = rec_load_relaxed(&lane->before);
	const uint64_t last = after > before ? after : before;

	read_clock(handle, plan);
	if (plan->now < last) {
		rec_local_add64(&lane->time_back, 1);
		REC_TESTPOINT(time_back);
		plan->now = last;
	}
	plan->delta = plan->now - after;
	if (begins || after != before || plan->cpu != lane->cpu)
		plan->lead = RESTATE_SIZE;
	else
		plan->lead = plan->delta > REC_DELTA_MAX ? REC_TIME_EXTEND_SIZE : 0;
}

/* Step A and B: everything up to the point where the tail is moved. */
static enum step make_plan(struct rec_handle *handle, struct plan *plan)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t room = handle->capacity * 4;
	enum step step;

	/* A: the tail first, as in rec_reserve(). */
	plan->old = rec_load_relaxed(&lane->tail);
	rec_signal_fence();
	/* Fits nowhere. Looked at in every round: a nested writer may have granted the wish for smaller sub-buffers. */
	if (RESTATE_SIZE + plan->total > room)
		return refuse(handle, &lane->too_long);
	plan->cross = REC_POS_OFF(plan->old) + plan->total > room;
	if (plan->cross) {
		step = next_subbuf(handle, plan);
		if (step != STEP_OK)
			return step;
	}
	/* B: stamps, clock, CPU, form. */
	choose_form(handle, plan, plan->cross || REC_POS_OFF(plan->old) == 0);
	if (!plan->cross && REC_POS_OFF(plan->old) + plan->lead + plan->total > room) {
		plan->cross = true;
		step = next_subbuf(handle, plan);
		if (step != STEP_OK)
			return step;
		plan->lead = RESTATE_SIZE;
	}
	if (plan->cross)
		plan->new = REC_POS(plan->next, REC_POS_SEQ(plan->old) + 1, 1, plan->lead + plan->total);
	else
		plan->new = plan->old + plan_words(plan) + REC_POS_ONE_EVENT;
	return STEP_OK;
}

static void put_lead(unsigned char *at, const struct plan *plan)
{
	const struct rec_marker marker = { REC_MARKER_WORD, REC_MARKER_SIZE - 4, REC_MARKER_MAGIC, plan->cpu };

	if (plan->lead == RESTATE_SIZE) {
		memcpy(at, &marker, sizeof(marker));
		rec_put_stamp(at + REC_MARKER_SIZE, plan->now, REC_TYPE_TIME_STAMP);
	} else if (plan->lead) {
		rec_put_stamp(at, plan->delta, REC_TYPE_TIME_EXTEND);
	}
}

/* E: the sub-buffer that was left gets its size, the one that was entered its time. Ours alone: we moved the tail. */
static void change_subbuf(const struct rec_handle *handle, const struct plan *plan)
{
	if (plan->cross) {
		struct rec_subbuf_header *left = subbuf_header(handle, REC_POS_ID(plan->old));

		left->commit = REC_POS_OFF(plan->old);
		REC_TESTPOINT(left_size);
		handle->subbufs[REC_POS_ID(plan->old)].entries = REC_POS_COUNT(plan->old);
		REC_TESTPOINT(left_entries);
	}
	subbuf_header(handle, REC_POS_ID(plan->new))->time_stamp = plan->now;
	REC_TESTPOINT(entered_time);
}

/*
 * Whether a reservation, or a move of the head, stands open further behind than what interrupts it is
 * likely to write: it may be one to which nobody comes back (siglongjmp out of a signal handler). It
 * would keep all that follows from readers.
 */
static bool is_stuck(const struct rec_handle *handle)
{
	const struct rec_lane *lane = handle->lane;
	const uint32_t tail = REC_POS_SEQ(rec_load_relaxed(&lane->tail));
	const uint32_t far = rec_load_relaxed(&lane->nr_pages) > 2 ? 2 : 1;
	const uint32_t mask = (uint32_t)REC_POS_SEQ_MASK;

	return ((tail - REC_POS_SEQ(rec_load_relaxed(&lane->commit))) & mask) >= far ||
	       (handle->moving && ((tail - REC_POS_SEQ(handle->moving)) & mask) >= far);
}

/* Steps A to G and the event word. */
static void *reserve_here(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;
	struct plan plan = { .total = rec_event_total(size) };
	unsigned char *at;
	unsigned int tries;

	/* A cap on the size first: with it no sum below overflows. */
	if (size > REC_SUBBUF_MAX) {
		refuse(handle, &lane->too_long);
		return NULL;
	}
	for (tries = 0; tries < TRIES_MAX; tries++) {
		const enum step step = make_plan(handle, &plan);

		if (step == STEP_REFUSED)
			return NULL;
		if (step == STEP_RETRY)
			continue;
		/* C: whoever interrupts from here to G sees that time and CPU are in doubt, and states both. */
		rec_store_relaxed(&lane->before, plan.now);
		REC_TESTPOINT(slow_before);
		/* D: the linearisation point of a reservation. Fails if anybody nested moved the tail since A. */
		if (!rec_local_cmpxchg64(&lane->tail, plan.old, plan.new))
			continue;
		REC_TESTPOINT(slow_tail);
		/*
		 * Whoever copies the sub-buffer that we enter, and sees a byte of what we write there,
		 * sees that the tail has come (edge I1).
		 */
		if (plan.cross)
			rec_fence_release();
		at = rec_at_position(handle, plan.cross ? plan.new - plan_words(&plan) : plan.old);
		if (plan.cross || REC_POS_OFF(plan.old) == 0)
			change_subbuf(handle, &plan);
		/*
		 * F: the marker is in position order, so is the lane's idea of the CPU;
		 * before G, so that nobody trusts it yet.
		 */
		put_lead(at, &plan);
		at = rec_put_event_word(at + plan.lead, plan.lead ? 0 : (uint32_t)plan.delta, size);
		REC_TESTPOINT(slow_lead);
		if (plan.lead == RESTATE_SIZE)
			rec_store_relaxed(&lane->cpu, plan.cpu);
		REC_TESTPOINT(slow_cpu);
		rec_signal_fence();
		/* G: only if nobody nested came after D is our time the last one, and our CPU. */
		rec_store_relaxed(&lane->after, plan.now);
		REC_TESTPOINT(slow_after);
		rec_signal_fence();
		if (rec_load_relaxed(&lane->tail) != plan.new) {
			rec_store_relaxed(&lane->before, REC_STAMP_IN_DOUBT);
			REC_TESTPOINT(slow_doubt);
		}
		*ret_slot = (struct rec_slot){ .lane = lane,
					       .handle = handle,
					       .old = plan.cross ? 0 : plan.old,
					       .end = plan.new,
					       .crossed = plan.cross ? plan.old : 0 };
		return at;
	}
	refuse(handle, &lane->nested_limit);
	return NULL;
}

/* All that rec_reserve_slow() has not settled; kept apart from it for the sake of a refusal, which needs no stack. */
static __attribute__((noinline)) void *reserve_rare(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	if (REC_UNLIKELY(handle->elsewhere && is_stuck(handle))) {
		handle = handle->elsewhere(handle);
		if (!handle)
			return NULL;
		/* It may be the handle of a thread that shares. */
		if (rec_load_relaxed(&handle->room) != handle->capacity)
			return rec_reserve_slow(handle, size, ret_slot);
	}
	return reserve_here(handle, size, ret_slot);
}

/*
 * The gate is closed: somebody wishes for something, the lane is disabled, or
 * it has to be found first, for this event.
 */
static void *reserve_gated(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	struct rec_handle *open = handle->attend ? handle->attend(handle) : NULL;
	void *at;

	if (!open) {
		rec_local_add64(&handle->lane->disabled, 1);
		REC_TESTPOINT(refuse_disabled);
		return NULL;
	}
	/* The gate may have to stay closed for those that come. */
	if (open == handle)
		return reserve_rare(open, size, ret_slot);
	at = rec_reserve(open, size, ret_slot);
	if (!open->leave)
		return at;
	/* A lane for one event: the commit is to leave the fast path, as if it had changed sub-buffers. */
	if (!at) {
		open->leave(open);
	} else if (!ret_slot->crossed) {
		ret_slot->crossed = ret_slot->old;
		ret_slot->old = 0;
	}
	return at;
}

/*
 * Discard mode, and the lane is full. A program that meets this meets it again and again, so the plain case is
 * recognised before anything else: no clock, no plan. It is next_subbuf()'s refusal, in its order of reading;
 * nothing is remembered, so there is nothing to go stale. Whatever is not plain is left to next_subbuf(): the
 * commit position is on another sub-buffer than the tail, the lane's gate is closed, or this is the first refusal
 * since the last change of sub-buffer, whose time is wanted. An event takes four bytes more than its size, or a few
 * more yet: then it goes that way too, and so does one that might fit nowhere, which is counted as too long.
 */
static inline bool is_full(const struct rec_handle *handle, uint32_t size)
{
	const struct rec_lane *lane = handle->lane;
	const uint64_t old = rec_load_relaxed(&lane->tail);
	const uint32_t room = rec_load_relaxed(&handle->room);
	uint64_t link, commit;

	if (handle->overwrite || size > room * 4 - RESTATE_SIZE - 12 ||
	    (uint64_t)REC_POS_OFF(old) + 4 + size <= (uint64_t)room * 4)
		return false;
	rec_signal_fence();
	link = rec_read_link(handle, REC_POS_ID(old));
	commit = rec_load_relaxed(&lane->commit);
	rec_signal_fence();
	/* The tail read again: what was read in between belongs to it. */
	return REC_LINK_FLAG(link) != REC_LINK_NORMAL && REC_POS_ID(commit) == REC_POS_ID(old) &&
	       rec_load_relaxed(&lane->refused_time) != 0 && rec_load_relaxed(&lane->tail) == old;
}

void *rec_reserve_slow(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;

	/* A handler that forked in the middle of an event came back in the child, whose handles are zeroed. */
	if (!lane)
		return NULL;
	if (rec_load_relaxed(&handle->room) != handle->capacity)
		return reserve_gated(handle, size, ret_slot);
	if (is_full(handle, size)) {
		rec_local_add64(&lane->dropped, 1);
		REC_TESTPOINT(refuse_full_again);
		return NULL;
	}
	return reserve_rare(handle, size, ret_slot);
}
