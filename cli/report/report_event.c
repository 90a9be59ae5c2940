/* SPDX-License-Identifier: MIT */
/*
 * Takes from a format text what a filter needs: offsets and kinds of fields, as libtraceevent parses them. The names of
 * values are in the print format, and so are the decimals of a real, in the form that event_text.c writes.
 */
#include "cli/report/report_event.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

bool report_event_is_named(const char *filter, const char *name)
{
	const size_t size = strlen(name);

	for (const char *at = strstr(filter, name); at; at = strstr(at + 1, name)) {
		const bool begins = at == filter || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');

		if (begins && !isalnum((unsigned char)at[size]) && at[size] != '_')
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------ names of values */

const struct tep_print_arg *report_event_names(const struct tep_event *type, const char *name)
{
	for (const struct tep_print_arg *arg = type->print_fmt.args; arg; arg = arg->next) {
		const struct tep_print_arg *field = NULL;

		if (arg->type == TEP_PRINT_SYMBOL)
			field = arg->symbol.field;
		else if (arg->type == TEP_PRINT_FLAGS)
			field = arg->flags.field;
		while (field && field->type == TEP_PRINT_TYPE)
			field = field->typecast.item;
		if (field && field->type == TEP_PRINT_FIELD && !strcmp(field->field.name, name))
			return arg;
	}
	return NULL;
}

/* Whether the name can be written in a filter. */
static bool is_word(const char *text)
{
	return text && *text && !text[strcspn(text, ",\"'()\\ \t")];
}

/* 0 or -ENOMEM. */
static int add_names(struct report_event *event, const struct tep_print_flag_sym *symbols)
{
	struct rec_field *field = &event->info.fields[event->info.nr_fields];
	int64_t *values = calloc(REC_NAMES_MAX, sizeof(*values));
	char *names = NULL;
	size_t size = 0;
	FILE *out = values ? open_memstream(&names, &size) : NULL;

	event->values[event->info.nr_fields] = values;
	if (!out)
		return -ENOMEM;
	for (; symbols && field->nr_values < REC_NAMES_MAX; symbols = symbols->next) {
		if (!is_word(symbols->str) || !symbols->value)
			continue;
		values[field->nr_values] = (int64_t)strtoull(symbols->value, NULL, 0);
		fprintf(out, "%s%s", field->nr_values++ ? ", " : "", symbols->str);
	}
	if (fclose(out)) {
		free(names);
		return -ENOMEM;
	}
	event->names[event->info.nr_fields] = names;
	field->kind = REC_FIELD_NAMED;
	field->values = values;
	field->value_names = (struct rec_words){ names, (uint32_t)size };
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- reals */

static const char *format_text(const struct dat_file *file, const struct tep_event *type)
{
	for (size_t i = 0; i < file->nr_formats; i++) {
		const char *text = file->formats[i].text.text;

		if (text && !strcmp(file->formats[i].system, type->system) && dat_line_is_named(text, type->name))
			return text;
	}
	return NULL;
}

uint32_t report_event_decimals(const struct dat_file *file, const struct tep_event *type, const char *name)
{
	const char *text = format_text(file, type), *at;
	unsigned long long scale = 0;
	char form[4 * (REC_IDENT_MAX + 1) + 64];
	uint32_t decimals = 0;

	if (!text || strlen(name) > REC_IDENT_MAX)
		return 0;
	snprintf(form, sizeof(form), "(((REC->%s >> 63) ? (0 - REC->%s) : REC->%s) / ", name, name, name);
	at = strstr(text, form);
	if (at)
		scale = strtoull(at + strlen(form), NULL, 10);
	for (; scale >= 10; scale /= 10)
		decimals++;
	return decimals;
}

/* --------------------------------------------------------------------------------------------------------- fields */

static enum rec_field_kind kind_of_number(const struct tep_format_field *field)
{
	if (event_field_is_float(field))
		return REC_FIELD_FLOAT;
	if (field->type && (!strcmp(field->type, "bool") || !strcmp(field->type, "_Bool")))
		return REC_FIELD_FLAG;
	return field->flags & TEP_FIELD_IS_SIGNED ? REC_FIELD_SIGNED : REC_FIELD_UNSIGNED;
}

/* Determines kind and sizes. A field that filters cannot compare gets the kind bytes. */
static void describe(struct rec_field *ret_field, const struct tep_format_field *field)
{
	const bool dynamic = field->flags & TEP_FIELD_IS_DYNAMIC, array = field->flags & TEP_FIELD_IS_ARRAY;
	struct rec_field one = { .kind = REC_FIELD_BYTES, .name = { field->name, (uint32_t)strlen(field->name) } };

	one.offset = (uint32_t)field->offset;
	one.size = (uint32_t)field->size;
	one.is_signed = (field->flags & TEP_FIELD_IS_SIGNED) != 0;
	one.length = 1;
	if (dynamic && event_field_is_text(field) && !(field->flags & TEP_FIELD_IS_RELATIVE) &&
	    field->size == 4) {
		one.kind = REC_FIELD_STRING;
		one.element = 4;
	} else if (!dynamic && array && event_field_is_text(field) && field->size > 0) {
		one.kind = REC_FIELD_STRING;
		one.element = 1;
		one.length = one.size;
	} else if (!dynamic && array && bytes_is_number(field->elementsize) &&
		   field->size >= (int)field->elementsize) {
		one.kind = REC_FIELD_ARRAY;
		one.element = field->elementsize;
		one.length = one.size / one.element;
	} else if (!dynamic && !array && bytes_is_number((uint32_t)field->size)) {
		one.kind = kind_of_number(field);
		one.element = one.size;
	}
	*ret_field = one;
}

/* 0 or -ENOMEM. */
static int add_field(struct report_event *event, const struct dat_file *file, const struct tep_event *type,
		     const struct tep_format_field *field)
{
	struct rec_field *one = &event->info.fields[event->info.nr_fields];
	const struct tep_print_arg *names;
	int err = 0;

	describe(one, field);
	if (one->kind == REC_FIELD_SIGNED || one->kind == REC_FIELD_UNSIGNED) {
		names = report_event_names(type, field->name);
		if (names)
			err = add_names(event,
					names->type == TEP_PRINT_FLAGS ? names->flags.flags : names->symbol.symbols);
		else if (one->element == 8)
			one->decimals = report_event_decimals(file, type, field->name);
		if (one->decimals)
			one->kind = REC_FIELD_REAL;
	}
	event->info.nr_fields++;
	return err;
}

int report_event_describe(struct report_event *event, const struct dat_file *file, const struct event_table *table,
			  const struct tep_event *type, const char *filter)
{
	int err = 0;

	memset(event, 0, sizeof(*event));
	for (const struct tep_format_field *field = type->format.fields; field && !err; field = field->next)
		if (report_event_is_named(filter, field->name) && event->info.nr_fields < REC_FIELDS_MAX - 2)
			err = add_field(event, file, type, field);
	for (const struct tep_format_field *field = type->format.common_fields; field && !err; field = field->next)
		if (report_event_is_named(filter, field->name) && event->info.nr_fields < REC_FIELDS_MAX - 1)
			err = add_field(event, file, type, field);
	/* The thread's id gets the name that filters use. */
	if (!err && report_event_is_named(filter, "pid") && !tep_find_field((struct tep_event *)(uintptr_t)type,
									    "pid") &&
	    table->pid_size) {
		event->info.fields[event->info.nr_fields++] = (struct rec_field){ .kind = REC_FIELD_SIGNED,
										  .name = { "pid", 3 },
										  .offset = table->pid_offset,
										  .size = table->pid_size,
										  .element = table->pid_size,
										  .length = 1,
										  .is_signed = true };
	}
	return err;
}

void report_event_free(struct report_event *event)
{
	for (uint32_t i = 0; i < REC_FIELDS_MAX; i++) {
		free(event->values[i]);
		free(event->names[i]);
	}
	memset(event, 0, sizeof(*event));
}
