/* SPDX-License-Identifier: MIT */
#include "librecorder/process/printf_format.h"

#include <stddef.h>
#include <string.h>

static const char *scan_count(const char *at, int *ret_count)
{
	if (*at == '*') {
		*ret_count = PRINTF_STAR;
		return at + 1;
	}
	while (*at >= '0' && *at <= '9') {
		if (*ret_count < 0)
			*ret_count = 0;
		if (*ret_count < 10000)
			*ret_count = *ret_count * 10 + (*at - '0');
		at++;
	}
	return at;
}

static const char *scan_length(const char *at, struct printf_piece *piece)
{
	piece->size = 4;
	if (at[0] == 'h') {
		piece->size = at[1] == 'h' ? 1 : 2;
		return at + (at[1] == 'h' ? 2 : 1);
	}
	if (at[0] == 'l') {
		piece->size = at[1] == 'l' ? sizeof(long long) : sizeof(long);
		piece->is_long = true;
		return at + (at[1] == 'l' ? 2 : 1);
	}
	if (*at && strchr("jztqL", *at)) {
		piece->size = *at == 'L' ? 16 : *at == 'z' ? sizeof(size_t) : *at == 't' ? sizeof(ptrdiff_t) : 8;
		return at + 1;
	}
	return at;
}

static enum printf_how decide(const struct printf_piece *piece)
{
	const bool plain = piece->width != PRINTF_STAR && (!piece->flags[0] || strcmp(piece->flags, "0") == 0);

	switch (piece->conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		return plain && piece->precision != PRINTF_STAR ? AS_NUMBER : AS_TEXT;
	case 's':
		return plain && !piece->flags[0] && !piece->is_long ? AS_STRING : AS_TEXT;
	case 'c':
		return plain && piece->width == PRINTF_NONE && !piece->is_long ? AS_CHAR : AS_TEXT;
	case 'p':
		return plain && piece->width == PRINTF_NONE ? AS_NUMBER : AS_TEXT;
	case 'S':
	case 'C':
	case 'm':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		return AS_TEXT;
	default:
		return AS_NOTHING;
	}
}

bool rec_printf_piece(const char *at, struct printf_piece *piece)
{
	unsigned int nr_flags = 0;

	memset(piece, 0, sizeof(*piece));
	piece->start = at;
	piece->width = piece->precision = PRINTF_NONE;
	if (!*at)
		return false;
	if (*at != '%' || at[1] == '%') {
		while (*at && (*at != '%' || at[1] == '%'))
			at += *at == '%' ? 2 : 1;
		piece->end = at;
		return true;
	}
	at++;
	while (*at && strchr("-+ #0'I", *at)) {
		if (nr_flags < sizeof(piece->flags) - 1)
			piece->flags[nr_flags++] = *at;
		at++;
	}
	at = scan_count(at, &piece->width);
	if (*at == '.') {
		piece->precision = 0;
		at = scan_count(at + 1, &piece->precision);
	}
	at = scan_length(at, piece);
	piece->conversion = *at;
	if (piece->conversion == 'p')
		piece->size = sizeof(void *);
	piece->how = decide(piece);
	piece->end = *at ? at + 1 : at;
	return true;
}

unsigned int rec_printf_count(const char *format)
{
	unsigned int count = 0;
	struct printf_piece piece;

	for (; rec_printf_piece(format, &piece); format = piece.end) {
		if (piece.how == AS_NOTHING)
			return PRINTF_CONVERSIONS_MAX + 1;
		count += piece.how != AS_LITERAL;
	}
	return count;
}

uint32_t rec_printf_layout(const char *format)
{
	uint32_t layout = LAYOUT_KNOWN, nr = 0, kind;
	struct printf_piece piece;

	for (; rec_printf_piece(format, &piece); format = piece.end) {
		if (piece.how == AS_LITERAL)
			continue;
		if (piece.how == AS_NUMBER && piece.size >= 4)
			kind = piece.size == 4 ? LAYOUT_INT : LAYOUT_LONG;
		else if (piece.how == AS_STRING && piece.precision == PRINTF_NONE)
			kind = LAYOUT_STRING;
		else
			return 0;
		if (nr == LAYOUT_MAX)
			return 0;
		layout |= kind << 2 * nr++;
	}
	return layout;
}
