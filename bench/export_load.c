/* SPDX-License-Identifier: MIT */
/*
 * export_load KIND EVENTS: writes the events that bench/export.sh exports, and bench/view.sh shows.
 *
 *	points	three of four events have one number, the fourth has two and a text
 *	spans	pairs of nested spans; the outer one has a text and a result
 *	keyed	spans by key, of which sixteen are open at a time; each carries the flow of the previous one
 *	sched	eight threads that wake each other and take turns; tests/view/as_kernel.py turns these events into the
 *		kernel's. Then it prints the number of its thread
 */
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

REC_EVENT(io, submit, u64(id), s32(fd), string(path));
REC_EVENT(io, tick, u64(n));
REC_EVENT(io, request_begin, u64(id), string(path));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin, u32(n));
REC_EVENT(io, step_end);
REC_SPAN_KEYED(net, rpc, key(u64(id)), flow(cause), end(s32(status)));
REC_EVENT(sched, sched_switch, s32(prev_pid), s32(prev_prio), s64(prev_state), s32(next_pid), s32(next_prio));
REC_EVENT(sched, sched_waking, s32(pid), s32(prio), s32(target_cpu));

#define OPEN	 16u /* number of keyed spans that are open at a time */
#define THREADS	 8u
#define SLEEPING 1

static const char *const paths[] = { "/var/lib/a", "/etc/passwd", "/tmp/x/y/z" };

static void write_points(uint64_t i)
{
	REC(io, submit, i, (int32_t)(i & 127), paths[i / 4 % 3]);
	REC(io, tick, i + 1);
	REC(io, tick, i + 2);
	REC(io, tick, i + 3);
}

static void write_spans(uint64_t i)
{
	REC(io, request_begin, i, paths[i / 4 % 3]);
	REC(io, step_begin, (uint32_t)i & 7);
	REC(io, step_end);
	REC(io, request_end, (int32_t)i & 3);
}

static void write_keyed(uint64_t i)
{
	for (uint64_t id = i / 2; id < i / 2 + 2; id++) {
		REC_BEGIN(net, rpc, id, id / 2 + 1);
		if (id >= OPEN)
			REC_END(net, rpc, id - OPEN, (int32_t)id & 3);
	}
}

static void write_sched(uint64_t i)
{
	const int32_t self = (int32_t)gettid();

	for (uint64_t turn = i / 2; turn < i / 2 + 2; turn++) {
		const int32_t prev = self + (int32_t)(turn % THREADS), next = self + (int32_t)((turn + 1) % THREADS);

		REC(sched, sched_waking, next, 120, 0);
		REC(sched, sched_switch, prev, 120, SLEEPING, next, 120);
	}
}

static const struct {
	const char *name;
	void (*write_four)(uint64_t i);
} kinds[] = {
	{ "points", write_points }, { "spans", write_spans }, { "keyed", write_keyed }, { "sched", write_sched }
};

int main(int argc, char **argv)
{
	const uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	size_t kind = 0;
	cpu_set_t cpus;

	while (argc > 1 && kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(argv[1], kinds[kind].name) != 0)
		kind++;
	if (!events || kind == sizeof(kinds) / sizeof(kinds[0]))
		return 2;
	/* A switch belongs to the CPU on which it is written, so stay on one CPU. */
	CPU_ZERO(&cpus);
	CPU_SET((size_t)sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 1;
	for (uint64_t i = 0; i < events; i += 4)
		kinds[kind].write_four(i);
	return kinds[kind].write_four == write_sched && printf("%d\n", (int)gettid()) < 0;
}
