/* SPDX-License-Identifier: MIT */
#include "why_machine_events.h"
#include "table_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct table_format formats[] = {
	{ "sched", FORMAT(300, "sched_switch",
			  FIELD("pid_t", "prev_pid", 8, 4, 1) FIELD("int", "prev_prio", 12, 4, 1)
				  FIELD("long", "prev_state", 16, 8, 1) FIELD("pid_t", "next_pid", 24, 4, 1)
					  FIELD("int", "next_prio", 28, 4, 1)) },
	{ "sched",
	  FORMAT(301, "sched_waking",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "raw_syscalls", FORMAT(302, "sys_enter", FIELD("long", "id", 8, 8, 1)) },
	{ "raw_syscalls", FORMAT(303, "sys_exit", FIELD("long", "id", 8, 8, 1) FIELD("long", "ret", 16, 8, 1)) },
	{ "irq",
	  FORMAT(304, "irq_handler_entry",
		 FIELD("int", "irq", 8, 4, 1) "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n") },
	{ "irq", FORMAT(305, "irq_handler_exit", FIELD("int", "irq", 8, 4, 1)) },
	{ "irq", FORMAT(306, "softirq_entry", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "irq", FORMAT(307, "softirq_exit", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "timer", FORMAT(308, "hrtimer_expire_entry", FIELD("u64", "now", 8, 8, 0)) },
	{ "timer", FORMAT(309, "hrtimer_expire_exit", FIELD("u64", "now", 8, 8, 0)) },
	{ "block",
	  FORMAT(310, "block_rq_issue",
		 FIELD("u32", "dev", 8, 4, 0) FIELD("u32", "nr_sector", 12, 4, 0) FIELD("u64", "sector", 16, 8, 0)) },
	{ "block",
	  FORMAT(311, "block_rq_complete",
		 FIELD("u32", "dev", 8, 4, 0) FIELD("u32", "nr_sector", 12, 4, 0) FIELD("u64", "sector", 16, 8, 0)) },
	{ "sched",
	  FORMAT(312, "sched_wakeup",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "io", FORMAT(16400, "request_begin", FIELD("u64", "id", 8, 8, 0)) },
	{ "io", FORMAT(16401, "request_end", "") },
	{ "io", FORMAT(16402, "step_begin", FIELD("u64", "id", 8, 8, 0)) },
	{ "io", FORMAT(16403, "step_end", "") },
	{ "io", FORMAT(16405, "job_begin", FIELD("rec_key_u64", "key", 8, 8, 0)) },
	{ "io", FORMAT(16406, "job_end", FIELD("rec_key_u64", "key", 8, 8, 0)) },
	{ "recorder", FORMAT(16404, "task",
			     FIELD("rec_task", "id", 8, 8,
				   0) "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n") },
};

struct event_table *machine_table(void)
{
	return table_of(formats, sizeof(formats) / sizeof(formats[0]), NULL);
}

/* common_flags has two flags: the event is in a hard interrupt, and interrupts are off. */
#define FLAGS_IN_IRQ 0x08
#define FLAGS_OFF    0x01

struct machine_event *machine_event(struct machine *m, enum machine_kind kind, enum machine_id id, int at, int cpu,
				    int pid, bool in_irq)
{
	struct machine_event *event = &m->events[m->nr_events++];
	const uint16_t type = (uint16_t)id;
	const int32_t common_pid = pid;

	*event = (struct machine_event){ .kind = kind, .at = at, .cpu = cpu, .is_recorded = true, .size = 8 };
	memcpy(event->bytes, &type, sizeof(type));
	event->bytes[2] = FLAGS_OFF | (in_irq ? FLAGS_IN_IRQ : 0);
	memcpy(event->bytes + 4, &common_pid, sizeof(common_pid));
	return event;
}

void machine_put32(struct machine_event *event, uint32_t number)
{
	memcpy(event->bytes + event->size, &number, sizeof(number));
	event->size = (uint16_t)(event->size + sizeof(number));
}

void machine_put64(struct machine_event *event, uint64_t number)
{
	memcpy(event->bytes + event->size, &number, sizeof(number));
	event->size = (uint16_t)(event->size + sizeof(number));
}

void machine_put_text(struct machine_event *event, const char *text)
{
	const size_t size = strlen(text) + 1;

	machine_put32(event, (uint32_t)(event->size + 4 + (size << 16)));
	memcpy(event->bytes + event->size, text, size);
	event->size = (uint16_t)(event->size + size);
}
