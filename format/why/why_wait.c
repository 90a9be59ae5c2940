/* SPDX-License-Identifier: MIT */
/*
 * Explains why a thread slept: its system call shows where it slept, its wake-up shows which thread ended the sleep.
 * What this thread did is followed backwards to the beginning of the sleep. An interrupt ends the chain: a timer, a
 * device, the network.
 */
#include "format/why/why_private.h"

#include <string.h>

/* A chain of wake-ups is followed over at most this number of threads. */
#define CHAIN_MAX 16u

/* Linux's soft interrupts, by number (include/linux/interrupt.h). */
enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_TX = 2, SOFTIRQ_NET_RX = 3, SOFTIRQ_BLOCK = 4, SOFTIRQ_HRTIMER = 8 };

static bool is_softirq(const struct why_inner *interrupt)
{
	return !strcmp(interrupt->rule->name, "softirq");
}

static bool is_timer(const struct why_inner *interrupt)
{
	if (!strcmp(interrupt->rule->system, "timer"))
		return true;
	return is_softirq(interrupt) && (interrupt->number == SOFTIRQ_TIMER || interrupt->number == SOFTIRQ_HRTIMER);
}

/* Whether the interrupt is one that completes no requests of block devices. */
static bool is_of_other(const struct why_inner *interrupt)
{
	return is_timer(interrupt) ||
	       (is_softirq(interrupt) && (interrupt->number == SOFTIRQ_NET_RX || interrupt->number == SOFTIRQ_NET_TX));
}

const char *why_interrupt_name(struct why *why, const struct why_inner *interrupt)
{
	if (is_timer(interrupt))
		return "timer";
	if (is_softirq(interrupt)) {
		if (is_of_other(interrupt))
			return "network";
		return interrupt->number == SOFTIRQ_BLOCK
			       ? "block device"
			       : why_text(why, "soft interrupt %lld", (long long)interrupt->number);
	}
	return interrupt->name ? why_text(why, "interrupt %s", interrupt->name)
			       : why_text(why, "interrupt %lld", (long long)interrupt->number);
}

/*
 * An interrupt woke a thread: the request for which the thread slept is the last one that this interrupt completed
 * before. (Linux wakes the waiters for a request before it completes the next one.) NULL: the interrupt completed none.
 */
static const struct why_request *request_for(const struct why *why, const struct why_inner *interrupt,
					     const struct why_state *sleep)
{
	const struct why_cpu *cpu = why_cpu(why, sleep->waker_cpu);
	size_t nr, low = 0, high;
	const struct why_request *list = why_items(struct why_request, &why->requests, nr);

	for (high = nr; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (list[middle].end <= sleep->end)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && list[low - 1].end >= interrupt->begin; low--) {
		if (list[low - 1].cpu == sleep->waker_cpu &&
		    why_innermost(&cpu->inner, list[low - 1].end, 0, NULL) == interrupt)
			return &list[low - 1];
	}
	return NULL;
}

/* The device is Linux's internal dev_t: 12 bits of major, 20 bits of minor. */
static void request_piece(struct why_walk *walk, int32_t tid, const struct why_request *r, uint64_t begin, uint64_t end)
{
	struct why *why = walk->why;
	const char *device = why_text(why, "device %llu:%llu", (unsigned long long)r->device >> 20,
				      (unsigned long long)r->device & 0xfffff);
	const char *what = why_text(why, "I/O of %s: %llu bytes at sector %llu, %llu %s in the device", device,
				    (unsigned long long)r->sectors * 512, (unsigned long long)r->sector,
				    (unsigned long long)(r->end - r->begin), why->counts_ns ? "ns" : "ticks");

	/* Before it was issued, the request was being prepared or waited in a queue. */
	if (r->begin > begin) {
		why_piece(walk, WHY_BLOCKED, begin, r->begin < end ? r->begin : end, tid, -1, device,
			  why_text(why, "I/O of %s: before the request was issued", device));
		begin = r->begin < end ? r->begin : end;
	}
	why_piece(walk, WHY_BLOCKED, begin, end, tid, -1, device, what);
}

/*
 * Whether the kernel recorded the events of threads that were chosen by their numbers, and this one is not among them.
 * Then the interrupts that came while it ran are not in the trace either.
 */
static bool is_left_out(const struct why *why, int32_t tid)
{
	const struct dat_absent *absent = &why->table->absent;
	const struct why_thread *thread = why_thread(why, tid);

	/*
	 * The file does not list a thread that a chosen one created, although the kernel records it, too. Such a thread
	 * has states in the trace.
	 */
	if (!absent->some_threads || absent->some_times.nr || !absent->nr_listed ||
	    (tid && thread && thread->states.size))
		return false;
	for (size_t i = 0; i < absent->nr_listed; i++) {
		if (absent->listed[i] == tid)
			return false;
	}
	return true;
}

