/* SPDX-License-Identifier: MIT */
/*
 * Finds the threads that worked on a span, one after the other, if one thread began the span and another one ended it.
 *
 * If the span belongs to a logical task, the events of the task show which thread had it: the thread that took up the
 * task last works on the span. Between two such threads the span waits for the next one.
 *
 * Otherwise wake-ups show it, backwards from the end of the span: some wake-up gave the span to the thread that ended
 * it, another wake-up gave it to that waker, and so on, back to the thread that began it. A thread may sleep for other
 * reasons, too: for a lock, before or after it had the span. So a sleep counts only if a chain of wake-ups leads from
 * it back to the thread that began the span. The shortest such chain is taken, and at each thread the last sleep. (A
 * thread that gives work to all others begins many chains. A holder of a lock may be in one of them, but the span's own
 * chain is shorter.)
 */
#include "format/why/why_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A span is followed over at most this number of wake-ups. */
#define HANDS_MAX 16u

/* The thread that ends a span is searched for among at most this number of threads that work for the span's task. */
#define OTHERS_MAX 64u

/* A thread works on the span from `begin` on, until the carrier that was added before this one takes over. */
struct carrier {
	uint64_t begin;
	int32_t tid;
	bool is_between; /* no thread works for the span; `tid` is the next one that does */
};

