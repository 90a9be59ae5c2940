/* SPDX-License-Identifier: MIT */
/*
 * Fields that are float or double: f32(n) and f64(n) of programs (trace-dat.md 9). libtraceevent reads them as whole
 * numbers.
 */
#ifndef FORMAT_EVENT_FLOAT_H
#define FORMAT_EVENT_FLOAT_H

#include <event-parse.h>
#include <stdbool.h>
#include <stdint.h>

bool event_field_is_float(const struct tep_format_field *field);

/* The number of `size` bytes (4, 8) whose bits are in the low end of `bits`. */
double event_float_value(uint64_t bits, uint32_t size);

/*
 * The shortest text that reads back as the same number: "0.1", "1e+300"; "nan", "inf" and "-inf". Returns its length.
 */
#define EVENT_FLOAT_TEXT 32u
int event_float_text(double number, uint32_t size, char text[EVENT_FLOAT_TEXT]);

#endif
