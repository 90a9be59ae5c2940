/* SPDX-License-Identifier: MIT */
/* The thread that had a job at each time: from the events of logical tasks, or from the machine's notes of wake-ups. */
#include "why_truth.h"

#include <criterion/criterion.h>
#include <string.h>

/* The time in which a thread has a task: from the event in which it takes the task to its next event of this kind. */
struct turn {
	int tid, begin, end;
};

/* Finds the turns of a task, in time order. Returns their number. */
static unsigned int turns_of(const struct truth *truth, uint64_t task, struct turn turns[MACHINE_NS])
{
	int open[MACHINE_THREADS + 1];
	unsigned int nr = 0;

	for (int tid = 0; tid <= MACHINE_THREADS; tid++)
		open[tid] = -1;
	for (unsigned int i = 0; i < truth->m->nr_events; i++) {
		const struct machine_event *e = &truth->m->events[i];
		int32_t pid;

		memcpy(&pid, e->bytes + 4, sizeof(pid));
		if (!e->is_recorded || e->kind != KIND_TASK)
			continue;
		if (open[pid] >= 0)
			turns[open[pid]].end = e->at;
		open[pid] = e->bytes[8] == task ? (int)nr : -1;
		if (open[pid] >= 0)
			turns[nr++] = (struct turn){ pid, e->at, truth->last };
	}
	return nr;
}

/* Finds the thread that had the job, for each nanosecond separately. */
static bool by_task(const struct truth *truth, const struct truth_job *job, struct truth_path *path)
{
	static struct turn turns[MACHINE_NS];
	const unsigned int nr = turns_of(truth, job->task, turns);
	int last = -1, now;

	for (unsigned int i = 0; job->task && i < nr; i++) {
		if (turns[i].tid == job->end_tid && turns[i].begin < job->end && turns[i].end >= job->end)
			last = (int)i;
	}
	for (int at = job->begin; last >= 0 && at < job->end; at++) {
		for (now = last; now >= 0 && turns[now].begin > at; now--)
			;
		path->is_between[at] = now < last && (now < 0 || turns[now].end <= at);
		path->tid[at] = turns[path->is_between[at] ? now + 1 : now].tid;
	}
	return last >= 0;
}

/* Sleeps that a thread ended after the begin of the job and until `end`, in the order of their ends. */
static unsigned int sleeps_of(const struct truth *truth, const struct truth_job *job,
			      const struct machine_sleep *sleeps[MACHINE_ITEMS])
{
	unsigned int nr = 0, at;

	for (unsigned int i = 0; i < truth->m->nr_sleeps; i++) {
		const struct machine_sleep *s = &truth->m->sleeps[i];

		if (s->by != WAKER_THREAD || s->end <= job->begin || s->end > job->end ||
		    s->end <= truth->known[s->tid])
			continue;
		for (at = nr++; at && sleeps[at - 1]->end > s->end; at--)
			sleeps[at] = sleeps[at - 1];
		sleeps[at] = s;
	}
	return nr;
}

/* A thread can have got the job only by a chain of wake-ups. The chain is known only if there is no other one. */
static bool by_wakes(const struct truth *truth, const struct truth_job *job, struct truth_path *path)
{
	static const struct machine_sleep *sleeps[MACHINE_ITEMS];
	const unsigned int nr = sleeps_of(truth, job, sleeps);
	bool reached[MACHINE_THREADS + 1] = { false }, leads[MACHINE_ITEMS];
	int tid = job->end_tid, end = job->end;

	reached[job->tid] = true;
	for (unsigned int i = 0; i < nr; i++) {
		leads[i] = reached[sleeps[i]->waker];
		reached[sleeps[i]->tid] |= leads[i];
	}
	while (tid != job->tid) {
		const struct machine_sleep *only = NULL;

		for (unsigned int i = 0; i < nr; i++) {
			if (sleeps[i]->tid != tid || sleeps[i]->end > end || !leads[i])
				continue;
			if (only)
				return false;
			only = sleeps[i];
		}
		if (!only)
			break;
		for (int at = only->end; at < end; at++)
			path->tid[at] = tid;
		path->last_hand = path->last_hand < 0 ? only->end : path->last_hand;
		tid = only->waker;
		end = only->end;
	}
	for (int at = job->begin; at < end; at++)
		path->tid[at] = tid;
	return true;
}

bool truth_path(const struct truth *truth, const struct truth_job *job, struct truth_path *ret_path)
{
	memset(ret_path, 0, sizeof(*ret_path));
	ret_path->last_hand = -1;
	if (by_task(truth, job, ret_path))
		return true;
	/* Wake-ups that were not recorded cannot be followed. */
	return truth->recorded[KIND_SWITCH] && truth->recorded[KIND_WAKE] && by_wakes(truth, job, ret_path);
}

bool truth_sleeps_after(const struct truth *truth, int tid, int begin, int end)
{
	for (unsigned int i = 0; i < truth->m->nr_sleeps; i++) {
		const struct machine_sleep *s = &truth->m->sleeps[i];

		if (s->tid == tid && s->by == WAKER_THREAD && s->begin > begin && s->end < end)
			return true;
	}
	return false;
}
