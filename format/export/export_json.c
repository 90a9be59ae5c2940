/* SPDX-License-Identifier: MIT */
/* See export_json.h. */
#include "format/export/export_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "format/io/json.h"
#include "format/text/event_float.h"

#define EXACT_MAX (UINT64_C(1) << 53) /* a double represents all integers up to this */

static void put(void *out, const void *bytes, size_t size)
{
	export_out_put(out, bytes, size);
}

void export_json_text(struct export_out *out, const char *text)
{
	json_put(put, out, text, strlen(text));
}

void export_json_int(struct export_out *out, int64_t value)
{
	const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	export_out_printf(out, size <= EXACT_MAX ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

void export_json_uint(struct export_out *out, uint64_t value)
{
	export_out_printf(out, value <= EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

static void put_array(struct export_out *out, const struct export_field *field, const struct export_value *value)
{
	const uint32_t nr = export_elements(field, value);
	struct export_value element;

	export_out_text(out, "[");
	for (uint32_t i = 0; i < nr; i++) {
		export_out_text(out, i ? "," : "");
		export_element(field, value, i, &element);
		export_json_value(out, field, &element);
	}
	export_out_text(out, "]");
}

void export_json_value(struct export_out *out, const struct export_field *field, const struct export_value *value)
{
	char text[EVENT_FLOAT_TEXT];

	switch (value->kind) {
	case EXPORT_UNSIGNED:
	case EXPORT_SIGNED:
		if (value->symbol)
			export_json_text(out, value->symbol);
		else if (value->kind == EXPORT_UNSIGNED)
			export_json_uint(out, value->u);
		else
			export_json_int(out, value->s);
		break;
	case EXPORT_REAL:
		event_float_text(value->real, field->scale > 0 ? 8 : field->element, text);
		export_out_text(out, isfinite(value->real) ? text : "null");
		break;
	case EXPORT_TEXT:
		json_put(put, out, (const char *)value->data, value->size);
		break;
	case EXPORT_ARRAY:
		put_array(out, field, value);
		break;
	case EXPORT_BYTES:
		export_out_text(out, "\"");
		for (uint32_t i = 0; i < value->size; i++)
			export_out_printf(out, "%02x", value->data[i]);
		export_out_text(out, "\"");
		break;
	}
}
