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

/* A sleep that another thread ended within the span. */
struct wake {
	uint64_t ts;
	int32_t woken, waker;
};

static int by_time(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static void add_wakes(const struct why_thread *thread, uint64_t begin, uint64_t end, struct blob *wakes)
{
	size_t nr;
	const struct why_state *states = why_items(struct why_state, &thread->states, nr);

	for (size_t i = why_state_from(&thread->states, begin); i < nr && states[i].end <= end; i++) {
		const struct wake wake = { states[i].end, thread->tid, states[i].waker };

		if ((states[i].run == MODEL_SLEEPING || states[i].run == MODEL_BLOCKED) && states[i].waker > 0 &&
		    !states[i].waker_irq && !states[i].is_open)
			blob_put(wakes, &wake, sizeof(wake));
	}
}

/*
 * steps[h][thread] is the earliest time, plus one, at which the thread may have got the span by at most h wake-ups; 0:
 * it cannot have got it. Returns the number of wake-ups over which the last thread may have got it; 0: it cannot.
 */
static unsigned int spread(const struct why *why, const struct why_span *span, const struct wake *wakes, size_t nr,
			   uint64_t *steps)
{
	const size_t size = why->nr_threads + 1;
	const size_t first = (size_t)number_map_get(&why->by_tid, (uint32_t)span->tid);
	const size_t last = (size_t)number_map_get(&why->by_tid, (uint32_t)span->end_tid);

	steps[first] = span->begin + 1;
	for (unsigned int h = 1; h <= HANDS_MAX; h++) {
		const uint64_t *before = &steps[(h - 1) * size];
		uint64_t *now = &steps[h * size];

		for (size_t i = 0; i < size; i++)
			now[i] = before[i];
		for (size_t i = 0; i < nr; i++) {
			const uint64_t waker = before[number_map_get(&why->by_tid, (uint32_t)wakes[i].waker)];
			uint64_t *woken = &now[number_map_get(&why->by_tid, (uint32_t)wakes[i].woken)];

			if (waker && waker <= wakes[i].ts + 1 && (!*woken || *woken > wakes[i].ts + 1))
				*woken = wakes[i].ts + 1;
		}
		if (now[last])
			return h;
	}
	return 0;
}

/* Follows the chain back: at each thread, the last wake-up by a thread that may have had the span. */
static void follow_chain(const struct why *why, const struct why_span *span, const struct wake *wakes, size_t nr,
			 const uint64_t *steps, unsigned int h, struct blob *carriers)
{
	int32_t tid = span->end_tid;

	for (size_t i = nr; h && i--;) {
		const uint64_t *before = &steps[(h - 1) * (why->nr_threads + 1)];
		const uint64_t waker = before[number_map_get(&why->by_tid, (uint32_t)wakes[i].waker)];

		if (wakes[i].woken != tid || !waker || waker > wakes[i].ts + 1)
			continue;
		add_carrier(carriers, tid, wakes[i].ts, false);
		tid = wakes[i].waker;
		/* The thread that began the span works on it from the beginning, so it needs no wake-up. */
		h = tid == span->tid ? 0 : h - 1;
	}
	add_carrier(carriers, tid, span->begin, false);
}

/* The usual case: the thread that began the span woke the one that ended it. False: it did not. */
static bool follow_direct(const struct why_span *span, const struct wake *wakes, size_t nr, struct blob *carriers)
{
	while (nr--) {
		if (wakes[nr].waker != span->tid)
			continue;
		add_carrier(carriers, span->end_tid, wakes[nr].ts, false);
		add_carrier(carriers, span->tid, span->begin, false);
		return true;
	}
	return false;
}

static int follow_any(const struct why *why, const struct why_span *span, struct blob *wakes, struct blob *carriers)
{
	uint64_t *steps = calloc((HANDS_MAX + 1) * (why->nr_threads + 1), sizeof(*steps));
	const struct wake *list;
	size_t nr;

	if (!steps)
		return -ENOMEM;
	for (size_t i = 0; i < why->nr_threads; i++) {
		if (why->threads[i].tid != span->end_tid)
			add_wakes(&why->threads[i], span->begin, span->end, wakes);
	}
	if (wakes->size)
		qsort(wakes->data, wakes->size / sizeof(*list), sizeof(*list), by_time);
	list = why_items(struct wake, wakes, nr);
	if (!wakes->error)
		follow_chain(why, span, list, nr, steps, spread(why, span, list, nr, steps), carriers);
	free(steps);
	return wakes->error;
}

static int follow_wakes(const struct why *why, const struct why_span *span, struct blob *carriers)
{
	const struct why_thread *last = why_thread(why, span->end_tid);
	struct blob wakes = BLOB_INIT;
	const struct wake *list;
	size_t nr;
	int err;

	if (last && span->tid != span->end_tid)
		add_wakes(last, span->begin, span->end, &wakes);
	list = why_items(struct wake, &wakes, nr);
	err = wakes.error;
	if (!err && !nr)
		add_carrier(carriers, span->end_tid, span->begin, false);
	else if (!err && !follow_direct(span, list, nr, carriers))
		err = follow_any(why, span, &wakes, carriers);
	blob_free(&wakes);
	return err;
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
