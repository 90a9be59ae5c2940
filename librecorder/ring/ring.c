/* SPDX-License-Identifier: MIT */
/*
 * The writer's rare cases of a reservation: end of a sub-buffer, time and CPU stated again, nested writers.
 * ring_enter.c shows how a writer gets here; commit and discard, which come after, are in ring_commit.c.
 *
 * Guarantees: those of ring.h; every loop here is bounded by the number of times that nested writers interrupt it, and
 * cut off at TRIES_MAX. The algorithm is the one of the kernel's design text. docs/MEMORY-MODEL.md describes our
 * additions and the lettered steps of a reservation, A to G. A nested writer that finishes before the outer one has
 * reserved is outermost itself: it publishes, and may wrap the lane any number of times. So each value that was read
 * before is checked by an exchange.
 */
#include <librecorder/detail/ring.h>

#include "librecorder/ring/ring_private.h"
#include "librecorder/core/atomic.h"

#include <string.h>

/*
 * The kernel gives up after the same number (facts B1.4). If one reservation is interrupted more often, it is refused.
 */
#define TRIES_MAX 1000

enum step { STEP_OK, STEP_RETRY, STEP_REFUSED };

/* The plan of a reservation. */
struct plan {
	uint64_t old; /* tail */
	uint64_t new; /* tail afterwards */
	uint64_t now;
	uint64_t delta; /* time since the event before */
	uint32_t cpu;
	uint32_t lead; /* bytes before the event: 0, those of a time extend, or of marker and stamp */
	uint32_t total;
	uint32_t next; /* the sub-buffer to enter */
	bool cross;
	bool nested; /* this writer interrupts another one */
};

static uint32_t read_cpu(const struct rec_handle *handle)
{
	return rec_cpu_number(rec_load_relaxed(handle->cpu));
}

/* Read the clock, and the CPU on which it was read. If the thread moved in between, read again. */
static void read_clock(const struct rec_handle *handle, struct plan *plan)
{
	unsigned int tries = 8;

	do {
		plan->cpu = read_cpu(handle);
		plan->now = rec_clock_read(handle->clock);
	} while (read_cpu(handle) != plan->cpu && --tries);
}

void rec_ring_refuse(const struct rec_handle *handle, uint64_t *counter)
{
	rec_local_add64(counter, 1);
	REC_TESTPOINT(refuse_count);
	if (REC_UNLIKELY(!handle->lane->refused_time))
		rec_store_relaxed(&handle->lane->refused_time, rec_clock_read(handle->clock));
	REC_TESTPOINT(refuse_time);
}

static enum step refuse(const struct rec_handle *handle, uint64_t *counter)
{
	rec_ring_refuse(handle, counter);
	return STEP_REFUSED;
}

static bool set_link(const struct rec_handle *handle, uint32_t id, uint64_t was, uint32_t flag)
{
	return rec_cmpxchg64(&handle->links[id].next, &was,
			     REC_LINK(REC_LINK_ID(was), flag, REC_LINK_GEN(was) + 1));
}

/* A sub-buffer that is about to be overwritten. */
struct lost {
	uint64_t first; /* number of its first event */
	uint64_t end;	/* number of the first event after it */
	uint64_t time;	/* time of the first event, or of a refusal before it */
};

/*
 * Valid only while the sub-buffer is complete and no writer enters it; the caller checks that. The refusals immediately
 * before its first event are lost with it; they were earlier than that event.
 */
static struct lost look_at(const struct rec_handle *handle, uint32_t id)
{
	const struct rec_subbuf *subbuf = &handle->subbufs[id];

	return (struct lost){ subbuf->first, subbuf->first + subbuf->entries,
				  subbuf->refused_time ? subbuf->refused_time : subbuf_header(handle, id)->time_stamp };
}

