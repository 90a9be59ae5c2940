/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, one object on each line:
 *
 *	{"ts":ns,"cpu":0,"pid":2,"comm":"worker","tgid":1,"process":"app","buffer":"name","system":"io",
 *	 "event":"submit","fields":{...},"names":{...}}
 *
 * "buffer" is in events of instance buffers, "tgid" and "process" in those of threads whose process the file states,
 * "context" in those of threads that have set values, "names" in events with fields whose values have names, "text" in
 * events whose text has more than their fields. Lost events are objects of their own, with the time of the event that
 * follows them. They are also there if that event is not selected.
 */
#include "cli/common/put_text.h"
#include "cli/report/report_field.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "format/io/json.h"
#include "format/text/event_context.h"
#include "format/text/event_float.h"

struct json {
	struct report *r;
	struct report_fields fields;
	struct event_contexts contexts;
	struct blob out, names, name;
};

static void put(struct blob *out, const char *text)
{
	blob_put(out, text, strlen(text));
}

/* Put "ts" and "cpu", which all objects have, and "buffer". */
static void put_place(struct blob *out, const struct dat_event *event)
{
	put(out, "{\"ts\":");
	put_unsigned(out, event->ts);
	put(out, ",\"cpu\":");
	put_unsigned(out, event->cpu);
	if (event->buffer->name[0]) {
		put(out, ",\"buffer\":");
		json_string(out, event->buffer->name, strlen(event->buffer->name));
	}
}

static void put_loss(void *arg, const struct dat_event *event)
{
	struct json *json = arg;
	struct blob *out = &json->out;

	put_place(out, event);
	put(out, ",\"lost\":");
	if (event->lost > 0)
		put_unsigned(out, (uint64_t)event->lost);
	else
		put(out, "null");
	put(out, "}\n");
}

static void put_numbers(struct json *json, const struct report_value *value)
{
	put(&json->out, "[");
	for (uint32_t i = 0; i < value->nr; i++) {
		put(&json->out, i ? "," : "");
		report_put_number(&json->out, value, report_value_number(json->r, value, i));
	}
	put(&json->out, "]");
}

static void put_value(struct json *json, const struct report_value *value)
{
	uint64_t number;

	switch (value->kind) {
	case REPORT_VALUE_NONE:
		put(&json->out, "null");
		break;
	case REPORT_VALUE_NUMBER:
		number = report_value_number(json->r, value, 0);
		if (value->is_float && !isfinite(event_float_value(number, value->element)))
			put(&json->out, "null");
		else
			report_put_number(&json->out, value, number);
		break;
	case REPORT_VALUE_STRING:
		json_string(&json->out, value->data, value->nr);
		break;
	case REPORT_VALUE_LIST:
		put_numbers(json, value);
		break;
	}
}

/* Put the names of numbers. In a list, a number without a name is null; a single number without a name is left out. */
static void collect_names(struct json *json, const struct report_field *field, const struct report_value *value)
{
	struct blob *names = &json->names;
	const bool list = value->kind == REPORT_VALUE_LIST;

	if (!report_field_has_name(field) || (!list && value->kind != REPORT_VALUE_NUMBER))
		return;
	for (uint32_t i = 0; i < value->nr; i++) {
		json->name.size = 0;
		report_field_name(json->r, field, report_value_number(json->r, value, i), &json->name);
		if (!list && !json->name.size)
			return;
		if (!i) {
			put(names, names->size ? "," : "");
			json_string(names, field->field->name, strlen(field->field->name));
			put(names, list ? ":[" : ":");
		} else {
			put(names, ",");
		}
		if (json->name.size)
			json_string(names, (const char *)json->name.data, json->name.size);
		else
			put(names, "null");
	}
	put(names, list && value->nr ? "]" : "");
}

