/* SPDX-License-Identifier: MIT */
/*
 * waits: four spans. In all except the last the thread sleeps, is woken, waits for a CPU and runs again, as many times
 * as the span's id. The program itself writes the events that show this, so that no rights are needed; as_kernel.py
 * makes them the kernel's. Prints its tid.
 */
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

REC_SPAN(io, request, u64(id), end(s32(status)));
REC_EVENT(sched, sched_switch, s32(prev_pid), s32(prev_prio), s64(prev_state), s32(next_pid), s32(next_prio));
REC_EVENT(sched, sched_waking, s32(pid), s32(prio), s32(target_cpu));

#define SLEEPS 1

int main(void)
{
	const int self = (int)gettid(), other = self + 100000;
	cpu_set_t cpus;

	/* A switch is about the CPU on which it is written, so the thread stays on one CPU. */
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 1;
	REC(sched, sched_switch, 0, 120, 0, self, 120);
	for (unsigned int id = 1; id <= 4; id++) {
		REC_BEGIN(io, request, id);
		for (unsigned int i = 0; i < id && id < 4; i++) {
			REC(sched, sched_switch, self, 120, SLEEPS, other, 120);
			REC(sched, sched_waking, self, 120, 0);
			REC(sched, sched_switch, other, 120, 0, self, 120);
		}
		REC_END(io, request, 0);
	}
	return printf("%d\n", self) < 0;
}