/*
 * Called when a head is given up. Its first event begins a gap unless the event before it was lost, too. If nested
 * writers move the same head, each of them calls this function, and the exchange lets only one continue. A third gap
 * begins only after the reader has taken a sub-buffer that follows the first gap.
 */
static void note_lost(struct rec_lane *lane, const struct lost *lost)
{
	const uint64_t until = rec_load_relaxed(&lane->lost_until);

	if (lost->end <= until || !rec_local_cmpxchg64(&lane->lost_until, until, lost->end))
		return;
	rec_local_add64(&lane->pages_lost, 1);
	if (lost->first != until || !lane->nr_gaps) {
		struct rec_gap *gap = &lane->gaps[lane->nr_gaps++ % 2];

		/*
		 * The reader may be reading this slot at the same time, but only in search of the other gap, which it
		 * recognises by the number of its first event.
		 */
		rec_store_relaxed(&gap->time, lost->time);
		rec_store_relaxed(&gap->first, lost->first);
	}
}

/*
 * In overwrite mode, when the tail is in the sub-buffer before the head: move the head on by one (design text, "The way
 * the head page moves forward"). The reader takes no page while the link is marked UPDATE. Nested writers that find
 * UPDATE help, but only its owner clears it. They may publish any number of pages before we continue. So each exchange
 * expects the value that was read before the tail was read.
 */
static bool move_head(struct rec_handle *handle, uint64_t old, uint64_t link, const struct lost *lost)
{
	const uint32_t tail = REC_POS_ID(old);
	const uint32_t head = rec_link_id(handle, link);
	const uint64_t update = REC_LINK(REC_LINK_ID(link), REC_LINK_UPDATE, REC_LINK_GEN(link) + 1);
	const bool owner = REC_LINK_FLAG(link) == REC_LINK_HEAD;
	const uint64_t after_head = rec_read_link(handle, head);

	if (owner) {
		/*
		 * `movers` counts us until UPDATE is undone: if we never continue, the next writer knows that there are
		 * marks to settle.
		 */
		if (!handle->movers)
			rec_store_relaxed(&handle->moving, old);
		rec_local_add64(&handle->movers, 1);
	}
	/* Fails when the reader swapped this head, or a nested writer moved it. Release and acquire: edges L1, L2. */
	if (owner && !set_link(handle, tail, link, REC_LINK_UPDATE)) {
		rec_local_add64(&handle->movers, -UINT64_C(1));
		return false;
	}
	REC_TESTPOINT(head_update);
	note_lost(handle->lane, lost);
	REC_TESTPOINT(head_lost);
	rec_signal_fence();
	/*
	 * If a nested writer has entered the old head, it has set the new one. If one enters it now, the exchange
	 * fails.
	 */
	if (rec_load_relaxed(&handle->lane->tail) >> REC_POS_SEQ_SHIFT == old >> REC_POS_SEQ_SHIFT)
		set_link(handle, head, after_head, REC_LINK_HEAD);
	REC_TESTPOINT(head_set);
	if (owner) {
		set_link(handle, tail, update, REC_LINK_NORMAL);
		rec_local_add64(&handle->movers, -UINT64_C(1));
	}
	REC_TESTPOINT(head_clear);
	return true;
}

