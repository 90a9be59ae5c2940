/* SPDX-License-Identifier: MIT */
/* Appends numbers of fields as text, and writes the collected text to standard output (report_field.h). */
#include "cli/report/report_field.h"

#include "cli/common/put_text.h"
#include "cli/common/show_text.h"
#include "format/text/event_float.h"

#define ENOUGH 65536u

void report_put_number(struct blob *out, const struct report_value *value, uint64_t number)
{
	char text[EVENT_FLOAT_TEXT];

	if (value->is_float) {
		blob_put(out, text,
			 (size_t)event_float_text(event_float_value(number, value->element), value->element, text));
		return;
	}
	if (value->is_signed && (int64_t)number < 0) {
		blob_put(out, "-", 1);
		number = 0 - number;
	}
	put_unsigned(out, number);
}

bool report_put_out(struct report *r, struct blob *out, bool end)
{
	if (out->size < ENOUGH && !end)
		return true;
	show_bytes(stdout, out->data, out->size);
	out->size = 0;
	return report_written(r);
}
