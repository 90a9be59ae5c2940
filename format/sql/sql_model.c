/* SPDX-License-Identifier: MIT */
/* See sql_model.h. */
#include "format/sql/sql_model.h"

#include "format/io/json.h"
#include "format/sql/sql_field.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_ROOM 320u /* of a field's name */

static int feed(struct sql_trace *trace, struct model *model)
{
	struct sql_gaps gaps = { 0 };
	struct dat_merge *merge;
	struct dat_event event;
	int err = 0;

	if (dat_merge_open(trace->file, &trace->time, NULL, NULL, &merge))
		return -ENOMEM;
	while (!err && dat_merge_next(merge, &event)) {
		sql_gaps_note(&gaps, &event);
		err = sql_pass_ends(trace) ? -EINTR : model_event(model, &event);
	}
	if (!err) {
		sql_trace_read_all(trace, &gaps, merge);
		err = model_end(model);
	}
	dat_merge_close(merge);
	return err;
}

int sql_model_run(struct sql_trace *trace, struct sql_cells *cells, struct model_sink *sink)
{
	struct sql_row row = { .trace = trace, .cells = cells };
	uint64_t given_up = 0;
	struct model *model;
	int err;

	sink->arg = &row;
	sink->given_up = &given_up;
	err = model_open(trace->rules, sink, &model);
	if (err)
		return err;
	err = feed(trace, model);
	model_close(model);
	if (given_up)
		trace->given_up = given_up;
	return err;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_bytes(struct blob *out, const char *bytes, size_t size)
{
	blob_put(out, "\"", 1);
	for (size_t i = 0; i < size; i++)
		blob_printf(out, "%02x", (unsigned char)bytes[i]);
	blob_put(out, "\"", 1);
}

/* Whether a key of the rule has this name. */
static bool is_key(const struct model_rule *rule, const char *name)
{
	for (unsigned int i = 0; i < rule->nr_keys; i++) {
		if (!strcmp(rule->keys[i]->name, name))
			return true;
	}
	return false;
}

static void json_value(struct sql_trace *trace, struct tep_format_field *f, const struct model_record *record,
		       struct blob *out)
{
	const struct sql_value value = sql_field_value(f, record->data, record->size, trace->file->big, trace->room);
	char real[EVENT_FLOAT_TEXT];

	if (value.kind == SQL_NULL)
		blob_put(out, "null", 4);
	else if (value.kind == SQL_INT)
		blob_printf(out, f->flags & TEP_FIELD_IS_SIGNED ? "%" PRId64 : "%" PRIu64, value.number);
	else if (value.kind == SQL_REAL && isfinite(value.real))
		blob_put(out, real, (size_t)event_float_text(value.real, (uint32_t)f->size, real));
	else if (value.kind == SQL_REAL)
		blob_put(out, "null", 4);
	else if (value.kind == SQL_BLOB)
		json_bytes(out, value.text, value.size);
	else if (event_field_is_text(f))
		json_string(out, value.text, value.size);
	else
		blob_put(out, value.text, value.size);
}

/* Put the fields of one of the span's records. */
static void json_fields(struct sql_trace *trace, const struct model_span *span, const struct model_record *record,
			struct blob *out)
{
	struct tep_event *begin = record == &span->last && span->first.data ? span->first.type->event : NULL;
	char name[NAME_ROOM];

	if (!record->data)
		return;
	for (struct tep_format_field *f = record->type->event->format.fields; f && !out->error; f = f->next) {
		const bool is_twice = begin && tep_find_field(begin, f->name);

		if (is_twice && is_key(span->rule, f->name))
			continue;
		/* A size of 1 is the brace alone. */
		if (out->size > 1)
			blob_put(out, ",", 1);
		snprintf(name, sizeof(name), "%s%s", is_twice ? "end." : "", f->name);
		json_string(out, name, strlen(name));
		blob_put(out, ":", 1);
		json_value(trace, f, record, out);
	}
}

void sql_json_span(struct sql_trace *trace, const struct model_span *span, struct blob *out)
{
	blob_put(out, "{", 1);
	json_fields(trace, span, &span->first, out);
	if (span->last.data != span->first.data)
		json_fields(trace, span, &span->last, out);
	blob_put(out, "}", 1);
}
