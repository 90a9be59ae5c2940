/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's format: https://perfetto.dev/docs/reference/trace-packet-proto. Memory is bounded by the numbers of
 * threads, of tracks and of different texts, not by the number of events.
 *
 * All packets have one sequence, whose texts are interned and whose times are differences. Events of programs are track
 * events, and so are spans, those of programs and of the kernel. Events of the kernel are ftrace events in bundles of a
 * CPU: sched_switch and sched_waking in the compact form, the others in messages that the trace itself describes.
 */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_IDS 65536u

static void perfetto_close(void *state)
{
	struct perfetto *p = state;

	if (!p)
		return;
	for (uint32_t i = 0; p->by_id && i < p->trace->table->nr_events; i++) {
		const struct event_type *type = event_type_at(p->trace->table, i);

		if (type)
			free(p->by_id[type->event->id]);
	}
	free(p->by_id);
	free(p->described);
	perfetto_ftrace_free(p);
	perfetto_zip_close(p);
	perfetto_slices_free(p);
	model_close(p->model);
	blob_free(&p->packet);
	blob_free(&p->interned);
	string_table_free(&p->categories);
	string_table_free(&p->names);
	string_table_free(&p->arguments);
	string_table_free(&p->texts);
	number_map_free(&p->threads);
	number_map_free(&p->processes);
	free(p);
}

static bool has_kernel(const struct event_table *table)
{
	for (uint32_t i = 0; i < table->nr_events; i++) {
		const struct event_type *type = event_type_at(table, i);

		if (type && !event_is_programs(type->event->id))
			return true;
	}
	return false;
}

static int perfetto_open(struct export_trace *trace, struct export_out *out, void **ret_state)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	struct model_sink sink;

	if (!p)
		return -ENOMEM;
	p->trace = trace;
	p->out = out;
	p->has_kernel = has_kernel(trace->table);
	p->by_id = calloc(NR_IDS, sizeof(struct perfetto_names *));
	p->described = calloc(NR_IDS, sizeof(*p->described));
	sink = perfetto_sink(p);
	if (!p->by_id || !p->described || export_contexts_open(trace) || perfetto_zip_open(p) ||
	    perfetto_slices_open(p) || model_open(trace->rules, &sink, &p->model)) {
		perfetto_close(p);
		return -ENOMEM;
	}
	*ret_state = p;
	return 0;
}

/* A loss is shown on a track of its own, and on its CPU if events of the kernel may be lost. */
static int put_loss(struct perfetto *p, const struct dat_event *event)
{
	char name[64] = "events lost";
	size_t instant;
	int err = model_loss_is_programs(p->trace->table, event) ? 0 : perfetto_ftrace_lost(p, event->cpu);

	if (!err && !p->losses) {
		p->losses = perfetto_track(p, 0, "lost events", false);
		err = p->losses ? 0 : -ENOMEM;
	}
	if (err)
		return err;
	if (event->lost > 0)
		snprintf(name, sizeof(name), "%" PRId64 " events lost", event->lost);
	instant = perfetto_event_begin(p, event->ts, TYPE_INSTANT, p->losses);
	proto_text(&p->packet, EVENT_NAME_TEXT, name);
	perfetto_argument_int(p, "cpu", event->cpu);
	if (event->lost > 0)
		perfetto_argument_int(p, "lost", event->lost);
	return perfetto_event_end(p, instant);
}

int perfetto_point(struct perfetto *p, const struct export_event *type, const struct dat_event *event, int32_t tid)
{
	const uint64_t track = perfetto_thread(p, tid, event->cpu);
	const struct perfetto_names *names;
	const char *text;
	size_t instant;

	if (!track)
		return -ENOMEM;
	instant = perfetto_event_begin(p, event->ts, TYPE_INSTANT, track);
	names = perfetto_names(p, type);
	if (!names)
		return -ENOMEM;
	proto_uint(&p->packet, EVENT_CATEGORY, names->category);
	proto_uint(&p->packet, EVENT_NAME, names->name);
	if (export_has_text(type)) {
		text = export_text(p->trace, event);
		perfetto_argument_text(p, "text", text ? text : "");
	} else {
		perfetto_arguments(p, type, NULL, 0, event->data, event->size);
	}
	perfetto_contexts(p, tid, event->ts);
	return perfetto_event_end(p, instant);
}

static int perfetto_event(void *state, const struct dat_event *event)
{
	struct perfetto *p = state;
	const struct export_event *type =
		export_event(p->trace->fields, event_id(p->trace->table, event->data, event->size));
	int err = p->is_begun ? 0 : perfetto_begin(p, event->ts);

	if (!err && event->lost)
		err = put_loss(p, event);
	if (!err && type && !type->is_program)
		err = perfetto_ftrace_event(p, type, event);
	if (!err)
		err = model_event(p->model, event);
	return err ? err : p->out->error;
}

static int perfetto_end(void *state)
{
	struct perfetto *p = state;
	int err = perfetto_ftrace_end(p);

	p->trace->is_ending = true;
	if (!err)
		err = model_end(p->model);
	if (!err && p->is_begun && p->trace->overlay)
		err = perfetto_overlay(p, p->trace->overlay);
	if (!err)
		err = perfetto_zip_end(p);
	return err ? err : p->out->error;
}

const struct export_writer export_perfetto = { EXPORT_FORM_BINARY, perfetto_open, perfetto_event, perfetto_end,
						 perfetto_close };
