/* SPDX-License-Identifier: MIT */
/*
 * Divides a thread's time into pieces, by its states. A part during which it runs is divided further: by the interrupts of its
 * CPU, and by the innermost span or system call that it was in. A part during which it waits for a CPU is divided by who ran
 * there. why_wait.c divides sleeps.
 *
 * Each function covers the time that it was given, from begin to end, and nothing else: so the pieces add up.
 */
#include "format/why/why_private.h"

#include <errno.h>
#include <string.h>

const char *why_class_name(enum why_class class)
{
	static const char *const names[WHY_CLASSES] = { "running", "runnable", "blocked", "interrupted", "unknown" };

	return names[class];
}

void why_piece(struct why_walk *walk, enum why_class class, uint64_t begin, uint64_t end, int32_t tid, int32_t cpu, const char *by,
	       const char *what)
{
	struct blob *pieces = &walk->why->pieces;
	struct why_piece *last = pieces->size ? (struct why_piece *)(void *)(pieces->data + pieces->size) - 1 : NULL;
	struct why_piece piece = { class, begin, end, tid, cpu, by, what };

	if (begin >= end)
		return;
	if (walk->is_waiting) {
		piece.class = WHY_BLOCKED;
		piece.what = *walk->prefix ? why_text(walk->why, "%s: %s", walk->prefix, what) : what;
	}
	/* Texts of the pool are equal if their addresses are; so are constants for the most part. */
	if (last && last->end == begin && last->class == piece.class && last->tid == tid && last->cpu == cpu &&
	    !strcmp(last->by, piece.by) && !strcmp(last->what, piece.what)) {
		last->end = end;
		return;
	}
	blob_put(pieces, &piece, sizeof(piece));
}

/* ---------------------------------------------------------------------------------------------------------- running */

/* The task that a thread worked for; 0: none, or not known. *ret_end: until when that holds at least. */
static uint64_t task_at(const struct why_thread *thread, uint64_t ts, uint64_t *ret_end)
{
	size_t nr;
	const struct why_task *tasks = why_items(struct why_task, &thread->tasks, nr);

	for (size_t i = 0; i < nr; i++) {
		if (tasks[i].end <= ts)
			continue;
		*ret_end = tasks[i].begin > ts ? tasks[i].begin : tasks[i].end;
		return tasks[i].begin > ts ? 0 : tasks[i].task;
	}
	return 0;
}

/* Until when nothing begins or ends in a list, from ts on. */
static uint64_t quiet_until(const struct blob *inner, uint64_t ts, uint64_t end)
{
	size_t nr;
	const struct why_inner *list = why_items(struct why_inner, inner, nr);

	for (size_t i = why_inner_from(inner, ts); i < nr && list[i].begin < end; i++) {
		if (list[i].begin > ts)
			return list[i].begin;
		if (list[i].end > ts && list[i].end < end)
			end = list[i].end;
	}
	return end;
}

/* What a thread did between two moments at which something begins or ends. */
static void run_piece(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu, uint64_t begin, uint64_t end, uint64_t task)
{
	/* The span itself is not an inner one; a thread that it waits for may be in spans that began long before. */
	const struct why_inner *inner = why_innermost(&thread->inner, begin, walk->is_waiting ? 0 : walk->since);
	const char *name = inner && (walk->is_waiting || inner->model_id != walk->model_id) ? why_inner_name(walk->why, inner) : "";
	const char *thread_name;

	if (!walk->is_waiting && walk->task && task != walk->task) {
		why_piece(walk, WHY_BLOCKED, begin, end, thread->tid, (int32_t)cpu,
			  task ? why_text(walk->why, "task %llu", (unsigned long long)task) : "another task",
			  "its thread worked for another task");
		return;
	}
	if (!walk->is_waiting) {
		why_piece(walk, WHY_RUNNING, begin, end, thread->tid, (int32_t)cpu, "", name);
		return;
	}
	thread_name = why_thread_name(walk->why, thread->tid);
	why_piece(walk, WHY_RUNNING, begin, end, thread->tid, (int32_t)cpu, thread_name ? thread_name : "",
		  *name ? why_text(walk->why, "%s ran, in %s", thread_name, name) : why_text(walk->why, "%s ran", thread_name));
}

