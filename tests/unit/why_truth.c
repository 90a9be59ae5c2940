/* SPDX-License-Identifier: MIT */
#include "why_truth.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A thread for which a span waits, directly or through other threads. */
struct walk {
	const struct truth *truth;
	int item;  /* the span; -1: a job */
	int since; /* items that began before this do not belong to the span */
	uint64_t task;
	bool is_between; /* the thread does not have the job yet */
	int at;
	bool is_waiting;
	char prefix[256];
};

/* ------------------------------------------------------------------------------------------------ what can be known */

static void set_known(struct truth *truth, const struct machine_event *e)
{
	int32_t pid, next;

	memcpy(&pid, e->bytes + 4, sizeof(pid));
	/* A thread that acts on a CPU without a switch to it has run there since the trace began. */
	if (pid && truth->known[pid] == MACHINE_NS)
		truth->known[pid] = truth->first;
	if (e->kind == KIND_SWITCH)
		memcpy(&next, e->bytes + 24, sizeof(next));
	else if (e->kind == KIND_WAKE || e->kind == KIND_WAKEUP)
		memcpy(&next, e->bytes + 8, sizeof(next));
	else
		return;
	if (next && truth->known[next] == MACHINE_NS)
		truth->known[next] = e->at;
}

void truth_open(struct truth *truth, const struct machine *m)
{
	unsigned int task[MACHINE_THREADS + 1] = { 0 };
	bool has_task[MACHINE_THREADS + 1] = { false };
	int at = 0;

	truth->m = m;
	truth->first = truth->last = -1;
	truth->has_interrupts = false;
	for (int tid = 0; tid <= MACHINE_THREADS; tid++)
		truth->known[tid] = MACHINE_NS;
	for (unsigned int i = 0; i <= m->nr_events; i++) {
		const struct machine_event *e = &m->events[i];
		int32_t pid;

		for (; at < (i < m->nr_events ? e->at : MACHINE_NS); at++) {
			for (int tid = 1; tid <= MACHINE_THREADS; tid++) {
				truth->task[tid][at] = task[tid];
				truth->has_task[tid][at] = has_task[tid];
			}
		}
		if (i == m->nr_events || !e->is_recorded)
			continue;
		truth->first = truth->first < 0 ? e->at : truth->first;
		truth->last = e->at;
		truth->has_interrupts |= e->kind == KIND_IRQ || e->kind == KIND_TIMER;
		if (truth->recorded[KIND_SWITCH])
			set_known(truth, e);
		memcpy(&pid, e->bytes + 4, sizeof(pid));
		if (e->kind != KIND_TASK)
			continue;
		task[pid] = e->bytes[8];
		has_task[pid] |= task[pid] != 0;
	}
}

/* An item that began before the trace is known by its end. */
static bool is_seen(const struct truth *truth, const struct machine_item *item)
{
	if (!truth->recorded[item->kind] || item->begin > truth->last)
		return false;
	return item->begin >= truth->first || (item->end >= truth->first && item->end <= truth->last);
}

int truth_item(const struct truth *truth, int item)
{
	const struct machine_item *items = truth->m->items;

	while (item >= 0 && !is_seen(truth, &items[item]))
		item = items[item].outer;
	return item;
}

