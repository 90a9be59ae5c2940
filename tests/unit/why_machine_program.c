/* SPDX-License-Identifier: MIT */
/*
 * The programs of the machine's threads: spans, tasks, and system calls that wait for locks, pipes, timers and
 * requests.
 */
#include "why_machine_private.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/syscall.h>

static const struct {
	int64_t number;
	const char *name;
} calls[] = {
	[CALL_SLEEP] = { SYS_clock_nanosleep, "clock_nanosleep()" },
	[CALL_LOCK] = { SYS_futex, "futex()" },
	[CALL_UNLOCK] = { SYS_futex, "futex()" },
	[CALL_READ] = { SYS_read, "read()" },
	[CALL_WRITE] = { SYS_write, "write()" },
	[CALL_DISK] = { SYS_fsync, "fsync()" },
	[CALL_SUBMIT] = { 9999, "system call 9999" },
	[CALL_NOTHING] = { SYS_sched_yield, "sched_yield()" },
};

static struct {
	int owner;
	struct queue waiters;
} locks[MACHINE_LOCKS];
static uint64_t next_id;

void machine_start_program(void)
{
	memset(locks, 0, sizeof(locks));
	next_id = 100;
}

static void call_begin(int cpu, struct thread *t, enum call call)
{
	t->call = call;
	t->phase = 0;
	t->is_blocked = call == CALL_DISK || !machine_random(4);
	t->object = (int)machine_random(2);
	t->is_plain = (call == CALL_LOCK || call == CALL_SLEEP) && !machine_random(4);
	if (t->is_plain)
		return;
	machine_put64(machine_emit(cpu, KIND_CALL, ID_SYS_ENTER), (uint64_t)calls[call].number);
	t->item = machine_item(KIND_CALL, t->item, work.cpus[cpu].tid, calls[call].name);
}

static void call_end(int cpu, struct thread *t)
{
	struct machine_event *e;

	if (!t->is_plain) {
		e = machine_emit(cpu, KIND_CALL, ID_SYS_EXIT);
		machine_put64(e, (uint64_t)calls[t->call].number);
		machine_put64(e, 0);
		work.m->items[t->item].end = work.now;
		t->item = work.m->items[t->item].outer;
	}
	t->call = CALL_NONE;
}

static int new_request(int waiter)
{
	const unsigned int number = work.m->nr_requests++;

	cr_assert(work.m->nr_requests < MACHINE_REQUESTS);
	work.m->requests[number] = (struct machine_request){
		.waiter = waiter,
		.device = (8u + machine_random(2)) << 20 | 1,
		.sectors = 1 + machine_random(8),
		.sector = 1000 + number,
		.cpu = -1,
	};
	return (int)number;
}

static void issue(int cpu, int number)
{
	struct machine_request *r = &work.m->requests[number];
	struct machine_event *e = machine_emit(cpu, KIND_BLOCK, ID_ISSUE);

	machine_put32(e, r->device);
	machine_put32(e, r->sectors);
	machine_put64(e, r->sector);
	r->issuer = work.cpus[cpu].tid;
	r->begin = work.now;
	r->due = work.now + 1 + (int)machine_random(120);
	r->cpu = (int)machine_random(MACHINE_CPUS);
}

/* Requests of a thread with an even number are issued by other threads. */
static void disk_wait(int cpu, struct thread *t, int tid)
{
	t->object = new_request(tid);
	t->is_waiting = true;
	if (tid % 2)
		issue(cpu, t->object);
	else
		machine_put(&work.submissions, t->object);
}

static void wake_with_job(int cpu, int tid)
{
	machine_give_job(cpu, tid);
	machine_wake(cpu, tid);
}

/* The beginning of a call. True: the call need not wait. */
static bool call_start(int cpu, struct thread *t, int tid)
{
	switch (t->call) {
	case CALL_SLEEP:
		work.timers[work.nr_timers++] = (struct timer){ tid, work.now + 1 + (int)machine_random(150),
								(int)machine_random(MACHINE_CPUS), !machine_random(4) };
		t->is_waiting = true;
		return false;
	case CALL_LOCK:
		if (!locks[t->object].owner)
			locks[t->object].owner = tid;
		else
			machine_put(&locks[t->object].waiters, tid);
		t->is_waiting = locks[t->object].owner != tid;
		t->holds[t->object] = true;
		return !t->is_waiting;
	case CALL_UNLOCK:
		t->holds[t->object] = false;
		locks[t->object].owner = locks[t->object].waiters.nr ? machine_take(&locks[t->object].waiters, 0) : 0;
		if (locks[t->object].owner)
			wake_with_job(cpu, locks[t->object].owner);
		return true;
	case CALL_READ:
		t->is_waiting = !work.pipes[t->object].bytes;
		if (t->is_waiting)
			machine_put(&work.pipes[t->object].waiters, tid);
		else
			work.pipes[t->object].bytes--;
		return !t->is_waiting;
	case CALL_WRITE:
		if (work.pipes[t->object].waiters.nr)
			wake_with_job(cpu, machine_take(&work.pipes[t->object].waiters, 0));
		else if (work.pipes[t->object].bytes < 2)
			work.pipes[t->object].bytes++;
		return true;
	case CALL_DISK:
		disk_wait(cpu, t, tid);
		return false;
	case CALL_SUBMIT:
		if (work.submissions.nr)
			issue(cpu, machine_take(&work.submissions, 0));
		else if (tid % 2)
			issue(cpu, new_request(0));
		return true;
	default:
		return true;
	}
}

