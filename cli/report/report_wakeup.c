/* SPDX-License-Identifier: MIT */
#include "cli/report/report_wakeup.h"

#include <inttypes.h>
#include <stdio.h>

#define RT_PRIO_MAX 99 /* tasks with priorities up to this are real-time tasks */

void report_wakeup_open(struct report_wakeup *w, const struct event_table *table)
{
	static const char *const names[] = { "sched_wakeup", "sched_wakeup_new" };

	*w = (struct report_wakeup){ .table = table, .all.min = UINT64_MAX, .realtime.min = UINT64_MAX };
	for (unsigned int i = 0; i < 2; i++) {
		struct tep_event *event = tep_find_event_by_name(table->tep, "sched", names[i]);

		if (!event)
			continue;
		w->wakes[i].task = tep_find_field(event, "pid");
		w->wakes[i].success = tep_find_field(event, "success");
		w->wakes[i].event = w->wakes[i].task ? event : NULL;
	}
	w->sched = tep_find_event_by_name(table->tep, "sched", "sched_switch");
	w->next = w->sched ? tep_find_field(w->sched, "next_pid") : NULL;
	w->prio = w->sched ? tep_find_field(w->sched, "next_prio") : NULL;
	if (!w->next || !w->prio || !w->wakes[0].event)
		w->sched = NULL;
}

void report_wakeup_close(struct report_wakeup *w)
{
	number_map_free(&w->woken);
}

static bool number_of(struct tep_format_field *field, const struct tep_record *record, unsigned long long *ret_number)
{
	return field && (uint32_t)(field->offset + field->size) <= (uint32_t)record->size &&
	       !tep_read_number_field(field, record->data, ret_number);
}

static void add(struct report_latency *to, uint64_t latency, uint64_t time)
{
	to->total += latency;
	to->count++;
	if (latency > to->max) {
		to->max = latency;
		to->max_time = time;
	}
	if (latency < to->min) {
		to->min = latency;
		to->min_time = time;
	}
}

/* Entries of the map cannot be deleted, so this value marks a task that has run since its wake-up. */
#define HAS_RUN UINT64_MAX

static int note_switch(struct report_wakeup *w, const struct tep_record *record)
{
	unsigned long long task, prio;
	uint64_t since, latency;

	if (!number_of(w->prio, record, &prio) || !number_of(w->next, record, &task))
		return 0;
	since = number_map_get(&w->woken, (uint32_t)task);
	if (!since || since == HAS_RUN)
		return 0;
	latency = record->ts - (since - 1);
	printf(" Latency: %" PRIu64 ".%03" PRIu64 " usecs", latency / 1000, latency % 1000);
	add(&w->all, latency, record->ts);
	if (prio <= RT_PRIO_MAX)
		add(&w->realtime, latency, record->ts);
	return number_map_set(&w->woken, (uint32_t)task, HAS_RUN);
}

int report_wakeup_event(struct report_wakeup *w, const struct tep_record *record)
{
	const int id = event_id(w->table, record->data, (uint32_t)record->size);
	unsigned long long task, success;

	if (!w->sched)
		return 0;
	if (id == w->sched->id)
		return note_switch(w, record);
	for (unsigned int i = 0; i < 2; i++) {
		if (!w->wakes[i].event || w->wakes[i].event->id != id)
			continue;
		if ((number_of(w->wakes[i].success, record, &success) && !success) ||
		    !number_of(w->wakes[i].task, record, &task))
			return 0;
		return number_map_set(&w->woken, (uint32_t)task, record->ts + 1);
	}
	return 0;
}

/* Print a latency and a time. Its microseconds are rounded as by trace-cmd, without a carry into the seconds. */
static void print_at(const char *what, uint64_t latency, uint64_t time)
{
	printf("%s Latency: %" PRIu64 ".%03" PRIu64 " usecs at timestamp: %" PRIu64 ".%06" PRIu64 "\n", what,
	       latency / 1000, latency % 1000, time / 1000000000, (time + 500) % 1000000000 / 1000);
}

static void print_latency(const struct report_latency *latency)
{
	const uint64_t average = latency->total / latency->count;

	printf("\nAverage wakeup latency: %" PRIu64 ".%03" PRIu64 " usecs\n", average / 1000, average % 1000);
	print_at("Maximum", latency->max, latency->max_time);
	print_at("Minimum", latency->min, latency->min_time);
	putchar('\n');
}

void report_wakeup_end(const struct report_wakeup *w)
{
	if (w->all.count)
		print_latency(&w->all);
	if (w->realtime.count) {
		printf("RT task timings:\n");
		print_latency(&w->realtime);
	}
}
