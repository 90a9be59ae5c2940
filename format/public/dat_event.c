/* SPDX-License-Identifier: MIT */
/* Event types and fields of <librecorder/dat.h>. */
#include "format/public/dat_private.h"

#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum rec_dat_kind kind_of(const struct tep_format_field *field)
{
	if (event_field_is_text(field))
		return REC_DAT_TEXT;
	if (field->flags & TEP_FIELD_IS_ARRAY)
		return REC_DAT_BYTES;
	if (event_field_is_float(field))
		return REC_DAT_FLOAT;
	return bytes_is_number((uint32_t)field->size) ? REC_DAT_INT : REC_DAT_BYTES;
}

static uint32_t count(const struct tep_format_field *field)
{
	uint32_t nr = 0;

	for (; field; field = field->next)
		nr++;
	return nr;
}

static int describe(struct rec_dat_event *e, const struct tep_event *event, bool big)
{
	const struct tep_format_field *const lists[] = { event->format.common_fields, event->format.fields };

	e->event = event;
	e->fields = calloc((size_t)count(lists[0]) + count(lists[1]) + 1, sizeof(*e->fields));
	if (!e->fields)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2; i++)
		for (const struct tep_format_field *field = lists[i]; field; field = field->next)
			e->fields[e->nr_fields++] = (struct rec_dat_field){
				.field = field, .kind = kind_of(field), .big = big,
			};
	return 0;
}

int rec_dat_events_open(struct rec_dat *dat)
{
	const struct event_table *table = dat->table;
	int err = 0;

	dat->events = calloc((size_t)table->nr_events + 1, sizeof(*dat->events));
	if (!dat->events)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < table->nr_events; i++)
		err = describe(&dat->events[i], table->all[i].event, table->big);
	return err;
}

void rec_dat_events_close(struct rec_dat *dat)
{
	for (uint32_t i = 0; dat->events && i < dat->table->nr_events; i++)
		free(dat->events[i].fields);
	free(dat->events);
}

const struct rec_dat_event *rec_dat_event_find(const struct rec_dat *dat, int32_t id)
{
	const struct event_type *type = event_type(dat->table, id);

	return type ? &dat->events[type - dat->table->all] : NULL;
}

const char *rec_dat_event_system(const struct rec_dat_event *event)
{
	return event->event->system;
}

const char *rec_dat_event_name(const struct rec_dat_event *event)
{
	return event->event->name;
}

const struct rec_dat_field *rec_dat_field_at(const struct rec_dat_event *event, uint32_t number)
{
	return number < event->nr_fields ? &event->fields[number] : NULL;
}

const struct rec_dat_field *rec_dat_field_find(const struct rec_dat_event *event, const char *name)
{
	for (uint32_t i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].field->name, name))
			return &event->fields[i];
	return NULL;
}

void rec_dat_field_describe(const struct rec_dat_field *field, struct rec_dat_field_info *ret_info)
{
	const struct tep_format_field *from = field->field;

	*ret_info = (struct rec_dat_field_info){
		.name = from->name,
		.offset = (uint32_t)from->offset,
		.size = (uint32_t)from->size,
		.element_size = (uint32_t)from->elementsize,
		.kind = field->kind,
		.is_signed = (from->flags & TEP_FIELD_IS_SIGNED) != 0,
		.is_array = (from->flags & TEP_FIELD_IS_ARRAY) != 0,
		.is_dynamic = (from->flags & TEP_FIELD_IS_DYNAMIC) != 0,
	};
}

static int get_number(const struct rec_dat_field *field, const struct rec_dat_record *record, enum rec_dat_kind kind,
		      int64_t *ret_value)
{
	const struct tep_format_field *from = field->field;
	const uint32_t offset = (uint32_t)from->offset, width = (uint32_t)from->size;

	if (field->kind != kind)
		return -EINVAL;
	if (offset > record->size || width > record->size - offset)
		return -EBADMSG;
	*ret_value = bytes_number((const unsigned char *)record->data + offset, width,
				  from->flags & TEP_FIELD_IS_SIGNED, field->big);
	return 0;
}

int rec_dat_get_int(const struct rec_dat_field *field, const struct rec_dat_record *record, int64_t *ret_value)
{
	return get_number(field, record, REC_DAT_INT, ret_value);
}

int rec_dat_get_float(const struct rec_dat_field *field, const struct rec_dat_record *record, double *ret_value)
{
	int64_t bits;
	const int err = get_number(field, record, REC_DAT_FLOAT, &bits);

	if (!err)
		*ret_value = event_float_value((uint64_t)bits, (uint32_t)field->field->size);
	return err;
}

int rec_dat_get_bytes(const struct rec_dat_field *field, const struct rec_dat_record *record, const void **ret_data,
		      size_t *ret_size)
{
	const struct tep_format_field *from = field->field;
	const unsigned char *data = record->data;
	uint32_t offset, length;

	if (field->kind == REC_DAT_INT || field->kind == REC_DAT_FLOAT)
		return -EINVAL;
	if (!event_field_place(from, data, record->size, field->big, &offset, &length))
		return -EBADMSG;
	*ret_data = data + offset;
	*ret_size = field->kind == REC_DAT_TEXT ? strnlen((const char *)data + offset, length) : length;
	return 0;
}

int rec_dat_get_element(const struct rec_dat_field *field, const struct rec_dat_record *record, uint32_t number,
			int64_t *ret_value)
{
	const struct tep_format_field *from = field->field;
	const uint32_t width = from->elementsize;
	const void *data;
	size_t size;
	int err;

	if (!(from->flags & TEP_FIELD_IS_ARRAY) || !bytes_is_number(width))
		return -EINVAL;
	err = rec_dat_get_bytes(field, record, &data, &size);
	if (err)
		return err;
	if (number >= size / width)
		return -ENOENT;
	*ret_value = bytes_number((const unsigned char *)data + (size_t)number * width, width,
				  from->flags & TEP_FIELD_IS_SIGNED, field->big);
	return 0;
}