/* Find the sub-buffer that comes next, and whether the writer may enter it. Called before any clock is read. */
static enum step next_subbuf(struct rec_handle *handle, struct plan *plan)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t link = rec_read_link(handle, REC_POS_ID(plan->old));
	const uint64_t commit = rec_load_relaxed(&lane->commit);
	struct lost lost;

	plan->next = rec_link_id(handle, link);
	lost = look_at(handle, plan->next);
	rec_signal_fence();
	/* If a nested writer came in between, the values just read may not belong to the tail that we hold. */
	if (rec_load_relaxed(&lane->tail) != plan->old)
		return STEP_RETRY;
	/*
	 * The tail never enters the commit sub-buffer; otherwise one writer could overwrite what another is filling.
	 */
	if (plan->next == REC_POS_ID(commit))
		return refuse(handle, &lane->commit_overrun);
	if (REC_LINK_FLAG(link) == REC_LINK_NORMAL)
		return STEP_OK;
	/*
	 * If the reader holds the commit sub-buffer, the tail cannot reach it. Then a tail that reaches the head has
	 * wrapped the lane.
	 */
	if (!rec_is_in_ring(handle, REC_POS_ID(commit))) {
		/*
		 * There are two exceptions. If the reader took the head and then this sub-buffer while we looked, there
		 * is room. Or the reader had put a page before the commit sub-buffer and not yet stored the new `prev`,
		 * and then changed the link of the former predecessor. A writer that has seen the changed link also
		 * sees the new `prev`.
		 */
		if (rec_read_link(handle, REC_POS_ID(plan->old)) != link || rec_is_in_ring(handle, REC_POS_ID(commit)))
			return STEP_RETRY;
		return refuse(handle, &lane->commit_overrun);
	}
	if (!handle->overwrite)
		return refuse(handle, &lane->dropped);
	return move_head(handle, plan->old, link, &lost) ? STEP_OK : STEP_RETRY;
}

static uint32_t plan_words(const struct plan *plan)
{
	return (plan->lead + plan->total) / 4;
}

/*
 * Choose the form of the event. A marker and an absolute stamp precede it at the beginning of a sub-buffer, if the
 * writer interrupts another one, or if `cpu` of the lane is unknown or another CPU.
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
	if (begins || plan->nested || plan->cpu != lane->cpu)
		plan->lead = REC_RESTATE_SIZE;
	else
		plan->lead = plan->delta > REC_DELTA_MAX ? REC_TIME_EXTEND_SIZE : 0;
}

/* The rest of step A, and B: everything up to the point where the tail is moved. */
static enum step make_plan(struct rec_handle *handle, struct plan *plan)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t room = handle->capacity * 4;
	enum step step;

	/* The event fits into no sub-buffer. */
	if (REC_RESTATE_SIZE + plan->total > room)
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
		plan->lead = REC_RESTATE_SIZE;
	}
	if (plan->cross)
		plan->new = REC_POS(plan->next, REC_POS_SEQ(plan->old) + 1, 1, plan->lead + plan->total);
	else
		plan->new = plan->old + plan_words(plan) + REC_POS_ONE_EVENT;
	return STEP_OK;
}

static void put_lead(unsigned char *at, const struct plan *plan)
{
	if (plan->lead == REC_RESTATE_SIZE)
		rec_put_restate(at, plan->cpu, plan->now);
	else if (plan->lead)
		rec_put_stamp(at, plan->delta, REC_TYPE_TIME_EXTEND);
}

/*
 * E: store the size of the sub-buffer that was left, and the time of the one entered. Only we do so, because we moved
 * the tail.
 */
static void change_subbuf(const struct rec_handle *handle, const struct plan *plan)
{
	if (plan->cross) {
		subbuf_header(handle, REC_POS_ID(plan->old))->commit = REC_POS_OFF(plan->old);
		REC_TESTPOINT(left_size);
		handle->subbufs[REC_POS_ID(plan->old)].entries = REC_POS_COUNT(plan->old);
		REC_TESTPOINT(left_entries);
	}
	rec_store_relaxed(&subbuf_header(handle, REC_POS_ID(plan->new))->time_stamp, plan->now);
	REC_TESTPOINT(entered_time);
}

/*
 * If the outermost writer finds a reservation or a move of the head unfinished at `tail`, another writer left it. The
 * tail is read again, because a nested writer that came and went in between would otherwise cost us system calls, with
 * nothing to take back.
 */
static bool is_undone(const struct rec_handle *handle, uint64_t tail)
{
	const uint64_t commit = rec_load_relaxed(&handle->lane->commit);

	rec_signal_fence();
	return handle->movers || (commit != tail && rec_load_relaxed(&handle->lane->tail) == tail);
}

