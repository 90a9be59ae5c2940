/* SPDX-License-Identifier: MIT */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read a time such as "10", "0.5", "500ms" or "2m". The units are h, m, s, ms, us and ns; without a unit, seconds. At
 * most 9 digits of a fraction are used. False: the text is not such a time, or it is longer than 290 years.
 */
bool duration_read_ns(const char *text, uint64_t *ret_ns);

/* The same in milliseconds, rounded up. False also if it is 0 or longer than 30 years. */
bool duration_read(const char *text, uint64_t *ret_ms);

#endif
