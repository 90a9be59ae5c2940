/* SPDX-License-Identifier: MIT */
/*
 * The report as CSV. A first pass finds the selected events, which determine the columns: those that all events have,
 * then "fields.NAME" for each field, followed by "names.NAME" if its values have names. These are the names that tools
 * give to the columns when they flatten the report's JSON.
 */
#include "cli/common/put_text.h"
#include "cli/report/report_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIXED "ts,cpu,pid,comm,tgid,process,buffer,system,event,lost"

struct column {
	const char *name;
	bool has_names;
};

struct csv {
	struct report *r;
	struct report_fields fields;
	struct column *columns;
	unsigned int nr, room;
	bool *seen;				/* by event of the table */
	const struct report_field **by_column; /* values of the event that is printed */
	struct blob out, name;
};

static void put(struct blob *out, const char *text)
{
	blob_put(out, text, strlen(text));
}

/* Put the text of a cell. Control characters would change the screen of a terminal, and begin new lines. */
static void put_text(struct csv *csv, const char *text, size_t size)
{
	put_csv(&csv->out, text, size, csv->r->lines.escapes ? put_visible : put_utf8);
}

/* ---------------------------------------------------------------------------------------------------------- columns */

static int find_column(struct csv *csv, const struct report_field *field, unsigned int *ret_column)
{
	unsigned int i = 0;

	while (i < csv->nr && strcmp(csv->columns[i].name, field->field->name) != 0)
		i++;
	if (i == csv->room) {
		const unsigned int room = csv->room ? 2 * csv->room : 64;
		struct column *columns = realloc(csv->columns, room * sizeof(*columns));

		if (!columns)
			return -ENOMEM;
		csv->columns = columns;
		csv->room = room;
	}
	if (i == csv->nr)
		csv->columns[csv->nr++] = (struct column){ .name = field->field->name };
	if (report_field_has_name(field))
		csv->columns[i].has_names = true;
	*ret_column = i;
	return 0;
}

static int add_event(struct csv *csv, const struct event_type *type)
{
	bool *seen = &csv->seen[type - csv->r->table->all];
	struct report_event_fields *fields;
	int err = 0;

	if (*seen)
		return 0;
	*seen = true;
	fields = report_fields_of(&csv->fields, type);
	if (!fields)
		return -ENOMEM;
	for (unsigned int i = 0; i < fields->nr && !err; i++)
		err = find_column(csv, &fields->fields[i], &fields->fields[i].column);
	return err;
}

static const struct event_type *type_of(const struct csv *csv, const struct dat_event *event,
					const struct tep_record *record)
{
	return event_type(csv->r->table, event_id(csv->r->table, record->data, event->size));
}

static int find_columns(struct csv *csv)
{
	struct report *r = csv->r;
	const struct event_type *type;
	struct tep_record record;
	struct report_walk walk;
	struct dat_event event;
	int err = 0, status = report_walk_open(r, false, &walk);

	if (status)
		return status;
	while (!err && report_walk_next(&walk, &event, &record)) {
		type = type_of(csv, &event, &record);
		err = type ? add_event(csv, type) : 0;
	}
	report_walk_close(&walk);
	report_select_again(&r->select);
	csv->by_column = calloc(csv->nr ? csv->nr : 1, sizeof(*csv->by_column));
	return err || !csv->by_column ? report_fail_memory(r) : 0;
}

