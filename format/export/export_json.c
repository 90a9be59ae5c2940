/* SPDX-License-Identifier: MIT */
/* See export_json.h. */
#include "format/export/export_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "format/text/event_float.h"

#define EXACT_MAX (UINT64_C(1) << 53) /* a double represents all integers up to this */

/* The length of the UTF-8 character at `at`; 0: it is invalid, as are overlong forms and surrogates. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t size = *at < 0x80			? 1
			    : *at >= 0xc2 && *at < 0xe0 ? 2
			    : *at >= 0xe0 && *at < 0xf0 ? 3
			    : *at >= 0xf0 && *at < 0xf5 ? 4
							: 0;
	uint32_t code;

	if (size <= 1 || size > left)
		return size <= 1 ? size : 0;
	code = *at & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	return code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? size : 0;
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void export_json_string(struct export_out *out, const void *text, size_t size)
{
	const unsigned char *at = text, *end = at + size;

	export_out_put(out, "\"", 1);
	while (at < end) {
		const unsigned char *plain = at;
		size_t length;

		while (at < end && is_plain(*at))
			at++;
		export_out_put(out, plain, (size_t)(at - plain));
		if (at == end)
			break;
		length = utf8_length(at, (size_t)(end - at));
		if (length > 1)
			export_out_put(out, at, length);
		else if (length == 1)
			export_out_printf(out, "\\u%04x", *at);
		else
			export_out_text(out, "\\ufffd");
		at += length ? length : 1;
	}
	export_out_put(out, "\"", 1);
}

void export_json_text(struct export_out *out, const char *text)
{
	export_json_string(out, text, strlen(text));
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
		export_json_string(out, value->data, value->size);
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
