/* SPDX-License-Identifier: MIT */
/* See event_float.h. */
#include "format/text/event_float.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool event_field_is_float(const struct tep_format_field *field)
{
	if (!field->type || field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		return false;
	return (field->size == 4 && !strcmp(field->type, "float")) ||
	       (field->size == 8 && !strcmp(field->type, "double"));
}

double event_float_value(uint64_t bits, uint32_t size)
{
	const uint32_t low = (uint32_t)bits;
	double number;
	float single;

	if (size == sizeof(single)) {
		memcpy(&single, &low, sizeof(single));
		return single;
	}
	memcpy(&number, &bits, sizeof(number));
	return number;
}

int event_float_text(double number, uint32_t size, char text[EVENT_FLOAT_TEXT])
{
	int length = 0;

	if (isnan(number))
		return snprintf(text, EVENT_FLOAT_TEXT, "nan");
	for (int digits = 1; digits <= 17; digits++) {
		double again;

		length = snprintf(text, EVENT_FLOAT_TEXT, "%.*g", digits, number);
		again = strtod(text, NULL);
		if (size == sizeof(float))
			again = (float)again;
		if (!memcmp(&again, &number, sizeof(again)))
			break;
	}
	return length;
}
