/* SPDX-License-Identifier: MIT */
/*
 * Texts that are written once and then referred to by number; and the arguments of events, which consist of such texts.
 * The field with the number of a flow is an argument, and makes the event a part of that flow.
 */
#include "format/export/perfetto_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX  256u /* a longer text is unlikely to occur again */
#define NAME_ROOM 320u

enum { INTERNED_NUMBER = 1, INTERNED_STRING = 2 };

enum { /* DebugAnnotation */
	ARGUMENT_NAME = 1,
	ARGUMENT_UINT = 3,
	ARGUMENT_INT = 4,
	ARGUMENT_DOUBLE = 5,
	ARGUMENT_TEXT = 6,
	ARGUMENT_NAME_TEXT = 10,
	ARGUMENT_ARRAY = 12,
	ARGUMENT_TEXT_NUMBER = 17,
};

uint32_t perfetto_intern(struct perfetto *p, struct string_table *table, uint32_t field, const char *text, size_t size)
{
	bool is_new;
	const uint32_t number = string_table_number(table, text, size, &is_new);
	size_t entry;

	if (is_new) {
		entry = proto_begin(&p->interned, field);
		proto_uint(&p->interned, INTERNED_NUMBER, number);
		proto_bytes(&p->interned, INTERNED_STRING, text, size);
		proto_end(&p->interned, entry);
	}
	return number;
}

static uint32_t intern_name(struct perfetto *p, struct string_table *table, uint32_t field, const char *text)
{
	return perfetto_intern(p, table, field, text, strlen(text));
}

const struct perfetto_names *perfetto_names(struct perfetto *p, const struct export_event *event)
{
	struct perfetto_names **at = &p->by_id[event->type->event->id];

	if (!*at) {
		const struct model_rule *rule = model_rule(p->trace->rules, event->type->event->id);

		*at = malloc(sizeof(**at) + event->nr_fields * sizeof((*at)->arguments[0]));
		if (!*at)
			return NULL;
		(*at)->name = intern_name(p, &p->names, INTERNED_NAME, rule->name);
		(*at)->flow = -1;
		(*at)->category = intern_name(p, &p->categories, INTERNED_CATEGORY, event->system);
		for (uint32_t i = 0; i < event->nr_fields; i++) {
			(*at)->arguments[i] = intern_name(p, &p->arguments, INTERNED_ARGUMENT, event->fields[i].name);
			if (rule->flow && event->fields[i].tep == rule->flow)
				(*at)->flow = (int)i;
		}
	}
	return *at;
}

/* ----------------------------------------------------------------------------------------------------- arguments */

static void put_text(struct perfetto *p, const char *text, size_t size)
{
	const uint32_t number = size <= TEXT_MAX ? perfetto_intern(p, &p->texts, INTERNED_TEXT, text, size) : 0;

	if (number)
		proto_uint(&p->packet, ARGUMENT_TEXT_NUMBER, number);
	else
		proto_bytes(&p->packet, ARGUMENT_TEXT, text, size);
}

static void put_bytes(struct perfetto *p, const unsigned char *data, uint32_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *text;

	proto_varint(&p->packet, ARGUMENT_TEXT << 3 | 2);
	proto_varint(&p->packet, 2 * (uint64_t)size);
	text = blob_room(&p->packet, 2 * (size_t)size);
	for (uint32_t i = 0; text && i < size; i++) {
		*text++ = digits[data[i] >> 4];
		*text++ = digits[data[i] & 15];
	}
}

static void put_number(struct perfetto *p, const struct export_value *value)
{
	if (value->kind == EXPORT_UNSIGNED)
		proto_uint(&p->packet, ARGUMENT_UINT, value->u);
	else
		proto_int(&p->packet, ARGUMENT_INT, value->s);
}

static void put_array(struct perfetto *p, const struct export_field *field, const struct export_value *value)
{
	const uint32_t nr = export_elements(field, value);

	for (uint32_t i = 0; i < nr; i++) {
		const size_t element = proto_begin(&p->packet, ARGUMENT_ARRAY);
		struct export_value each;

		export_element(field, value, i, &each);
		put_number(p, &each);
		proto_end(&p->packet, element);
	}
}

static void put_value(struct perfetto *p, const struct export_field *field, const struct export_value *value)
{
	switch (value->kind) {
	case EXPORT_UNSIGNED:
	case EXPORT_SIGNED:
		if (value->symbol)
			put_text(p, value->symbol, strlen(value->symbol));
		else
			put_number(p, value);
		break;
	case EXPORT_REAL:
		proto_double(&p->packet, ARGUMENT_DOUBLE, value->real);
		break;
	case EXPORT_TEXT:
		put_text(p, (const char *)value->data, value->size);
		break;
	case EXPORT_ARRAY:
		put_array(p, field, value);
		break;
	case EXPORT_BYTES:
		put_bytes(p, value->data, value->size);
		break;
	}
}

static size_t begin_argument(struct perfetto *p, uint32_t number, const char *name)
{
	const size_t argument = proto_begin(&p->packet, EVENT_ARGUMENT);

	if (number)
		proto_uint(&p->packet, ARGUMENT_NAME, number);
	else
		proto_text(&p->packet, ARGUMENT_NAME_TEXT, name);
	return argument;
}

static size_t begin_end_argument(struct perfetto *p, const char *field)
{
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), "end.%s", field);
	return begin_argument(p, intern_name(p, &p->arguments, INTERNED_ARGUMENT, name), name);
}

void perfetto_arguments(struct perfetto *p, const struct export_event *event, const struct export_event *other,
			uint32_t first, const unsigned char *record, uint32_t size)
{
	const struct perfetto_names *names = perfetto_names(p, event);

	for (uint32_t i = first; names && i < event->nr_fields; i++) {
		const struct export_field *field = &event->fields[i];
		struct export_value value;
		size_t argument;

		if (!export_value(field, record, size, &value))
			continue;
		argument = export_has_field(other, field->name)
				   ? begin_end_argument(p, field->name)
				   : begin_argument(p, names->arguments[i], field->name);
		put_value(p, field, &value);
		proto_end(&p->packet, argument);
		/* 0 links nothing. */
		if ((int)i == names->flow && value.u)
			proto_fixed64(&p->packet, EVENT_FLOW, value.u);
	}
}

void perfetto_argument_text(struct perfetto *p, const char *name, const char *text)
{
	const size_t argument = begin_argument(p, intern_name(p, &p->arguments, INTERNED_ARGUMENT, name), name);

	put_text(p, text, strlen(text));
	proto_end(&p->packet, argument);
}

void perfetto_argument_uint(struct perfetto *p, const char *name, uint64_t value)
{
	const size_t argument = begin_argument(p, intern_name(p, &p->arguments, INTERNED_ARGUMENT, name), name);

	proto_uint(&p->packet, ARGUMENT_UINT, value);
	proto_end(&p->packet, argument);
}

void perfetto_argument_int(struct perfetto *p, const char *name, int64_t value)
{
	const size_t argument = begin_argument(p, intern_name(p, &p->arguments, INTERNED_ARGUMENT, name), name);

	proto_int(&p->packet, ARGUMENT_INT, value);
	proto_end(&p->packet, argument);
}

void perfetto_contexts(struct perfetto *p, int32_t tid, uint64_t ts)
{
	struct export_context context;
	size_t next = 0;

	while (export_context(p->trace, tid, ts, &next, &context))
		perfetto_argument_text(p, context.name, context.value);
}
