/* SPDX-License-Identifier: MIT */
/*
 * Divides a thread's time into pieces, by its states. A part during which it runs is divided further: by the interrupts
 * of its CPU, and by the innermost span or system call that it was in. A part during which it waits for a CPU is
 * divided by who ran there. why_wait.c divides sleeps.
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

void why_piece(struct why_walk *walk, enum why_class class, uint64_t begin, uint64_t end, int32_t tid, int32_t cpu,
	       const char *by, const char *what)
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
	/* If only the time differs from the piece before, the two are one piece. */
	if (last && last->end == begin && last->class == piece.class && last->tid == tid && last->cpu == cpu &&
	    !strcmp(last->by, piece.by) && !strcmp(last->what, piece.what)) {
		last->end = end;
		return;
	}
	blob_put(pieces, &piece, sizeof(piece));
}

/* ---------------------------------------------------------------------------------------------------------- running */

/*
 * The task that a thread worked for at a time; 0: none, or not known. *ret_is_known: the thread has named a task
 * before. *until is lowered to the time at which the task changes.
 */
static uint64_t task_at(const struct why_thread *thread, uint64_t ts, bool *ret_is_known, uint64_t *until)
{
	size_t nr, low = 0, high;
	const struct why_task *tasks = why_items(struct why_task, &thread->tasks, nr);
	uint64_t end;

	for (high = nr; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (tasks[middle].end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_is_known = low > 0 || (nr && tasks[0].begin <= ts);
	if (low == nr)
		return 0;
	end = tasks[low].begin > ts ? tasks[low].begin : tasks[low].end;
	*until = end < *until ? end : *until;
	return tasks[low].begin > ts ? 0 : tasks[low].task;
}

/* The span or call in which a thread was. A thread that the span waits for may be in spans that began long before. */
static const struct why_inner *inner_at(const struct why_walk *walk, const struct why_thread *thread, uint64_t ts,
					uint64_t *until)
{
	const struct why_inner *inner = why_innermost(&thread->inner, ts, walk->is_waiting ? 0 : walk->since, until);

	/* The explained span is not an inner span of itself. */
	return inner && (walk->is_waiting || inner->model_id != walk->model_id) ? inner : NULL;
}

/*
 * Add the piece for what a thread did between two moments at which something begins or ends. `is_other`: it worked for
 * another task.
 */
static void run_piece(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu, uint64_t begin,
		      uint64_t end, const struct why_inner *inner, uint64_t task, bool is_other)
{
	const char *name = inner ? why_inner_name(walk->why, inner) : "";
	const char *thread_name;

	if (!walk->is_waiting && is_other) {
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
		  *name ? why_text(walk->why, "%s ran, in %s", thread_name, name)
			: why_text(walk->why, "%s ran", thread_name));
}

static void run_pieces(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu, uint64_t begin,
		       uint64_t end)
{
	while (begin < end) {
		uint64_t until = end;
		const struct why_inner *inner = inner_at(walk, thread, begin, &until);
		bool is_known;
		const uint64_t task = task_at(thread, begin, &is_known, &until);
		const bool is_other = walk->is_between || (walk->task && is_known && task != walk->task);

		run_piece(walk, thread, cpu, begin, until, inner, task, is_other);
		begin = until;
	}
}

static void running(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu_number, uint64_t begin,
		    uint64_t end)
{
	const struct why_cpu *cpu = why_cpu(walk->why, cpu_number);

	while (begin < end) {
		uint64_t until = end;
		const struct why_inner *interrupt = cpu ? why_innermost(&cpu->inner, begin, 0, &until) : NULL;
		const char *name;

		/* With PREEMPT_RT, a thread may take the CPU from one that is in a soft interrupt. */
		if (!interrupt || interrupt->tid != thread->tid) {
			run_pieces(walk, thread, cpu_number, begin, until);
		} else {
			name = why_interrupt_name(walk->why, interrupt);
			why_piece(walk, WHY_INTERRUPTED, begin, until, thread->tid, (int32_t)cpu_number, name, name);
		}
		begin = until;
	}
}

/* ---------------------------------------------------------------------------------------------------------- waiting */

/* The thread waited while no thread that is known ran on the CPU. */
static void waits(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu, uint64_t begin, uint64_t end)
{
	const bool is_known = why_cpu(walk->why, cpu) != NULL;
	const char *what = "waited for a CPU";

	if (begin >= end)
		return;
	if (is_known && walk->why->table->absent.some_threads)
		what = why_text(walk->why,
				"CPU %u was idle, or ran threads that were not recorded (-F, -P) or left out by split",
				cpu);
	else if (is_known)
		what = why_text(walk->why, "CPU %u was idle", cpu);
	why_piece(walk, WHY_RUNNABLE, begin, end, thread->tid, is_known ? (int32_t)cpu : -1, "", what);
}

static void runnable(struct why_walk *walk, const struct why_thread *thread, uint32_t cpu_number, uint64_t begin,
		     uint64_t end)
{
	const struct why_cpu *cpu = why_cpu(walk->why, cpu_number);
	size_t nr = 0;
	const struct why_run *runs = cpu ? why_items(struct why_run, &cpu->runs, nr) : NULL;

	for (size_t i = cpu ? why_run_from(&cpu->runs, begin) : 0; i < nr && runs[i].begin < end && begin < end; i++) {
		const uint64_t until = runs[i].end < end ? runs[i].end : end;
		const char *name = why_thread_name(walk->why, runs[i].tid);

		if (runs[i].begin > begin) {
			waits(walk, thread, cpu_number, begin, runs[i].begin);
			begin = runs[i].begin;
		}
		if (until <= begin)
			continue;
		why_piece(walk, WHY_RUNNABLE, begin, until, thread->tid, (int32_t)cpu_number, name ? name : "",
			  why_text(walk->why, "CPU %u ran %s", cpu_number, name ? name : ""));
		begin = until;
	}
	waits(walk, thread, cpu_number, begin, end);
}

/* A thread was on a CPU that was not recorded; UINT32_MAX: on one of those. */
static const char *no_cpu(struct why *why, uint32_t cpu)
{
	struct blob cpus = BLOB_INIT;
	const char *text;

	if (cpu < UINT32_MAX)
		return why_text(why, "CPU %u was not recorded (-M), or left out by split", cpu);
	dat_absent_put_cpus(&why->table->absent, &cpus);
	blob_put(&cpus, "", 1);
	text = why_text(why, "%s (-M), or left out by split",
			cpus.error ? "CPUs were not recorded" : (const char *)cpus.data);
	blob_free(&cpus);
	return text;
}

/*
 * The reason why the state of a thread is unknown in a part of its time; `state` NULL: the trace has no state of the
 * thread there.
 */
static const char *reason_of(struct why *why, int32_t tid, const struct why_state *state, uint64_t begin,
			     uint64_t end)
{
	size_t nr;
	const struct why_loss *losses = why_items(struct why_loss, &why->losses, nr);
	const size_t i = why_loss_from(&why->losses, begin);

	if (why->table->absent.several_machines)
		return "the file is of several machines; an event does not name its machine";
	if (event_is_ambiguous(why->table, tid))
		return "its thread id is that of another pid namespace, not the kernel's";
	if (!why->has_switches) {
		/* Without switches, it is unknown whether the other events are needed: report all that are missing. */
		why->lacks |= LACK_SWITCHES | (why->has_wakes ? 0 : LACK_WAKES) | (why->has_calls ? 0 : LACK_CALLS) |
			      (why->has_interrupts ? 0 : LACK_INTERRUPTS) | (why->has_requests ? 0 : LACK_REQUESTS);
		return "sched_switch was not recorded: add -e sched";
	}
	if (state && state->is_lost)
		return why_text(why, "events of CPU %u were lost", state->cpu);
	if (!state && i < nr && losses[i].begin < end)
		return why_text(why, "events of CPU %u were lost", losses[i].cpu);
	if (state && state->absent == MODEL_NO_TIME)
		return "no switches were recorded here: no merged file has this time";
	if (why->table->absent.nr_no_cpus && (!state || state->absent == MODEL_NO_CPU))
		return no_cpu(why, state ? state->cpu : UINT32_MAX);
	return "the trace has no switch of this thread here";
}

static void unknown(struct why_walk *walk, const struct why_thread *thread, const struct why_state *state,
		    uint64_t begin, uint64_t end)
{
	const char *reason = begin < end ? reason_of(walk->why, thread->tid, state, begin, end) : "";

	/* Without the scheduler's events, the program's own spans still show where its time went. */
	while (begin < end) {
		uint64_t until = end;
		const struct why_inner *inner = inner_at(walk, thread, begin, &until);

		why_piece(walk, WHY_UNKNOWN, begin, until, thread->tid, -1, "",
			  inner ? why_text(walk->why, "in %s; %s", why_inner_name(walk->why, inner), reason) : reason);
		begin = until;
	}
}

static void state_pieces(struct why_walk *walk, const struct why_thread *thread, const struct why_state *state,
			 uint64_t begin, uint64_t end)
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
	const struct why_thread no_thread = { .tid = tid }, *thread = why_thread(walk->why, tid);
	const struct why_state *states;
	size_t nr;

	if (!thread)
		thread = &no_thread;
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

long why_explain(struct why *why, const struct why_span *span, const struct why_piece **ret_pieces,
		 uint64_t sums[WHY_CLASSES])
{
	struct why_walk walk = {
		.why = why, .since = span->begin, .model_id = span->model_id, .task = span->task, .prefix = ""
	};
	size_t nr;

	why->pieces.size = 0;
	if (why_carried_pieces(&walk, span) || why->error || why->pieces.error)
		return -ENOMEM;
	*ret_pieces = why_items(struct why_piece, &why->pieces, nr);
	for (unsigned int i = 0; sums && i < WHY_CLASSES; i++)
		sums[i] = 0;
	for (size_t i = 0; sums && i < nr; i++)
		sums[(*ret_pieces)[i].class] += (*ret_pieces)[i].end - (*ret_pieces)[i].begin;
	return (long)nr;
}

bool why_lacks_threads(const struct why *why)
{
	return why->lacks & LACK_THREADS;
}

/* Makes the list of missing events; each element is an argument for `recorder record -e`. */
const char *why_missing(struct why *why)
{
	const char *words =
		why_text(why, "%s%s%s%s%s", why->lacks & LACK_SWITCHES ? " sched_switch" : "",
			 why->lacks & LACK_WAKES ? " sched_waking" : "", why->lacks & LACK_CALLS ? " raw_syscalls" : "",
			 why->lacks & LACK_INTERRUPTS ? " irq timer" : "", why->lacks & LACK_REQUESTS ? " block" : "");

	return *words ? words + 1 : "";
}
