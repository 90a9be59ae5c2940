/* SPDX-License-Identifier: MIT */
/* Formats of events of every meaning that docs/MEANING.md has; model_fixture.h names their ids. */
#ifndef MODEL_FORMATS_H
#define MODEL_FORMATS_H

#include "table_fixture.h"

static const struct table_format model_formats[] = {
	{ "sched", FORMAT(300, "sched_switch",
			  FIELD("pid_t", "prev_pid", 8, 4, 1) FIELD("int", "prev_prio", 12, 4, 1)
				  FIELD("long", "prev_state", 16, 8, 1) FIELD("pid_t", "next_pid", 24, 4, 1)
					  FIELD("int", "next_prio", 28, 4, 1)) },
	{ "sched",
	  FORMAT(301, "sched_waking",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "irq",
	  FORMAT(302, "irq_handler_entry",
		 FIELD("int", "irq", 8, 4, 1) "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n") },
	{ "irq", FORMAT(303, "irq_handler_exit", FIELD("int", "irq", 8, 4, 1)) },
	{ "syscalls", FORMAT(304, "sys_enter_read", FIELD("int", "fd", 8, 4, 1)) },
	{ "syscalls", FORMAT(305, "sys_exit_read", FIELD("long", "ret", 8, 8, 1)) },
	{ "sched",
	  FORMAT(306, "sched_wakeup",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "raw_syscalls", FORMAT(307, "sys_enter", FIELD("long", "id", 8, 8, 1)) },
	{ "raw_syscalls", FORMAT(308, "sys_exit", FIELD("long", "id", 8, 8, 1) FIELD("long", "ret", 16, 8, 1)) },
	{ "block",
	  FORMAT(309, "block_rq_issue", FIELD("dev_t", "dev", 8, 4, 0) FIELD("sector_t", "sector", 12, 8, 0)) },
	{ "block",
	  FORMAT(310, "block_rq_complete", FIELD("dev_t", "dev", 8, 4, 0) FIELD("sector_t", "sector", 12, 8, 0)) },
	{ "ftrace", FORMAT(311, "funcgraph_entry", FIELD("unsigned long", "func", 8, 8, 0)) },
	{ "ftrace", FORMAT(312, "funcgraph_exit", FIELD("unsigned long", "func", 8, 8, 0)) },
	{ "workqueue", FORMAT(313, "workqueue_execute_start",
			      FIELD("void *", "work", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "workqueue", FORMAT(314, "workqueue_execute_end", FIELD("void *", "work", 8, 8, 0)) },
	{ "timer",
	  FORMAT(315, "timer_expire_entry", FIELD("void *", "timer", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "timer", FORMAT(316, "timer_expire_exit", FIELD("void *", "timer", 8, 8, 0)) },
	{ "timer", FORMAT(317, "hrtimer_expire_entry",
			  FIELD("void *", "hrtimer", 8, 8, 0) FIELD("void *", "function", 16, 8, 0)) },
	{ "timer", FORMAT(318, "hrtimer_expire_exit", FIELD("void *", "hrtimer", 8, 8, 0)) },
	{ "irq", FORMAT(319, "softirq_entry", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "irq", FORMAT(320, "softirq_exit", FIELD("unsigned int", "vec", 8, 4, 0)) },
	{ "misc", FORMAT(321, "note", "") },
	{ "sched",
	  FORMAT(322, "sched_wakeup_new",
		 FIELD("pid_t", "pid", 8, 4, 1) FIELD("int", "prio", 12, 4, 1) FIELD("int", "target_cpu", 16, 4, 1)) },
	{ "io", FORMAT(16400, "outer_begin", FIELD("u32", "a", 8, 4, 0)) },
	{ "io", FORMAT(16401, "outer_end", FIELD("s32", "b", 8, 4, 1)) },
	{ "io", FORMAT(16402, "inner_begin", "") },
	{ "io", FORMAT(16403, "inner_end", "") },
	{ "net", FORMAT(16404, "rpc_begin", FIELD("rec_key_u32", "id", 8, 4, 0)) },
	{ "net", FORMAT(16405, "rpc_end", FIELD("rec_key_u32", "id", 8, 4, 0)) },
	{ "mem", FORMAT(16406, "heap", FIELD("rec_counter_s32", "bytes", 8, 4, 1)) },
	{ "conn",
	  FORMAT(16407, "state", FIELD("rec_key_u32", "id", 8, 4, 0) FIELD("rec_state_s32", "value", 12, 4, 1)) },
	{ "recorder", FORMAT(16408, "task",
			     FIELD("rec_task", "id", 8, 8,
				   0) "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n") },
	{ "io", FORMAT(16409, "send", FIELD("rec_flow", "id", 8, 8, 0)) },
	{ "io", FORMAT(16410, "flush", FIELD("rec_duration", "dur", 8, 8, 0)) },
	{ "io", FORMAT(16411, "plain", FIELD("u32", "n", 8, 4, 0)) },
	{ "mem", FORMAT(16412, "heap_begin", FIELD("rec_counter_s32", "bytes", 8, 4, 1)) },
	{ "mem", FORMAT(16413, "heap_end", FIELD("rec_state_s32", "value", 8, 4, 1)) },
	{ "io", FORMAT(16414, "flush_end", FIELD("rec_duration", "dur", 8, 8, 0)) },
};

#endif
