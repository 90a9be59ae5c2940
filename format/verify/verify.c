/* SPDX-License-Identifier: MIT */
/*
 * Finds the relevant events and the values of their fields (by the offsets in their formats), and checks the order
 * within each stream.
 */
#include "format/verify/verify.h"
#include "format/dat/dat_notes.h"
#include "format/io/bytes.h"
#include "format/verify/verify_private.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_IDS 65536u

const char *const verify_kind_names[VERIFY_KINDS] = { "outside",    "two_cpus", "not_woken",
						      "woken_late", "back",	"count" };

int verify_keep(struct verify_kept *kept, const struct dat_event *event)
{
	if (!kept->bytes || event->size > kept->room) {
		unsigned char *bytes = realloc(kept->bytes, event->size ? event->size : 1);

		if (!bytes)
			return -ENOMEM;
		kept->bytes = bytes;
		kept->room = event->size;
	}
	kept->event = *event;
	kept->event.data = kept->bytes;
	kept->event.bytes_after = 0;
	memcpy(kept->bytes, event->data, event->size);
	return 0;
}

void verify_drop(struct verify_kept *kept)
{
	free(kept->bytes);
	memset(kept, 0, sizeof(*kept));
}

void verify_say(struct verify *v, const struct verify_violation *violation)
{
	v->figures.violations += violation->events;
	v->figures.of_kind[violation->kind] += violation->events;
	v->report(v->arg, violation);
}

/* ------------------------------------------------------------------------------------------------------- formats */

struct known_event {
	const char *system;
	const char *name;
	enum verify_event_kind kind;
	const char *subject; /* name of the field with the thread concerned */
};

static const struct known_event known_events[] = {
	{ "sched", "sched_switch", EVENT_SWITCH, NULL },
	{ "sched", "sched_waking", EVENT_WAKING, "pid" },
	{ "sched", "sched_wakeup", EVENT_WAKEUP, "pid" },
	{ "sched", "sched_wakeup_new", EVENT_WAKEUP_NEW, "pid" },
	{ "sched", "sched_process_fork", EVENT_FORK, "child_pid" },
	{ "recorder", "end", EVENT_END, "lost" },
	/* The kernel writes these on a program's behalf. */
	{ "ftrace", "print", EVENT_USER, NULL },
	{ "user_events", NULL, EVENT_USER, NULL },
	{ "user_events_multi", NULL, EVENT_USER, NULL },
};

static bool find_field(struct tep_event *event, const char *name, struct verify_field *ret_field)
{
	const struct tep_format_field *field = tep_find_field(event, name);

	if (!field || (field->size != 4 && field->size != 8))
		return false;
	*ret_field = (struct verify_field){ (uint32_t)field->offset, (uint32_t)field->size };
	return true;
}

static enum verify_event_kind learn(struct verify *v, struct tep_event *event)
{
	for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++) {
		const struct known_event *known = &known_events[i];

		if (strcmp(event->system, known->system) || (known->name && strcmp(event->name, known->name)))
			continue;
		if (known->kind == EVENT_SWITCH &&
		    (!find_field(event, "prev_pid", &v->prev_pid) || !find_field(event, "next_pid", &v->next_pid) ||
		     !find_field(event, "prev_state", &v->prev_state)))
			return EVENT_OTHER;
		if (known->subject && !find_field(event, known->subject, &v->subject[known->kind]))
			return EVENT_OTHER;
		return known->kind;
	}
	if (event->id >= (int)REC_EVENT_ID_FIRST)
		return EVENT_USER;
	/* For the kernel, entries that tracers write are not events, and other lists of threads restrict them. */
	return strcmp(event->system, "ftrace") ? EVENT_OWN : EVENT_OTHER;
}

static bool get(const struct verify *v, const struct dat_event *event, struct verify_field field, int64_t *ret_number)
{
	if (field.offset > event->size || event->size - field.offset < field.size)
		return false;
	*ret_number = field.size == 4 ? (int32_t)bytes_get32(event->data + field.offset, v->file->big)
				      : (int64_t)bytes_get64(event->data + field.offset, v->file->big);
	return true;
}

