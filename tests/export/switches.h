/* SPDX-License-Identifier: MIT */
/* The scheduler's events, for a program that writes them in the kernel's place, on one CPU. */
#include <librecorder/event.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

REC_EVENT(sched, sched_switch, string(prev_comm), s32(prev_pid), s32(prev_prio), s64(prev_state), string(next_comm),
	  s32(next_pid), s32(next_prio));
REC_EVENT(sched, sched_waking, string(comm), s32(pid), s32(prio), s32(target_cpu));

/* Stay on the CPU, and switch to this thread. Returns its id, or 0. */
static int switch_here(void)
{
	const int self = (int)gettid();
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 0;
	REC(sched, sched_switch, "before", self + 200000, 120, 1, "leaves", self, 120);
	return self;
}
