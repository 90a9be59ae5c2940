/* SPDX-License-Identifier: MIT */
/* See export_fields.h. */
#include "format/export/export_fields.h"
#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_IDS	  65536
#define FIRST_ID  16384 /* first id of programs' events: trace-dat.md 6 */
#define LAST_REAL 18	/* the most decimals of a 64-bit number */

struct export_fields {
	struct export_event **by_id; /* NR_IDS */
	struct export_event *events;
	uint32_t nr_events;
};

/* ------------------------------------------------------------------------------------------------- print formats */

/* The field whose value an expression begins with. */
static const char *first_field(const struct tep_print_arg *arg)
{
	const char *left;

	switch (arg->type) {
	case TEP_PRINT_FIELD:
		return arg->field.name;
	case TEP_PRINT_TYPE:
		return arg->typecast.item ? first_field(arg->typecast.item) : NULL;
	case TEP_PRINT_OP:
		left = arg->op.left ? first_field(arg->op.left) : NULL;
		return left || !arg->op.right ? left : first_field(arg->op.right);
	default:
		return NULL;
	}
}

/* A program's number with decimals is printed as the quotient and the remainder of a division by a power of ten. */
static double real_scale(const struct tep_event *event, const char *name)
{
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		const char *field;
		double scale = 10;

		if (arg->type != TEP_PRINT_OP || strcmp(arg->op.op, "%") || arg->op.right->type != TEP_PRINT_ATOM)
			continue;
		field = first_field(arg->op.left);
		if (!field || strcmp(field, name))
			continue;
		for (int i = 0; i < LAST_REAL; i++, scale *= 10) {
			if ((double)strtoull(arg->op.right->atom.atom, NULL, 10) == scale)
				return scale;
		}
	}
	return 0;
}

static int by_value(const void *one, const void *other)
{
	const struct export_symbol *a = one, *b = other;

	return a->value < b->value ? -1 : a->value > b->value;
}

