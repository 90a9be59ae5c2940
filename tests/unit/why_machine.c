/* SPDX-License-Identifier: MIT */
#include "why_machine_private.h"

#include <criterion/criterion.h>
#include <string.h>

enum { IRQ_DISK = 40, IRQ_CARD = 41 };

struct machine_work work;

unsigned int machine_below(struct machine *machine, unsigned int most)
{
	machine->random = machine->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(machine->random >> 33) % most;
}

unsigned int machine_random(unsigned int most)
{
	return machine_below(work.m, most);
}

void machine_put(struct queue *queue, int item)
{
	cr_assert(queue->nr < QUEUE_MAX);
	queue->list[queue->nr++] = item;
}

int machine_take(struct queue *queue, unsigned int at)
{
	const int item = queue->list[at];

	memmove(&queue->list[at], &queue->list[at + 1], (--queue->nr - at) * sizeof(queue->list[0]));
	return item;
}

struct machine_event *machine_emit(int cpu, enum machine_kind kind, enum machine_id id)
{
	return machine_event(work.m, kind, id, work.now, cpu, work.cpus[cpu].tid, work.cpus[cpu].nr_frames > 0);
}

int machine_item(enum machine_kind kind, int outer, int tid, const char *name)
{
	cr_assert(work.m->nr_items < MACHINE_ITEMS);
	work.m->items[work.m->nr_items] = (struct machine_item){
		.kind = kind,
		.outer = outer,
		.begin = work.now,
		.end = MACHINE_NS,
		.tid = tid,
		.name = name,
		.task = tid ? work.threads[tid].task : 0,
	};
	return (int)work.m->nr_items++;
}

/* -------------------------------------------------------------------------------------------------------- scheduler */

static int innermost_frame(const struct cpu *cpu)
{
	return cpu->nr_frames ? cpu->frames[cpu->nr_frames - 1].item : -1;
}

/* An event on `cpu`, by the thread that runs there. */
void machine_wake(int cpu, int tid)
{
	struct thread *t = &work.threads[tid];
	const int target = machine_random(3) ? t->cpu : (int)machine_random(MACHINE_CPUS);
	struct machine_event *e = machine_emit(cpu, KIND_WAKE, ID_WAKING);

	/* It is not decided yet where the thread will run: this is where it ran last. */
	machine_put32(e, (uint32_t)tid);
	machine_put32(e, t->prio);
	machine_put32(e, (uint32_t)t->cpu);
	t->is_waiting = false;
	/* A thread that has not gone to sleep yet stays awake. */
	if (t->state != STATE_SLEEPS)
		return;
	work.m->sleeps[t->sleep].end = work.now;
	work.m->sleeps[t->sleep].waker = work.cpus[cpu].tid;
	work.m->sleeps[t->sleep].irq = innermost_frame(&work.cpus[cpu]);
	work.m->sleeps[t->sleep].by = work.cpus[cpu].nr_frames ? WAKER_IRQ
				      : work.cpus[cpu].tid     ? WAKER_THREAD
							       : WAKER_IDLE;
	t->state = STATE_WAITS;
	t->is_woken = true;
	t->cpu = target;
	machine_put(&work.cpus[target].woken, tid);
}

/* The second half of a wake-up. */
static void take_woken(int cpu)
{
	struct cpu *c = &work.cpus[cpu];
	const int tid = machine_take(&c->woken, 0);
	struct machine_event *e = machine_emit(cpu, KIND_WAKEUP, ID_WAKEUP);

	machine_put32(e, (uint32_t)tid);
	machine_put32(e, work.threads[tid].prio);
	machine_put32(e, (uint32_t)cpu);
	machine_put(&c->runnable, tid);
	if (c->tid && work.threads[tid].prio < work.threads[c->tid].prio)
		c->is_due = true;
}

/* The first runnable thread of the best priority; 0: none. An idle CPU may take another CPU's thread. */
static int take_next(int cpu, bool may_steal)
{
	struct queue *from = &work.cpus[cpu].runnable;
	unsigned int best = 0;

	if (!from->nr && may_steal)
		from = &work.cpus[machine_random(MACHINE_CPUS)].runnable;
	if (!from->nr)
		return 0;
	for (unsigned int i = 1; i < from->nr; i++) {
		if (work.threads[from->list[i]].prio < work.threads[from->list[best]].prio)
			best = i;
	}
	return machine_take(from, best);
}

static void switch_to(int cpu, int64_t prev_state, int next)
{
	struct machine_event *e = machine_emit(cpu, KIND_SWITCH, ID_SWITCH);

	machine_put32(e, (uint32_t)work.cpus[cpu].tid);
	machine_put32(e, 120);
	machine_put64(e, (uint64_t)prev_state);
	machine_put32(e, (uint32_t)next);
	machine_put32(e, 120);
	work.cpus[cpu].tid = next;
	work.cpus[cpu].is_due = false;
	work.threads[next].state = STATE_RUNS;
	work.threads[next].cpu = cpu;
}