static int id_of(const struct verify *v, const struct dat_event *event)
{
	if (v->table->type_size != 2 || event->size < v->table->type_offset + 2u)
		return -1;
	return bytes_get16(event->data + v->table->type_offset, v->file->big);
}

/* ------------------------------------------------------------------------------------------------------- streams */

const struct verify_stream *verify_stream_find(const struct verify *v, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct verify_stream *streams = &v->streams[v->first_stream[buffer - v->file->buffers]];
	uint32_t low = 0, high = buffer->nr_streams;

	if (cpu < high && buffer->streams[cpu].cpu == cpu)
		return &streams[cpu];
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (buffer->streams[middle].cpu == cpu)
			return &streams[middle];
		if (buffer->streams[middle].cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void say_back(struct verify *v, const struct verify_stream *stream, const struct dat_event *event)
{
	const struct dat_event *last = &stream->last;
	char text[160];

	snprintf(text, sizeof(text), "CPU %" PRIu32 " goes back by %" PRIu64 " ns", event->cpu, last->ts - event->ts);
	/* If this event is on another page, the previous event's page is no longer readable. */
	verify_say(v, &(struct verify_violation){ VERIFY_BACK, 1, text, last->offset == event->offset ? last : NULL,
						  event, NULL });
}

static void note_loss(struct verify *v, struct verify_stream *stream, const struct dat_event *event, bool is_end)
{
	v->figures.losses++;
	if (event->lost < 0) {
		stream->lost_unknown++;
		return;
	}
	stream->lost += (uint64_t)event->lost;
	stream->lost_at_end += is_end ? (uint64_t)event->lost : 0;
}

/*
 * Whether the kernel has recorded events on every CPU. Only then does the absence of a thread's events show anything; a
 * CPU without events may be masked.
 */
static bool have_all_begun(const struct verify *v)
{
	const struct dat_option *count = dat_option(v->file, DAT_CPUCOUNT);
	const struct verify_stream *streams;

	if (!v->sched || v->has_some)
		return false;
	/* In version 7 a buffer has only the CPUs that have events. */
	if (count && count->size >= 4 && bytes_get32(count->data, v->file->big) > v->sched->nr_streams)
		return false;
	streams = &v->streams[v->first_stream[v->sched - v->file->buffers]];
	for (uint32_t i = 0; i < v->sched->nr_streams; i++)
		if (!streams[i].has_kernel)
			return false;
	return true;
}

/*
 * The time up to which it is known that no CPU misses events. For a CPU that runs a thread, this is its last switch,
 * because the next switch may contradict it; for an idle CPU, its last event, or the end of the file.
 */
static uint64_t known_until(const struct verify *v, bool at_end)
{
	uint64_t until = UINT64_MAX;

	for (uint32_t i = 0; v->sched && i < v->sched->nr_streams; i++) {
		const struct dat_stream *stream = &v->sched->streams[i];
		const struct verify_cpu *cpu = &v->cpus[stream->cpu];
		uint64_t ts = at_end ? UINT64_MAX
				     : v->streams[v->first_stream[v->sched - v->file->buffers] + i].kernel_ts;

		if (cpu->known && cpu->last.next)
			ts = cpu->last_event.event.ts;
		if (stream->size && ts < until)
			until = ts;
	}
	return until;
}

/* --------------------------------------------------------------------------------------------------------- events */

static bool has_pages(const struct verify *v, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct verify_stream *stream = verify_stream_find(v, buffer, cpu);

	return stream && buffer->streams[stream - &v->streams[v->first_stream[buffer - v->file->buffers]]].size;
}

static int take_switch(struct verify *v, const struct dat_event *event)
{
	struct verify_cpu *cpu = &v->cpus[event->cpu];
	int64_t prev, next, state;
	struct verify_switch now;
	int err;

	if (!get(v, event, v->prev_pid, &prev) || !get(v, event, v->next_pid, &next) ||
	    !get(v, event, v->prev_state, &state))
		return 0;
	if (!v->sched)
		v->sched = event->buffer;
	/* Other buffers may repeat the same events, begin and end at other times, and have their own counts. */
	if (!cpu->buffer)
		cpu->buffer = has_pages(v, v->sched, event->cpu) ? v->sched : event->buffer;
	if (cpu->buffer != event->buffer)
		return 0;
	if (!v->all_begun)
		v->all_begun = have_all_begun(v);
	v->figures.switches++;
	now = (struct verify_switch){ (int32_t)prev, (int32_t)next, state };
	err = verify_cpu_switch(v, event, &now);
	/* Switches are compared only with wake-ups of the same buffer. */
	if (!err && event->buffer == v->sched)
		err = verify_thread_switch(v, event, &now);
	if (!err && v->pending_begin != v->pending_end)
		verify_thread_decide(v, known_until(v, false));
	return err;
}

static int take_user(struct verify *v, const struct dat_event *event)
{
	int64_t pid;

	v->figures.user_events++;
	/* In raw files the number of the CPU is that of a lane. */
	if (!strcmp(event->buffer->name, "lanes") || v->table->pid_size != 4 ||
	    !get(v, event, (struct verify_field){ v->table->pid_offset, 4 }, &pid) || pid <= 0 ||
	    event_is_ambiguous(v->table, (int32_t)pid)) {
		v->figures.unchecked++;
		return 0;
	}
	return verify_cpu_user(v, event, (int32_t)pid);
}

/*
 * Take an event of the thread's own. If the file does not state whose switches were recorded, this event shows that
 * this thread's were.
 */
static int take_own(struct verify *v, const struct dat_event *event)
{
	int64_t tid;

	if (!v->is_foreign || event->buffer != v->sched || v->table->pid_size != 4 ||
	    !get(v, event, (struct verify_field){ v->table->pid_offset, 4 }, &tid) || tid <= 0)
		return 0;
	return verify_thread_follow(v, (int32_t)tid);
}

static void take_end(struct verify *v, const struct dat_event *event)
{
	int64_t lost;
	char text[160];

	if (!get(v, event, v->subject[EVENT_END], &lost))
		return;
	v->figures.counts++;
	if (lost == event->lost)
		return;
	snprintf(text, sizeof(text), "recorder:end reports %" PRId64 " lost, its page %" PRId64, lost, event->lost);
	verify_say(v, &(struct verify_violation){ VERIFY_COUNT, 1, text, NULL, event, NULL });
}

static int dispatch(struct verify *v, const struct dat_event *event, enum verify_event_kind kind)
{
	int64_t tid;

	switch (kind) {
	case EVENT_USER:
		return take_user(v, event);
	case EVENT_OWN:
		return take_own(v, event);
	case EVENT_SWITCH:
		return take_switch(v, event);
	case EVENT_WAKING:
	case EVENT_WAKEUP:
	case EVENT_WAKEUP_NEW:
	case EVENT_FORK:
		/* Like switches, they are compared only within one buffer. */
		if (!get(v, event, v->subject[kind], &tid) || (v->sched && event->buffer != v->sched))
			return 0;
		return kind == EVENT_FORK ? verify_thread_fork(v, event, (int32_t)tid)
					  : verify_thread_wake(v, event, (int32_t)tid, kind);
	case EVENT_END:
		take_end(v, event);
		return 0;
	default:
		return 0;
	}
}

int verify_event(struct verify *verify, const struct dat_event *event)
{
	struct verify *v = verify;
	struct verify_stream *stream =
		(struct verify_stream *)(uintptr_t)verify_stream_find(v, event->buffer, event->cpu);
	const int id = id_of(v, event);
	const enum verify_event_kind kind = id < 0 ? EVENT_OTHER : v->kinds[id];
	const bool is_kernel = id >= 0 && id < (int)REC_EVENT_ID_FIRST;

	if (!stream)
		return -EINVAL;
	v->figures.events++;
	stream->events += kind != EVENT_END;
	if (event->lost) {
		note_loss(v, stream, event, kind == EVENT_END);
		/* Losses of programs do not affect the kernel's events; a loss of unknown size may. */
		if (is_kernel || event->lost < 0 || kind == EVENT_END) {
			verify_thread_lost(v, stream->kernel_ts);
			if (v->cpus[event->cpu].buffer == event->buffer)
				verify_cpu_lost(v, &v->cpus[event->cpu]);
		}
	}
	if (stream->begun && event->ts < stream->last.ts)
		say_back(v, stream, event);
	stream->begun = true;
	stream->last = *event;
	if (is_kernel) {
		stream->has_kernel = true;
		stream->kernel_ts = event->ts;
	}
	return dispatch(v, event, kind);
}

/* ------------------------------------------------------------------------------------------------- begin and end */

static int make_streams(struct verify *v)
{
	uint32_t nr = 0, cpus = 0;

	v->first_stream = calloc(v->file->nr_buffers + 1, sizeof(*v->first_stream));
	if (!v->first_stream)
		return -ENOMEM;
	for (size_t i = 0; i < v->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &v->file->buffers[i];

		v->first_stream[i] = nr;
		nr += buffer->nr_streams;
		cpus = buffer->cpus > cpus ? buffer->cpus : cpus;
	}
	v->streams = calloc(nr + 1u, sizeof(*v->streams));
	v->cpus = calloc(cpus + 1u, sizeof(*v->cpus));
	v->nr_cpus = v->cpus ? cpus : 0;
	return v->streams && v->cpus ? 0 : -ENOMEM;
}

static int learn_events(struct verify *v)
{
	v->kinds = calloc(NR_IDS, sizeof(*v->kinds));
	if (!v->kinds)
		return -ENOMEM;
	for (unsigned int id = 0; id < NR_IDS; id++)
		v->kinds[id] = id >= REC_EVENT_ID_FIRST ? EVENT_USER : EVENT_OTHER;
	for (uint32_t i = 0; i < v->table->nr_events; i++) {
		const struct event_type *type = event_type_at(v->table, i);

		if (type)
			v->kinds[type->event->id] = (uint8_t)learn(v, type->event);
	}
	return 0;
}

/* Learn from the notes which threads are hidden: a recorder leaves out its own threads, and names them. */
static int learn_writer(struct verify *v)
{
	struct dat_notes notes;
	const char *at;
	int32_t tid;
	int err = 0;

	v->is_foreign = !dat_notes_of(v->file, &notes);
	v->has_some = notes.some_threads || notes.no_switches || notes.several_machines;
	at = notes.hidden ? notes.hidden : "";
	while (!err && dat_notes_next_thread(&at, &tid))
		err = verify_thread_hide(v, tid);
	return err;
}

int verify_open(const struct dat_file *file, const struct event_table *table, verify_report report, void *arg,
		struct verify **ret_verify)
{
	struct verify *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->file = file;
	v->table = table;
	v->report = report;
	v->arg = arg;
	v->figures.nearest_ns = UINT64_MAX;
	err = make_streams(v);
	if (!err)
		err = learn_events(v);
	if (!err)
		err = learn_writer(v);
	if (err) {
		verify_close(v);
		return err;
	}
	*ret_verify = v;
	return 0;
}

int verify_finish(struct verify *verify, struct verify_figures *ret_figures)
{
	int err;

	verify_thread_decide(verify, known_until(verify, true));
	for (uint32_t i = 0; i < verify->nr_cpus; i++)
		verify_cpu_lost(verify, &verify->cpus[i]);
	err = verify_counts(verify);
	if (!err)
		*ret_figures = verify->figures;
	return err;
}

struct verify *verify_close(struct verify *verify)
{
	if (!verify)
		return NULL;
	for (uint32_t i = 0; i < verify->nr_cpus; i++)
		verify_cpu_free(&verify->cpus[i]);
	verify_thread_free(verify);
	free(verify->cpus);
	free(verify->streams);
	free(verify->first_stream);
	free(verify->kinds);
	free(verify);
	return NULL;
}
