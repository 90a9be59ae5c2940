/* SPDX-License-Identifier: MIT */
/* Tracks: those of processes and threads by number, and any others. Each is described before its first event. */
#include "format/export/perfetto_private.h"

#include <stdio.h>

enum { TRACK_NUMBER = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

/* Each CPU has an idle task of its own, and all of them have the number 0. */
#define IDLE_KEY(cpu)	    (UINT64_C(1) << 32 | (cpu))
#define INTERRUPTS_KEY(cpu) (UINT64_C(2) << 32 | (cpu))
#define NAMESAKE_KEY(tid)   (UINT64_C(3) << 32 | (uint32_t)(tid))

static size_t begin_track(struct perfetto *p)
{
	size_t track;

	perfetto_packet(p, PERFETTO_NO_TIME);
	track = proto_begin(&p->packet, PACKET_TRACK);
	proto_uint(&p->packet, TRACK_NUMBER, ++p->last_track);
	return track;
}

/* 0: out of memory. */
static uint64_t end_track(struct perfetto *p, size_t track)
{
	proto_end(&p->packet, track);
	return perfetto_packet_end(p) ? 0 : p->last_track;
}

uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name, bool is_counter)
{
	const size_t track = begin_track(p);

	proto_text(&p->packet, TRACK_NAME, name);
	if (parent)
		proto_uint(&p->packet, TRACK_PARENT, parent);
	if (is_counter)
		proto_bytes(&p->packet, TRACK_COUNTER, "", 0);
	return end_track(p, track);
}

/*
 * Whether a program's thread gets a plain track. On the track of a thread, Perfetto would show the states of the
 * kernel's thread of the same number, and on the CPUs the program's name.
 */
static bool has_other_ids(const struct perfetto *p, int32_t tid)
{
	return p->has_kernel && event_is_ambiguous(p->trace->table, tid);
}

/* The track of such a thread, below that of its process; or, if `parent` is 0, the track of its process. */
static uint64_t make_other(struct perfetto *p, uint64_t parent, int32_t id)
{
	const char *task = export_task_name(p->trace, id);
	const char *what = !parent ? "process" : task[0] ? "" : "thread";
	char name[320];

	snprintf(name, sizeof(name), "%.256s%s%s %d (other pid namespace)", task, !parent && task[0] ? ", " : "", what,
		 id);
	return perfetto_track(p, parent, name, false);
}

static uint64_t make_process(struct perfetto *p, int32_t pid)
{
	const size_t track = begin_track(p);
	const size_t process = proto_begin(&p->packet, TRACK_PROCESS);
	const char *name = export_task_name(p->trace, pid);

	proto_int(&p->packet, PROCESS_PID, pid);
	if (name[0])
		proto_text(&p->packet, PROCESS_NAME, name);
	proto_end(&p->packet, process);
	return end_track(p, track);
}

static uint64_t make_thread(struct perfetto *p, int32_t pid, int32_t tid)
{
	const size_t track = begin_track(p);
	const size_t thread = proto_begin(&p->packet, TRACK_THREAD);
	const char *name = export_task_name(p->trace, tid);

	proto_int(&p->packet, THREAD_PID, pid);
	proto_int(&p->packet, THREAD_TID, tid);
	if (name[0])
		proto_text(&p->packet, THREAD_NAME, name);
	proto_end(&p->packet, thread);
	return end_track(p, track);
}

static uint64_t make_of_cpu(struct perfetto *p, uint32_t cpu, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "CPU %u, %s", cpu, what);
	return perfetto_track(p, 0, name, false);
}

uint64_t perfetto_cpu_track(struct perfetto *p, uint32_t cpu)
{
	uint64_t track = number_map_get(&p->threads, INTERRUPTS_KEY(cpu));

	if (!track) {
		track = make_of_cpu(p, cpu, "interrupts");
		if (track && number_map_set(&p->threads, INTERRUPTS_KEY(cpu), track))
			track = 0;
	}
	return track;
}

uint64_t perfetto_namesake(struct perfetto *p, int32_t tid)
{
	uint64_t track = number_map_get(&p->threads, NAMESAKE_KEY(tid));
	char name[64];

	if (!track) {
		snprintf(name, sizeof(name), EXPORT_NAMESAKE, tid);
		track = perfetto_track(p, 0, name, false);
		if (track && number_map_set(&p->threads, NAMESAKE_KEY(tid), track))
			track = 0;
	}
	return track;
}

uint64_t perfetto_process(struct perfetto *p, int32_t tid)
{
	const int32_t pid = export_process(p->trace, tid);
	const bool is_other = has_other_ids(p, tid);
	const uint64_t key = is_other ? NAMESAKE_KEY(pid) : (uint32_t)pid;
	uint64_t track = number_map_get(&p->processes, key);

	if (!track) {
		track = is_other ? make_other(p, 0, pid) : make_process(p, pid);
		if (track && number_map_set(&p->processes, key, track))
			track = 0;
	}
	return track;
}

uint64_t perfetto_thread(struct perfetto *p, int32_t tid, uint32_t cpu)
{
	const uint64_t key = tid > 0 ? (uint32_t)tid : IDLE_KEY(cpu);
	uint64_t track = number_map_get(&p->threads, key), process;

	if (!track) {
		process = tid > 0 ? perfetto_process(p, tid) : 0;
		if (tid <= 0)
			track = make_of_cpu(p, cpu, "idle");
		else if (process && has_other_ids(p, tid))
			track = make_other(p, process, tid);
		else if (process)
			track = make_thread(p, export_process(p->trace, tid), tid);
		if (track && number_map_set(&p->threads, key, track))
			track = 0;
	}
	return track;
}