static void preempt(int cpu)
{
	struct thread *t = &work.threads[work.cpus[cpu].tid];
	const int tid = work.cpus[cpu].tid, next = take_next(cpu, false);

	work.cpus[cpu].is_due = false;
	if (!next)
		return;
	t->state = STATE_WAITS;
	t->is_woken = false;
	machine_put(&work.cpus[cpu].runnable, tid);
	switch_to(cpu, machine_random(2) ? 0x100 : 0, next);
}

void machine_sleep(int cpu)
{
	struct thread *t = &work.threads[work.cpus[cpu].tid];

	t->state = STATE_SLEEPS;
	t->sleep = (int)work.m->nr_sleeps;
	work.m->sleeps[work.m->nr_sleeps++] = (struct machine_sleep){
		.tid = work.cpus[cpu].tid,
		.begin = work.now,
		.end = MACHINE_NS,
		.place = t->item,
		.is_blocked = t->is_blocked,
		.request = t->call == CALL_DISK ? t->object : -1,
	};
	switch_to(cpu, t->is_blocked ? 2 : 1, take_next(cpu, true));
}

/* ------------------------------------------------------------------------------------------------------- interrupts */

static void irq_begin(int cpu, const char *name, enum machine_id entry, unsigned int number, const char *device)
{
	struct cpu *c = &work.cpus[cpu];
	const int outer = innermost_frame(c);
	struct machine_event *e = machine_emit(cpu, entry == ID_HRTIMER_ENTRY ? KIND_TIMER : KIND_IRQ, entry);
	struct frame *f = &c->frames[c->nr_frames++];

	if (entry == ID_HRTIMER_ENTRY)
		machine_put64(e, (uint64_t)work.now);
	else
		machine_put32(e, number);
	if (device)
		machine_put_text(e, device);
	*f = (struct frame){
		.exit = entry + 1, .number = number, .left = machine_random(6), .may_nest = c->nr_frames < FRAMES_MAX
	};
	f->item = machine_item(e->kind, outer, 0, name);
	work.m->items[f->item].events[0] = (int)(e - work.m->events);
	work.m->items[f->item].events[1] = -1;
	work.m->items[f->item].short_name = !device ? name : number == IRQ_DISK ? "interrupt 40" : "interrupt 41";
}

static void irq_end(int cpu)
{
	struct cpu *c = &work.cpus[cpu];
	struct frame *f = &c->frames[c->nr_frames - 1];
	struct machine_event *e = machine_emit(cpu, work.m->items[f->item].kind, f->exit);

	if (f->exit == ID_HRTIMER_EXIT)
		machine_put64(e, (uint64_t)work.now);
	else
		machine_put32(e, f->number);
	work.m->items[f->item].end = work.now;
	work.m->items[f->item].events[1] = (int)(e - work.m->events);
	c->nr_frames--;
}

/* Expire a due timer of this CPU. */
static bool timer_begin(int cpu)
{
	for (unsigned int i = 0; i < work.nr_timers; i++) {
		const struct timer timer = work.timers[i];

		if (timer.cpu != cpu || timer.due > work.now)
			continue;
		work.timers[i] = work.timers[--work.nr_timers];
		if (timer.by_idle && !work.cpus[cpu].tid && !work.cpus[cpu].nr_frames) {
			machine_wake(cpu, timer.tid);
			return true;
		}
		if (machine_random(2))
			irq_begin(cpu, "timer", ID_HRTIMER_ENTRY, 0, NULL);
		else
			irq_begin(cpu, "timer", ID_SOFTIRQ_ENTRY, 1, NULL);
		machine_put(&work.cpus[cpu].frames[work.cpus[cpu].nr_frames - 1].wakes, timer.tid);
		return true;
	}
	return false;
}

/* One interrupt completes all finished requests of this CPU. */
static bool device_begin(int cpu)
{
	struct queue done = { .nr = 0 };

	for (unsigned int i = 0; i < work.m->nr_requests && done.nr < 3; i++) {
		if (work.m->requests[i].cpu == cpu && work.m->requests[i].begin && work.m->requests[i].due <= work.now)
			machine_put(&done, (int)i);
	}
	if (!done.nr)
		return false;
	for (unsigned int i = 0; i < done.nr; i++)
		work.m->requests[done.list[i]].cpu = -1;
	if (machine_random(2))
		irq_begin(cpu, "interrupt disk-0", ID_IRQ_ENTRY, IRQ_DISK, "disk-0");
	else
		irq_begin(cpu, "block device", ID_SOFTIRQ_ENTRY, 4, NULL);
	work.cpus[cpu].frames[work.cpus[cpu].nr_frames - 1].requests = done;
	return true;
}

