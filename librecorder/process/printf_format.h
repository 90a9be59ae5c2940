/* SPDX-License-Identifier: MIT */
/* Reading the format of a rec_printf: its conversions, and how each is stored. */
#ifndef PRINTF_FORMAT_H
#define PRINTF_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define PRINTF_CONVERSIONS_MAX 32u

enum printf_how {
	AS_LITERAL,
	AS_NUMBER, /* 4 or 8 bytes */
	AS_STRING,
	AS_CHAR,    /* a string of one character */
	AS_TEXT,    /* printed now */
	AS_NOTHING, /* not possible: %n, or no conversion at all */
};

#define PRINTF_NONE (-1)
#define PRINTF_STAR (-2)

/* Part of a format: characters that stand for themselves, or one conversion. */
struct printf_piece {
	enum printf_how how;
	const char *start;
	const char *end;
	char flags[6];
	int width;
	int precision;
	unsigned int size; /* size of the argument: 1, 2, 4, 8, 16 (long double) */
	bool is_long;	   /* l: wide characters */
	char conversion;
};

/* The piece at `at`; false at the end of the format. */
bool rec_printf_piece(const char *at, struct printf_piece *piece);

/* The number of conversions; more than PRINTF_CONVERSIONS_MAX if the format cannot be recorded. */
unsigned int rec_printf_count(const char *format);

/*
 * A layout has two bits for each argument, the first one lowest, and ends with zeros. Formats of up to 15 whole
 * numbers, pointers and strings have a layout; nearly all formats are of this kind.
 */
#define LAYOUT_KNOWN (UINT32_C(1) << 31)
#define LAYOUT_MAX   15u

enum { LAYOUT_END, LAYOUT_INT, LAYOUT_LONG, LAYOUT_STRING };

/* 0: the format has to be read with each event. */
uint32_t rec_printf_layout(const char *format);

#endif