/* Only the begin of an interrupt has the name of its device. */
static const char *irq_name(const struct truth *truth, int irq)
{
	const struct machine_item *item = &truth->m->items[irq];

	return item->begin < truth->first ? item->short_name : item->name;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void answer(const struct walk *walk, struct answer *a, enum why_class class, int tid, int cpu, const char *by,
		   const char *format, ...) __attribute__((format(printf, 7, 8)));

static void answer(const struct walk *walk, struct answer *a, enum why_class class, int tid, int cpu, const char *by,
		   const char *format, ...)
{
	int size = 0;
	va_list args;

	*a = (struct answer){ .class = walk->is_waiting ? WHY_BLOCKED : class, .tid = tid, .cpu = cpu };
	snprintf(a->by, sizeof(a->by), "%s", by);
	if (walk->is_waiting && walk->prefix[0])
		size = snprintf(a->what, sizeof(a->what), "%s: ", walk->prefix);
	va_start(args, format);
	vsnprintf(a->what + size, sizeof(a->what) - (size_t)size, format, args);
	va_end(args);
}

static void name_of(int tid, char name[32])
{
	snprintf(name, 32, "<...>-%d", tid);
}

/* The name of the item in which a thread is; "" if that is the span itself. */
static const char *inner_name(const struct walk *walk, int tid)
{
	const int item = truth_item(walk->truth, walk->truth->m->moments[walk->at].thread[tid].item);
	const struct machine_item *items = walk->truth->m->items;

	if (item < 0 || (!walk->is_waiting && item == walk->item))
		return "";
	/* If the item began before the trace, its begin is unknown. */
	if (!walk->is_waiting && items[item].begin < walk->since && walk->since > walk->truth->first)
		return "";
	return items[item].name;
}

static void running(const struct walk *walk, int tid, int cpu, struct answer *a)
{
	const struct truth *truth = walk->truth;
	const int irq = truth_item(truth, truth->m->moments[walk->at].cpu[cpu].irq);
	const unsigned int task = truth->task[tid][walk->at];
	const char *inner = inner_name(walk, tid);
	char name[32];

	name_of(tid, name);
	if (irq >= 0) {
		answer(walk, a, WHY_INTERRUPTED, tid, cpu, irq_name(truth, irq), "%s", irq_name(truth, irq));
	} else if (walk->is_waiting) {
		answer(walk, a, WHY_RUNNING, tid, cpu, name, "%s ran%s%s", name, *inner ? ", in " : "", inner);
	} else if (walk->is_between || (walk->task && truth->has_task[tid][walk->at] && task != walk->task)) {
		if (task)
			snprintf(name, sizeof(name), "task %u", task);
		answer(walk, a, WHY_BLOCKED, tid, cpu, task ? name : "another task",
		       "its thread worked for another task");
	} else {
		answer(walk, a, WHY_RUNNING, tid, cpu, "", "%s", inner);
	}
}

/* Without the second half of a wake-up, the CPU for which a thread waits is the one on which it then runs; -1: none. */
static int next_cpu(const struct truth *truth, int tid, int at)
{
	const struct machine_moment *moments = truth->m->moments;

	while (at <= truth->last && moments[at].thread[tid].state == STATE_WAITS)
		at++;
	/* The end of the run counts as an event, too. */
	return at <= truth->last ? moments[at].thread[tid].cpu : -1;
}

static int wait_begin(const struct truth *truth, int tid, int at)
{
	while (at > 0 && truth->m->moments[at - 1].thread[tid].state == STATE_WAITS)
		at--;
	return at;
}

/*
 * Whether the trace has the second half of the wake-up after which a thread waits for a CPU at a time: before that
 * time, or, if `maybe_later`, during the whole wait.
 */
static bool is_placed(const struct truth *truth, int tid, int at, bool maybe_later)
{
	const struct machine_moment *moments = truth->m->moments;
	const int begin = wait_begin(truth, tid, at);
	int end = at;

	while (maybe_later && end < truth->last && moments[end].thread[tid].state == STATE_WAITS)
		end++;
	for (unsigned int i = 0; i < truth->m->nr_events; i++) {
		const struct machine_event *e = &truth->m->events[i];
		int32_t pid;

		memcpy(&pid, e->bytes + 8, sizeof(pid));
		if (e->kind == KIND_WAKEUP && e->is_recorded && pid == tid && e->at >= begin && e->at <= end)
			return true;
	}
	return false;
}

static void runnable(const struct walk *walk, int tid, struct answer *a)
{
	const struct truth *truth = walk->truth;
	const struct machine_moment *moment = &truth->m->moments[walk->at];
	int cpu = moment->thread[tid].cpu;
	char name[32];

	/* If the trace begins with its wake-up, it is not seen that it had been preempted. */
	if ((moment->thread[tid].is_woken || wait_begin(truth, tid, walk->at) < truth->known[tid]) &&
	    !is_placed(truth, tid, walk->at, true))
		cpu = next_cpu(truth, tid, walk->at);
	if (cpu < 0) {
		answer(walk, a, WHY_RUNNABLE, tid, -1, "", "waited for a CPU");
		return;
	}
	name_of(moment->cpu[cpu].tid, name);
	if (moment->cpu[cpu].tid)
		answer(walk, a, WHY_RUNNABLE, tid, cpu, name, "CPU %d ran %s", cpu, name);
	else
		answer(walk, a, WHY_RUNNABLE, tid, cpu, "", "CPU %d was idle", cpu);
}

/* The last request that an interrupt had completed when it woke a thread; -1: none. */
static int request_of(const struct truth *truth, const struct machine_sleep *sleep, int irq)
{
	const struct machine *m = truth->m;
	int last = -1;

	for (unsigned int i = 0; i < m->nr_requests; i++) {
		const struct machine_request *r = &m->requests[i];

		if (truth->recorded[KIND_BLOCK] && r->end && r->end <= sleep->end && r->begin >= truth->first &&
		    truth_item(truth, r->irq) == irq && (last < 0 || r->end > m->requests[last].end))
			last = (int)i;
	}
	return last;
}

static void woken_by_irq(const struct walk *walk, const struct machine_sleep *sleep, struct answer *a)
{
	const struct truth *truth = walk->truth;
	const int irq = truth_item(truth, sleep->irq);
	const char *name = irq >= 0 ? irq_name(truth, irq) : "interrupt";
	const struct machine_request *r;
	int request;
	char device[32];

	if (irq < 0) {
		answer(walk, a, WHY_BLOCKED, sleep->tid, -1, name,
		       truth->has_interrupts ? "an interrupt woke it"
					     : "an interrupt woke it; which one was not recorded: add -e irq -e timer");
		return;
	}
	request = sleep->is_blocked ? request_of(truth, sleep, irq) : -1;
	if (request < 0) {
		answer(walk, a, WHY_BLOCKED, sleep->tid, -1, name, "%s woke it", name);
		return;
	}
	/* If everything was recorded, this request is the right one. */
	if (truth->recorded[KIND_IRQ] && truth->recorded[KIND_TIMER] &&
	    (sleep->request < 0 || truth->m->requests[sleep->request].begin >= truth->first))
		cr_assert_eq(request, sleep->request, "at %d thread %d waits for request %d, not %d", walk->at,
			     sleep->tid, sleep->request, request);
	r = &truth->m->requests[request];
	snprintf(device, sizeof(device), "device %u:%u", r->device >> 20, r->device & 0xfffff);
	if (walk->at < r->begin)
		answer(walk, a, WHY_BLOCKED, sleep->tid, -1, device, "I/O of %s: before the request was issued",
		       device);
	else
		answer(walk, a, WHY_BLOCKED, sleep->tid, -1, device,
		       "I/O of %s: %u bytes at sector %u, %d ns in the device", device, r->sectors * 512,
		       (unsigned int)r->sector, r->end - r->begin);
}

static void of_thread(const struct walk *walk, int tid, struct answer *a);

static void asleep(const struct walk *walk, const struct machine_sleep *sleep, struct answer *a)
{
	const struct truth *truth = walk->truth;
	const int place = truth_item(truth, sleep->place);
	const char *call = place >= 0 && truth->m->items[place].kind == KIND_CALL ? truth->m->items[place].name : "";
	struct walk inside = *walk;
	bool is_open = sleep->end > truth->last;
	char name[32];

	name_of(sleep->tid, name);
	inside.is_waiting = true;
	if (!walk->is_waiting)
		snprintf(inside.prefix, sizeof(inside.prefix), "%s%s", *call ? "in " : "", call);
	else if (*call)
		snprintf(inside.prefix, sizeof(inside.prefix), "%.150s%s%s in %s", walk->prefix,
			 walk->prefix[0] ? ": " : "", name, call);
	/* Without wake-ups, a sleep lasts until its thread runs. */
	if (!truth->recorded[KIND_WAKE] && !is_open)
		is_open = next_cpu(truth, sleep->tid, sleep->end) < 0 &&
			  !is_placed(truth, sleep->tid, sleep->end, true);
	if (is_open)
		answer(&inside, a, WHY_BLOCKED, sleep->tid, -1, "", "asleep until the trace ends");
	else if (!truth->recorded[KIND_WAKE])
		answer(&inside, a, WHY_BLOCKED, sleep->tid, -1, "", "wake-ups were not recorded: add -e sched");
	else if (sleep->by == WAKER_IRQ)
		woken_by_irq(&inside, sleep, a);
	else if (sleep->by == WAKER_IDLE)
		answer(&inside, a, WHY_BLOCKED, sleep->tid, -1, "kernel", "woken by the idle task");
	else
		of_thread(&inside, sleep->waker, a);
}

static void of_thread(const struct walk *walk, int tid, struct answer *a)
{
	const struct truth *truth = walk->truth;
	const struct machine_moment *moment = &truth->m->moments[walk->at];
	const char *inner = inner_name(walk, tid);

	if (walk->at < truth->known[tid]) {
		answer(walk, a, WHY_UNKNOWN, tid, -1, "", "%s%s%s%s", *inner ? "in " : "", inner, *inner ? "; " : "",
		       truth->recorded[KIND_SWITCH] ? "the trace has no switch of this thread here"
						    : "sched_switch was not recorded: add -e sched");
		return;
	}
	switch (moment->thread[tid].state) {
	case STATE_RUNS:
		running(walk, tid, moment->thread[tid].cpu, a);
		return;
	case STATE_WAITS:
		/* A wake-up that is not recorded is not seen. */
		if (moment->thread[tid].is_woken && !truth->recorded[KIND_WAKE] &&
		    !is_placed(truth, tid, walk->at, false))
			asleep(walk, &truth->m->sleeps[moment->thread[tid].sleep], a);
		else
			runnable(walk, tid, a);
		return;
	default:
		asleep(walk, &truth->m->sleeps[moment->thread[tid].sleep], a);
	}
}

void truth_at(const struct truth *truth, int item, uint64_t task, int at, struct answer *ret_answer)
{
	const struct walk walk = { .truth = truth, .item = item, .task = task, .at = at };

	of_thread(&walk, truth->m->items[item].tid, ret_answer);
}

void truth_of_job(const struct truth *truth, const struct truth_job *job, const struct truth_path *path, int at,
		  struct answer *ret_answer)
{
	const struct walk walk = {
		.truth = truth,
		.item = -1,
		.since = job->begin,
		.task = job->task,
		.is_between = path->is_between[at],
		.at = at,
	};

	of_thread(&walk, path->tid[at], ret_answer);
}

/* Whether an interrupt runs on a CPU, and its begin or its end is recorded; the events do not show other interrupts. */
static bool is_interrupted(const struct truth *truth, int cpu, int at)
{
	const struct machine *m = truth->m;
	int irq = m->moments[at].cpu[cpu].irq;

	for (; irq >= 0; irq = m->items[irq].outer) {
		for (unsigned int i = 0; i < 2; i++) {
			if (m->items[irq].events[i] >= 0 && m->events[m->items[irq].events[i]].is_recorded)
				return true;
		}
	}
	return false;
}

enum why_class truth_class(const struct truth *truth, int tid, int at)
{
	const struct machine_moment *moment = &truth->m->moments[at];

	switch (moment->thread[tid].state) {
	case STATE_RUNS:
		return is_interrupted(truth, moment->thread[tid].cpu, at) ? WHY_INTERRUPTED : WHY_RUNNING;
	case STATE_WAITS:
		return WHY_RUNNABLE;
	default:
		return WHY_BLOCKED;
	}
}