static void call_step(int cpu, struct thread *t)
{
	if (t->phase == 0)
		t->phase = call_start(cpu, t, work.cpus[cpu].tid) ? 2 : 1;
	else if (t->phase == 1 && t->is_waiting)
		machine_sleep(cpu);
	else if (machine_random(2))
		call_end(cpu, t);
}

static void span_begin(int cpu, struct thread *t)
{
	const bool is_request = t->depth == 0;
	struct machine_event *e =
		machine_emit(cpu, is_request ? KIND_REQUEST : KIND_STEP, is_request ? ID_REQUEST_BEGIN : ID_STEP_BEGIN);

	machine_put64(e, ++next_id);
	t->item = machine_item(e->kind, t->item, work.cpus[cpu].tid, is_request ? "io:request" : "io:step");
	work.m->items[t->item].id = next_id;
	t->depth++;
}

static void span_end(int cpu, struct thread *t)
{
	const bool is_request = work.m->items[t->item].kind == KIND_REQUEST;

	machine_emit(cpu, work.m->items[t->item].kind, is_request ? ID_REQUEST_END : ID_STEP_END);
	work.m->items[t->item].end = work.now;
	t->item = work.m->items[t->item].outer;
	t->depth--;
}

void machine_set_task(int cpu, unsigned int task)
{
	struct machine_event *e = machine_emit(cpu, KIND_TASK, ID_TASK);

	work.threads[work.cpus[cpu].tid].task = task;
	machine_put64(e, task);
	machine_put_text(e, "");
}

/* A thread with a job hands it on if it can; otherwise it waits for a lock that another thread holds. */
static enum call job_call(const struct thread *t, int *ret_object)
{
	const unsigned int nr_hands = work.m->jobs[t->job].nr_hands;

	for (int i = 0; i < MACHINE_PIPES; i++) {
		if (nr_hands < 2 && work.pipes[i].waiters.nr && machine_random(2)) {
			*ret_object = i;
			return CALL_WRITE;
		}
	}
	for (int i = 0; i < MACHINE_LOCKS; i++) {
		if (nr_hands && locks[i].owner && machine_random(2)) {
			*ret_object = i;
			return CALL_LOCK;
		}
	}
	return CALL_NONE;
}

static void next_call(int cpu, struct thread *t)
{
	static const enum call choice[] = { CALL_SLEEP, CALL_LOCK, CALL_LOCK,	CALL_READ,   CALL_WRITE,
					    CALL_WRITE, CALL_DISK, CALL_SUBMIT, CALL_SUBMIT, CALL_NOTHING };
	enum call call = choice[machine_random(sizeof(choice) / sizeof(choice[0]))];
	const bool holds = t->holds[0] || t->holds[1];
	int object = -1;
	const enum call of_job = t->job < 0 ? CALL_NONE : job_call(t, &object);

	call = of_job ? of_job : call;
	/* A thread that holds a lock takes no other lock and waits for no pipe, which avoids deadlocks. */
	if (holds && (call == CALL_LOCK || call == CALL_READ))
		call = CALL_UNLOCK;
	if (call == CALL_SLEEP && work.nr_timers == QUEUE_MAX)
		call = CALL_NOTHING;
	call_begin(cpu, t, call);
	if (call == CALL_UNLOCK)
		t->object = t->holds[1];
	else if (call == of_job)
		t->object = object;
}

void machine_thread_step(int cpu)
{
	struct thread *t = &work.threads[work.cpus[cpu].tid];
	const unsigned int what = machine_random(20);

	if (t->call != CALL_NONE)
		call_step(cpu, t);
	else if (machine_job_step(cpu))
		return;
	else if (what < 4 && t->depth < 3)
		span_begin(cpu, t);
	else if (what < 6 && t->depth)
		span_end(cpu, t);
	else if (what == 6 && (t->job < 0 || !work.m->jobs[t->job].task))
		machine_set_task(cpu, machine_random(3));
	else if (what < 10 || (t->job >= 0 && what > 14))
		next_call(cpu, t);
	else if (what == 10 && !machine_random(3))
		work.cpus[cpu].is_due = true;
}