static void put_head(struct csv *csv)
{
	put(&csv->out, FIXED);
	for (unsigned int i = 0; i < csv->nr; i++) {
		const char *name = csv->columns[i].name;

		put(&csv->out, ",fields.");
		put_text(csv, name, strlen(name));
		if (!csv->columns[i].has_names)
			continue;
		put(&csv->out, ",names.");
		put_text(csv, name, strlen(name));
	}
	put(&csv->out, "\n");
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Put a value; the numbers of a list are separated by blanks. */
static void put_value(struct csv *csv, const struct report_value *value)
{
	if (value->kind == REPORT_VALUE_STRING)
		put_text(csv, value->data, value->nr);
	for (uint32_t i = 0; value->kind != REPORT_VALUE_STRING && i < value->nr; i++) {
		put(&csv->out, i ? " " : "");
		report_put_number(&csv->out, value, report_value_number(csv->r, value, i));
	}
}

static void put_names(struct csv *csv, const struct report_field *field, const struct report_value *value)
{
	csv->name.size = 0;
	for (uint32_t i = 0; value->kind != REPORT_VALUE_STRING && i < value->nr; i++) {
		put(&csv->name, i ? " " : "");
		report_field_name(csv->r, field, report_value_number(csv->r, value, i), &csv->name);
	}
	if (csv->name.size)
		put_text(csv, (const char *)csv->name.data, csv->name.size);
}

static void put_fields(struct csv *csv, const struct tep_record *record, uint32_t size)
{
	for (unsigned int i = 0; i < csv->nr; i++) {
		const struct report_field *field = csv->by_column[i];
		const struct report_value value = field ? report_field_value(field, record->data, size)
							 : (struct report_value){ .kind = REPORT_VALUE_NONE };

		put(&csv->out, ",");
		put_value(csv, &value);
		if (!csv->columns[i].has_names)
			continue;
		put(&csv->out, ",");
		if (field && report_field_has_name(field))
			put_names(csv, field, &value);
	}
}

/* Put the two cells of the process, which are empty if the file does not state the process of the thread. */
static void put_process(struct csv *csv, int pid)
{
	const int32_t process = event_process(csv->r->table, pid);
	const char *name = process < 0 ? "" : event_comm(csv->r->table, process);

	if (process >= 0)
		put_unsigned(&csv->out, (uint64_t)process);
	put(&csv->out, ",");
	if (*name)
		put_text(csv, name, strlen(name));
	put(&csv->out, ",");
}

static void put_place(struct csv *csv, const struct dat_event *event, int pid, const struct event_type *type)
{
	const struct report_value number = { .is_signed = true };
	const char *comm = event_comm_shown(csv->r->table, pid);
	struct blob *out = &csv->out;

	put_unsigned(out, event->ts);
	put(out, ",");
	put_unsigned(out, event->cpu);
	put(out, ",");
	report_put_number(out, &number, (uint64_t)(int64_t)pid);
	put(out, ",");
	put_text(csv, comm, strlen(comm));
	put(out, ",");
	put_process(csv, pid);
	put_text(csv, event->buffer->name, strlen(event->buffer->name));
	put(out, ",");
	if (type)
		put_text(csv, type->event->system, strlen(type->event->system));
	put(out, ",");
	if (type)
		put_text(csv, type->event->name, strlen(type->event->name));
	put(out, ",");
	if (event->lost > 0)
		put_unsigned(out, (uint64_t)event->lost);
	else if (event->lost)
		put(out, "unknown");
}

static int put_event(void *arg, const struct dat_event *event, struct tep_record *record)
{
	struct csv *csv = arg;
	const struct event_type *type = type_of(csv, event, record);
	struct report_event_fields *fields = type ? report_fields_of(&csv->fields, type) : NULL;

	for (unsigned int i = 0; i < csv->nr; i++)
		csv->by_column[i] = NULL;
	for (unsigned int i = 0; fields && i < fields->nr; i++)
		csv->by_column[fields->fields[i].column] = &fields->fields[i];
	put_place(csv, event, event_pid(csv->r->table, record->data, event->size), type);
	put_fields(csv, record, event->size);
	put(&csv->out, "\n");
	return csv->out.error ? csv->out.error : csv->name.error;
}

static int put_events(struct csv *csv)
{
	const int status = find_columns(csv);

	if (status)
		return status;
	put_head(csv);
	return report_put_events(csv->r, &csv->out, put_event, NULL, csv);
}

int report_csv(struct report *r)
{
	const uint32_t nr = r->table->nr_events;
	struct csv csv = { .r = r, .out = BLOB_INIT, .name = BLOB_INIT, .seen = calloc(nr ? nr : 1, sizeof(bool)) };
	int status = !csv.seen || report_fields_open(r, &csv.fields) ? report_fail_memory(r) : put_events(&csv);

	report_fields_close(&csv.fields);
	free(csv.columns);
	free(csv.seen);
	free(csv.by_column);
	blob_free(&csv.out);
	blob_free(&csv.name);
	return status;
}