static bool other_begin(int cpu)
{
	const unsigned int pipe = machine_random(MACHINE_PIPES), what = machine_random(3);

	if (what == 0)
		irq_begin(cpu, "interrupt card", ID_IRQ_ENTRY, IRQ_CARD, "card");
	else if (what == 1)
		irq_begin(cpu, "soft interrupt 7", ID_SOFTIRQ_ENTRY, 7, NULL);
	else
		irq_begin(cpu, "network", ID_SOFTIRQ_ENTRY, 3, NULL);
	/* The network delivers data for which a reader waits. */
	if (what == 2 && work.pipes[pipe].waiters.nr)
		machine_put(&work.cpus[cpu].frames[work.cpus[cpu].nr_frames - 1].wakes,
			    machine_take(&work.pipes[pipe].waiters, 0));
	return true;
}

static bool irq_may_begin(int cpu)
{
	return timer_begin(cpu) || device_begin(cpu) || (!machine_random(60) && other_begin(cpu));
}

static void complete(int cpu, struct frame *f)
{
	const int number = machine_take(&f->requests, machine_random(f->requests.nr));
	struct machine_request *r = &work.m->requests[number];
	struct machine_event *e = machine_emit(cpu, KIND_BLOCK, ID_COMPLETE);

	machine_put32(e, r->device);
	machine_put32(e, r->sectors);
	machine_put64(e, r->sector);
	r->end = work.now;
	r->irq = f->item;
	if (r->waiter)
		machine_put(&f->wakes, r->waiter);
}

static void irq_step(int cpu)
{
	struct frame *f = &work.cpus[cpu].frames[work.cpus[cpu].nr_frames - 1];

	if (f->may_nest && !machine_random(5) && irq_may_begin(cpu))
		return;
	/* As in Linux, the thread that waits for a request is woken before the next request is completed. */
	if (f->wakes.nr && machine_random(2))
		machine_wake(cpu, machine_take(&f->wakes, machine_random(f->wakes.nr)));
	else if (f->requests.nr && !f->wakes.nr && machine_random(2))
		complete(cpu, f);
	else if (f->left)
		f->left--;
	else if (!f->wakes.nr && !f->requests.nr)
		irq_end(cpu);
}

static void cpu_step(int cpu)
{
	struct cpu *c = &work.cpus[cpu];
	int next;

	if (c->woken.nr && machine_random(2)) {
		take_woken(cpu);
	} else if (c->nr_frames) {
		irq_step(cpu);
	} else if (irq_may_begin(cpu)) {
		return;
	} else if (!c->tid) {
		next = take_next(cpu, !machine_random(8));
		if (next)
			switch_to(cpu, 0, next);
	} else if (c->is_due && machine_random(2)) {
		preempt(cpu);
	} else {
		machine_thread_step(cpu);
	}
}

/* ---------------------------------------------------------------------------------------------------------- the run */

static void note(struct machine_moment *moment)
{
	for (int i = 0; i < MACHINE_CPUS; i++) {
		moment->cpu[i].tid = work.cpus[i].tid;
		moment->cpu[i].irq = innermost_frame(&work.cpus[i]);
	}
	for (int i = 1; i <= MACHINE_THREADS; i++) {
		const struct thread *t = &work.threads[i];

		moment->thread[i].state = t->state;
		moment->thread[i].cpu = t->cpu;
		moment->thread[i].sleep = t->sleep;
		moment->thread[i].item = t->item;
		moment->thread[i].task = t->task;
		moment->thread[i].is_woken = t->is_woken;
	}
}

static void start(void)
{
	machine_start_program();
	for (int i = 1; i <= MACHINE_THREADS; i++) {
		work.threads[i] = (struct thread){ .state = STATE_WAITS,
						   .prio = 118 + machine_random(3),
						   .cpu = i % MACHINE_CPUS,
						   .item = -1,
						   .job = -1,
						   .sleep = -1 };
		machine_put(&work.cpus[work.threads[i].cpu].runnable, i);
	}
}

void machine_run(struct machine *machine, uint64_t seed)
{
	work = (struct machine_work){ .m = machine };
	work.m->random = seed * UINT64_C(0x9e3779b97f4a7c15);
	work.m->nr_items = work.m->nr_sleeps = work.m->nr_requests = work.m->nr_events = work.m->nr_jobs = 0;
	start();
	for (work.now = 0; work.now < MACHINE_NS; work.now++) {
		cpu_step((int)machine_random(MACHINE_CPUS));
		note(&work.m->moments[work.now]);
	}
}
