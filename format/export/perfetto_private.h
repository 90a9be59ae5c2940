/* SPDX-License-Identifier: MIT */
/* What the files of the Perfetto writer share. Field numbers are those of Perfetto's protos/perfetto/trace. */
#ifndef FORMAT_PERFETTO_PRIVATE_H
#define FORMAT_PERFETTO_PRIVATE_H

#include "format/export/export.h"
#include "format/export/perfetto_proto.h"
#include "format/export/string_table.h"
#include "format/io/number_map.h"

enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
	PACKET_FTRACE = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM = 45,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};

enum { /* TrackEvent */
	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_REAL = 44,
	EVENT_FLOW = 47,
};

enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

enum { /* InternedData */
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ARGUMENT = 3,
	INTERNED_TEXT = 29,
};

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6, CLOCK_ID_DELTA = 64 };

/* Numbers of the texts of one event's format. */
struct perfetto_names {
	uint32_t name;
	uint32_t category;
	int flow; /* the field with the number of a flow; -1: none */
	uint32_t arguments[]; /* by field */
};

struct perfetto_cpu;
struct perfetto_zip;
struct perfetto_pools;

struct perfetto {
	struct export_trace *trace;
	struct export_out *out;
	struct blob packet;   /* the packet that is being made */
	size_t packet_begun;
	struct blob interned; /* the texts that appear in it for the first time */
	struct perfetto_zip *zip;
	uint64_t delta_time;  /* time of the last packet on the clock of differences */
	bool is_begun;	      /* the packets before the first event are written */
	bool has_kernel;      /* the file has formats of the kernel's events */

	struct string_table categories, names, arguments, texts;
	struct perfetto_names **by_id; /* 65536 */

	uint64_t last_track;
	struct number_map threads;   /* from a thread, or a CPU's idle task, to its track */
	struct number_map processes; /* from a process to its track */
	struct number_map nests;     /* from a track where slices nest to what is open there: perfetto_slices.c */
	uint64_t losses;	     /* the track of losses; 0: none yet */

	uint32_t nr_cpus;
	struct perfetto_cpu **cpus;
	unsigned char *described; /* by event id: 1 once the output describes the event's message */

	struct model *model;
	struct perfetto_pools *pools;
};

/* perfetto_packet.c: begins a packet with a time of the trace; PERFETTO_NO_TIME: without a time. */
#define PERFETTO_NO_TIME UINT64_MAX
void perfetto_packet(struct perfetto *p, uint64_t ts);
/* 0; -ENOMEM. */
int perfetto_packet_end(struct perfetto *p);
/* The same for a packet with a TrackEvent on a track; `event` is the result of perfetto_event_begin(). */
size_t perfetto_event_begin(struct perfetto *p, uint64_t ts, unsigned int type, uint64_t track);
int perfetto_event_end(struct perfetto *p, size_t event);
/* The time of an ftrace event, which is on the clock BOOTTIME. */
uint64_t perfetto_boottime(const struct perfetto *p, uint64_t ts);
/* Write the packets that come before all others. 0; -ENOMEM. */
int perfetto_begin(struct perfetto *p, uint64_t ts);

/* perfetto_zip.c: packets, collected and compressed. All: 0; -ENOMEM. perfetto_zip_close() takes NULL. */
int perfetto_zip_open(struct perfetto *p);
int perfetto_zip_put(struct perfetto *p, const struct blob *packet);
int perfetto_zip_end(struct perfetto *p);
void perfetto_zip_close(struct perfetto *p);

/*
 * perfetto_names.c: the number of a text, for the packet that is being made and later ones. 0: it has no number, so
 * write the text itself.
 */
uint32_t perfetto_intern(struct perfetto *p, struct string_table *table, uint32_t field, const char *text, size_t size);
/* The texts of an event's format; NULL: out of memory. */
const struct perfetto_names *perfetto_names(struct perfetto *p, const struct export_event *event);
/*
 * Fields of a record, from `first` on, as arguments of the track event that is being made. If `other`, which may be
 * NULL, has a field of the same name, "end." is put before the name: of several arguments of a name Perfetto shows one.
 */
void perfetto_arguments(struct perfetto *p, const struct export_event *event, const struct export_event *other,
			uint32_t first, const unsigned char *record, uint32_t size);
void perfetto_argument_text(struct perfetto *p, const char *name, const char *text);
void perfetto_argument_int(struct perfetto *p, const char *name, int64_t value);
void perfetto_argument_uint(struct perfetto *p, const char *name, uint64_t value);
/* The context values of the thread at this time, as arguments. */
void perfetto_contexts(struct perfetto *p, int32_t tid, uint64_t ts);

/*
 * perfetto_tracks.c: not to be called while a packet is being made. Returns the number of the track; 0: out of memory.
 */
uint64_t perfetto_thread(struct perfetto *p, int32_t tid, uint32_t cpu);
uint64_t perfetto_namesake(struct perfetto *p, int32_t tid); /* the track for export_is_namesake() */
uint64_t perfetto_process(struct perfetto *p, int32_t tid); /* the track of its process */
uint64_t perfetto_cpu_track(struct perfetto *p, uint32_t cpu); /* the track of a CPU's interrupts */
/* A track with this name, below the track `parent`; 0: at the top. */
uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name, bool is_counter);

/* perfetto.c: an event that is an instant. 0; -ENOMEM. */
int perfetto_point(struct perfetto *p, const struct export_event *type, const struct dat_event *event, int32_t tid);

/* perfetto_slices.c: spans, counters, states, tasks. */
int perfetto_slices_open(struct perfetto *p);
void perfetto_slices_free(struct perfetto *p);
struct model_sink perfetto_sink(struct perfetto *p);

/* perfetto_overlay.c: after all events. 0; -ENOMEM. */
int perfetto_overlay(struct perfetto *p, const struct overlay *overlay);

/* perfetto_ftrace.c: events of the kernel. 0; -ENOMEM. */
int perfetto_ftrace_event(struct perfetto *p, const struct export_event *type, const struct dat_event *event);
/* Events were lost before the next one of this CPU. */
int perfetto_ftrace_lost(struct perfetto *p, uint32_t cpu);
/* Write what is left. */
int perfetto_ftrace_end(struct perfetto *p);
void perfetto_ftrace_free(struct perfetto *p);

#endif
