/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs on a CPU. The events of programs between two switches are kept as one group per thread, with its
 * first event and the number of events, and checked at the second switch: only then is it known which thread was
 * running.
 */
#include "format/verify/verify_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct verify_group *find_group(struct verify_cpu *cpu, int32_t pid)
{
	for (uint32_t i = cpu->nr_groups; i-- > 0;)
		if (cpu->groups[i].pid == pid)
			return &cpu->groups[i];
	return NULL;
}

static struct verify_group *add_group(struct verify_cpu *cpu, int32_t pid)
{
	struct verify_group *group;

	if (cpu->nr_groups == cpu->room) {
		const uint32_t room = cpu->room ? 2 * cpu->room : 4;
		struct verify_group *groups = realloc(cpu->groups, room * sizeof(*groups));

		if (!groups)
			return NULL;
		memset(groups + cpu->room, 0, (room - cpu->room) * sizeof(*groups));
		cpu->groups = groups;
		cpu->room = room;
	}
	group = &cpu->groups[cpu->nr_groups++];
	group->pid = pid;
	group->count = group->at_begin = group->at_last = 0;
	group->last_ts = 0;
	return group;
}

int verify_cpu_user(struct verify *v, const struct dat_event *event, int32_t pid)
{
	struct verify_cpu *cpu = &v->cpus[event->cpu];
	struct verify_group *group;

	if (!cpu->known) {
		v->figures.unchecked++;
		return 0;
	}
	group = find_group(cpu, pid);
	if (!group) {
		group = add_group(cpu, pid);
		if (!group || verify_keep(&group->first, event))
			return -ENOMEM;
	}
	group->count++;
	group->at_begin += event->ts == cpu->last_event.event.ts;
	group->at_last = event->ts == group->last_ts ? group->at_last + 1 : 1;
	group->last_ts = event->ts;
	return 0;
}

static void note_distance(struct verify *v, uint64_t ns)
{
	if (ns < v->figures.nearest_ns)
		v->figures.nearest_ns = ns;
}

/* The number of events outside the thread's time. Events at exactly the time of a switch may belong to either side. */
static uint64_t events_outside(const struct verify_group *group, const struct verify_switch *begin, uint64_t begin_ts,
			       const struct verify_switch *end, uint64_t end_ts)
{
	uint64_t inside = 0;

	if (group->pid == begin->prev)
		inside += group->at_begin;
	if (group->pid == end->next && group->last_ts == end_ts && (end_ts != begin_ts || !inside))
		inside += group->at_last;
	return group->count - inside;
}

static void say_outside(struct verify *v, const struct verify_cpu *cpu, const struct verify_group *group,
			uint64_t count, const struct dat_event *end, const struct verify_switch *now)
{
	char text[160], ran[64];

	snprintf(ran, sizeof(ran), now->prev ? "thread %" PRId32 " ran" : "it was idle", now->prev);
	snprintf(text, sizeof(text), "%" PRIu64 " event%s of thread %" PRId32 " on CPU %" PRIu32 " while %s there",
		 count, count == 1 ? "" : "s", group->pid, end->cpu, ran);
	verify_say(v, &(struct verify_violation){ VERIFY_OUTSIDE, count, text, &cpu->last_event.event,
						  &group->first.event, end });
}

/* Report a switch from a thread that is not the one to which the CPU switched before. */
static void say_contradiction(struct verify *v, const struct verify_cpu *cpu, const struct dat_event *event,
			      const struct verify_switch *now)
{
	char text[160], ran[64];

	snprintf(ran, sizeof(ran), now->prev ? "thread %" PRId32 " ran" : "it was idle", now->prev);
	snprintf(text, sizeof(text),
		 "CPU %" PRIu32 " switched to thread %" PRId32 ", then %s: a switch between them is missing",
		 event->cpu, cpu->last.next, ran);
	v->figures.contradictions++;
	v->report(v->arg, &(struct verify_violation){ .kind = VERIFY_CONTRADICTION, .text = text,
						      .before = &cpu->last_event.event, .event = event });
}

static void judge(struct verify *v, const struct verify_cpu *cpu, const struct verify_group *group,
		  const struct dat_event *end, const struct verify_switch *now)
{
	const uint64_t begin_ts = cpu->last_event.event.ts;
	const int32_t began = cpu->last.next, ended = now->prev;
	uint64_t outside;

	if (group->pid == began && group->pid == ended) {
		note_distance(v, group->first.event.ts - begin_ts);
		note_distance(v, end->ts - group->last_ts);
	} else if (group->pid == ended && !began) {
		note_distance(v, end->ts - group->last_ts);
		v->figures.from_idle += group->count;
		v->figures.from_idle_stays++;
	} else if (group->pid == began || group->pid == ended || v->has_some ||
		   !verify_thread_is_followed(v, group->pid)) {
		v->figures.unchecked += group->count;
		return;
	} else {
		outside = events_outside(group, &cpu->last, begin_ts, now, end->ts);
		if (outside)
			say_outside(v, cpu, group, outside, end, now);
	}
	v->figures.checked += group->count;
}

int verify_cpu_switch(struct verify *v, const struct dat_event *event, const struct verify_switch *now)
{
	struct verify_cpu *cpu = &v->cpus[event->cpu];

	if (cpu->known && cpu->last.next != now->prev && cpu->last.next) {
		/* If only the switches of some threads were recorded, others are expected to be missing. */
		if (!v->has_some)
			say_contradiction(v, cpu, event, now);
		verify_thread_lost(v, cpu->last_event.event.ts);
	}
	for (uint32_t i = 0; i < cpu->nr_groups; i++)
		judge(v, cpu, &cpu->groups[i], event, now);
	cpu->nr_groups = 0;
	cpu->last = *now;
	cpu->known = true;
	return verify_keep(&cpu->last_event, event);
}

void verify_cpu_lost(struct verify *v, struct verify_cpu *cpu)
{
	for (uint32_t i = 0; i < cpu->nr_groups; i++)
		v->figures.unchecked += cpu->groups[i].count;
	cpu->nr_groups = 0;
	cpu->known = false;
}

void verify_cpu_free(struct verify_cpu *cpu)
{
	for (uint32_t i = 0; i < cpu->room; i++)
		verify_drop(&cpu->groups[i].first);
	free(cpu->groups);
	verify_drop(&cpu->last_event);
}
