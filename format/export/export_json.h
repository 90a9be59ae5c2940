/* SPDX-License-Identifier: MIT */
/*
 * JSON. Strings come from programs that may be hostile: see format/io/json.h.
 */
#ifndef FORMAT_EXPORT_JSON_H
#define FORMAT_EXPORT_JSON_H

#include "format/export/export_fields.h"
#include "format/export/export_out.h"

/* Writes a string with its quotes, as json_string() does. */
void export_json_text(struct export_out *out, const char *text);

/* A number that JavaScript cannot hold exactly is written as a string. */
void export_json_int(struct export_out *out, int64_t value);
void export_json_uint(struct export_out *out, uint64_t value);

/* Bytes are a string of hexadecimal digits, arrays are arrays. */
void export_json_value(struct export_out *out, const struct export_field *field, const struct export_value *value);

#endif