static void run_pieces(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu, uint64_t begin, uint64_t end)
{
	while (begin < end) {
		uint64_t until = quiet_until(&thread->inner, begin, end), task_end = end;
		const uint64_t task = task_at(thread, begin, &task_end);

		until = task_end < until ? task_end : until;
		run_piece(walk, thread, cpu, begin, until, task);
		begin = until;
	}
}

static void running(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu_number, uint64_t begin, uint64_t end)
{
	const struct why_cpu *cpu = why_cpu(walk->why, cpu_number);

	while (begin < end) {
		const struct why_inner *interrupt = cpu ? why_innermost(&cpu->inner, begin, 0) : NULL;
		const uint64_t until = cpu ? quiet_until(&cpu->inner, begin, end) : end;
		const char *name;

		if (!interrupt) {
			run_pieces(walk, thread, cpu_number, begin, until);
		} else {
			name = why_interrupt_name(walk->why, interrupt);
			why_piece(walk, WHY_INTERRUPTED, begin, until, thread->tid, (int32_t)cpu_number, name, name);
		}
		begin = until;
	}
}

/* ---------------------------------------------------------------------------------------------------------- waiting */

static void runnable(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu_number, uint64_t begin, uint64_t end)
{
	const struct why_cpu *cpu = why_cpu(walk->why, cpu_number);
	const char *nobody = cpu ? why_text(walk->why, "CPU %u was idle", cpu_number) : "waited for a CPU";
	const int32_t number = cpu ? (int32_t)cpu_number : -1;
	size_t nr = 0;
	const struct why_run *runs = cpu ? why_items(struct why_run, &cpu->runs, nr) : NULL;

	for (size_t i = cpu ? why_run_from(&cpu->runs, begin) : 0; i < nr && runs[i].begin < end && begin < end; i++) {
		const uint64_t until = runs[i].end < end ? runs[i].end : end;
		const char *name = why_thread_name(walk->why, runs[i].tid);

		if (runs[i].begin > begin) {
			why_piece(walk, WHY_RUNNABLE, begin, runs[i].begin, thread->tid, number, "", nobody);
			begin = runs[i].begin;
		}
		if (until <= begin)
			continue;
		why_piece(walk, WHY_RUNNABLE, begin, until, thread->tid, number, name ? name : "",
			  why_text(walk->why, "CPU %u ran %s", cpu_number, name ? name : ""));
		begin = until;
	}
	why_piece(walk, WHY_RUNNABLE, begin, end, thread->tid, number, "", nobody);
}

/* Why the state of a thread is not known in a part of its time; `state` NULL: the trace says nothing of it there. */
static const char *reason_of(struct why *why, const struct why_state *state, uint64_t begin, uint64_t end)
{
	size_t nr;
	const struct why_loss *losses = why_items(struct why_loss, &why->losses, nr);
	const size_t i = why_loss_from(&why->losses, begin);

	if (!why->has_switches)
		return "sched_switch was not recorded: add -e sched";
	if (state && state->is_lost)
		return why_text(why, "events of CPU %u were lost", state->cpu);
	if (!state && i < nr && losses[i].begin < end)
		return why_text(why, "events of CPU %u were lost", losses[i].cpu);
	return "the trace has no switch of this thread here";
}

static void unknown(struct why_walk *walk, const struct why_thread *thread, const struct why_state *state, uint64_t begin, uint64_t end)
{
	const char *reason = begin < end ? reason_of(walk->why, state, begin, end) : "";

	/* Without the scheduler's events the program's own spans still say where its time went. */
	while (begin < end) {
		const uint64_t until = quiet_until(&thread->inner, begin, end);
		const struct why_inner *inner = why_innermost(&thread->inner, begin, walk->is_waiting ? 0 : walk->since);
		const bool is_inner = inner && (walk->is_waiting || inner->model_id != walk->model_id);

		why_piece(walk, WHY_UNKNOWN, begin, until, thread->tid, -1, "",
			  is_inner ? why_text(walk->why, "in %s; %s", why_inner_name(walk->why, inner), reason) : reason);
		begin = until;
	}
}

