/* SPDX-License-Identifier: MIT */
/* See sql_model.h. */
#include "format/sql/sql_model.h"

#include "format/sql/sql_field.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

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

/* The length of the UTF-8 character that begins here; 0: the bytes are not valid. */
static size_t character(const unsigned char *text, size_t size)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t length = text[0] < 0xc0 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t code = text[0] & (0xffu >> (length + 1));

	if (length == 1)
		return text[0] < 0x80;
	if (length > size || text[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	return code >= lowest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

void sql_json_text(struct blob *out, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	blob_put(out, "\"", 1);
	while (size) {
		const size_t length = character(at, size);
		/* JSON permits the characters 0x7f to 0x9f, but on a terminal they are control characters. */
		const bool is_control = *at < ' ' || *at == 0x7f || (length == 2 && *at == 0xc2 && at[1] < 0xa0);

		if (*at == '"' || *at == '\\')
			blob_printf(out, "\\%c", *at);
		else if (length && !is_control)
			blob_put(out, at, length);
		else
			blob_printf(out, "\\u%04x", at[length ? length - 1 : 0]);
		at += length ? length : 1;
		size -= length ? length : 1;
	}
	blob_put(out, "\"", 1);
}

static void json_bytes(struct blob *out, const char *bytes, size_t size)
{
	blob_put(out, "\"", 1);
	for (size_t i = 0; i < size; i++)
		blob_printf(out, "%02x", (unsigned char)bytes[i]);
	blob_put(out, "\"", 1);
}

void sql_json_fields(struct sql_trace *trace, const struct model_record *record, const struct model_record *before,
		     struct blob *out)
{
	char real[EVENT_FLOAT_TEXT];

	if (!record->data)
		return;
	for (struct tep_format_field *f = record->type->event->format.fields; f; f = f->next) {
		const struct sql_value value =
			sql_field_value(f, record->data, record->size, trace->file->big, trace->room);

		if (out->error)
			return;
		if (before && before->data && tep_find_field(before->type->event, f->name))
			continue;
		/* A size of 1 is the brace alone. */
		if (out->size > 1)
			blob_put(out, ",", 1);
		sql_json_text(out, f->name, strlen(f->name));
		blob_put(out, ":", 1);
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
			sql_json_text(out, value.text, value.size);
		else
			blob_put(out, value.text, value.size);
	}
}
