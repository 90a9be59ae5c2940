/* SPDX-License-Identifier: MIT */
/*
 * Jobs of the machine: keyed spans that threads hand to those that they wake. Half of them are logical tasks: a thread
 * that has such a job writes an event when it gets it, and another one when it gives it up.
 */
#include "why_machine_private.h"

/* Tasks of jobs; smaller numbers are those of other work. */
#define FIRST_TASK 10u

static void emit(int cpu, struct thread *t, enum machine_id id)
{
	machine_put64(machine_emit(cpu, KIND_JOB, id), (uint64_t)t->job);
}

static void new_job(int tid, struct thread *t)
{
	t->job = (int)work.m->nr_jobs;
	work.m->jobs[work.m->nr_jobs++] = (struct machine_job){
		.begin = -1,
		.end = -1,
		.tid = tid,
		.task = machine_random(2) ? FIRST_TASK + (unsigned int)t->job : 0,
	};
}

static void end_job(int cpu, struct thread *t)
{
	emit(cpu, t, ID_JOB_END);
	work.m->jobs[t->job].end = work.now;
	work.m->jobs[t->job].end_tid = work.cpus[cpu].tid;
	t->job = -1;
}

bool machine_job_step(int cpu)
{
	const int tid = work.cpus[cpu].tid;
	struct thread *t = &work.threads[tid];
	struct machine_job *job = t->job < 0 ? NULL : &work.m->jobs[t->job];

	if (!job && t->task >= FIRST_TASK && machine_random(2)) {
		machine_set_task(cpu, machine_random(3));
	} else if (!job) {
		if (work.m->nr_jobs < MACHINE_JOBS && !machine_random(24))
			new_job(tid, t);
		return false;
	} else if (job->task && t->task != job->task) {
		machine_set_task(cpu, job->task);
	} else if (job->begin < 0) {
		emit(cpu, t, ID_JOB_BEGIN);
		job->begin = work.now;
	} else if (!machine_random(job->nr_hands ? 6 : 60)) {
		end_job(cpu, t);
	} else {
		return false;
	}
	return true;
}

void machine_give_job(int cpu, int tid)
{
	struct thread *from = &work.threads[work.cpus[cpu].tid], *to = &work.threads[tid];
	struct machine_job *job = from->job < 0 ? NULL : &work.m->jobs[from->job];

	if (!job || job->begin < 0 || to->job >= 0 || job->nr_hands == MACHINE_HANDS)
		return;
	job->hands[job->nr_hands].at = work.now;
	job->hands[job->nr_hands].tid = tid;
	job->hands[job->nr_hands++].is_wake = to->state == STATE_SLEEPS;
	to->job = from->job;
	from->job = -1;
}
