/* SPDX-License-Identifier: MIT */
/* The events of the machine of why_machine.h: formats, and their bytes. */
#ifndef WHY_MACHINE_EVENTS_H
#define WHY_MACHINE_EVENTS_H

#include "why_machine.h"

enum machine_id {
	ID_SWITCH = 300,
	ID_WAKING,
	ID_SYS_ENTER,
	ID_SYS_EXIT,
	ID_IRQ_ENTRY,
	ID_IRQ_EXIT,
	ID_SOFTIRQ_ENTRY,
	ID_SOFTIRQ_EXIT,
	ID_HRTIMER_ENTRY,
	ID_HRTIMER_EXIT,
	ID_ISSUE,
	ID_COMPLETE,
	ID_WAKEUP,
	ID_REQUEST_BEGIN = 16400,
	ID_REQUEST_END,
	ID_STEP_BEGIN,
	ID_STEP_END,
	ID_TASK,
	ID_JOB_BEGIN,
	ID_JOB_END,
};

/* An event of the thread `pid` on a CPU, with fields that are put one after the other. */
struct machine_event *machine_event(struct machine *m, enum machine_kind kind, enum machine_id id, int at, int cpu,
				    int pid, bool in_irq);
void machine_put32(struct machine_event *event, uint32_t number);
void machine_put64(struct machine_event *event, uint64_t number);

/* A field of type __data_loc, and its text at the end of the record. */
void machine_put_text(struct machine_event *event, const char *text);

#endif