/*
 * Called before step D of a writer that crosses into the next sub-buffer, in case it never gets from D to E. The writer
 * that announced itself last may have stopped between D and E. Then its sub-buffer was not published, and is not
 * published while we are inside; so its number of events can still be stored. False: a nested writer came in between.
 */
static bool announce_left(const struct rec_handle *handle, uint64_t old)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t seen = rec_load_relaxed(&lane->left);
	struct rec_subbuf *before = &handle->subbufs[REC_POS_ID(seen)];
	const uint32_t entries = rec_load_relaxed(&before->entries);

	/*
	 * All values were computed before this reading of the tail. What nested writers change later, they store
	 * themselves.
	 */
	rec_signal_fence();
	if (rec_load_relaxed(&lane->tail) != old)
		return false;
	if (seen && ((REC_POS_SEQ(seen) + 1) & REC_POS_SEQ_MASK) == REC_POS_SEQ(old) && entries != REC_POS_COUNT(seen))
		rec_store_relaxed(&before->entries, REC_POS_COUNT(seen));
	return rec_local_cmpxchg64(&lane->left, seen, old);
}

unsigned char *rec_ring_reserve(uint32_t size, bool nested, uint64_t start, struct rec_slot *slot)
{
	struct rec_handle *handle = slot->handle;
	struct rec_lane *lane = slot->lane;
	/*
	 * The cap keeps sums from overflowing. An event longer than any sub-buffer is refused with the capped size,
	 * too.
	 */
	struct plan plan = { .total = rec_event_total(size < REC_SUBBUF_MAX ? size : REC_SUBBUF_MAX),
			     .nested = nested };
	unsigned char *at;
	unsigned int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		enum step step;

		/* A: the tail is read first, as in rec_reserve_fast(). */
		plan.old = rec_load_relaxed(&lane->tail);
		rec_signal_fence();
		/*
		 * If a handler has left a reservation open, since C or just before, everything reserved since then is
		 * taken back.
		 */
		if (REC_UNLIKELY(rec_load_relaxed(&lane->open) != slot->open ||
				 (!nested && is_undone(handle, plan.old)))) {
			rec_ring_take_back(handle, nested ? start : rec_load_relaxed(&lane->commit), slot->open);
			continue;
		}
		step = make_plan(handle, &plan);
		if (step == STEP_REFUSED)
			return NULL;
		if (step == STEP_RETRY)
			continue;
		rec_ring_raise(&lane->before, plan.now);
		REC_TESTPOINT(slow_before);
		if (plan.cross && !announce_left(handle, plan.old))
			continue;
		REC_TESTPOINT(slow_left);
		/* D: the linearisation point of a reservation. Fails if a nested writer moved the tail since A. */
		if (!rec_local_cmpxchg64(&lane->tail, plan.old, plan.new))
			continue;
		REC_TESTPOINT(slow_tail);
		/* Edge I1: a reader that copies a byte that we write from here on also sees the new tail. */
		if (plan.cross)
			rec_fence_release();
		at = rec_at_position(handle, plan.cross ? plan.new - plan_words(&plan) : plan.old);
		if (plan.cross || REC_POS_OFF(plan.old) == 0)
			change_subbuf(handle, &plan);
		/* F: a writer that interrupts us states time and CPU anyway, and causes the doubt in T at the end. */
		put_lead(at, &plan);
		at = rec_put_event_word(at + plan.lead, plan.lead ? 0 : (uint32_t)plan.delta, size);
		REC_TESTPOINT(slow_lead);
		if (plan.lead == REC_RESTATE_SIZE)
			rec_store_relaxed(&lane->cpu, plan.cpu);
		REC_TESTPOINT(slow_cpu);
		slot->end = plan.new;
		slot->now = plan.now;
		slot->old = plan.old;
		return at;
	}
	refuse(handle, &lane->nested_limit);
	return NULL;
}
