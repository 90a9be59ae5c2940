/* SPDX-License-Identifier: MIT */
/*
 * Two events are the same if rec_event_same() is true: equal system, name, fields, print format and constants. An
 * event that differs in any of these has an id of its own; both keep the name, which viewers permit.
 */
#include "format/weave/trace_info.h"
#include "format/weave/trace_info_private.h"

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <stdlib.h>
#include <string.h>

int trace_info_new(struct trace_info **ret_info)
{
	struct trace_info *info = calloc(1, sizeof(*info));

	if (!info)
		return -ENOMEM;
	*ret_info = info;
	return 0;
}

struct trace_info *trace_info_free(struct trace_info *info)
{
	unsigned int i;

	if (!info)
		return NULL;
	for (i = 0; i < info->nr_events; i++) {
		free(info->events[i].record);
		free(info->events[i].system);
	}
	free(info->events);
	number_map_free(&info->by_hash);
	for (i = 0; i < info->nr_processes; i++) {
		free(info->processes[i].comm);
		free(info->processes[i].events);
		number_map_free(&info->processes[i].sites);
	}
	free(info->processes);
	trace_names_free(info);
	trace_sites_free(info);
	free(info);
	return NULL;
}

int trace_info_grow(void *array, size_t size, size_t used, size_t *max)
{
	const size_t more = *max ? *max * 2 : 16;
	void **data = array;
	void *bigger;

	if (used < *max)
		return 0;
	bigger = realloc(*data, more * size);
	if (!bigger)
		return -ENOMEM;
	*data = bigger;
	*max = more;
	return 0;
}

/* ------------------------------------------------------------------------------------------------- one event */

/*
 * Whether viewers accept the name. Others are not passed on, because viewers would refuse the event, or the whole text.
 */