static int by_value_and_order(const void *one, const void *other)
{
	const struct export_symbol *a = one, *b = other;
	const int order = by_value(a, b);

	return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

static int add_symbols(struct export_field *field, const struct tep_print_flag_sym *list)
{
	uint32_t nr = 0;

	for (const struct tep_print_flag_sym *each = list; each; each = each->next)
		nr++;
	field->symbols = calloc(nr ? nr : 1, sizeof(*field->symbols));
	if (!field->symbols)
		return -ENOMEM;
	for (; list; list = list->next) {
		const uint64_t mask = field->element == 8 ? UINT64_MAX : (UINT64_C(1) << (field->element * 8)) - 1;
		const uint64_t value = list->value[0] == '-' ? (uint64_t)strtoll(list->value, NULL, 0)
							     : strtoull(list->value, NULL, 0);
		const uint32_t order = field->nr_symbols++;

		field->symbols[order] = (struct export_symbol){ value & mask, list->str, order };
	}
	qsort(field->symbols, field->nr_symbols, sizeof(*field->symbols), by_value_and_order);
	/* If a value has several names, it is printed by the first one. */
	nr = 0;
	for (uint32_t i = 0; i < field->nr_symbols; i++)
		if (!nr || field->symbols[nr - 1].value != field->symbols[i].value)
			field->symbols[nr++] = field->symbols[i];
	field->nr_symbols = nr;
	return 0;
}

static int find_symbols(const struct tep_event *event, struct export_field *field)
{
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_SYMBOL && arg->symbol.field && arg->symbol.field->type == TEP_PRINT_FIELD &&
		    !strcmp(arg->symbol.field->field.name, field->name))
			return add_symbols(field, arg->symbol.symbols);
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- fields */

static uint32_t element_size(const struct tep_format_field *field)
{
	const uint32_t size = field->elementsize;

	return size == 2 || size == 4 || size == 8 ? size : 1;
}

static int add_field(struct export_event *event, const struct tep_format_field *tep, bool big)
{
	struct export_field *field = &event->fields[event->nr_fields++];
	const bool is_signed = tep->flags & TEP_FIELD_IS_SIGNED, is_dynamic = tep->flags & TEP_FIELD_IS_DYNAMIC;
	const uint32_t size = (uint32_t)tep->size;

	*field = (struct export_field){
		.name = tep->name,
		.tep = tep,
		.offset = (uint32_t)tep->offset,
		.is_signed = is_signed,
		.is_big = big,
	};
	if (event_field_is_text(tep)) {
		field->kind = EXPORT_TEXT;
		field->element = 1;
	} else if ((tep->flags & TEP_FIELD_IS_ARRAY) || is_dynamic || !bytes_is_number(size)) {
		field->element = element_size(tep);
		field->kind = field->element == 1 && (is_dynamic || !size) ? EXPORT_BYTES : EXPORT_ARRAY;
	} else if (event_field_is_float(tep)) {
		field->kind = EXPORT_REAL;
		field->element = size;
	} else {
		field->kind = is_signed ? EXPORT_SIGNED : EXPORT_UNSIGNED;
		field->element = size;
		field->scale = event->is_program && is_signed && size == 8
				       ? real_scale(event->type->event, tep->name)
				       : 0;
		field->kind = field->scale > 0 ? EXPORT_REAL : field->kind;
		return find_symbols(event->type->event, field);
	}
	return 0;
}

static int add_event(struct export_fields *fields, const struct event_type *type, bool big)
{
	struct export_event *event = &fields->events[fields->nr_events++];
	const struct tep_event *tep = type->event;
	size_t nr = 0;
	int err = 0;

	*event = (struct export_event){
		.type = type,
		.system = tep->system,
		.name = tep->name,
		.is_program = tep->id >= FIRST_ID,
	};
	/* Count the fields here, because libtraceevent's count is wrong for malformed formats. */
	for (const struct tep_format_field *each = tep->format.fields; each; each = each->next)
		nr++;
	event->fields = calloc(nr + 1, sizeof(*event->fields));
	if (!event->fields)
		return -ENOMEM;
	for (const struct tep_format_field *each = tep->format.fields; each && !err; each = each->next)
		err = add_field(event, each, big);
	fields->by_id[tep->id] = event;
	return err;
}

int export_fields_open(const struct event_table *table, bool big, struct export_fields **ret_fields)
{
	struct export_fields *fields = calloc(1, sizeof(*fields));
	int err = fields ? 0 : -ENOMEM;

	if (!err) {
		fields->by_id = calloc(NR_IDS, sizeof(struct export_event *));
		fields->events = calloc((size_t)table->nr_events + 1, sizeof(*fields->events));
		err = fields->by_id && fields->events ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < table->nr_events && !err; i++) {
		const struct event_type *type = event_type_at(table, i);

		if (type)
			err = add_event(fields, type, big);
	}
	if (err) {
		export_fields_close(fields);
		return err;
	}
	*ret_fields = fields;
	return 0;
}

struct export_fields *export_fields_close(struct export_fields *fields)
{
	if (!fields)
		return NULL;
	for (uint32_t i = 0; i < fields->nr_events; i++) {
		struct export_event *event = &fields->events[i];

		for (uint32_t j = 0; j < event->nr_fields; j++)
			free(event->fields[j].symbols);
		free(event->fields);
	}
	free(fields->events);
	free(fields->by_id);
	free(fields);
	return NULL;
}

const struct export_event *export_event(const struct export_fields *fields, int id)
{
	return id >= 0 && id < NR_IDS ? fields->by_id[id] : NULL;
}

bool export_has_field(const struct export_event *event, const char *name)
{
	for (uint32_t i = 0; event && i < event->nr_fields; i++) {
		if (!strcmp(event->fields[i].name, name))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------------------- values */

static const char *symbol_name(const struct export_field *field, uint64_t value)
{
	const struct export_symbol wanted = { .value = value };
	const struct export_symbol *found;

	if (!field->nr_symbols)
		return NULL;
	found = bsearch(&wanted, field->symbols, field->nr_symbols, sizeof(wanted), by_value);
	return found ? found->name : NULL;
}

static uint64_t number(const struct export_field *field, const unsigned char *at, bool is_signed)
{
	return (uint64_t)bytes_number(at, field->element, is_signed, field->is_big);
}

bool export_value(const struct export_field *field, const unsigned char *record, uint32_t size,
		  struct export_value *ret_value)
{
	uint32_t offset, length;
	uint64_t value;

	if (field->kind >= EXPORT_TEXT) {
		if (!event_field_place(field->tep, record, size, field->is_big, &offset, &length))
			return false;
		if (field->kind == EXPORT_TEXT)
			length = (uint32_t)strnlen((const char *)record + offset, length);
		*ret_value = (struct export_value){ .kind = field->kind, .data = record + offset, .size = length };
		return true;
	}
	if (field->offset + field->element > size)
		return false;
	value = number(field, record + field->offset, false);
	*ret_value = (struct export_value){ .kind = field->kind, .u = value, .symbol = symbol_name(field, value) };
	if (field->is_signed)
		ret_value->u = number(field, record + field->offset, true);
	if (field->kind == EXPORT_REAL)
		ret_value->real = field->scale > 0 ? (double)ret_value->s / field->scale
						   : event_float_value(value, field->element);
	return true;
}

uint32_t export_elements(const struct export_field *field, const struct export_value *value)
{
	return value->size / field->element;
}

void export_element(const struct export_field *field, const struct export_value *value, uint32_t index,
		    struct export_value *ret_value)
{
	*ret_value = (struct export_value){
		.kind = field->is_signed ? EXPORT_SIGNED : EXPORT_UNSIGNED,
		.u = number(field, value->data + (size_t)index * field->element, field->is_signed),
	};
}
