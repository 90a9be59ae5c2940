/* SPDX-License-Identifier: MIT */
/* -w of 'recorder report': how long tasks waited between their wake-up and the switch to them. */
#ifndef CLI_REPORT_WAKEUP_H
#define CLI_REPORT_WAKEUP_H

#include "format/io/number_map.h"
#include "format/text/event_parse.h"

/* Sums for all tasks, or for real-time tasks. */
struct report_latency {
	uint64_t total, count;
	uint64_t max, max_time, min, min_time;
};

struct report_wakeup {
	const struct event_table *table;
	/* The events and the fields that are needed; NULL: the file does not have them. */
	struct {
		struct tep_event *event;
		struct tep_format_field *task, *success;
	} wakes[2];
	struct tep_event *sched;
	struct tep_format_field *next, *prio;
	struct number_map woken; /* time + 1 by task */
	struct report_latency all, realtime;
};

/* If the file does not have sched_wakeup and sched_switch, nothing will be printed, as with trace-cmd. */
void report_wakeup_open(struct report_wakeup *wakeup, const struct event_table *table);
void report_wakeup_close(struct report_wakeup *wakeup);

/* After the text of a printed event: print " Latency: ..." if it is a switch to a task that was woken. 0; -ENOMEM. */
int report_wakeup_event(struct report_wakeup *wakeup, const struct tep_record *record);

/* Call this after the last event: prints the averages. */
void report_wakeup_end(const struct report_wakeup *wakeup);

#endif