static bool is_name(struct rec_words name)
{
	uint32_t i;

	for (i = 0; i < name.size; i++) {
		const char c = name.text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return i > 0;
}

static int add_event(struct trace_info *info, const struct rec_log_event *record, struct rec_words system,
		     uint64_t hash, uint16_t *ret_id)
{
	const size_t size = record->record.size;
	struct trace_event *event;
	size_t max = info->max_events;

	/*
	 * The first id is rec_printf's, the last recorder:end's. If all are used, further events stay unknown and are
	 * counted as such.
	 */
	if (info->nr_events == REC_EVENTS_MAX - 2) {
		*ret_id = 0;
		return 0;
	}
	if (trace_info_grow(&info->events, sizeof(*info->events), info->nr_events, &max))
		return -ENOMEM;
	info->max_events = (unsigned int)max;
	event = &info->events[info->nr_events];
	event->record = malloc(size);
	event->system = strndup(system.text, system.size);
	if (!event->record || !event->system) {
		free(event->record);
		free(event->system);
		return -ENOMEM;
	}
	memcpy(event->record, record, size);
	event->record->record.id = 0;
	event->hash = hash;
	event->id = (uint16_t)(TRACE_INFO_PRINTF_ID + 1 + info->nr_events);
	*ret_id = event->id;
	info->nr_events++;
	return number_map_set(&info->by_hash, hash, info->nr_events);
}

/* Stores the id of the event in the file, or 0 if no id is left. 0; -ENOMEM. */
static int unify(struct trace_info *info, const struct rec_log_event *record, struct rec_words system, uint16_t *ret_id)
{
	const uint64_t hash = rec_event_hash(record);
	const uint64_t found = number_map_get(&info->by_hash, hash);
	unsigned int i;

	if (found && rec_event_same(info->events[found - 1].record, record)) {
		*ret_id = info->events[found - 1].id;
		return 0;
	}
	/* Two shapes with the same hash are rare, so all are searched. */
	for (i = 0; found && i < info->nr_events; i++) {
		if (info->events[i].hash == hash && rec_event_same(info->events[i].record, record)) {
			*ret_id = info->events[i].id;
			return 0;
		}
	}
	return add_event(info, record, system, hash, ret_id);
}

/* ----------------------------------------------------------------------------------------------- one process */

static int map_event(struct trace_process *process, uint16_t id, struct trace_event_map to)
{
	const unsigned int index = (unsigned int)id - REC_EVENT_ID_FIRST;
	size_t max = process->max_events;

	while (index >= max) {
		if (trace_info_grow(&process->events, sizeof(*process->events), max, &max))
			return -ENOMEM;
		memset(process->events + process->max_events, 0,
		       (max - process->max_events) * sizeof(*process->events));
		process->max_events = (unsigned int)max;
	}
	process->events[index] = to;
	if (index >= process->map.nr_events)
		process->map.nr_events = index + 1;
	return 0;
}

static bool is_wanted(const struct trace_info *info, const struct rec_words *system, const struct rec_words *name)
{
	return !info->wants || info->wants(info->wants_arg, system, name);
}

static int take_event(struct trace_info *info, struct trace_process *process, const struct rec_log_event *record)
{
	struct trace_event_map to = { 0, false, false };
	const uint16_t id = record->record.id;
	struct rec_event_info event;
	int err;

	if (id <= TRACE_INFO_PRINTF_ID || id >= REC_EVENT_ID_FIRST + REC_EVENTS_MAX)
		return 0;
	if (rec_event_parse(record, &event) || !is_name(event.system) || !is_name(event.name))
		return 0;
	to.is_left_out = !is_wanted(info, &event.system, &event.name);
	err = to.is_left_out ? 0 : unify(info, record, event.system, &to.id);
	return err ? err : map_event(process, id, to);
}

int trace_info_more_log(struct trace_info *info, unsigned int number, const void *log, size_t size)
{
	struct trace_process *process = &info->processes[number];
	const struct rec_log_record *record;
	int err = 0;

	while (!err && (record = rec_log_next(log, size, &process->log_offset))) {
		switch (record->kind) {
		case REC_LOG_EVENT:
			err = take_event(info, process, (const struct rec_log_event *)record);
			break;
		case REC_LOG_THREAD:
			err = trace_names_add(info, number, (const struct rec_log_thread *)record);
			break;
		case REC_LOG_PRINTF:
			err = trace_sites_add(info, number, (const struct rec_log_printf *)record);
			break;
		default:
			break;
		}
	}
	process->map.events = process->events;
	return err;
}

void trace_info_set_wants(struct trace_info *info, trace_info_wants *wants, void *arg)
{
	info->wants = wants;
	info->wants_arg = arg;
}

int trace_info_add_process(struct trace_info *info, uint32_t pid, const char *comm, const void *log, size_t size)
{
	static const struct rec_words printf_system = { "ftrace", 6 }, printf_name = { "bprint", 6 };
	struct trace_event_map to_printf = { TRACE_INFO_PRINTF_ID, true, false };
	struct trace_process *processes;
	struct trace_process *process;

	processes = realloc(info->processes, (info->nr_processes + 1) * sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	info->processes = processes;
	process = &processes[info->nr_processes];
	memset(process, 0, sizeof(*process));
	process->pid = pid;
	process->comm = strdup(comm ? comm : "");
	if (!process->comm)
		return -ENOMEM;
	info->nr_processes++;
	if (trace_names_process(info, info->nr_processes - 1))
		return -ENOMEM;
	to_printf.is_left_out = !is_wanted(info, &printf_system, &printf_name);
	if (map_event(process, TRACE_INFO_PRINTF_ID, to_printf))
		return -ENOMEM;
	return trace_info_more_log(info, info->nr_processes - 1, log, size);
}

const struct trace_process_map *trace_info_map(const struct trace_info *info, unsigned int process)
{
	return &info->processes[process].map;
}

/* ------------------------------------------------------------------------------------------------- the texts */

static void put_head(struct blob *text, const char *name, unsigned int id)
{
	blob_printf(text, "name: %s\nID: %u\nformat:\n", name, id);
	blob_printf(text, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
}

static void put_end_event(struct blob *text)
{
	put_head(text, "end", TRACE_INFO_END_ID);
	blob_printf(text, "\tfield:u64 lost;\toffset:8;\tsize:8;\tsigned:0;\n"
			  "\tfield:u64 no_lane;\toffset:16;\tsize:8;\tsigned:0;\n\n"
			  "print fmt: \"lost=%%llu no_lane=%%llu\", REC->lost, REC->no_lane\n");
}

/* Append the format of an event; `event` NULL: of rec_printf's. */
static int put_event(struct blob *text, const struct trace_event *event)
{
	char *at = blob_room(text, REC_EVENT_TEXT_MAX);
	int len;

	if (!at)
		return text->error;
	if (event)
		len = rec_event_text(event->record, event->id, at, REC_EVENT_TEXT_MAX);
	else
		len = rec_printf_event_text(TRACE_INFO_PRINTF_ID, at, REC_EVENT_TEXT_MAX);
	text->size = len < 0 ? 0 : (size_t)len;
	return len < 0 ? len : 0;
}

static int by_system(const void *a, const void *b)
{
	const struct trace_event *left = *(const struct trace_event *const *)a;
	const struct trace_event *right = *(const struct trace_event *const *)b;
	const int order = strcmp(left->system, right->system);

	return order ? order : (int)left->id - (int)right->id;
}

int trace_info_formats(const struct trace_info *info, trace_info_emit *emit, void *arg)
{
	const struct trace_event **order = calloc(info->nr_events + 1u, sizeof(*order));
	struct blob text = BLOB_INIT;
	int err = order ? 0 : -ENOMEM;
	unsigned int i;

	for (i = 0; !err && i < info->nr_events; i++)
		order[i] = &info->events[i];
	if (!err)
		qsort(order, info->nr_events, sizeof(*order), by_system);
	for (i = 0; !err && i < info->nr_events; i++) {
		text.size = 0;
		err = put_event(&text, order[i]);
		if (!err)
			err = emit(arg, order[i]->system, (const char *)text.data, text.size);
		else if (err == -EBADMSG || err == -ENOSPC)
			err = 0; /* without a format, viewers show the event's records as unknown */
	}
	if (!err && info->nr_sites) {
		text.size = 0;
		err = put_event(&text, NULL);
		if (!err)
			err = emit(arg, "ftrace", (const char *)text.data, text.size);
	}
	blob_free(&text);
	free(order);
	return err;
}

int trace_info_end_format(trace_info_emit *emit, void *arg)
{
	struct blob text = BLOB_INIT;
	int err;

	put_end_event(&text);
	err = text.error ? text.error : emit(arg, "recorder", (const char *)text.data, text.size);
	blob_free(&text);
	return err;
}