static void put_fields(struct json *json, const struct report_event_fields *fields, const struct tep_record *record,
		       uint32_t size)
{
	json->names.size = 0;
	put(&json->out, ",\"fields\":{");
	for (unsigned int i = 0; i < fields->nr; i++) {
		const struct report_field *field = &fields->fields[i];
		const struct report_value value = report_field_value(field, record->data, size);

		put(&json->out, i ? "," : "");
		json_string(&json->out, field->field->name, strlen(field->field->name));
		put(&json->out, ":");
		put_value(json, &value);
		collect_names(json, field, &value);
	}
	put(&json->out, "}");
	if (!json->names.size)
		return;
	put(&json->out, ",\"names\":{");
	blob_put(&json->out, json->names.data, json->names.size);
	put(&json->out, "}");
}

/* Put the process of the thread, if the file states it. */
static void put_process(struct json *json, int pid)
{
	const int32_t process = event_process(json->r->table, pid);
	const char *name;

	if (process < 0)
		return;
	name = event_comm(json->r->table, process);
	put(&json->out, ",\"tgid\":");
	put_unsigned(&json->out, (uint64_t)process);
	if (!*name)
		return;
	put(&json->out, ",\"process\":");
	json_string(&json->out, name, strlen(name));
}

/* Put the context values of the thread at this time, if there are any. */
static void put_context(struct json *json, int pid, uint64_t ts)
{
	const struct event_context *context;
	const char *before = ",\"context\":{";
	size_t next = 0;

	while ((context = event_contexts_next(&json->contexts, pid, ts, &next))) {
		put(&json->out, before);
		json_string(&json->out, context->key->text, context->key->size);
		put(&json->out, ":");
		json_string(&json->out, context->value->text, context->value->size);
		before = ",";
	}
	if (*before && !before[1])
		put(&json->out, "}");
}

static int put_text(struct json *json, const struct dat_event *event)
{
	struct event_printer *p = &json->r->printer;
	struct dat_event alone = *event;
	const int err = event_print(p, &alone);

	if (!err) {
		put(&json->out, ",\"text\":");
		json_string(&json->out, p->text.text + p->parts.name, p->text.size - p->parts.name);
	}
	return err;
}

static int put_event(void *arg, const struct dat_event *event, struct tep_record *record)
{
	struct json *json = arg;
	const struct event_table *table = json->r->table;
	const int pid = event_pid(table, record->data, event->size);
	const int id = event_id(table, record->data, event->size);
	const struct event_type *type = event_type(table, id);
	const struct report_value number = { .is_signed = true };
	const char *comm = event_comm_shown(table, pid);
	struct report_event_fields *fields;
	struct blob *out = &json->out;

	put_place(out, event);
	put(out, ",\"pid\":");
	report_put_number(out, &number, (uint64_t)(int64_t)pid);
	put(out, ",\"comm\":");
	json_string(out, comm, strlen(comm));
	put_process(json, pid);
	put_context(json, pid, event->ts);
	if (type) {
		put(out, ",\"system\":");
		json_string(out, type->event->system, strlen(type->event->system));
		put(out, ",\"event\":");
		json_string(out, type->event->name, strlen(type->event->name));
		fields = report_fields_of(&json->fields, type);
		if (!fields)
			return -ENOMEM;
		put_fields(json, fields, record, event->size);
		if (fields->has_text && put_text(json, event))
			return -ENOMEM;
	} else {
		/* The file has no format for this event. */
		put(out, ",\"system\":null,\"event\":null,\"id\":");
		report_put_number(out, &number, (uint64_t)(int64_t)id);
	}
	put(out, "}\n");
	return out->error ? out->error : json->names.error ? json->names.error : json->name.error;
}

/* Read the context values. A file that is still being written is not read twice, so its events have no "context". */
static int open_contexts(struct json *json)
{
	const struct report *r = json->r;

	return r->follow.wanted ? 0 : event_contexts_open(r->file, &r->time, r->table, &json->contexts);
}

int report_json(struct report *r)
{
	struct json json = { .r = r, .out = BLOB_INIT, .names = BLOB_INIT, .name = BLOB_INIT };
	int status = report_fields_open(r, &json.fields) || open_contexts(&json)
			     ? report_fail_memory(r)
			     : report_put_events(r, &json.out, put_event, put_loss, &json);

	report_fields_close(&json.fields);
	event_contexts_close(&json.contexts);
	blob_free(&json.out);
	blob_free(&json.names);
	blob_free(&json.name);
	return status;
}