static void state_pieces(struct why_walk *walk, const struct why_thread *thread, const struct why_state *state, uint64_t begin,
			 uint64_t end)
{
	switch (state->run) {
	case MODEL_RUNNING:
		running(walk, thread, state->cpu, begin, end);
		return;
	case MODEL_RUNNABLE:
		runnable(walk, thread, state->cpu, begin, end);
		return;
	case MODEL_SLEEPING:
	case MODEL_BLOCKED:
		why_wait_pieces(walk, thread->tid, state, begin, end);
		return;
	case MODEL_STOPPED:
		why_piece(walk, WHY_BLOCKED, begin, end, thread->tid, -1, "", "stopped, or parked");
		return;
	default:
		unknown(walk, thread, state, begin, end);
	}
}

void why_thread_pieces(struct why_walk *walk, int32_t tid, uint64_t begin, uint64_t end)
{
	static const struct why_thread nobody;
	const struct why_thread *thread = why_thread(walk->why, tid);
	const struct why_state *states;
	size_t nr;

	if (!thread)
		thread = &nobody;
	states = why_items(struct why_state, &thread->states, nr);
	for (size_t i = why_state_from(&thread->states, begin); i < nr && states[i].begin < end && begin < end; i++) {
		const uint64_t until = states[i].end < end ? states[i].end : end;

		if (states[i].begin > begin) {
			unknown(walk, thread, NULL, begin, states[i].begin);
			begin = states[i].begin;
		}
		if (until > begin)
			state_pieces(walk, thread, &states[i], begin, until);
		begin = until > begin ? until : begin;
	}
	unknown(walk, thread, NULL, begin, end);
}

/* ----------------------------------------------------------------------------------------------------------- a span */

/*
 * A span that ends on another thread was handed over: backwards from its end, the thread that ended it is followed to the
 * sleep from which it was woken for it, then its waker, until the thread that began it.
 */
static void handed_over(struct why_walk *walk, const struct why_span *span, int32_t tid, uint64_t end, unsigned int depth)
{
	const struct why_thread *thread = why_thread(walk->why, tid);
	size_t nr, i;
	const struct why_state *states;
	const struct why_state *sleep = NULL;

	if (thread && tid != span->tid && depth) {
		states = why_items(struct why_state, &thread->states, nr);
		for (i = why_state_from(&thread->states, span->begin); i < nr && states[i].end <= end; i++) {
			if ((states[i].run == MODEL_SLEEPING || states[i].run == MODEL_BLOCKED) && states[i].waker >= 0 &&
			    !states[i].waker_irq)
				sleep = &states[i];
		}
	}
	if (!sleep || sleep->end <= span->begin) {
		why_thread_pieces(walk, tid, span->begin, end);
		return;
	}
	handed_over(walk, span, sleep->waker, sleep->end, depth - 1);
	why_thread_pieces(walk, tid, sleep->end, end);
}

static uint64_t model_id_of(const struct why *why, const struct why_span *span)
{
	const struct why_thread *thread = why_thread(why, span->tid);
	size_t nr = 0;
	const struct why_inner *list = thread ? why_items(struct why_inner, &thread->inner, nr) : NULL;

	for (size_t i = thread ? why_inner_from(&thread->inner, span->begin) : 0; i < nr && list[i].begin <= span->begin; i++) {
		if (list[i].begin == span->begin && list[i].end == span->end && list[i].rule == span->rule)
			return list[i].model_id;
	}
	return 0;
}

long why_explain(struct why *why, const struct why_span *span, const struct why_piece **ret_pieces, uint64_t sums[WHY_CLASSES])
{
	enum { HANDS_MAX = 16 };
	struct why_walk walk = {
		.why = why, .since = span->begin, .model_id = model_id_of(why, span), .task = span->task, .prefix = ""
	};
	size_t nr;

	why->pieces.size = 0;
	handed_over(&walk, span, span->end_tid, span->end, HANDS_MAX);
	if (why->error || why->pieces.error)
		return -ENOMEM;
	*ret_pieces = why_items(struct why_piece, &why->pieces, nr);
	for (unsigned int i = 0; sums && i < WHY_CLASSES; i++)
		sums[i] = 0;
	for (size_t i = 0; sums && i < nr; i++)
		sums[(*ret_pieces)[i].class] += (*ret_pieces)[i].end - (*ret_pieces)[i].begin;
	return (long)nr;
}
