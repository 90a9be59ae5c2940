/* SPDX-License-Identifier: MIT */
/*
 * Numbers to and from text, without stdio, for two reasons. The first printf() and strtoull() of a program cost more
 * time than making its buffer file; and signal handlers use these functions, too.
 */
#ifndef DECIMAL_H
#define DECIMAL_H

#include <stdint.h>

/* Writes the digits and a NUL, at most 21 bytes; returns the address of the NUL. */
static inline char *rec_put_decimal(char *at, uint64_t number)
{
	char digits[20];
	unsigned int nr = 0;

	do {
		digits[nr++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (nr)
		*at++ = digits[--nr];
	*at = '\0';
	return at;
}

/* The number at the beginning of a text; 0 if the text does not begin with a digit. */
static inline uint64_t rec_get_decimal(const char *at)
{
	uint64_t number = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

#endif