static void add_carrier(struct blob *carriers, int32_t tid, uint64_t begin, bool is_between)
{
	const struct carrier carrier = { begin, tid, is_between };

	blob_put(carriers, &carrier, sizeof(carrier));
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

static int by_task(const void *a, const void *b)
{
	const struct why_worker *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int why_sort_workers(struct why *why)
{
	size_t nr;

	for (size_t i = 0; i < why->nr_threads; i++) {
		const struct why_task *tasks = why_items(struct why_task, &why->threads[i].tasks, nr);

		for (size_t k = 0; k < nr; k++) {
			const struct why_worker worker = { tasks[k].task, tasks[k].begin, tasks[k].end,
							   why->threads[i].tid };

			blob_put(&why->workers, &worker, sizeof(worker));
		}
	}
	if (why->workers.size)
		qsort(why->workers.data, why->workers.size / sizeof(struct why_worker), sizeof(struct why_worker),
		      by_task);
	return why->workers.error;
}

/* The index after the last worker of a task, among those that began before `ts`. */
static size_t worker_before(const struct why_worker *workers, size_t nr, uint64_t task, uint64_t ts)
{
	size_t low = 0;

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (workers[middle].task < task || (workers[middle].task == task && workers[middle].begin < ts))
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

/* Find the carriers by the span's task. False: the thread that ended the span did not do so for that task. */
static bool follow_task(const struct why *why, const struct why_span *span, struct blob *carriers)
{
	size_t nr;
	const struct why_worker *workers = why_items(struct why_worker, &why->workers, nr);
	size_t i = span->task && span->rule->is_keyed ? worker_before(workers, nr, span->task, span->end) : 0;
	uint64_t from = span->end;

	/* Several threads may work for the task at the end. */
	for (unsigned int others = 0; i && workers[i - 1].task == span->task; i--) {
		if (workers[i - 1].tid == span->end_tid && workers[i - 1].end >= span->end)
			break;
		if (others++ == OTHERS_MAX)
			return false;
	}
	if (!i || workers[i - 1].task != span->task)
		return false;
	for (; i && workers[i - 1].task == span->task && from > span->begin; i--) {
		if (workers[i - 1].end < from && from < span->end)
			add_carrier(carriers, workers[i].tid, workers[i - 1].end, true);
		if (workers[i - 1].begin < from) {
			add_carrier(carriers, workers[i - 1].tid, workers[i - 1].begin, false);
			from = workers[i - 1].begin;
		}
	}
	/* If the span's begin is not in the trace, the thread that had it first is unknown, too. */
	if (from > span->begin)
		add_carrier(carriers, workers[i].tid, span->begin, true);
	return true;
}

/* --------------------------------------------------------------------------------------------------------- wake-ups */

/* Whether another thread ended this sleep. */
static bool is_woken(const struct why_state *state)
{
	return (state->run == MODEL_SLEEPING || state->run == MODEL_BLOCKED) && state->waker > 0 && !state->waker_irq &&
	       !state->is_open;
}

static int by_time(const void *a, const void *b)
{
	const struct why_wake *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->woken_place < y->woken_place ? -1 : x->woken_place > y->woken_place;
}

static void add_wakes(struct why *why, const struct why_thread *thread)
{
	size_t nr;
	const struct why_state *states = why_items(struct why_state, &thread->states, nr);

	for (size_t i = 0; i < nr; i++) {
		struct why_wake wake = { .ts = states[i].end, .woken = thread->tid, .waker = states[i].waker };

		if (!is_woken(&states[i]))
			continue;
		wake.woken_place = (uint32_t)(thread - why->threads) + 1;
		wake.waker_place = (uint32_t)number_map_get(&why->by_tid, (uint32_t)wake.waker);
		blob_put(&why->wakes, &wake, sizeof(wake));
	}
}

/* Fills why->wakes and why->numbers when they are first needed. 0; -ENOMEM. */
static int sort_wakes(struct why *why)
{
	if (why->numbers)
		return 0;
	why->wakes.size = 0;
	for (size_t i = 0; i < why->nr_threads; i++)
		add_wakes(why, &why->threads[i]);
	if (why->wakes.error)
		return why->wakes.error;
	if (why->wakes.size)
		qsort(why->wakes.data, why->wakes.size / sizeof(struct why_wake), sizeof(struct why_wake), by_time);
	why->numbers = calloc(why->nr_threads + 1, sizeof(*why->numbers));
	return why->numbers ? 0 : -ENOMEM;
}

/* The number of wake-ups up to a time, which is included. */
static size_t count_until(const struct why_wake *wakes, size_t nr, uint64_t ts)
{
	size_t low = 0;

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (wakes[middle].ts <= ts)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

/*
 * The search for a chain of wake-ups. The threads that occur in it have numbers from 1 on, because they are few among
 * those of the trace.
 */
struct search {
	const struct why_wake *wakes; /* within the span */
	size_t nr;
	uint32_t *numbers; /* by place, as in struct why */
	uint32_t nr_numbers;
	/*
	 * steps[h * size + number] is the earliest time, plus one, at which the thread may have got the span by at most
	 * h wake-ups; 0: it cannot have got it
	 */
	uint64_t *steps;
	size_t size;
};

static void give_number(struct search *search, uint64_t place)
{
	if (!search->numbers[place])
		search->numbers[place] = ++search->nr_numbers;
}

/* The number of wake-ups over which the last thread may have got the span; 0: it cannot. */
static unsigned int spread(const struct search *search, uint64_t begin, uint32_t first, uint32_t last)
{
	const size_t size = search->size;

	memset(search->steps, 0, size * sizeof(*search->steps));
	search->steps[first] = begin + 1;
	for (unsigned int h = 1; h <= HANDS_MAX; h++) {
		const uint64_t *before = &search->steps[(h - 1) * size];
		uint64_t *now = &search->steps[h * size];
		bool has_changed = false;

		memcpy(now, before, size * sizeof(*now));
		for (size_t i = 0; i < search->nr; i++) {
			const struct why_wake *wake = &search->wakes[i];
			const uint64_t waker = before[search->numbers[wake->waker_place]];
			uint64_t *woken = &now[search->numbers[wake->woken_place]];

			if (waker && waker <= wake->ts + 1 && (!*woken || *woken > wake->ts + 1)) {
				*woken = wake->ts + 1;
				has_changed = true;
			}
		}
		if (now[last])
			return h;
		if (!has_changed)
			return 0;
	}
	return 0;
}

/*
 * Follows the chain of `h` wake-ups back: at each thread, the last wake-up by a thread that may have had the span.
 * Without a chain, the thread that ended the span had it all the time.
 */
static void follow_chain(const struct search *search, const struct why_span *span, unsigned int h,
			 struct blob *carriers)
{
	int32_t tid = span->end_tid;

	for (size_t i = search->nr; h && i--;) {
		const struct why_wake *wake = &search->wakes[i];
		const uint64_t waker = search->steps[(h - 1) * search->size + search->numbers[wake->waker_place]];

		if (wake->woken != tid || !waker || waker > wake->ts + 1)
			continue;
		add_carrier(carriers, tid, wake->ts, false);
		tid = wake->waker;
		/* The thread that began the span works on it from the beginning, so it needs no wake-up. */
		h = tid == span->tid ? 0 : h - 1;
	}
	add_carrier(carriers, tid, span->begin, false);
}

/* Follow any chain of wake-ups. 0; -ENOMEM. */
static int follow_any(struct why *why, const struct why_span *span, struct blob *carriers)
{
	const uint64_t first = number_map_get(&why->by_tid, (uint32_t)span->tid);
	const uint64_t last = number_map_get(&why->by_tid, (uint32_t)span->end_tid);
	struct search search = { 0 };
	size_t nr, before;
	int err = sort_wakes(why);

	if (err)
		return err;
	search.wakes = why_items(struct why_wake, &why->wakes, nr);
	before = count_until(search.wakes, nr, span->begin);
	search.nr = count_until(search.wakes, nr, span->end) - before;
	search.wakes += before;
	search.numbers = why->numbers;
	give_number(&search, first);
	give_number(&search, last);
	for (size_t i = 0; i < search.nr; i++) {
		give_number(&search, search.wakes[i].woken_place);
		give_number(&search, search.wakes[i].waker_place);
	}
	search.size = search.nr_numbers + 1u;
	search.steps = malloc((HANDS_MAX + 1) * search.size * sizeof(*search.steps));
	if (search.steps)
		follow_chain(&search, span,
			     spread(&search, span->begin, search.numbers[first], search.numbers[last]), carriers);
	else
		err = -ENOMEM;
	free(search.steps);
	for (size_t i = 0; i < search.nr; i++) {
		search.numbers[search.wakes[i].woken_place] = 0;
		search.numbers[search.wakes[i].waker_place] = 0;
	}
	search.numbers[first] = search.numbers[last] = 0;
	return err;
}

/*
 * In the usual case, the thread that began the span woke the one that ended it. Otherwise there may be others between
 * the two. 0; -ENOMEM.
 */
static int follow_wakes(struct why *why, const struct why_span *span, struct blob *carriers)
{
	const struct why_thread *last = span->tid != span->end_tid ? why_thread(why, span->end_tid) : NULL;
	size_t nr = 0, from = last ? why_state_from(&last->states, span->begin) : 0, to = from;
	const struct why_state *states = last ? why_items(struct why_state, &last->states, nr) : NULL;
	bool has_wakes = false;

	while (to < nr && states[to].end <= span->end)
		to++;
	while (to-- > from) {
		if (!is_woken(&states[to]))
			continue;
		has_wakes = true;
		if (states[to].waker != span->tid)
			continue;
		add_carrier(carriers, span->end_tid, states[to].end, false);
		add_carrier(carriers, span->tid, span->begin, false);
		return 0;
	}
	if (has_wakes)
		return follow_any(why, span, carriers);
	add_carrier(carriers, span->end_tid, span->begin, false);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- a span */

int why_carried_pieces(struct why_walk *walk, const struct why_span *span)
{
	struct blob blob = BLOB_INIT;
	const struct carrier *carriers;
	size_t nr;
	int err = follow_task(walk->why, span, &blob) ? 0 : follow_wakes(walk->why, span, &blob);

	err = err ? err : blob.error;
	carriers = why_items(struct carrier, &blob, nr);
	/* The list is in reverse order: the first carrier was added last. */
	while (!err && nr--) {
		const uint64_t begin = carriers[nr].begin > span->begin ? carriers[nr].begin : span->begin;
		const uint64_t end = nr ? carriers[nr - 1].begin : span->end;

		walk->is_between = carriers[nr].is_between;
		why_thread_pieces(walk, carriers[nr].tid, begin, end);
	}
	blob_free(&blob);
	return err;
}