static void interrupt_pieces(struct why_walk *walk, int32_t tid, const struct why_state *sleep, uint64_t begin,
			     uint64_t end)
{
	struct why *why = walk->why;
	const struct why_cpu *cpu = why_cpu(why, sleep->waker_cpu);
	/* A soft interrupt or a timer is a better cause than the interrupt in which it runs. */
	const struct why_inner *interrupt = cpu ? why_innermost(&cpu->inner, sleep->end, 0, NULL) : NULL;
	const struct why_request *request = NULL;
	/* The interrupt was before the sleep: it may be in the trace, but is not looked for. */
	const bool is_early = sleep->waker_cpu == UINT32_MAX && why->has_interrupts;
	const char *name;

	if (!interrupt && !is_early && is_left_out(why, sleep->waker)) {
		why->lacks |= LACK_THREADS;
		why_piece(walk, WHY_BLOCKED, begin, end, tid, -1, "interrupt",
			  "an interrupt woke it; interrupts of other threads were not recorded (-F, -P) or left out by "
			  "split");
		return;
	}
	if (!why->has_interrupts)
		why->lacks |= LACK_INTERRUPTS;
	/*
	 * Any device's interrupt may have ended an uninterruptible sleep for a request; a timer or the network did not.
	 */
	if (sleep->run == MODEL_BLOCKED && !why->has_requests && !(interrupt && is_of_other(interrupt)))
		why->lacks |= LACK_REQUESTS;
	if (!interrupt) {
		why_piece(walk, WHY_BLOCKED, begin, end, tid, -1, "interrupt",
			  why->has_interrupts
				  ? "an interrupt woke it"
				  : "an interrupt woke it; which one was not recorded: add -e irq -e timer");
		return;
	}
	if (sleep->run == MODEL_BLOCKED)
		request = request_for(why, interrupt, sleep);
	if (request) {
		request_piece(walk, tid, request, begin, end);
		return;
	}
	name = why_interrupt_name(why, interrupt);
	why_piece(walk, WHY_BLOCKED, begin, end, tid, -1, name, why_text(why, "%s woke it", name));
}

/* The system call or span in which a thread sleeps; "" if none is known. */
static const char *place_of(struct why_walk *walk, int32_t tid, uint64_t ts)
{
	const struct why_thread *thread = why_thread(walk->why, tid);
	const struct why_inner *inner = thread ? why_innermost(&thread->inner, ts, 0, NULL) : NULL;

	return inner && inner->rule->is_kernel ? why_inner_name(walk->why, inner) : "";
}

void why_wait_pieces(struct why_walk *walk, int32_t tid, const struct why_state *sleep, uint64_t begin, uint64_t end)
{
	struct why *why = walk->why;
	struct why_walk inside = *walk;
	const char *place = place_of(walk, tid, sleep->begin);

	if (!*place && !why->has_calls)
		why->lacks |= LACK_CALLS;
	if (sleep->waker < 0 && !sleep->is_open && !why->has_wakes)
		why->lacks |= LACK_WAKES;
	inside.is_waiting = true;
	inside.depth++;
	if (!walk->is_waiting)
		inside.prefix = *place ? why_text(why, "in %s", place) : "";
	else if (*place)
		inside.prefix = why_text(why, "%s%s%s in %s", walk->prefix, *walk->prefix ? ": " : "",
					 why_thread_name(why, tid), place);
	if (inside.depth > CHAIN_MAX)
		why_piece(&inside, WHY_BLOCKED, begin, end, tid, -1, "",
			  "the chain of wake-ups is longer than 16 threads");
	else if (sleep->is_open)
		why_piece(&inside, WHY_BLOCKED, begin, end, tid, -1, "", "asleep until the trace ends");
	else if (sleep->waker < 0)
		why_piece(&inside, WHY_BLOCKED, begin, end, tid, -1, "",
			  why->has_wakes ? "its wake-up is not in the trace"
					 : "wake-ups were not recorded: add -e sched");
	else if (sleep->waker_irq)
		interrupt_pieces(&inside, tid, sleep, begin, end);
	else if (sleep->waker == 0)
		why_piece(&inside, WHY_BLOCKED, begin, end, tid, -1, "kernel", "woken by the idle task");
	else
		why_thread_pieces(&inside, sleep->waker, begin, end);
}
